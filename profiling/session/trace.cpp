#include "profiling/session/trace.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "attnscope_version.h"
#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/problem.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/session/run.h"

namespace attn {
namespace {

using nlohmann::json;

// Microseconds to the nanosecond: a viewer counts in these, and what does not fit them would stick out of its point.
double whole_ns(double us) {
  return std::round(us * 1e3) / 1e3;
}

std::int64_t begin_of(const SweepRun& run) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Measurement& m : run.rows)
    if (!m.stages.empty()) first = std::min(first, m.begun_unix_us);
  return first;
}

std::string date_of(std::int64_t unix_us) {
  const std::chrono::system_clock::time_point at{std::chrono::microseconds(unix_us)};
  return time_text(at, TimeZone::utc, "%Y-%m-%dT%H:%M:%SZ");
}

json name_event(const char* what, std::size_t process, std::size_t thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

// What is known of a point, for the panel that opens on a click.
json details_of(const Measurement& m) {
  json args = {{"kernel", m.key.kernel}, {"problem", describe(m.key.problem)}, {"state", name_of(m.state)}};
  if (!m.key.source_hash.empty()) args["source_hash"] = m.key.source_hash;
  if (!m.reason.empty()) args["reason"] = m.reason;
  if (m.time.n > 0) {
    args["time_us_median"] = m.time.median;
    args["repeats"] = m.time.n;
  }
  return args;
}

// One run's points and their stages.
class RunEvents {
 public:
  RunEvents(const SweepRun& run, std::size_t process, json& events)
      : origin_(begin_of(run)), process_(process), events_(events) {
    events_.push_back(name_event("process_name", process_, 0, run_words(run)));
    for (const Measurement& m : run.rows)
      if (!m.stages.empty()) add(m);
  }

 private:
  // From 1: one a device, named when it first comes.
  std::size_t thread_of(const std::string& device) {
    const auto at = std::find(devices_.begin(), devices_.end(), device);
    const auto thread = static_cast<std::size_t>(at - devices_.begin()) + 1;
    if (at == devices_.end()) {
      devices_.push_back(device);
      events_.push_back(name_event("thread_name", process_, thread, device.empty() ? "no device" : device));
    }
    return thread;
  }

  void add(const Measurement& m) {
    const std::size_t thread = thread_of(m.key.device);
    const auto begin = static_cast<double>(m.begun_unix_us - origin_);
    const auto slice = [&](const char* kind, const std::string& name, double start, double end) {
      return json{{"ph", "X"},
                  {"cat", kind},
                  {"name", name},
                  {"pid", process_},
                  {"tid", thread},
                  {"ts", start},
                  {"dur", whole_ns(end - start)}};
    };
    const Stage& last = m.stages.back();
    const double end = whole_ns(begin + last.start_us + last.duration_us);
    json point = slice("point", fmt::format("{}, {}", m.key.kernel, describe(m.key.problem)), begin, end);
    point["args"] = details_of(m);
    events_.push_back(std::move(point));
    for (std::size_t i = 0; i < m.stages.size(); ++i) {
      const Stage& s = m.stages[i];
      const double start = std::min(end, whole_ns(begin + s.start_us));
      events_.push_back(slice("stage", s.name, start, std::min(end, whole_ns(begin + s.start_us + s.duration_us))));
    }
  }

  std::int64_t origin_;
  std::size_t process_;
  json& events_;
  std::vector<std::string> devices_;
};

// A heartbeat is on the GPU's clock and of one run alone: a process of its own that begins at 0, its launches a thread,
// each counter a track.
void add_heartbeat(const Measurement& m, std::size_t process, json& events) {
  const Heartbeat& h = *m.heartbeat;
  events.push_back(
      name_event("process_name", process, 0, fmt::format("heartbeat: {}, {}", m.key.kernel, describe(m.key.problem))));
  events.push_back(name_event("thread_name", process, 1, m.key.device.empty() ? "no device" : m.key.device));
  for (const BeatLaunch& l : h.launches)
    events.push_back({{"ph", "X"},
                      {"cat", "launch"},
                      {"name", l.kernel},
                      {"pid", process},
                      {"tid", 1},
                      {"ts", whole_ns(l.start_us)},
                      {"dur", whole_ns(l.length_us())}});
  for (const BeatCounter& c : h.counters) {
    const BeatRow* row = find_beat_row(c.id);
    const std::string name =
        row == nullptr ? c.id : fmt::format("{}, {}", std::string(row->label), std::string(row->unit));
    for (std::size_t n = 0; n < c.values.size(); ++n) {
      if (h.samples[n].end_ns <= 0) continue;
      const double start = static_cast<double>(std::max<std::int64_t>(0, h.samples[n].start_ns)) * 1e-3;
      events.push_back({{"ph", "C"},
                        {"name", name},
                        {"pid", process},
                        {"tid", 1},
                        {"ts", whole_ns(start)},
                        {"args", {{"value", c.values[n]}}}});
    }
  }
}

}  // namespace

std::size_t rows_with_stages(const Session& s) {
  std::size_t count = 0;
  for (const SweepRun& run : s.runs)
    count += static_cast<std::size_t>(
        std::count_if(run.rows.begin(), run.rows.end(), [](const Measurement& m) { return !m.stages.empty(); }));
  return count;
}

std::string to_trace(const Session& s) {
  const InEnglish recorded;
  json events = json::array(), runs = json::array();
  std::size_t process = 0;
  for (const SweepRun& run : s.runs) {
    const bool any = std::any_of(run.rows.begin(), run.rows.end(), [](const auto& m) { return !m.stages.empty(); });
    if (!any) continue;
    const RunEvents made(run, ++process, events);
    runs.push_back({{"pid", process}, {"run", run.id}, {"name", run_words(run)}, {"begun", date_of(begin_of(run))}});
  }
  for (const SweepRun& run : s.runs)
    for (const Measurement& m : run.rows)
      if (m.heartbeat != nullptr) add_heartbeat(m, ++process, events);
  const json trace = {{"displayTimeUnit", "ms"},
                      {"otherData",
                       {{"program", fmt::format("attnscope {}", ATTNSCOPE_VERSION)},
                        {"runs", std::move(runs)},
                        {"rows_without_stages", rows_of(s) - rows_with_stages(s)}}},
                      {"traceEvents", std::move(events)}};
  // A device's name may come from a file: what is no UTF-8 is replaced, not thrown.
  return trace.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace attn
