// The keys of a state string: one row a key, which writes and reads its value. Text in, text out; no files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "viz/state/state.h"

namespace attn {

struct StateKey {
  std::string key;
  // The value's text, percent-encoded.
  std::function<std::string(const State&)> write;
  // The error says what would do; place and key are added by the caller.
  std::function<Result<void>(State&, std::string_view)> read;
};

// Without `preset` and the files, which string.cpp reads itself.
std::vector<StateKey> state_keys();

}  // namespace attn
