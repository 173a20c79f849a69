// What the environment names: its variables, and the user's folders (XDG Base Directory Specification).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attn {

// None where the variable is unset or empty.
std::optional<std::string> environment(const char* name);

// $XDG_CONFIG_HOME/attnscope, $XDG_DATA_HOME/attnscope, $XDG_CACHE_HOME/attnscope, $XDG_STATE_HOME/attnscope, each
// in HOME where the variable names no absolute path. Empty where HOME is not set either. Not created.
std::filesystem::path config_folder();
std::filesystem::path data_folder();
std::filesystem::path cache_folder();
std::filesystem::path state_folder();

}  // namespace attn
