// Keys of a browser (KeyboardEvent.code) as Dear ImGui's.
#pragma once

#include <string_view>

#include "imgui.h"

namespace attn {

// ImGuiKey_None of a key that the program has no use for.
ImGuiKey key_of(std::string_view code);

}  // namespace attn
