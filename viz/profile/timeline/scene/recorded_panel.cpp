#include "viz/profile/timeline/scene/recorded_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/profile/timeline/scene/comparison.h"

namespace attn {
namespace {

constexpr double kUs = 1e-3, kSame = 0.005;  // a share of the larger: below, two numbers are about the same
constexpr const char* kAbout = "≈";
constexpr double kLeastNs = 0.5;
constexpr std::size_t kMostStates = 16;

std::string options_words(const Timeline& t) {
  std::string words = phrase("tile {} × {}, {} slots", t.options.br, t.options.bc, t.options.stages);
  for (const auto& [name, value] : t.options.further)
    if (name == "step") words += phrase(", step {}", value);
  return words;
}

std::string block_words(const PipelineScene& scene) {
  const auto shown = std::ranges::find(scene.bands, true, &BlockBand::shown);
  if (shown == scene.bands.end()) return {};
  return phrase("block {} on SM {}, one of {}", shown->block, shown->sm, scene.timeline->grid_blocks);
}

// A number of one, or of both with their change; `digits` behind the point, of the change too.
PanelRow row_of(std::string name, double above, const double* below, int digits) {
  PanelRow row{std::move(name), fmt::format("{:.{}f}", above, digits), {}, {}, {}, PanelChange::same};
  if (below == nullptr) return row;
  row.below = fmt::format("{:.{}f}", *below, digits);
  const double by = std::stod(row.below) - std::stod(row.above);  // of what is shown
  const std::string text = fmt::format("{:+.{}f}", by, digits);
  const bool equal = row.below == row.above,
             about = std::fabs(by) < kSame * std::max(std::fabs(above), std::fabs(*below));
  row.change = equal ? "=" : about ? kAbout : text[0] == '-' ? "−" + text.substr(1) : text;
  if (!equal && !about) row.way = by < 0 ? PanelChange::less : PanelChange::more;
  return row;
}

double most_tiles(const PipelineScene& s) {
  std::size_t most = 0;
  for (const BlockBand& b : s.bands) most = std::max(most, b.tiles_ns.size());
  return static_cast<double>(most);
}

PanelTable launch_table(const PipelineScene& scene) {
  PanelTable table{tr("Launch"), {}};
  const PipelineScene* const other = scene.beside.get();
  const auto add = [&](const char* name, int digits, const std::function<double(const PipelineScene&)>& of) {
    const double below = other == nullptr ? 0 : of(*other), above = of(scene);
    if (std::isfinite(above) && (other == nullptr || std::isfinite(below)))
      table.rows.push_back(row_of(name, above, other == nullptr ? nullptr : &below, digits));
  };
  if (scene.timeline->plain_us > 0) {
    add(tr("plain, median µs"), 1, [](const PipelineScene& s) { return s.timeline->plain_us; });
    add(tr("recorded, median µs"), 1, [](const PipelineScene& s) { return s.timeline->traced_us; });
    add(tr("recorded / plain"), 3, [](const PipelineScene& s) { return price_of(*s.timeline); });
  }
  if (!scene.there) return table;
  add(tr("shown recording, µs"), 1, [](const PipelineScene& s) { return s.launch_ns * kUs; });
  add(tr("tail, µs"), 1, [](const PipelineScene& s) { return tail_ns(s) * kUs; });
  add(tr("tail, % of SM time"), 1, [](const PipelineScene& s) { return 100 * idle_at_end(s); });
  add(tr("gaps, % of SM time"), 1, [](const PipelineScene& s) { return 100 * idle_before_end(s); });
  add(tr("in blocks, µs per SM"), 1, [](const PipelineScene& s) { return sm_time(s).blocks; });
  add(tr("blocks per SM"), 1, [](const PipelineScene& s) {
    return s.band_rows > 0 ? static_cast<double>(s.timeline->grid_blocks) / s.band_rows : std::nan("");
  });
  if (most_tiles(scene) > 0) add(tr("query tiles per block"), 0, most_tiles);
  if (scene.key_tiles > 0)
    add(tr("key tiles of a consumer"), 0, [](const PipelineScene& s) { return static_cast<double>(s.key_tiles); });
  if (!scene.idle.empty()) add(tr("surely idle, %"), 1, [](const PipelineScene& s) { return 100 * s.idle_share; });
  const std::vector<std::pair<std::string, std::string>> tips{
      {tr("plain, median µs"), tr("Median without the recorder")},
      {tr("recorded, median µs"), tr("Median with the recorder")},
      {tr("shown recording, µs"), tr("Duration of the shown recording's launch, from the global timer")},
      {tr("tail, µs"), tr("From when the first SM finishes to when the last does")},
      {tr("gaps, % of SM time"), tr("Before an SM's first block and between its blocks")},
      {tr("in blocks, µs per SM"), tr("Average time during which an SM has a block")},
      {tr("key tiles of a consumer"),
       tr("That the consumer with the most computes in the shown block, over all its query tiles")},
      {tr("surely idle, %"),
       tr("Share of the shown block's time during which no product is in flight: the tensor cores have no work")}};
  for (PanelRow& row : table.rows)
    for (const auto& [name, tip] : tips)
      if (row.name == name) row.tip = tip;
  return table;
}

// Those of the one that is shown by their time, then those that the other has alone.
PanelTable states_table(const PipelineScene& scene) {
  const PipelineScene* const other = scene.beside.get();
  const bool one = scene.states_of.size() == 1 && (other == nullptr || other->states_of == scene.states_of);
  PanelTable table{
      one ? phrase("Key tile of consumer {}, ns", scene.states_of.front()) : tr("Key tile of a consumer, ns"), {}};
  const auto time_in = [](const PipelineScene& s, const std::string& words) {
    const auto at = std::ranges::find(s.states, words, &PipelineScene::StateTime::words);
    return at == s.states.end() ? 0 : at->ns;
  };
  const auto add = [&](const std::string& name, const std::string& tip, double above, double below) {
    if (std::max(above, below) < kLeastNs) return;
    table.rows.push_back(row_of(name, above, other == nullptr ? nullptr : &below, 0));
    table.rows.back().tip = tip;
  };
  add(tr("all"), tr("From one key tile to the next, on average over the consumers that compute"), key_tile_ns(scene),
      other == nullptr ? 0 : key_tile_ns(*other));
  for (const PipelineScene::StateTime& state : scene.states)
    add(state.tag, state.words, state.ns, other == nullptr ? 0 : time_in(*other, state.words));
  if (other != nullptr)
    for (const PipelineScene::StateTime& state : other->states)
      if (time_in(scene, state.words) == 0) add(state.tag, state.words, 0, state.ns);
  if (table.rows.size() > kMostStates) table.rows.resize(kMostStates);
  return table;
}

}  // namespace

RecordedPanel recorded_panel(const PipelineScene& scene) {
  RecordedPanel panel;
  if (scene.timeline == nullptr) return panel;
  const Timeline& t = *scene.timeline;
  panel.kernel = t.kernel;
  panel.what = {describe(t.problem), options_words(t), block_words(scene), t.device};
  std::erase(panel.what, "");
  if (scene.beside != nullptr) {
    panel.above = options_words(t);
    panel.below = options_words(*scene.beside->timeline);
  }
  panel.tables.push_back(launch_table(scene));
  const bool compared = scene.beside == nullptr || not_typical(scene, *scene.beside).empty();
  if (!scene.states.empty() && compared) panel.tables.push_back(states_table(scene));
  for (PanelTable& table : panel.tables)
    for (PanelRow& row : table.rows)
      if (row.change == kAbout)
        row.tip += (row.tip.empty() ? "" : "\n") + phrase("{}: they differ by less than {} %", kAbout, 100 * kSame);
  std::erase_if(panel.tables, [](const PanelTable& table) { return table.rows.empty(); });
  return panel;
}

}  // namespace attn
