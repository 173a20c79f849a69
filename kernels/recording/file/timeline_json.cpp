#include "kernels/recording/file/timeline_json.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/npy_table.h"
#include "kernels/model/problem_json.h"

namespace attn {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

constexpr std::size_t kPointColumns = 3, kBlockColumns = 6, kLaneColumns = 5, kEventColumns = 4;
constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;

// In the order of the enumerators.
const Names& unit_names() {
  static const Names names{"clocks", "ns"};
  return names;
}
const Names& buffer_names() {
  static const Names names{"shared", "global", "host"};
  return names;
}
const Names& kind_names() {
  static const Names names{"producer", "consumer", "warp", "slot", "send", "wait", "compute"};
  return names;
}

std::vector<std::byte> points_table(const Timeline& t) {
  std::vector<std::int64_t> values;
  for (const ClockPoint& p : t.points) values.insert(values.end(), {p.sm, p.clock, p.ns});
  return npy_table_bytes<std::int64_t>(values, kPointColumns);
}

std::vector<std::byte> blocks_table(const Timeline& t) {
  std::vector<std::int64_t> values;
  for (const TimedBlock& b : t.blocks) {
    values.insert(values.end(), {b.block, b.sm, b.start_ns, b.end_ns, b.start_clock, b.end_clock});
  }
  return npy_table_bytes<std::int64_t>(values, kBlockColumns);
}

std::vector<std::byte> lanes_table(const Timeline& t) {
  std::vector<std::int64_t> values;
  for (const TimelineLane& l : t.lanes) {
    values.insert(values.end(), {static_cast<std::int64_t>(l.kind), l.index, l.block, l.rank, l.count});
  }
  return npy_table_bytes<std::int64_t>(values, kLaneColumns);
}

std::vector<std::byte> events_table(const Timeline& t) {
  std::vector<std::int64_t> values;
  values.reserve(t.events.size() * kEventColumns);
  for (const TimelineEvent& e : t.events) values.insert(values.end(), {e.at, e.tag, e.tile, e.slot});
  return npy_table_bytes<std::int64_t>(values, kEventColumns);
}

json sms_to_json(const Timeline& t) {
  json list = json::array();
  for (const SmClock& c : t.sms) {
    list.push_back({{"sm", c.sm},
                    {"clock", c.clock},
                    {"ns", c.ns},
                    {"ns_per_clock", number_to_json(c.ns_per_clock)},
                    {"residual_ns", number_to_json(c.residual_ns)}});
  }
  return list;
}

class Reader {
 public:
  Reader(const json& j, std::string where, Entries& entries)
      : where_(std::move(where)), fields_(j, where_), entries_(entries) {}

  Result<Timeline> read() {
    for (const auto& step :
         {&Reader::head, &Reader::sms, &Reader::points, &Reader::blocks, &Reader::lanes, &Reader::events}) {
      if (auto good = (this->*step)(); !good) return tl::unexpected(good.error());
    }
    if (auto good = check_timeline(t_, where_); !good) return tl::unexpected(good.error());
    return std::move(t_);
  }

 private:
  Result<void> head() {
    t_.kernel = fields_.text("kernel");
    t_.source_hash = fields_.text("source_hash");
    t_.device = fields_.text("device");
    if (fields_.has("device_uuid")) t_.device_uuid = fields_.text("device_uuid");
    t_.unit = static_cast<MomentUnit>(fields_.choice("unit", unit_names()));
    t_.buffer = static_cast<EventBuffer>(fields_.choice("buffer", buffer_names()));
    t_.plain_us = fields_.number("plain_us");
    t_.traced_us = fields_.number("traced_us");
    t_.plain_quartiles = quartiles("plain_q1_us", "plain_q3_us");
    t_.traced_quartiles = quartiles("traced_q1_us", "traced_q3_us");
    t_.launch_us = fields_.number("launch_us");
    t_.grid_blocks = fields_.integer("grid_blocks", 0, kMaxWhole);
    t_.tags = fields_.texts("tags", kMaxTags);
    auto problem = problem_from_json(fields_.object("problem"), where_ + ".problem");
    auto options = options_from_json(fields_.object("options"), where_ + ".options");
    if (auto r = fields_.result(); !r) return r;
    if (!problem) return tl::unexpected(problem.error());
    if (!options) return tl::unexpected(options.error());
    t_.problem = *std::move(problem);
    t_.options = *options;
    return ok();
  }

  TimelineQuartiles quartiles(const char* q1, const char* q3) {
    if (!fields_.has(q1) && !fields_.has(q3)) return {};
    return {fields_.number(q1), fields_.number(q3)};
  }

  Result<void> sms() {
    const json& list = fields_.array("sms");
    if (list.size() > kMaxSms) fields_.refuse("sms", phrase("must have at most {} elements", kMaxSms));
    if (auto r = fields_.result(); !r) return r;
    for (const json& j : list) {
      JsonFields sm(j, fmt::format("{}.sms[{}]", where_, t_.sms.size()));
      SmClock c;
      c.sm = static_cast<std::int32_t>(sm.integer("sm", 0, kMax32));
      c.clock = sm.integer("clock", 0, std::numeric_limits<std::int64_t>::max());
      c.ns = sm.integer("ns", 0, std::numeric_limits<std::int64_t>::max());
      c.ns_per_clock = sm.number("ns_per_clock");
      c.residual_ns = sm.number("residual_ns");
      if (auto r = sm.result(); !r) return r;
      t_.sms.push_back(c);
    }
    return ok();
  }

