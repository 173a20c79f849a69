// One figure of Bytes and pipes with its sentence.
#pragma once

#include <string>

namespace attn {

struct BytesLine {
  std::string title;  // "L2 hits"
  std::string text;   // "97.5 %"; "–" where there is none
  std::string words;  // its sentence, or why there is no figure
  bool available = false;
};

}  // namespace attn
