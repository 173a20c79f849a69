// Whether the desktop asks programs to move less: GNOME's and GTK's animations off, KDE's animation speed at "instant".
#pragma once

#include <filesystem>
#include <string_view>

namespace attn {

// `settings` is an INI file. In GTK's settings.ini and in KDE's kdeglobals.
bool gtk_moves_less(std::string_view settings);
bool kde_moves_less(std::string_view settings);

// `config`: the folder in which desktops keep their settings. `gsettings`: GNOME's program, which is asked for at most
// a second; empty: there is none.
bool asks_less_motion(const std::filesystem::path& config, const std::filesystem::path& gsettings);
bool desktop_asks_less_motion();

}  // namespace attn
