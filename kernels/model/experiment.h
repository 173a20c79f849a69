// A prepared experiment on a rung, as the rung's row declares it: a question, what is changed to ask it, and what
// answered it. The change is patches on the rung's source (kernels/lab/experiments.h), other options, or both.
#pragma once

#include <string_view>

#include "kernels/model/options.h"

namespace attn {

struct Experiment {
  std::string_view id;        // "pad_away"
  std::string_view title;     // "Pad the shared tile away"
  std::string_view rung;      // id of the kernel that it is made on
  std::string_view question;  // one sentence
  std::string_view change;    // one sentence: what is changed
  std::string_view answer;    // what the figures said, and where they were taken
  Options options{};          // 0 = as it ships
  bool more_blocks = false;   // takes fewer registers, so that an SM holds more blocks: findings propose it
};

}  // namespace attn
