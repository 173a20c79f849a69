#include "viz/profile/phases/mosaic.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/hands.h"

namespace attn {
namespace {

using gpu::CodePhase;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double p = 100 * share_of(part, whole);
  return p > 0 && p < 9.95 ? fmt::format("{:.1f} %", p) : fmt::format("{:.0f} %", p);
}

// "1 234 567"
std::string grouped(std::uint64_t n) {
  std::string digits = fmt::format("{}", n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return digits;
}

std::string us_text(double us) {
  return us > 0 ? value_with_unit(us, time_unit(us, us)) : std::string();
}

// "short_scoreboard 15 842, mio_throttle 2 915": CUPTI's names of the reasons that make a state; below what each means.
std::string reasons_of(const KernelSamples& s, const SampleCounts& counts, WarpState state) {
  std::vector<std::pair<std::uint64_t, std::string_view>> reasons;
  for (std::size_t n = 0; n < counts.by_reason.size(); ++n)
    if (const std::uint64_t of = counts.by_reason_of[n].at(static_cast<std::size_t>(state)); of > 0)
      reasons.emplace_back(of, s.reasons[n]);
  std::ranges::stable_sort(reasons, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string words;
  for (const auto& [count, name] : reasons)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, grouped(count));
  for (const auto& [count, name] : reasons)
    if (const StallReason* reason = find_stall_reason(name); reason != nullptr)
      words += fmt::format("\n{}: {}", name, tr_of(reason->what));
  return words;
}

std::vector<MosaicCell> cells_of(const KernelSamples& s, const SampleCounts& counts, std::uint64_t all,
                                 const std::string& of) {
  std::vector<MosaicCell> cells;
  std::uint64_t below = 0;
  for (const WarpState state : all_warp_states()) {
    const auto at = static_cast<std::size_t>(state);
    if (counts.of.at(at) == 0) continue;
    MosaicCell cell;
    cell.state = state;
    cell.samples = counts.of.at(at);
    cell.from = share_of(below, counts.all);
    below += cell.samples;
    cell.to = share_of(below, counts.all);
    cell.brief = fmt::format("{:.0f}", 100 * share_of(cell.samples, counts.all));
    cell.text = fmt::format("{} % {}", cell.brief, words_of(state));
    cell.tip = phrase("{}: {}\n{} of {} samples, or {} of all\nNo instruction issued in {}\nCUPTI: {}", of,
                      words_of(state), grouped(cell.samples), grouped(counts.all), percent(cell.samples, all),
                      percent(counts.not_issued_of.at(at), cell.samples), reasons_of(s, counts, state));
    cells.push_back(std::move(cell));
  }
  return cells;
}

// As it is listed: "O, alpha O + P V".
std::string name_words(CodePhase phase) {
  return fmt::format("{}, {}", gpu::name_of(phase), gpu::words_of(phase));
}

// Of each phase the line with the most of its samples.
void put_line(const KernelSamples& s, const std::vector<SampledLine>& lines, MosaicColumn& column) {
  const auto at = std::ranges::find(lines, column.phase, &SampledLine::phase);
  if (at == lines.end()) return;
  const std::string& name = s.files.at(at->file);
  column.file = at->file == 0 ? "" : name.substr(name.rfind('/') + 1);
  column.line = static_cast<std::int32_t>(at->line);
}

// As a part of "a warp that ...".
std::string_view did(WarpState state) {
  if (state == WarpState::ready) return tr("was ready");
  return state == WarpState::dispatch ? tr("was held at dispatch") : words_of(state);
}

// What the warps did most often in these samples, as a part of "its warp ...". Shared memory and special functions wait
// in one queue: they are one, so that the sentence is the same where the machine code does not tell them apart, and the
// part that is known is named.
std::string did_most(const std::array<std::uint64_t, kWarpStates>& of) {
  const auto at = [&](WarpState state) { return of.at(static_cast<std::size_t>(state)); };
  const auto in_queue = [](WarpState state) {
    return state == WarpState::shared || state == WarpState::special || state == WarpState::queue;
  };
  WarpState most = WarpState::issues, part = WarpState::queue;
  std::uint64_t queue = 0;
  for (const WarpState state : all_warp_states()) {
    if (in_queue(state)) {
      queue += at(state);
      if (at(state) > at(part)) part = state;
    } else if (at(state) > at(most)) {
      most = state;
    }
  }
  if (at(most) >= queue) return std::string(did(most));
  if (part == WarpState::queue || at(part) > at(most)) return std::string(words_of(part));
  return fmt::format("{}, {}", words_of(WarpState::queue),
                     part == WarpState::shared ? tr("mostly for shared memory") : tr("mostly for special functions"));
}

// The phase in whose samples nothing was issued most often, and what its warps did then.
void put_headline(const SampleCounts& all, const std::vector<SampledPhase>& phases, MosaicScene& scene) {
  const auto most = std::ranges::max_element(phases, {}, [](const SampledPhase& p) { return p.counts.not_issued; });
  if (most == phases.end() || most->counts.not_issued == 0) return;
  const SampleCounts& counts = most->counts;
  const PhaseSign sign = sign_of(most->phase);
  const bool letter = sign.face == Face::maths;
  const auto bold = [](std::string words) { return TextRun{std::move(words), Face::bold, Token::text}; };
  scene.headline = woven(
      phrase("No instruction was issued in {} of the samples, most often in {} ({}), where the warp most often {}.",
             percent(all.not_issued, all.all), place(0), percent(counts.not_issued, all.not_issued),
             did_most(counts.not_issued_of)),
      {letter ? TextRun{sign.text, Face::maths, sign.ink} : bold(sign.text)}, Token::text);
  for (TextRun& run : scene.headline)
    if (run.face == Face::text) run.face = Face::bold;
}

void put_other(const Measurement& other, double us, MosaicScene& scene) {
  if (other.samples == nullptr || !other.samples->no_lines.empty() || us <= 0 || other.time.n == 0) return;
  const KernelSamples& s = *other.samples;
  const SampleCounts all = counts_of(s);
  if (all.all == 0) return;
  scene.other = other.key.kernel;
  const double longer = other.time.median / us;
  std::uint64_t before = 0;
  for (const SampledPhase& phase : samples_by_phase(s)) {
    MosaicPart part;
    part.phase = phase.phase;
    part.sign = sign_of(phase.phase);
    part.from = longer * share_of(before, all.all);
    before += phase.counts.all;
    part.to = longer * share_of(before, all.all);
    part.tip = phrase("{}: {}\n{} of its warps' time, {} of {}", other.key.kernel, name_words(phase.phase),
                      percent(phase.counts.all, all.all),
                      us_text(other.time.median * share_of(phase.counts.all, all.all)), us_text(other.time.median));
    scene.parts.push_back(std::move(part));
  }
  scene.other_words =
      fmt::format("{}, {}. {}", other.key.kernel, us_text(other.time.median),
                  longer <= 1 ? tr("On the scale above.")
                              : phrase("Takes {:.3g} times as long, so it is drawn on its own scale.", longer));
}

std::string notes_of(const KernelSamples& s, const SampleCounts& all) {
  std::string words = phrase("{} samples of {}, one per multiprocessor every {} cycles; {}.", grouped(all.all),
                             s.launches == 1 ? tr("one run") : phrase("{} runs", s.launches),
                             grouped(std::uint64_t{1} << s.period_log2),
                             s.dropped == 0 ? tr("none was dropped") : phrase("{} were dropped", grouped(s.dropped)));
  if (s.unattributed > 0) words += phrase(" {} are from other code.", grouped(s.unattributed));
  return words;
}

std::string rule_of(const SampleCounts& all) {
  std::string words =
      tr("A sample is attributed to the instruction that waits, not to the instruction that made it wait.");
  if (all.of.at(static_cast<std::size_t>(WarpState::barrier)) > 0)
    words += tr(" Waiting for other warps counts towards the barrier's phase.");
  return words;
}

}  // namespace

std::vector<std::size_t> leaders_of(std::span<const float> middles, float apart) {
  std::vector<std::size_t> ends;
  for (std::size_t n = 1; n <= middles.size(); ++n)
    if (n == middles.size() || middles[n] - middles[n - 1] > apart) ends.push_back(n);
  return ends;
}

BoxWords words_in_box(float box, float sign, float share, float gap, float side) {
  const float room = box - 2 * side;
  return {sign <= room, sign + gap + share <= room};
}

MosaicLegend legend_of(const std::vector<MosaicCell>& all, std::size_t rows) {
  MosaicLegend legend;
  legend.named.assign(all.size(), true);
  if (all.size() <= rows) return legend;
  std::vector<std::size_t> largest(all.size());
  std::iota(largest.begin(), largest.end(), std::size_t{0});
  std::ranges::stable_sort(largest, std::greater<>(), [&](std::size_t n) { return all[n].samples; });
  std::uint64_t sum = 0, rest = 0;
  for (std::size_t n = 0; n < largest.size(); ++n) {
    const MosaicCell& cell = all[largest[n]];
    sum += cell.samples;
    if (n + 1 < rows) continue;
    legend.named[largest[n]] = false;
    rest += cell.samples;
  }
  legend.rest = phrase("{:.0f} % the rest", 100 * share_of(rest, sum));
  return legend;
}

MosaicScene mosaic_scene(const Measurement& row, const Measurement* against) {
  MosaicScene scene;
  if (row.samples == nullptr) {
    scene.empty = row.no_samples;
    return scene;
  }
  const KernelSamples& s = *row.samples;
  const SampleCounts all = counts_of(s);
  scene.there = true;
  if (all.all == 0 || !s.no_lines.empty()) {
    scene.empty = all.all == 0 ? tr("no sample was taken") : s.no_lines;
    return scene;
  }
  const double us = row.time.n > 0 ? row.time.median : 0;
  const std::vector<SampledPhase> phases = samples_by_phase(s);
  const std::vector<SampledLine> lines = samples_by_line(s);
  std::uint64_t before = 0, empty_before = 0;
  for (const SampledPhase& phase : phases) {
    MosaicColumn column;
    column.phase = phase.phase;
    column.sign = sign_of(phase.phase);
    column.from = share_of(before, all.all);
    column.empty_from = share_of(empty_before, all.not_issued);
    before += phase.counts.all;
    empty_before += phase.counts.not_issued;
    column.to = share_of(before, all.all);
    column.empty_to = share_of(empty_before, all.not_issued);
    column.share = percent(phase.counts.all, all.all);
    column.time = us_text(us * share_of(phase.counts.all, all.all));
    column.empty_share = percent(phase.counts.not_issued, all.not_issued);
    put_line(s, lines, column);
    const std::string name = name_words(phase.phase);
    const std::string where = column.line == 0 ? std::string()
                              : by_touch()     ? phrase("\nMost at line {}. Tap to go there.", column.line)
                                               : phrase("\nMost at line {}. Click to go there.", column.line);
    column.tip =
        phrase("{}\n{} of the warps' time{}{}: {} of {} samples{}", name, column.share, column.time.empty() ? "" : ", ",
               column.time, grouped(phase.counts.all), grouped(all.all), where);
    column.empty_tip = phrase("{}\n{} of the samples in which no instruction was issued: {} of {}{}", name,
                              column.empty_share, grouped(phase.counts.not_issued), grouped(all.not_issued), where);
    column.cells = cells_of(s, phase.counts, all.all, std::string(gpu::name_of(phase.phase)));
    for (MosaicCell& cell : column.cells) cell.tip += where;
    scene.columns.push_back(std::move(column));
  }
  scene.all = cells_of(s, all, all.all, tr("All phases"));
  scene.scale = phrase("width: share of the warps' time{}{} · height: what the warps did (hatched: waits)",
                       us > 0 ? ", " : "", us_text(us));
  scene.scale_brief = phrase("width: time{}{} · hatched: waits", us > 0 ? ", " : "", us_text(us));
  scene.notes = notes_of(s, all);
  scene.rule = rule_of(all);
  put_headline(all, phases, scene);
  if (against != nullptr) put_other(*against, us, scene);
  return scene;
}

}  // namespace attn
