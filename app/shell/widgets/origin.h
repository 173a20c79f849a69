// Where what is on screen comes from, in words: this machine, a file, a GPU. Pure.
#pragma once

#include <string>

#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// `here`: this machine, now.
struct OriginWords {
  bool here = true;
  std::string words, more;
  bool doubt = false;  // it does not hold together
};
OriginWords origin_of(const State& state, const Model& model);

}  // namespace attn
