// Runs the program under test as a child, for black-box tests.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/environment/paths.h"

namespace attn::test {

struct Done {
  int code = -1;  // exit code, or 1000 + signal
  std::string out, err;
};

// A folder that goes with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attnscope-cli-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// In a child that opened software OpenGL and then CUPTI or NVRTC the leak check ends by a signal of its own: the driver
// was unloaded, and the check reads its thread-local storage still. Other errors are found there as everywhere.
inline void no_leak_check() {
  const char* options = std::getenv("ASAN_OPTIONS");
  ::setenv("ASAN_OPTIONS", (std::string(options == nullptr ? "" : options) + ":detect_leaks=0").c_str(), 1);
}

// A child whose words go to files, so that no pipe fills up.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    std::fflush(nullptr);  // or the child would write it again
    child_ = ::fork();
    if (child_ != 0) return;
    std::vector<std::string> all{test::program()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& a : all) argv.push_back(a.data());
    argv.push_back(nullptr);
    if (std::freopen((words_ / "out").c_str(), "wb", stdout) == nullptr) ::_exit(126);
    if (std::freopen((words_ / "err").c_str(), "wb", stderr) == nullptr) ::_exit(126);
    if (std::freopen("/dev/null", "rb", stdin) == nullptr) ::_exit(126);
    ::unsetenv("DISPLAY");
    ::unsetenv("WAYLAND_DISPLAY");
    if (!arguments.empty() && (arguments[0] == "doctor" || arguments[0] == "shot")) no_leak_check();
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  void signal(int number) const { ::kill(child_, number); }
  // Waits until stderr holds `words`; false after `seconds`.
  bool says(const std::string& words, double seconds) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
      if (text_of(words_ / "err").find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  Done wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), text_of(words_ / "out"),
            text_of(words_ / "err")};
  }

 private:
  Folder words_;
  ::pid_t child_ = 0;
};

inline Done run(const std::vector<std::string>& arguments) {
  return Program(arguments).wait();
}

}  // namespace attn::test
