// Another program, run to its end for what it prints, or in place of this one. POSIX; run_program.cpp alone asks the
// system.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/system/child_process.h"
#include "kernels/base/result.h"

namespace attn {

// What it wrote to stdout. The error says how it ended, with the last of what it wrote to stderr. It is killed where
// the deadline passes, where stop is asked for, or where it prints more than `max_bytes`. `folder`: where it works;
// empty: here.
Result<std::string> output_of(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                              const Deadline& deadline, std::size_t max_bytes,
                              const std::filesystem::path& folder = {});

// Becomes another program, found in PATH by its name; returns only where that can't be.
Error replace_process(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace attn
