#include "app/system/less_motion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/system/run_program.h"
#include "kernels/base/files.h"
#include "kernels/base/folders.h"

namespace attn {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The last value of a key in a section.
std::optional<std::string_view> value_of(std::string_view ini, std::string_view section, std::string_view key) {
  std::optional<std::string_view> found;
  bool inside = false;
  while (!ini.empty()) {
    const std::size_t end = std::min(ini.find('\n'), ini.size());
    const std::string_view line = trimmed(ini.substr(0, end));
    ini.remove_prefix(std::min(end + 1, ini.size()));
    if (line.starts_with('[')) {
      inside = line.size() > 2 && line.substr(1, line.size() - 2) == section;
      continue;
    }
    const std::size_t is = line.find('=');
    if (inside && is != line.npos && trimmed(line.substr(0, is)) == key) found = trimmed(line.substr(is + 1));
  }
  return found;
}

bool file_says(const std::filesystem::path& file, bool (*says)(std::string_view)) {
  const auto bytes = read_file(file, kMostBytes);
  if (!bytes) return false;
  return says({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

}  // namespace

bool gtk_moves_less(std::string_view settings) {
  const auto on = value_of(settings, "Settings", "gtk-enable-animations");
  return on == "0" || on == "false" || on == "False" || on == "FALSE";
}

bool kde_moves_less(std::string_view settings) {
  const auto factor = value_of(settings, "KDE", "AnimationDurationFactor");
  return factor && !factor->empty() && factor->find_first_not_of("0.") == factor->npos;
}

bool asks_less_motion(const std::filesystem::path& config, const std::filesystem::path& gsettings) {
  if (!config.empty()) {
    for (const char* folder : {"gtk-4.0", "gtk-3.0"})
      if (file_says(config / folder / "settings.ini", gtk_moves_less)) return true;
    if (file_says(config / "kdeglobals", kde_moves_less)) return true;
  }
  if (gsettings.empty()) return false;
  constexpr double kSeconds = 1;
  const auto said =
      output_of(gsettings, {"get", "org.gnome.desktop.interface", "enable-animations"}, {kSeconds, {}}, 1024);
  return said && trimmed(*said) == "false";
}

bool desktop_asks_less_motion() {
  return asks_less_motion(config_folder().parent_path(), program_in_path("gsettings"));
}

}  // namespace attn
