// Kills a child process at a moment and says what it had told by then. Under the long lists (tests/run.sh --full)
// there are more moments.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <functional>

#include "tests/environment/asked.h"

namespace attn::test {

inline int kills(int usual, int all) {
  return asked("ATTNSCOPE_LONG_TESTS") ? all : usual;
}

// Runs `work` in a child, which calls its argument after each thing that is finished. Kills it so many microseconds
// after it said so `first` times, or ended; how often it had by then.
inline std::size_t killed_after(std::size_t first, unsigned microseconds,
                                const std::function<void(const std::function<void()>&)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::close(ends[0]);
    work([&] {
      const char said = 1;
      if (::write(ends[1], &said, 1) != 1) ::_exit(1);
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  std::size_t said = 0;
  char c = 0;
  while (said < first && ::read(ends[0], &c, 1) == 1) ++said;
  ::usleep(microseconds);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  while (::read(ends[0], &c, 1) == 1) ++said;
  ::close(ends[0]);
  return said;
}

}  // namespace attn::test
