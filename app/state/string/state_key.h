// One key of a state string: how its value is written and read.
#pragma once

#include <functional>
#include <string>
#include <string_view>

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

}  // namespace attn
