// A point that ran on several devices: who they were, what travelled between them. docs/attn.md, version 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/model/problem/tensors.h"

namespace attn {

// How the work is dealt: rows of the sequence in order or as a zigzag (so that a causal mask costs each the same), or
// heads.
enum class Dealing : std::uint8_t { in_order, zigzag, heads };
enum class Carrier : std::uint8_t { copy_engine, nccl, sockets };

struct Rank {
  std::string device, device_uuid;  // the latter may be empty
  double start_us = 0, end_us = 0;  // after the first of all ranks began
  std::uint64_t sent_bytes = 0;
  double send_us = 0;  // that sending took, waits for the neighbour to take it included; 0 = not kept
  bool operator==(const Rank&) const = default;
};

struct Ranks {
  Dealing dealing = Dealing::in_order;
  Carrier carrier = Carrier::copy_engine;
  std::vector<Tensor> travels;
  std::vector<Rank> devices;  // rank n is devices[n]
  double one_rank_us = 0;     // median of one rank with the whole problem, measured the same way; 0 = not measured
  double link_gb_per_s = 0;   // of a plain copy to the neighbour while all copy; 0 = not measured
  bool operator==(const Ranks&) const = default;
};

constexpr std::size_t kMaxRanks = 1024;

}  // namespace attn
