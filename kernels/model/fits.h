// Bytes known before anything is allocated, and the words for what does not fit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "kernels/model/problem.h"

namespace attn {

struct KernelRow;
struct Options;
struct Device;
struct Plan;

// Q, K, V, bias, O, LSE of the problem, in bytes; saturates at 2^63 - 1.
std::uint64_t tensor_bytes(const Problem& p);

// tensor_bytes + the plan's workspace.
std::uint64_t bytes_needed(const Plan& plan);

// The machine's free memory (Linux: MemAvailable, cut to the cgroup's limit), in bytes.
std::uint64_t free_memory();
// The same of the /proc and /sys under `root`: for tests.
std::uint64_t free_memory_under(const std::filesystem::path& root);

// Refuses with the bytes needed, the limit, and the largest L (Lq = Lk, the rest as in the problem)
// that would fit. `limit` 0 = free_memory().
Result<void> check_memory(const Plan& plan, const Device& d, std::uint64_t limit);

// "80G", "512M", "4096": 1 G = 2^30. Refused with what would do.
Result<std::uint64_t> parse_bytes(std::string_view text);
// "1.50 GiB"
std::string format_bytes(std::uint64_t bytes);

}  // namespace attn
