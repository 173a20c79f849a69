#include "profiling/tune/tile_json.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"
#include "kernels/model/problem_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxText = 4096;
constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max(), kMaxWhole = std::int64_t{1} << 53;

json time_to_json(const TimeStatistics& t) {
  return {{"n", t.n},     {"median", t.median}, {"q1", t.q1},           {"q3", t.q3},           {"min", t.min},
          {"max", t.max}, {"ci_low", t.ci_low}, {"ci_high", t.ci_high}, {"settled", t.settled}, {"drifted", t.drifted}};
}

Result<TimeStatistics> time_from_json(const json& j) {
  JsonFields fields(j, "time");
  TimeStatistics t;
  t.n = static_cast<std::int32_t>(fields.integer("n", 1, kMax32));
  const auto us = [&](const char* key) {
    const double value = fields.number(key);
    if (!(value >= 0 && value < 1e15)) fields.refuse(key, phrase("is {}; use 0 to 1e15", value));
    return value;
  };
  t.median = us("median");
  t.q1 = us("q1");
  t.q3 = us("q3");
  t.min = us("min");
  t.max = us("max");
  t.ci_low = us("ci_low");
  t.ci_high = us("ci_high");
  t.settled = fields.boolean("settled");
  t.drifted = fields.boolean("drifted");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return t;
}

}  // namespace

json tile_to_json(const TriedTile& t) {
  json j = {{"options", options_to_json(t.tile.options)},
            {"fate", name_of(t.fate)},
            {"threads", t.tile.threads},
            {"shared_bytes", t.tile.shared_bytes},
            {"blocks_per_sm", t.tile.occupancy.blocks},
            {"warps_per_sm", t.tile.occupancy.warps},
            {"max_warps", t.tile.occupancy.max_warps},
            {"limiter", t.tile.occupancy.limiter}};
  if (!t.why.empty()) j["why"] = t.why;
  if (!t.verdict.empty()) j["verdict"] = t.verdict;
  if (t.tile.compiled)
    j["compiled"] = {{"registers", t.tile.compiled->registers},
                     {"spill_bytes", t.tile.compiled->spill_bytes},
                     {"static_bytes", t.tile.compiled->static_bytes}};
  if (t.time.n > 0) j["time"] = time_to_json(t.time);
  if (t.turns.n > 0) j["turns"] = time_to_json(t.turns);
  return j;
}

Result<TriedTile> tile_from_json(const json& j) {
  JsonFields fields(j, "tile");
  TriedTile t;
  const auto fate = tile_fate_from_name(fields.text("fate"));
  if (!fate) fields.refuse("fate", tr("is unknown"));
  t.fate = fate.value_or(TileFate::not_tried);
  t.tile.threads = fields.integer("threads", 0, kMaxWhole);
  t.tile.shared_bytes = fields.integer("shared_bytes", 0, kMaxWhole);
  t.tile.occupancy.blocks = static_cast<std::int32_t>(fields.integer("blocks_per_sm", 0, kMax32));
  t.tile.occupancy.warps = static_cast<std::int32_t>(fields.integer("warps_per_sm", 0, kMax32));
  t.tile.occupancy.max_warps = static_cast<std::int32_t>(fields.integer("max_warps", 0, kMax32));
  t.tile.occupancy.limiter = fields.text("limiter");
  if (fields.has("why")) t.why = fields.text("why", kMaxText);
  if (fields.has("verdict")) t.verdict = fields.text("verdict", kMaxText);
  if (t.fate == TileFate::refused) t.tile.why_not = t.why;
  const auto options = options_from_json(fields.object("options"), tr("tile, options"));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  if (!options) return tl::unexpected(options.error());
  t.tile.options = *options;
  if (fields.has("compiled")) {
    JsonFields compiled(j.at("compiled"), tr("tile, compiled"));
    t.tile.compiled =
        CompiledTile{static_cast<std::int32_t>(compiled.integer("registers", 0, kMax32)),
                     compiled.integer("spill_bytes", 0, kMaxWhole), compiled.integer("static_bytes", 0, kMaxWhole)};
    if (auto read = compiled.result(); !read) return tl::unexpected(read.error());
  }
  for (const auto& [name, into] : {std::pair("time", &t.time), std::pair("turns", &t.turns)}) {
    if (!fields.has(name)) continue;
    const auto time = time_from_json(j.at(name));
    if (!time) return tl::unexpected(time.error());
    *into = *time;
  }
  return t;
}

}  // namespace attn
