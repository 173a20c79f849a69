// Byte counts in words, and how many bytes this machine has free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/base/result.h"

namespace attn {

// The machine's free memory (Linux: MemAvailable, cut to the cgroup's limit), in bytes.
std::uint64_t free_memory();
// The same of the /proc and /sys under `root`: for tests.
std::uint64_t free_memory_under(const std::filesystem::path& root);

// "80G", "512M", "4096": 1 G = 2^30. Refused with what would do.
Result<std::uint64_t> parse_bytes(std::string_view text);
// "1.50 GiB"
std::string format_bytes(std::uint64_t bytes);

}  // namespace attn
