// Kernels as a command names them: ids of the ladder, and files of the user's own, which end in ".cu".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/parser.h"
#include "kernels/base/result.h"
#include "kernels/gpu/own_kernel/build_line.h"
#include "kernels/ladder.h"

namespace attn::cli {

struct NamedKernels {
  std::vector<const KernelRow*> rows;  // as they were named
  gpu::OwnKernels own;                 // those of files; rows point to them
};
// `option` is for messages: "--kernels". A file's header is read here; what is wrong with it is the error.
Result<NamedKernels> kernels_named(const std::string& option, const std::vector<std::string>& names);
Result<NamedKernels> kernel_named(const std::string& name);

// "--maxrregcount" and "--fast-math": the named GPU kernels built otherwise, each a kernel with a hash of its own.
struct BuildArguments {
  gpu::BuildChoices build;
  void add_to(Parser parser);
  Result<void> apply_to(NamedKernels& kernels) const;
};

// "--hang-limit": how long a GPU's answer is waited for. 0 = the command's usual limit.
void add_hang_limit(Parser parser, double& seconds, const std::string& help);
Result<void> check_hang_limit(double seconds);

}  // namespace attn::cli
