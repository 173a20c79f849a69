// "--pass": what a command computes.
#pragma once

#include <string>

#include "app/cli/arguments/parser.h"
#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn::cli {

// Forward or backward; with `training` also a training step.
void add_pass(Parser parser, std::string& pass, bool training = false);
// Left out: what it was.
Result<void> apply_pass(const std::string& pass, Problem& problem, bool training = false);

}  // namespace attn::cli
