// What the lanes of a launch did when: the flight record of a pipelined kernel, or spans that a host saw. Members and
// limits in files: docs/attn.md, version 3.
//
// A lane is a list of events. Event n's state holds from its moment to that of event n + 1, so a lane has no gap and
// no overlap; the last event is "done" and holds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// What moments are counted in: the SM's clock (a lane's are exact among those of its block), or nanoseconds of one
// clock for all lanes.
enum class MomentUnit : std::uint8_t { clocks, ns };
// Where events were kept until they were read: a host's spans were in no kernel.
enum class EventBuffer : std::uint8_t { shared, global, host };
enum class LaneKind : std::uint8_t { producer, consumer, warp, slot, send, wait, compute };

// How an SM's clock stands to the global timer in the mean: ns + (clock - this clock) * ns_per_clock. Moments that both
// clocks told lie within residual_ns of how times are found (timeline_clocks.h). No order between two SMs is told below
// the larger residual.
struct SmClock {
  std::int32_t sm = 0;
  std::int64_t clock = 0, ns = 0;
  double ns_per_clock = 1, residual_ns = 0;
  bool operator==(const SmClock&) const = default;
};
// A moment that both clocks told.
struct ClockPoint {
  std::int32_t sm = 0;
  std::int64_t clock = 0, ns = 0;
  auto operator<=>(const ClockPoint&) const = default;
};

// A block (x + X (y + Y z) of the grid), where it ran and between which moments, by both clocks.
struct TimedBlock {
  std::int64_t block = 0;
  std::int32_t sm = 0;
  std::int64_t start_ns = 0, end_ns = 0, start_clock = 0, end_clock = 0;
  bool operator==(const TimedBlock&) const = default;
};

struct TimelineLane {
  LaneKind kind = LaneKind::producer;
  std::int32_t index = 0;             // among those of its kind in its block or rank
  std::int32_t block = -1;            // row of Timeline::blocks; -1: of no block (ns)
  std::int32_t rank = -1;             // of several devices; -1: one device
  std::int64_t first = 0, count = 0;  // its events
  bool operator==(const TimelineLane&) const = default;
};

struct TimelineEvent {
  std::int64_t at = 0;     // in the timeline's unit
  std::int32_t tag = 0;    // number in Timeline::tags
  std::int32_t tile = -1;  // key tile, or query tile where the tag speaks of one; -1 none
  std::int32_t slot = -1;  // of the ring; -1 none
  bool operator==(const TimelineEvent&) const = default;
};

// Of the runs that a median is of, microseconds; 0: not kept.
struct TimelineQuartiles {
  double q1 = 0, q3 = 0;
  bool operator==(const TimelineQuartiles&) const = default;
};

constexpr std::string_view kDoneTag = "done";

struct Timeline {
  std::string kernel, source_hash;  // of the text that ran: a picture is refused where the rung's is another
  std::string device, device_uuid;  // the latter may be empty
  Problem problem;
  Options options;  // resolved
  MomentUnit unit = MomentUnit::clocks;
  EventBuffer buffer = EventBuffer::shared;
  double plain_us = 0, traced_us = 0;  // medians in turns, without and with the recorder; their ratio is its price
  TimelineQuartiles plain_quartiles, traced_quartiles;
  double launch_us = 0;           // this very launch, by the profiler
  std::int64_t grid_blocks = 0;   // of the launch, recorded or not
  std::vector<std::string> tags;  // what the events' numbers stand for
  std::vector<SmClock> sms;
  std::vector<ClockPoint> points;  // by SM and clock; may be empty: an SM's line is all that is known
  std::vector<TimedBlock> blocks;
  std::vector<TimelineLane> lanes;  // one after the other in `events`
  std::vector<TimelineEvent> events;
  bool operator==(const Timeline&) const = default;
};

constexpr std::size_t kMaxTimelines = 256;  // in a file
constexpr std::size_t kMaxTags = 64, kMaxTagBytes = 64, kMaxSms = 1024, kMaxLanes = 65536, kMaxBlocks = 1 << 20;
constexpr std::size_t kMaxClockPoints = 1 << 20;
constexpr std::size_t kMaxTimelineEvents = 1 << 21;

// Moments of a lane do not go back, lie within its block, and end with "done"; lanes follow each other in `events`
// without gap; tags, SMs and blocks that are named are there, each once. `where` is for messages.
Result<void> check_timeline(const Timeline& t, const std::string& where);

}  // namespace attn
