// The user's own: theme, scale, motion, window size and docking layout, in $XDG_CONFIG_HOME/attnscope/settings.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "viz/state/state.h"

namespace attn {

constexpr int kSettingsVersion = 1;

struct Settings {
  Preferences preferences;
  int window_width = 1440, window_height = 900;  // logical pixels
  std::string layout;  // Dear ImGui's own text of windows and docks; empty = the default layout
};

// Takes over into `kept` what the user changed since `seen`, which is then `now`: what the command line chose for this
// run alone is not kept until the user chooses otherwise, and from then on what is chosen is kept, whichever it is.
void follow_preferences(const Preferences& now, Preferences& seen, Preferences& kept);

// What reading the file came to. The program always goes on: with defaults where the file does not serve.
struct LoadedSettings {
  Settings settings;
  std::vector<std::string> said;  // for the log
  bool may_save = true;           // false: the file is a newer version's, or cannot be read, and is left as it is
};

// Pure. Refused as a whole where it is no settings file; a single value out of range takes its default and is said.
Result<LoadedSettings> parse_settings(std::string_view json);
std::string settings_text(const Settings& s);
// A layout that Dear ImGui can read without harm: known sections, few and consistent dock nodes.
bool layout_is_sane(std::string_view layout);

// config_folder() / "settings.json"; empty where there is no such folder.
std::filesystem::path settings_file();
// A file that is no settings file is kept beside as settings.json.bad.
LoadedSettings load_settings(const std::filesystem::path& file);
// Makes the folder. The error names the file; the old one stays as it was.
Result<void> save_settings(const std::filesystem::path& file, const Settings& s);

}  // namespace attn
