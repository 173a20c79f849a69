#include "profiling/spec/tile_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {

std::string tile_words(const KernelRow& row, const Options& o) {
  std::string words =
      spec_of(row, Option::bc) == nullptr ? fmt::format("{}", o.br) : fmt::format("{} x {}", o.br, o.bc);
  if (row.processor == Processor::gpu && o.threads > 0) words += plural(o.threads, ", {} thread", ", {} threads");
  if (o.stages > 0) words += plural(o.stages, ", {} stage", ", {} stages");
  for (const OptionSpec& spec : row.options) {
    if (spec.option->get != nullptr) continue;
    if (const auto value = chosen(o, *spec.option))
      words += fmt::format(", {} {}", spec.option->title, value_text(*spec.option, *value));
  }
  return words;
}

}  // namespace attn
