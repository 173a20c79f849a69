#include "profiling/measure/point.h"

namespace attn {

Measurement empty_row(const Point& p, Processor processor) {
  Measurement m;
  m.key.kernel = p.kernel;
  m.key.options = p.options;
  m.key.problem = p.problem;
  // Nothing flushes a CPU's caches between repeats.
  m.key.l2 = processor == Processor::gpu ? p.l2 : L2State::warm;
  m.processor = processor;
  return m;
}

}  // namespace attn
