// The peers that the program knows: attention of others, timed in turns with ours. Files, CSV and the command line name
// them by id; a Python file of the user's is a peer by its file name.
//
// How to add a peer: its row here, and how it is called in assets/peers/peer.py.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"

namespace attn {

struct PeerRow {
  std::string_view id;     // "torch-flash"
  std::string_view title;  // "FlashAttention-2"
  Processor processor = Processor::gpu;
  std::string_view what;             // one sentence
  std::string_view package;          // of Python, beside torch: "flash_attn"; empty: torch carries it
  std::string_view or_package = {};  // the name under which another build of it goes
};

std::span<const PeerRow> peer_table();
// None: the program knows no such peer.
const PeerRow* find_peer(std::string_view id);

// Our kernel in the peer's turns; none where it was not timed there.
const TimedBeside* beside(const Measurement& peer, const Measurement& ours);
// How many times as fast as the peer ours is: both times are of the peer's turns, and own rows never stand in for them.
// Nothing where it took no turn there.
std::optional<double> share_of_peer(const Measurement& ours, const Measurement& peer);
// A kernel took another time in these turns than in its own row, by more than the noise of both.
bool differs_from_own_row(const TimedBeside& in_turns, const Measurement& own_row);

}  // namespace attn
