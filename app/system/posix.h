// Everything that asks the operating system for more than standard C++ gives. A port changes posix.cpp alone.
#pragma once

#include <cstdint>
#include <filesystem>

namespace attn {

// The file of this program; empty where the system does not tell.
std::filesystem::path executable_path();

// Seconds since this process was started; -1 where the system does not tell. Resolution 10 ms.
double seconds_since_start();

// Whether this process may still map so many bytes (ulimit -v): a library that may not often ends it instead of saying
// so.
bool may_map(std::uint64_t bytes);

// Whether files can be made in `folder`.
bool can_write_in(const std::filesystem::path& folder);

// Whether `file` is one that this user may run.
bool can_run(const std::filesystem::path& file);

// Where stdin, stdout or stderr is closed, its number would be that of the next file that is opened, into which the
// program's words would go. Before any is.
void hold_standard_streams();

// Whether what is written to stderr is read by somebody at a terminal.
bool talks_to_terminal();

}  // namespace attn
