#include "app/system/posix.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <dlfcn.h>
#include <unistd.h>

namespace attn {
namespace {

std::filesystem::path xdg_folder(const char* variable, const char* in_home) {
  // The specification: a relative path is to be ignored.
  if (const auto folder = environment(variable); folder && folder->front() == '/') {
    return std::filesystem::path(*folder) / "attnscope";
  }
  if (const auto home = environment("HOME")) return std::filesystem::path(*home) / in_home / "attnscope";
  return {};
}

}  // namespace

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::filesystem::path executable_path() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : path;
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

std::filesystem::path config_folder() {
  return xdg_folder("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path data_folder() {
  return xdg_folder("XDG_DATA_HOME", ".local/share");
}

bool can_write_in(const std::filesystem::path& folder) {
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

Result<Library> Library::open(const char* name) {
  // Global: drivers that libEGL loads look symbols up in it.
  void* handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* words = dlerror();
    return fail(ErrorKind::cannot_run, words == nullptr ? name : words);
  }
  return Library(handle);
}

Library::Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Library& Library::operator=(Library&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Library::symbol(const char* name) const {
  return dlsym(handle_, name);
}

}  // namespace attn
