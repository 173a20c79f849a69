#include "app/cli/arguments/output_argument.h"

#include "kernels/base/text.h"

namespace attn::cli {

void add_output(Parser parser, std::string& output) {
  parser
      .add_option("--out-dtype", output,
                  tr("Type of O; f32 works only if the kernel supports it; default: the type of Q, K and V"))
      ->type_name("DTYPE");
}

Result<OutputType> output_of(const std::string& output, DType dtype) {
  if (output.empty() || output == name_of(dtype)) return OutputType::as_inputs;
  if (output == name_of(OutputType::f32)) return OutputType::f32;
  return bad_input(
      phrase("Invalid --out-dtype {}; use f32 or the type of Q, K and V, here {}.", output, name_of(dtype)));
}

}  // namespace attn::cli
