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
    {"--sink", marked("No kernel takes a sink logit per head. It can be had as one more key, the first, whose score "
                      "a bias sets and whose row of V is 0 (--bias-shape).")},
    {"--cu-seqlens",
     marked("No kernel takes packed lengths. Batches of one length with --key-lengths come closest: keys "
            "beyond are masked, and query tiles beyond cost their time.")},
    {"--varlen", marked("No kernel takes packed lengths. Batches of one length with --key-lengths come closest: keys "
                        "beyond are masked, and query tiles beyond cost their time.")},
};

}  // namespace

std::string why_not_taken(std::span<const char* const> arguments) {
  for (const std::string_view argument : arguments)
    for (const NotTaken& option : kNotTaken)
      if (argument.starts_with(option.beginning)) return tr_of(option.words);
  return {};
}

}  // namespace attn::cli
