#include "profiling/figures/metric_row.h"

#include "kernels/base/text.h"

namespace attn {

std::string_view name_of(MetricGroup g) {
  switch (g) {
    case MetricGroup::time:
      return marked("time");
    case MetricGroup::memory:
      return marked("memory");
    case MetricGroup::occupancy:
      return marked("occupancy");
    case MetricGroup::shared_memory:
      return marked("shared memory");
    case MetricGroup::compute:
      return marked("compute");
    case MetricGroup::correctness:
      return marked("correctness");
    case MetricGroup::prediction:
      return marked("prediction");
  }
  return "?";
}

}  // namespace attn
