#include "kernels/base/folders.h"

#include <cstdlib>

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

std::filesystem::path config_folder() {
  return xdg_folder("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path data_folder() {
  return xdg_folder("XDG_DATA_HOME", ".local/share");
}

std::filesystem::path cache_folder() {
  return xdg_folder("XDG_CACHE_HOME", ".cache");
}

std::filesystem::path state_folder() {
  return xdg_folder("XDG_STATE_HOME", ".local/state");
}

}  // namespace attn
