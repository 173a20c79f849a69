#include "profiling/session/json/heartbeat_json.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxSamples = 1 << 15, kMaxCounters = 64, kMaxLaunches = 1024;
constexpr std::int64_t kMaxNs = std::int64_t{1} << 50;  // 13 days: sums of it stay whole
constexpr double kMaxValue = 1e12;

// Each sample's length, and the time since the one before it ended, which is mostly 0: short, and in order as it
// stands.
json spans_to_json(const Heartbeat& h) {
  json gaps = json::array(), lengths = json::array();
  std::int64_t at = 0;
  for (const BeatSpan& s : h.samples) {
    gaps.push_back(s.start_ns - at);
    lengths.push_back(s.end_ns - s.start_ns);
    at = s.end_ns;
  }
  return {{"gap_ns", std::move(gaps)}, {"length_ns", std::move(lengths)}};
}

// The first may begin before the first launch.
void read_spans(JsonFields& fields, Heartbeat& h) {
  const std::vector<std::int64_t> gaps = fields.integers("gap_ns", kMaxSamples);
  const std::vector<std::int64_t> lengths = fields.integers("length_ns", kMaxSamples);
  if (gaps.size() != lengths.size())
    return fields.refuse("gap_ns", phrase("has {} elements, but length_ns has {}", gaps.size(), lengths.size()));
  std::int64_t at = 0;
  for (std::size_t n = 0; n < gaps.size(); ++n) {
    if (gaps[n] > kMaxNs || gaps[n] < (n == 0 ? -kMaxNs : 0) || lengths[n] < 1 || lengths[n] > kMaxNs || at > kMaxNs)
      return fields.refuse("gap_ns", phrase("and length_ns put sample {} at an impossible position", n));
    const std::int64_t start = at + gaps[n];
    at = start + lengths[n];
    h.samples.push_back({start, at});
  }
}

double time_in(JsonFields& fields, const char* key) {
  const double value = fields.number(key);
  if (!std::isfinite(value) || value < 0 || value > kMaxValue)
    fields.refuse(key, tr("must be a finite number, 0 or more"));
  return value;
}

Result<BeatLaunch> launch_from_json(const json& j, const std::string& where, const Heartbeat& h) {
  JsonFields fields(j, where);
  BeatLaunch l;
  l.kernel = fields.text("kernel");
  l.start_us = time_in(fields, "start_us");
  l.end_us = time_in(fields, "end_us");
  // It may start before the one before it has ended, not before that one's start.
  const double before = h.launches.empty() ? 0 : h.launches.back().start_us;
  if (l.end_us <= l.start_us || l.start_us < before)
    fields.refuse("start_us", tr("must not be before the previous launch, and must be before end_us"));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return l;
}

Result<BeatCounter> counter_from_json(const json& j, const std::string& where, const Heartbeat& h) {
  JsonFields fields(j, where);
  BeatCounter c;
  c.id = fields.text("id");
  c.metric = fields.text("metric", kMaxText);
  c.why_not = fields.text("why_not", kMaxText);
  const json& values = fields.array("values");
  if (c.why_not.empty() ? values.size() != h.samples.size() : !values.empty())
    fields.refuse("values", phrase("has {} elements for {} samples", values.size(), h.samples.size()));
  for (const BeatCounter& other : h.counters)
    if (other.id == c.id) fields.refuse("id", tr("appears twice"));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  c.values.reserve(values.size());
  for (const json& v : values) {
    const double value = v.is_number() ? v.get<double>() : -1;
    if (!std::isfinite(value) || value < 0 || value > kMaxValue)
      return bad_input(phrase("{}: value {} is not a finite number, 0 or more.", where, c.values.size()));
    c.values.push_back(value);
  }
  return c;
}

}  // namespace

json heartbeat_to_json(const Heartbeat& h) {
  json launches = json::array(), counters = json::array();
  for (const BeatLaunch& l : h.launches)
    launches.push_back({{"kernel", l.kernel}, {"start_us", l.start_us}, {"end_us", l.end_us}});
  for (const BeatCounter& c : h.counters)
    counters.push_back({{"id", c.id}, {"metric", c.metric}, {"why_not", c.why_not}, {"values", c.values}});
  json j = {{"method", h.method},
            {"chip", h.chip},
            {"interval", h.interval},
            {"interval_unit", h.in_cycles ? "cycles" : "ns"},
            {"tries", h.tries},
            {"kernel_us", h.kernel_us},
            {"seconds", h.seconds},
            {"launches", std::move(launches)},
            {"counters", std::move(counters)}};
  j.update(spans_to_json(h));
  return j;
}

Result<Heartbeat> begin_heartbeat_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  Heartbeat h;
  h.method = fields.text("method", kMaxText);
  h.chip = fields.text("chip");
  h.interval = fields.integer("interval", 1, kMaxNs);
  h.in_cycles = fields.choice("interval_unit", {"ns", "cycles"}) == 1;
  h.tries = static_cast<std::int32_t>(fields.integer("tries", 1, 1000));
  h.kernel_us = time_in(fields, "kernel_us");
  h.seconds = time_in(fields, "seconds");
  const json& launches = fields.array("launches");
  const json& counters = fields.array("counters");
  if (launches.empty() || launches.size() > kMaxLaunches)
    fields.refuse("launches", phrase("must have 1 to {} elements", kMaxLaunches));
  if (counters.size() > kMaxCounters) fields.refuse("counters", phrase("has more than {}", kMaxCounters));
  read_spans(fields, h);
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  for (const json& one : launches) {
    auto l = launch_from_json(one, phrase("{}, launch {}", where, h.launches.size()), h);
    if (!l) return tl::unexpected(l.error());
    h.launches.push_back(std::move(*l));
  }
  return h;
}

Result<bool> more_heartbeat_from_json(const json& j, const std::string& where, Heartbeat& h) {
  const json& counters = j.at("counters");
  if (h.counters.size() == counters.size()) return true;
  auto c = counter_from_json(counters[h.counters.size()], phrase("{}, counter {}", where, h.counters.size()), h);
  if (!c) return tl::unexpected(c.error());
  h.counters.push_back(std::move(*c));
  return h.counters.size() == counters.size();
}

Result<Heartbeat> heartbeat_from_json(const json& j, const std::string& where) {
  auto h = begin_heartbeat_from_json(j, where);
  while (h) {
    const auto all = more_heartbeat_from_json(j, where, *h);
    if (!all) return tl::unexpected(all.error());
    if (*all) break;
  }
  return h;
}

}  // namespace attn
