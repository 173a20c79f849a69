// This process shut in: what it may read, how much memory it may take. For a process that compiles texts of strangers.
// POSIX and Linux; confine.cpp alone asks the system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace attn {

// What keeps it from other files: Landlock, else a root of its own in a mount namespace, else nothing.
enum class Confinement : std::uint8_t { landlock, mounts, nothing };

// From here on this process, and what it starts, opens files in these folders alone, to read, and no others: what is
// open stays so. Before it has a second thread.
Confinement confine_to(const std::vector<std::filesystem::path>& folders);
// From here on it gets no more than so many bytes beside what it has now (but where a sanitizer watches:
// it reserves more addresses than any limit), and writes no file.
void limit_memory(std::uint64_t more_bytes);

}  // namespace attn
