// What the events of a timeline mean: which of its states are waits and for what, and their words. A table; tags that
// it does not know (a kernel of the user's own) are work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/recording/timeline.h"

namespace attn {

enum class StateKind : std::uint8_t {
  work,     // its own instructions run, stamped at both ends
  wait,     // for what `of` names
  flight,   // hands something to hardware that works by itself: it may not be observed when that ends
  nothing,  // set-up, between tiles, done
};

// What a state is about: a tensor's letter, or what is no tensor.
enum class StateOf : std::uint8_t { none, q, k, v, s, p, o, turn, tile };

struct LaneState {
  std::string_view tag;
  StateKind kind = StateKind::work;
  StateOf of = StateOf::none;
  const char* words = "";  // marked: "waits for K"
};

std::span<const LaneState> lane_states();
const LaneState& lane_state(std::string_view tag);  // of an unknown tag: work of none, its own words

// One state of a lane, [from, to) in the timeline's unit.
struct LaneInterval {
  std::int64_t from = 0, to = 0;
  std::int32_t tag = 0, tile = -1, slot = -1;
  std::int64_t length() const { return to - from; }
};
// From the block's start to its end, without gap or overlap; "done" is the last and holds to the block's end. A lane of
// no block: from its first event to its last.
std::vector<LaneInterval> intervals_of(const Timeline& t, std::size_t lane);

// What a lane did in all.
struct StateSum {
  std::int32_t tag = 0;
  std::int64_t time = 0, count = 0;
};
// By the time that they took, the longest first; they add up to the block's length exactly.
std::vector<StateSum> sums_of(std::span<const LaneInterval> intervals);

// Nanoseconds of a clock of the SM that ran the block; 1 where the unit is ns.
double ns_a_unit(const Timeline& t, std::int32_t block);
// The lanes of a block (a row of t.blocks) that were recorded event by event: more than one a block, or the only one.
std::vector<std::size_t> lanes_of_block(const Timeline& t, std::int32_t block);
// Rows of t.blocks that have all their lanes.
std::vector<std::int32_t> detailed_blocks(const Timeline& t);
// "producer of K and V", "consumer 0".
std::string lane_words(const Timeline& t, std::size_t lane);

// traced_us / plain_us; 0: not timed. A picture of a timeline whose price is above kMostPrice is refused.
inline constexpr double kMostPrice = 1.10;
double price_of(const Timeline& t);
// Why no picture is drawn of it; empty: one is.
std::string why_no_picture(const Timeline& t);

}  // namespace attn
