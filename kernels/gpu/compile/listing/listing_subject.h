// Which machine code is looked at.
#pragma once

#include <string>

#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn::gpu {

// What is listed: a kernel as it is compiled for a problem.
struct ListingSubject {
  std::string kernel;
  Problem problem;
  Options options;
  std::string arch;  // "sm_90a"
};

}  // namespace attn::gpu
