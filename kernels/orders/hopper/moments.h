// The steps of a recording in the order "hopper", one after the other as the recorded block took them, and what the
// ring of slots held at each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "kernels/recording/recording.h"

namespace attn::orders::hopper {

// A step: its place but for the head, and when the state began that it stands for. What a consumer computes between two
// stamps are steps of the same moment, in the sequence of the formulas.
struct Moment {
  EventId id;
  std::int32_t at = 0;     // clocks since the block began
  std::int32_t slot = -1;  // of the ring; -1: none
};

// What the recorded block can be followed for: as many query tiles as it had consumers, at most as many key tiles, each
// seen by each.
Result<void> check_followable(const Problem& p, const Options& resolved);
// Of one head of batch b. Where there are fewer key tiles than the block had, those that it visited first.
std::vector<Moment> moments_of(const Problem& p, const Options& resolved, std::int64_t b);
// The moment of a step of such a recording.
Moment moment_of(const Recording& rec, EventIndex e);

enum class SlotState : std::uint8_t { free, asked, landed, read };
struct RingSlot {
  SlotState state = SlotState::free;
  bool of_v = false;
  std::int32_t j = -1;      // key tile
  std::int32_t let_go = 0;  // consumers that have
  // The step that it came into this state with, and that it was filled with where it has landed; none: none did.
  std::optional<EventIndex> since = {}, filled = {};
};
// After step e. A tile has landed at the latest when a consumer finds it there.
std::vector<RingSlot> ring_after(const Recording& rec, EventIndex e);
// The next step of the head of step e that a slot comes into a state with, or the first; none: none does.
std::optional<EventIndex> slot_becomes(const Recording& rec, EventIndex e, SlotState state);

// The last step of a lane of the head of step e up to that: a consumer's, -1 of the lane that copies; none: it has not
// begun.
std::optional<EventIndex> last_of_lane(const Recording& rec, EventIndex e, std::int64_t lane);

}  // namespace attn::orders::hopper
