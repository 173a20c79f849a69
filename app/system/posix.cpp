#include "app/system/posix.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace attn {

void hold_standard_streams() {
  // Each is open the wrong way round, so that using it still fails as it should.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream)
      return;
}

std::filesystem::path executable_path() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : path;
}

bool may_map(std::uint64_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  ::munmap(at, bytes);
  return true;
}

double seconds_since_start() {
  std::ifstream stat_file("/proc/self/stat"), uptime_file("/proc/uptime");
  std::string line;
  double uptime = 0;
  if (!std::getline(stat_file, line) || !(uptime_file >> uptime)) return -1;
  // The program's name, in parentheses, may hold spaces: count fields from behind it. starttime is field 22.
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return -1;
  std::istringstream fields(line.substr(end + 1));
  std::string word;
  for (int field = 3; field <= 22; ++field) {
    if (!(fields >> word)) return -1;
  }
  return uptime - std::strtod(word.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

bool can_write_in(const std::filesystem::path& folder) {
  // Tried, not asked: access() says yes of /proc and of a file with the right bits, and root may do anything.
  std::string name = (folder / ".attnscope-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return false;
  ::rmdir(name.c_str());
  return true;
}

bool can_run(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

bool talks_to_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

}  // namespace attn
