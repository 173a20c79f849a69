// "--out-dtype": the type that O is stored in.
#pragma once

#include <string>

#include "app/cli/arguments/parser.h"
#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn::cli {

void add_output(Parser parser, std::string& output);
// Of a problem in that dtype.
Result<OutputType> output_of(const std::string& output, DType dtype);

}  // namespace attn::cli
