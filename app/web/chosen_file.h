// What the browser's file dialog gave, between the page's script that copies it and the panel that asked for it.
#pragma once

#include <optional>
#include <string>

namespace attn {

void put_chosen_file(std::string path);
// Once.
std::optional<std::string> take_chosen_file();

}  // namespace attn
