#include "viz/state/view_bench.h"

namespace attn {

std::string_view name_of(BenchPage page) {
  switch (page) {
    case BenchPage::charts:
      return "charts";
    case BenchPage::ladder:
      return "ladder";
    case BenchPage::sources:
      return "sources";
    case BenchPage::tiles:
      return "tiles";
  }
  return "?";
}

}  // namespace attn
