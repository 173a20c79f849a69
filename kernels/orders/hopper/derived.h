// What the recorded block would have done with one thing changed: run again from its own durations by the rules of its
// pipeline (kernels/recording/pipeline_replay.h). Derived, never recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/orders/hopper/recorded.h"

namespace attn::orders::hopper {

// Values of the option `pipeline`.
enum class Followed : std::uint8_t {
  nothing,
  recorded,
  one_slot,   // K and V have one slot each
  late_load,  // K of the third key tile is asked for only when a consumer already waits for it
  no_turns,   // recorded too, of a launch whose consumers take no turns
};
Followed followed_by(const Options& o);

// The key tile, in the sequence of visits, that is late.
inline constexpr std::int32_t kLateVisit = 2;

// Its stamps as they come again; with nothing changed they are the recorded ones but for what the rules leave out.
// `change` is one that can be derived.
std::vector<Stamp> run_again(const RecordedBlock& block, Followed change);

// The block whose stamps the steps of a run follow: the recorded one, or what became of it.
const RecordedBlock& followed_block(const Options& o);

}  // namespace attn::orders::hopper
