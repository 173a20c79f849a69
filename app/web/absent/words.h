// What a page in a browser does not have, and who has it. Each source of this folder stands for one of the program's
// that asks the system for processes, a driver or a profiler.
#pragma once

#include <string>

#include "kernels/base/text.h"

namespace attn {

// `what`: a sentence that says what cannot be done here.
inline std::string in_desktop(const std::string& what) {
  return phrase("{} The desktop program can do this: see the line below the picture.", what);
}

}  // namespace attn
