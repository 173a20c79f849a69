#include "app/cli/not_taken.h"

#include <string_view>

#include "kernels/base/text.h"

namespace attn::cli {
namespace {

struct NotTaken {
  std::string_view beginning;  // of the option's name
  const char* words;
};
constexpr NotTaken kNotTaken[] = {
    {"--sink", marked("No kernel supports a sink logit per head. Instead, add a first key whose score is set by a bias "
                      "(--bias-shape) and whose row of V is 0.")},
    {"--cu-seqlens", marked("No kernel supports packed sequences. The closest alternative is to pad all batches to one "
                            "length and use --key-lengths, which masks the padded keys but not the padded queries.")},
    {"--varlen", marked("No kernel supports packed sequences. The closest alternative is to pad all batches to one "
                        "length and use --key-lengths, which masks the padded keys but not the padded queries.")},
};

}  // namespace

std::string why_not_taken(std::span<const char* const> arguments) {
  for (const std::string_view argument : arguments)
    for (const NotTaken& option : kNotTaken)
      if (argument.starts_with(option.beginning)) return tr_of(option.words);
  return {};
}

}  // namespace attn::cli
