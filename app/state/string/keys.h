// All keys of a state string, a row each. Text in, text out; no files.
#pragma once

#include <vector>

#include "app/state/string/state_key.h"

namespace attn {

// Without `preset` and the files, which state_string.cpp reads itself.
std::vector<StateKey> state_keys();

}  // namespace attn
