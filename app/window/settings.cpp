#include "app/window/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_reading.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxBytes = 256 << 10;
constexpr std::size_t kMaxLayoutBytes = 64 << 10;
constexpr std::size_t kMaxDockNodes = 32;

// A member within [min, max], or its default with a word in the log.
template <class T>
void read_number(const json& j, const char* key, double min, double max, T& field, std::vector<std::string>& said) {
  const auto it = j.find(key);
  if (it == j.end()) return;
  const double value = it->is_number() ? it->get<double>() : NAN;
  if (value >= min && value <= max) {
    field = static_cast<T>(value);
  } else {
    said.push_back(phrase("Settings: '{}' is not a number from {} to {}; using {}.", key, min, max, field));
  }
}

void read_theme(const json& j, Theme& theme, std::vector<std::string>& said) {
  const auto it = j.find("theme");
  if (it == j.end()) return;
  if (*it == "dark" || *it == "light") {
    theme = *it == "light" ? Theme::light : Theme::dark;
  } else {
    said.push_back(tr("Settings: 'theme' must be \"dark\" or \"light\"; using dark."));
  }
}

// The member after `name` in a line of hexadecimal ids: "ID=0x00000001".
std::uint32_t id_after(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == line.npos) return 0;
  return static_cast<std::uint32_t>(std::strtoul(std::string(line.substr(at + name.size(), 10)).c_str(), nullptr, 16));
}

// Dear ImGui builds a tree from these lines and trusts them: a node has a parent that stood before it, and no parent
// more than two children.
bool docks_are_sane(const std::vector<std::string_view>& lines) {
  std::map<std::uint32_t, int> children;
  for (const std::string_view line : lines) {
    const std::uint32_t id = id_after(line, " ID="), parent = id_after(line, " Parent=");
    if (id == 0 || children.count(id) != 0 || children.size() >= kMaxDockNodes) return false;
    if (line.find(" Parent=") != line.npos) {
      const auto it = children.find(parent);
      if (it == children.end() || ++it->second > 2) return false;
    }
    children[id] = 0;
  }
  return std::all_of(children.begin(), children.end(), [](const auto& node) { return node.second != 1; });
}

