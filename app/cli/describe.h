// The command line told from its own tables: a manual page, and completion for three shells.
#pragma once

#include <string>
#include <string_view>

#include "kernels/base/result.h"

namespace CLI {
class App;
}

namespace attn::cli {

// roff, section 1.
std::string manual_page(const CLI::App& program, std::string_view version);

// A script for `shell`: bash, zsh or fish.
Result<std::string> completion_script(const CLI::App& program, std::string_view shell);

}  // namespace attn::cli
