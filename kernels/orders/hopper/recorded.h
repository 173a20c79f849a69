// A block of flash_hopper as it ran on a GPU: which lane began which state when. Steps of the order "hopper" follow it.
// Copied from timelines that come with the program (assets/sessions/h100-timeline.attn, h100-turns-timeline.attn); a
// test holds them together.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace attn::orders::hopper {

enum class State : std::uint8_t {
  ask_q,
  wait_slot_k,
  ask_k,
  wait_slot_v,
  ask_v,
  take_rows,
  wait_q,
  wait_k,
  wait_turn,
  issue_s,
  wait_s,
  maximum,  // S has come
  weights,  // m and alpha are known
  wait_v,   // P and l are
  issue_o,
  wait_o,
  store,  // the last O has come
  done,
};

struct Stamp {
  std::int32_t at = 0;  // clocks of the SM since the block began
  State state = State::done;
  std::int8_t consumer = -1;  // none: of the lane that copies K and V
  std::int8_t visit = -1;     // of key tiles, in the sequence in which they are visited; none: of no key tile
  std::int8_t slot = -1;      // of the ring
};

struct RecordedBlock {
  std::string_view kernel, source_hash;  // of the text that ran
  std::string_view device;
  std::int64_t L = 0, D = 0, rows = 0, keys = 0;  // of the launch; rows and keys of a tile
  std::int32_t step = 0;                          // of the kernel's ladder of ideas
  std::int32_t consumers = 0, key_tiles = 0, slots = 0;
  std::int32_t clocks = 0;  // that the block took
  std::int32_t copy = 0;    // clocks of a copy that is waited for, by the recording of this launch with two slots
  double ns_a_clock = 0;
  std::span<const Stamp> stamps;  // in the order of time
};

const RecordedBlock& recorded_block();  // what became of it with a change: derived.h
// The same block of the same launch but for turns: each consumer hands S over when it can.
const RecordedBlock& recorded_without_turns();

}  // namespace attn::orders::hopper