  // Whole numbers of 32 bits, from -1 on, in columns [first, last) of a row.
  static bool narrow(std::span<const std::int64_t> row, std::size_t first, std::size_t last) {
    return std::ranges::all_of(row.subspan(first, last - first), [](std::int64_t x) { return x >= -1 && x <= kMax32; });
  }

  // Calls `take(row)` for each row of a table; it answers whether the row can be.
  template <class Take>
  Result<void> rows(const char* key, std::size_t columns, std::size_t most, Take take) {
    const auto values = entries_.table<std::int64_t>(fields_, key, columns, most);
    if (!values) return tl::unexpected(values.error());
    for (std::size_t at = 0; at < values->size(); at += columns) {
      if (take(std::span(*values).subspan(at, columns))) continue;
      return bad_input(phrase("{}.{}: row {} contains a number that is out of range.", where_, key, at / columns));
    }
    return ok();
  }

  Result<void> points() {
    if (!fields_.has("points")) return ok();
    return rows("points", kPointColumns, kMaxClockPoints, [&](std::span<const std::int64_t> row) {
      if (row[0] < 0 || row[1] < 0 || row[2] < 0 || !narrow(row, 0, 1)) return false;
      t_.points.push_back({static_cast<std::int32_t>(row[0]), row[1], row[2]});
      return true;
    });
  }

  Result<void> blocks() {
    return rows("blocks", kBlockColumns, kMaxBlocks, [&](std::span<const std::int64_t> row) {
      if (std::ranges::any_of(row, [](std::int64_t x) { return x < 0; }) || !narrow(row, 1, 2)) return false;
      t_.blocks.push_back({row[0], static_cast<std::int32_t>(row[1]), row[2], row[3], row[4], row[5]});
      return true;
    });
  }

  Result<void> lanes() {
    std::vector<LaneKind> kinds;
    for (const std::string& name : fields_.texts("kinds", kMaxTags)) {
      const auto at = std::ranges::find(kind_names(), name);
      if (at == kind_names().end()) fields_.refuse("kinds", phrase("has an unknown name: '{}'", name));
      kinds.push_back(static_cast<LaneKind>(at - kind_names().begin()));
    }
    if (auto r = fields_.result(); !r) return r;
    std::int64_t next = 0;
    return rows("lanes", kLaneColumns, kMaxLanes, [&](std::span<const std::int64_t> row) {
      const bool kind = row[0] >= 0 && row[0] < static_cast<std::int64_t>(kinds.size());
      if (!kind || !narrow(row, 1, 4) || row[4] < 0 || row[4] > static_cast<std::int64_t>(kMaxTimelineEvents)) {
        return false;
      }
      t_.lanes.push_back({kinds[static_cast<std::size_t>(row[0])], static_cast<std::int32_t>(row[1]),
                          static_cast<std::int32_t>(row[2]), static_cast<std::int32_t>(row[3]), next, row[4]});
      next += row[4];
      return true;
    });
  }

  Result<void> events() {
    return rows("events", kEventColumns, kMaxTimelineEvents, [&](std::span<const std::int64_t> row) {
      if (row[0] < 0 || !narrow(row, 1, 4)) return false;
      t_.events.push_back({row[0], static_cast<std::int32_t>(row[1]), static_cast<std::int32_t>(row[2]),
                           static_cast<std::int32_t>(row[3])});
      return true;
    });
  }

  const std::string where_;
  JsonFields fields_;
  Entries& entries_;
  Timeline t_;
};

}  // namespace

Result<json> timeline_to_json(const Timeline& t, const std::string& prefix, Container& c) {
  if (auto good = check_timeline(t, phrase("timeline of {}", t.kernel)); !good) return tl::unexpected(good.error());
  json j{{"kernel", t.kernel},
         {"source_hash", t.source_hash},
         {"device", t.device},
         {"problem", problem_to_json(t.problem)},
         {"options", options_to_json(t.options)},
         {"unit", unit_names()[static_cast<std::size_t>(t.unit)]},
         {"buffer", buffer_names()[static_cast<std::size_t>(t.buffer)]},
         {"plain_us", t.plain_us},
         {"traced_us", t.traced_us},
         {"launch_us", t.launch_us},
         {"grid_blocks", t.grid_blocks},
         {"tags", t.tags},
         {"kinds", kind_names()},
         {"sms", sms_to_json(t)}};
  if (!t.device_uuid.empty()) j["device_uuid"] = t.device_uuid;
  for (const auto& [name, q] : {std::pair("plain", t.plain_quartiles), std::pair("traced", t.traced_quartiles)}) {
    if (q.q1 <= 0) continue;
    j[fmt::format("{}_q1_us", name)] = q.q1;
    j[fmt::format("{}_q3_us", name)] = q.q3;
  }
  const auto add = [&](const char* key, std::vector<std::byte> bytes) {
    const std::string name = fmt::format("{}{}.npy", prefix, key);
    j[key] = name;
    c.files[name] = std::move(bytes);
  };
  if (!t.points.empty()) add("points", points_table(t));
  add("blocks", blocks_table(t));
  add("lanes", lanes_table(t));
  add("events", events_table(t));
  return j;
}

Result<Timeline> timeline_from_json(const json& j, const std::string& where, Entries& entries) {
  return Reader(j, where, entries).read();
}

}  // namespace attn
