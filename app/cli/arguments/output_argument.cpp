#include "app/cli/arguments/output_argument.h"

#include "kernels/base/text.h"

namespace attn::cli {

void add_output(Parser parser, std::string& output) {
  parser
      .add_option("--out-dtype", output,
                  tr("O as it is summed: f32, where a kernel stores it so; left out: in the dtype of Q, K and V"))
      ->type_name("DTYPE");
}

Result<OutputType> output_of(const std::string& output, DType dtype) {
  if (output.empty() || output == name_of(dtype)) return OutputType::as_inputs;
  if (output == name_of(OutputType::f32)) return OutputType::f32;
  return bad_input(
      phrase("--out-dtype {}: O is stored in f32 or in the dtype of Q, K and V, here {}.", output, name_of(dtype)));
}

}  // namespace attn::cli
