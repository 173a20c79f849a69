#include "viz/bench/runs/results_in_cache.h"

#include "kernels/base/text.h"
#include "kernels/model/traffic.h"
#include "profiling/figures/metrics.h"
#include "viz/draw/figure_text.h"

namespace attn {

std::string results_in_cache(const Measurement& m, double moved, double least) {
  const Figure& written = figure(m, "dram_write_bytes");
  const Traffic once = compulsory(Order::flash, m.key.problem);
  const auto results = static_cast<double>(once.of(TrafficPart::o) + once.of(TrafficPart::stats));
  if (moved >= least || !written.available() || written.min_of_launches || written.value >= results) return {};
  return phrase(" Of O and LSE ({}), {} had reached DRAM by the end, and the rest was still in the L2 cache.",
                value_with_unit(results, bytes_unit(results)), value_with_unit(written.value, bytes_unit(results)));
}

}  // namespace attn