// "en", "pt-BR": what a lesson's translation may be called.
bool is_language(std::string_view name) {
  return !name.empty() && name.size() <= 16 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

// What may be started: a name or a path in one line, or nothing.
bool is_path(std::string_view text) {
  constexpr std::size_t kMaxPath = 4096;
  return text.size() <= kMaxPath &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

LoadedSettings defaults(std::string said, bool may_save) {
  LoadedSettings loaded;
  loaded.said.push_back(std::move(said));
  loaded.may_save = may_save;
  return loaded;
}

// What a newer program wrote is its own: nothing of it is read, and nothing is written over it.
LoadedSettings newer(std::int64_t version) {
  return defaults(phrase("The settings file has version {}, but this program supports {}. The file is left unchanged. "
                         "This run uses default settings and does not save changes.",
                         version, kSettingsVersion),
                  false);
}

}  // namespace

void follow_preferences(const Preferences& now, Preferences& seen, Preferences& kept) {
  if (now.theme != seen.theme) kept.theme = now.theme;
  if (now.scale != seen.scale) kept.scale = now.scale;
  if (now.reduced_motion != seen.reduced_motion) kept.reduced_motion = now.reduced_motion;
  if (now.greet != seen.greet) kept.greet = now.greet;
  if (now.language != seen.language) kept.language = now.language;
  if (now.python != seen.python) kept.python = now.python;
  if (now.card_right != seen.card_right) kept.card_right = now.card_right;
  seen = now;
}

bool layout_is_sane(std::string_view layout) {
  if (layout.size() > kMaxLayoutBytes) return false;
  const auto printable = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  if (!std::all_of(layout.begin(), layout.end(), printable)) return false;
  std::vector<std::string_view> docks;
  while (!layout.empty()) {
    const std::string_view line = layout.substr(0, layout.find('\n'));
    layout.remove_prefix(std::min(layout.size(), line.size() + 1));
    if (line.size() > 512) return false;
    const std::size_t first = line.find_first_not_of(' ');
    if (first == line.npos) continue;
    const std::string_view words = line.substr(first);
    if (words.front() == '[') {
      const bool known =
          words.starts_with("[Window][") || words.starts_with("[Docking][") || words.starts_with("[Table][");
      if (!known) return false;
    } else if (words.starts_with("DockNode") || words.starts_with("DockSpace")) {
      docks.push_back(line);
    }
  }
  return docks_are_sane(docks);
}

namespace {

Result<LoadedSettings> read_settings(std::string_view text) {
  const auto parsed = parse_json(text, tr("The settings file"), 8);
  if (!parsed) return tl::unexpected(parsed.error());
  const json& j = *parsed;
  const auto version = j.is_object() ? j.find("version") : j.end();
  if (!j.is_object() || version == j.end() || !version->is_number_integer() || version->get<double>() < 1) {
    return bad_input(tr("The settings file has no version number."));
  }
  if (version->get<double>() > kSettingsVersion) return newer(version->get<std::int64_t>());
  LoadedSettings loaded;
  Settings& s = loaded.settings;
  read_theme(j, s.preferences.theme, loaded.said);
  read_number(j, "scale", 1, 3, s.preferences.scale, loaded.said);
  if (const auto it = j.find("reduced_motion"); it != j.end() && it->is_boolean()) {
    s.preferences.reduced_motion = it->get<bool>();
  }
  if (const auto it = j.find("greet"); it != j.end() && it->is_boolean()) s.preferences.greet = it->get<bool>();
  if (const auto it = j.find("lesson_card"); it != j.end()) s.preferences.card_right = *it == "right";
  if (const auto it = j.find("language");
      it != j.end() && it->is_string() && is_language(it->get_ref<const std::string&>()))
    s.preferences.language = it->get<std::string>();
  if (const auto it = j.find("python"); it != j.end()) {
    if (it->is_string() && is_path(it->get_ref<const std::string&>())) {
      s.preferences.python = it->get<std::string>();
    } else {
      loaded.said.emplace_back(tr("Settings: 'python' must name a program; using python3 from PATH."));
    }
  }
  read_number(j, "window_width", 320, 16384, s.window_width, loaded.said);
  read_number(j, "window_height", 240, 16384, s.window_height, loaded.said);
  if (const auto it = j.find("layout"); it != j.end()) {
    if (it->is_string() && layout_is_sane(it->get_ref<const std::string&>())) {
      s.layout = it->get<std::string>();
    } else {
      loaded.said.emplace_back(tr("Settings: the window layout cannot be read; using the default layout."));
    }
  }
  return loaded;
}

}  // namespace

Result<LoadedSettings> parse_settings(std::string_view text) {
  return reading(tr("The settings file"), [&] { return read_settings(text); });
}

std::string settings_text(const Settings& s) {
  nlohmann::ordered_json j;
  j["version"] = kSettingsVersion;
  j["theme"] = s.preferences.theme == Theme::light ? "light" : "dark";
  // Rounded: 1.1F would read 1.10000002384.
  j["scale"] = std::round(static_cast<double>(s.preferences.scale) * 100) / 100;
  j["reduced_motion"] = s.preferences.reduced_motion;
  j["greet"] = s.preferences.greet;
  j["language"] = s.preferences.language;
  j["python"] = s.preferences.python;
  j["lesson_card"] = s.preferences.card_right ? "right" : "left";
  j["window_width"] = s.window_width;
  j["window_height"] = s.window_height;
  j["layout"] = s.layout;
  return j.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::filesystem::path settings_file() {
  const auto folder = config_folder();
  return folder.empty() ? folder : folder / "settings.json";
}

LoadedSettings load_settings(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) {
    // The first start: a line for who is new here.
    LoadedSettings first;
    first.settings.preferences.greet = !file.empty();
    if (!error) return first;
    return defaults(phrase("Cannot check {} ({}): using defaults.", file.string(), error.message()), false);
  }
  const auto bytes = read_file(file, kMaxBytes);
  if (!bytes) return defaults(phrase("{} Using default settings.", bytes.error().message), false);
  std::string text(bytes->size(), '\0');
  std::transform(bytes->begin(), bytes->end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
  auto parsed = parse_settings(text);
  if (parsed) return *std::move(parsed);
  const auto bad = std::filesystem::path(file.string() + ".bad");
  std::filesystem::rename(file, bad, error);
  if (error)
    return defaults(phrase("{} Using default settings, and leaving the file unchanged.", parsed.error().message),
                    false);
  return defaults(phrase("{} Using default settings. The old file is now {}.", parsed.error().message, bad.string()),
                  true);
}

Result<void> save_settings(const std::filesystem::path& file, const Settings& s) {
  if (file.empty()) {
    return fail(ErrorKind::io, tr("Settings are not saved: neither XDG_CONFIG_HOME nor HOME is set."));
  }
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    return fail(ErrorKind::io, phrase("Settings are not saved: cannot create the folder {} ({}).",
                                      file.parent_path().string(), error.message()));
  }
  const std::string text = settings_text(s);
  if (auto written = write_file_atomically(file, bytes_of(text)); !written) {
    return fail(ErrorKind::io, phrase("Settings are not saved: {}", written.error().message));
  }
  return ok();
}

}  // namespace attn
