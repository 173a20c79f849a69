#include "profiling/tune/export.h"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/problem_json.h"
#include "profiling/session/csv_field.h"
#include "profiling/tune/store.h"
#include "profiling/tune/tile_json.h"

namespace attn {
namespace {

using nlohmann::json;

std::string flag(bool b) {
  return b ? "true" : "false";
}

template <class T>
std::string number(T x) {
  return fmt::format("{}", x);
}

// Of the one number, where there was a time.
std::string time(const TimeStatistics& t, double TimeStatistics::*part) {
  return t.n > 0 ? number(t.*part) : "";
}

std::string compiled(const TriedTile& t, std::int64_t (*part)(const CompiledTile&)) {
  return t.tile.compiled ? number(part(*t.tile.compiled)) : "";
}

struct Column {
  std::string_view name;
  std::string (*text)(const TuneResult& r, std::size_t n);
};
using R = const TuneResult&;
using N = std::size_t;

constexpr auto kColumns = std::to_array<Column>({
    {"kernel", [](R r, N) { return r.kernel; }},
    {"device", [](R r, N) { return r.device; }},
    {"dtype", [](R r, N) { return std::string(name_of(r.problem.dtype)); }},
    {"B", [](R r, N) { return number(r.problem.B); }},
    {"Hq", [](R r, N) { return number(r.problem.Hq); }},
    {"Hkv", [](R r, N) { return number(r.problem.Hkv); }},
    {"Lq", [](R r, N) { return number(r.problem.Lq); }},
    {"Lk", [](R r, N) { return number(r.problem.Lk); }},
    {"D", [](R r, N) { return number(r.problem.D); }},
    {"Dv", [](R r, N) { return number(r.problem.Dv); }},
    {"mask", [](R r, N) { return mask_class(r.problem); }},
    {"br", [](R r, N n) { return number(r.tiles[n].tile.options.br); }},
    {"bc", [](R r, N n) { return number(r.tiles[n].tile.options.bc); }},
    {"threads", [](R r, N n) { return number(r.tiles[n].tile.options.threads); }},
    {"stages", [](R r, N n) { return number(r.tiles[n].tile.options.stages); }},
    {"usual", [](R r, N n) { return flag(n == r.usual); }},
    {"chosen", [](R r, N n) { return r.decision ? flag(n == r.chosen) : std::string(); }},
    {"fate", [](R r, N n) { return std::string(name_of(r.tiles[n].fate)); }},
    {"reason", [](R r, N n) { return r.tiles[n].why; }},
    {"verdict", [](R r, N n) { return r.tiles[n].verdict; }},
    {"shared_dynamic_bytes", [](R r, N n) { return number(r.tiles[n].tile.shared_bytes); }},
    {"blocks_per_sm",
     [](R r, N n) {
       return r.tiles[n].tile.occupancy.max_warps > 0 ? number(r.tiles[n].tile.occupancy.blocks) : std::string();
     }},
    {"occupancy_theoretical_pct",
     [](R r, N n) {
       return r.tiles[n].tile.occupancy.max_warps > 0 ? number(r.tiles[n].tile.occupancy.percent()) : std::string();
     }},
    {"limiter", [](R r, N n) { return r.tiles[n].tile.occupancy.limiter; }},
    {"registers_count",
     [](R r, N n) {
       return compiled(r.tiles[n], [](const CompiledTile& c) -> std::int64_t { return c.registers; });
     }},
    {"spill_bytes", [](R r, N n) { return compiled(r.tiles[n], [](const CompiledTile& c) { return c.spill_bytes; }); }},
    {"time_us", [](R r, N n) { return time(r.tiles[n].time, &TimeStatistics::median); }},
    {"time_ci_low_us", [](R r, N n) { return time(r.tiles[n].time, &TimeStatistics::ci_low); }},
    {"time_ci_high_us", [](R r, N n) { return time(r.tiles[n].time, &TimeStatistics::ci_high); }},
    {"repeats_count", [](R r, N n) { return number(r.tiles[n].time.n); }},
    {"turns_us", [](R r, N n) { return time(r.tiles[n].turns, &TimeStatistics::median); }},
    {"turns_ci_low_us", [](R r, N n) { return time(r.tiles[n].turns, &TimeStatistics::ci_low); }},
    {"turns_ci_high_us", [](R r, N n) { return time(r.tiles[n].turns, &TimeStatistics::ci_high); }},
    {"turns_count", [](R r, N n) { return number(r.tiles[n].turns.n); }},
});

// What the kernel declares beside the common options, in its row's order: columns behind the others.
std::vector<const Option*> further_options(std::string_view kernel) {
  std::vector<const Option*> further;
  const auto row = find_kernel(kernel);
  if (!row) return further;
  for (const OptionSpec& spec : (*row)->options)
    if (spec.option->get == nullptr) further.push_back(spec.option);
  return further;
}

}  // namespace

std::string tiles_to_csv(const TuneResult& r) {
  const InEnglish recorded;
  const std::vector<const Option*> further = further_options(r.kernel);
  std::string text;
  for (const Column& c : kColumns) text += (text.empty() ? "" : ",") + csv_field(c.name);
  for (const Option* o : further) text += "," + csv_field(o->name);
  text += '\n';
  for (std::size_t n = 0; n < r.tiles.size(); ++n) {
    for (const Column& c : kColumns) text += (&c == kColumns.data() ? "" : ",") + csv_field(c.text(r, n));
    for (const Option* o : further) {
      const auto value = attn::chosen(r.tiles[n].tile.options, *o);
      text += "," + csv_field(value ? value_text(*o, *value) : std::string());
    }
    text += '\n';
  }
  return text;
}

std::string tiles_to_json_text(const TuneResult& r) {
  json tiles = json::array();
  for (const TriedTile& t : r.tiles) tiles.push_back(tile_to_json(t));
  json j = {{"kernel", r.kernel},       {"device", r.device},   {"problem", problem_to_json(r.problem)},
            {"words", r.words},         {"usual", r.usual},     {"tried", r.tried()},
            {"fitting", r.fitting()},   {"seconds", r.seconds}, {"clock", r.clock},
            {"tiles", std::move(tiles)}};
  if (r.decision) {
    j["decision"] = name_of(*r.decision);
    j["chosen"] = r.chosen;
  }
  if (!r.date.empty()) j["date"] = r.date;
  return j.dump(1) + "\n";
}

}  // namespace attn
