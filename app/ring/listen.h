// The side that asks: requests to the ranks of a ring, and all their answers, or whose fault it is that some are
// missing.
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/system/child_process.h"
#include "kernels/base/result.h"

namespace attn {

struct RingLimits {
  double seconds = 60;  // without any news of any rank; then the ring is given up
  std::stop_token stop;
};

// "Rank 1 of 3".
std::string part_of_ring(std::size_t rank, std::size_t ranks);

// An answer of every rank. An error names the rank, and what it was at; then no rank is left.
Result<std::vector<Message>> gather(std::vector<Child>& ranks, const RingLimits& limits);
// A request to one. After an error no rank is left, either.
Result<void> send_to(std::vector<Child>& ranks, std::size_t rank, const nlohmann::json& text,
                     std::span<const std::byte> bytes, const RingLimits& limits);
// A word to all, and their answers; an error where no rank is left.
Result<std::vector<Message>> ask_all(std::vector<Child>& ranks, const char* what, const RingLimits& limits);
// Of the answers to "link": the slowest rank's median rate of a copy to its neighbour, in bytes a microsecond. Infinite
// where no rank copied anything.
Result<double> slowest_link(std::span<const Message> answers);

}  // namespace attn
