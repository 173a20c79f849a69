#include "profiling/timeline/timeline_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/recording/timeline_clocks.h"
#include "profiling/session/csv_field.h"

namespace attn {
namespace {

using nlohmann::json;

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string head_text(const Timeline& t) {
  std::string text = phrase("Timeline of {} on {}, {}\n", t.kernel, describe(t.problem), t.device);
  if (t.plain_us > 0)
    text += phrase("Recorded / plain: {:.3f} ({:.1f} µs / {:.1f} µs)\n", price_of(t), t.traced_us, t.plain_us);
  if (const auto& [p, r] = std::pair(t.plain_quartiles, t.traced_quartiles); p.q1 > 0 && r.q1 > 0)
    text += phrase("Quartiles: {:.1f} to {:.1f} µs / {:.1f} to {:.1f} µs\n", r.q1, r.q3, p.q1, p.q3);
  if (!t.blocks.empty()) {
    const double span = static_cast<double>(span_ns(t)) * 1e-3;
    text += t.launch_us > 0 ? phrase(
                                  "First start to last end: {:.1f} µs by the global timer, {:.1f} µs by the "
                                  "profiler's timestamps\n",
                                  span, t.launch_us)
                            : phrase("First start to last end: {:.1f} µs by the global timer\n", span);
  }
  if (!t.sms.empty() && t.unit == MomentUnit::clocks)
    text +=
        phrase("{} SMs; their clocks agree with the global timer to within {:.0f} ns\n", t.sms.size(), residual_ns(t));
  if (const std::string why = why_no_picture(t); !why.empty()) text += why + "\n";
  return text;
}

std::string lanes_text(const Timeline& t, const Pipeline& p) {
  std::string text;
  for (std::size_t l = 0; l < p.lanes.size(); ++l) {
    text += fmt::format("  {:<16}", lane_words(t, p.lanes[l]));
    int shown = 0;
    for (const StateSum& sum : sums_of(p.intervals[l])) {
      const double share = percent(sum.time, p.length());
      if (share < 0.5 || ++shown > 7) continue;
      text += fmt::format(" {} {:.1f} %;", t.tags[static_cast<std::size_t>(sum.tag)], share);
    }
    text.back() = '\n';
  }
  return text;
}

std::string path_text(const Pipeline& p) {
  if (p.path.empty()) return {};
  std::string parts;
  for (const PathOf of : kPathKinds) {
    const std::int64_t time = p.on_path(of);
    if (time == 0) continue;
    parts += fmt::format("{}{} {:.1f} %", parts.empty() ? "" : ", ", tr_of(words_of(of)), percent(time, p.length()));
  }
  return phrase("  The critical path: {}\n", parts);
}

std::string moment_cells(const Timeline& t, const TimelineLane& lane, const LaneInterval& i) {
  const bool clocks = t.unit == MomentUnit::clocks;
  return clocks ? fmt::format("{},{},{:.1f},{:.1f}", i.from, i.to, ns_of(t, lane, i.from), ns_of(t, lane, i.to))
                : fmt::format(",,{},{}", i.from, i.to);
}

}  // namespace

const char* words_of(PathOf of) {
  switch (of) {
    case PathOf::work:
      return marked("consumers' own instructions");
    case PathOf::tensor_cores:
      return marked("tensor cores");
    case PathOf::copy_k:
      return marked("K in flight");
    case PathOf::copy_v:
      return marked("V in flight");
    case PathOf::copy_q:
      return marked("Q in flight");
    case PathOf::hand_over:
      return marked("handing over");
    case PathOf::producer_work:
      return marked("producer's own instructions");
  }
  return "";
}

double ns_of(const Timeline& t, const TimelineLane& lane, std::int64_t moment) {
  if (t.unit == MomentUnit::ns || lane.block < 0) return static_cast<double>(moment);
  return ns_at(t, t.blocks[static_cast<std::size_t>(lane.block)].sm, moment);
}

std::int64_t span_ns(const Timeline& t) {
  if (t.blocks.empty()) return 0;
  return std::ranges::max(t.blocks, {}, &TimedBlock::end_ns).end_ns -
         std::ranges::min(t.blocks, {}, &TimedBlock::start_ns).start_ns;
}

double residual_ns(const Timeline& t) {
  return t.sms.empty() ? 0 : std::ranges::max(t.sms, {}, &SmClock::residual_ns).residual_ns;
}

std::string timeline_text(const Timeline& t) {
  std::string text = head_text(t);
  for (const std::int32_t block : detailed_blocks(t)) {
    const auto p = pipeline_of(t, block);
    if (!p) {
      text += p.error().message + "\n";
      continue;
    }
    const TimedBlock& b = t.blocks[static_cast<std::size_t>(block)];
    text += phrase("Block {} on SM {}: {} clocks, {:.2f} µs\n", b.block, b.sm, p->length(),
                   static_cast<double>(p->length()) * ns_a_unit(t, block) * 1e-3);
    text += lanes_text(t, *p) + path_text(*p);
  }
  return text;
}

std::string timeline_csv(const Timeline& t) {
  std::string text = "block,sm,lane,index,state,tile,slot,from_clock,to_clock,from_ns,to_ns\n";
  constexpr std::array kKinds{"producer", "consumer", "warp", "slot", "send", "wait", "compute"};
  for (std::size_t n = 0; n < t.lanes.size(); ++n) {
    const TimelineLane& lane = t.lanes[n];
    std::string before = ",,";
    if (lane.block >= 0) {
      const TimedBlock& b = t.blocks[static_cast<std::size_t>(lane.block)];
      before = fmt::format("{},{},", b.block, b.sm);
    }
    before += fmt::format("{},{},", kKinds.at(static_cast<std::size_t>(lane.kind)), lane.index);
    for (const LaneInterval& i : intervals_of(t, n)) {
      text += before + csv_field(t.tags[static_cast<std::size_t>(i.tag)]);
      text += i.tile < 0 ? "," : fmt::format(",{}", i.tile);
      text += i.slot < 0 ? "," : fmt::format(",{}", i.slot);
      text += "," + moment_cells(t, lane, i) + "\n";
    }
  }
  return text;
}

std::string timeline_perfetto(const Timeline& t) {
  json events = json::array();
  const auto name = [&](const char* what, std::int64_t process, std::size_t thread, const std::string& words) {
    events.push_back({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", words}}}});
  };
  for (std::size_t n = 0; n < t.lanes.size(); ++n) {
    const TimelineLane& lane = t.lanes[n];
    std::int64_t process = -1;
    if (lane.block >= 0) {
      const TimedBlock& b = t.blocks[static_cast<std::size_t>(lane.block)];
      process = b.block;
      name("process_name", process, n, phrase("block {} on SM {}", b.block, b.sm));
    }
    name("thread_name", process, n, lane_words(t, n));
    for (const LaneInterval& i : intervals_of(t, n)) {
      if (i.length() <= 0) continue;
      json args = json::object();
      if (i.tile >= 0) args["tile"] = i.tile;
      if (i.slot >= 0) args["slot"] = i.slot;
      const double from = ns_of(t, lane, i.from), to = ns_of(t, lane, i.to);
      events.push_back({{"ph", "X"},
                        {"name", t.tags[static_cast<std::size_t>(i.tag)]},
                        {"pid", process},
                        {"tid", n},
                        {"ts", std::round(from) * 1e-3},
                        {"dur", std::round(to - from) * 1e-3},
                        {"args", std::move(args)}});
    }
  }
  json all{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
  all["otherData"] = {{"kernel", t.kernel},
                      {"problem", describe(t.problem)},
                      {"device", t.device},
                      {"recorded_over_plain", price_of(t)},
                      {"residual_ns", residual_ns(t)}};
  return all.dump() + "\n";
}

}  // namespace attn
