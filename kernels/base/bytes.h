// Byte counts in words, and how many bytes this machine has free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/result.h"

namespace attn {

// The machine's free memory (Linux: MemAvailable, cut to the cgroup's limit), in bytes.
std::uint64_t free_memory();
// The same of the /proc and /sys under `root`: for tests.
std::uint64_t free_memory_under(const std::filesystem::path& root);

// Never above 2^63 - 1, which stands for more. A factor of 0 or less makes the product 0.
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b);
std::uint64_t saturating_product(std::span<const std::int64_t> factors);

// "80G", "512M", "4096": 1 G = 2^30. Refused with what would do.
Result<std::uint64_t> parse_bytes(std::string_view text);
// "1.50 GiB"
std::string format_bytes(std::uint64_t bytes);

}  // namespace attn
