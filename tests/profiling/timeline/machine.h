// A pipeline by its rules, without a GPU: a producer, a ring of slots, consumers, and tensor cores that take one
// product after the other. What it gives is a timeline as the recorder of a kernel writes it.
#pragma once

#include <cstdint>

#include "kernels/recording/timeline.h"

namespace attn::test {

struct Machine {
  int consumers = 2, slots = 4, tiles = 16;  // slots: K and V take turns
  std::int64_t copy = 700, product = 512, maximum = 96, exponentials = 512, issue = 24, store = 300;
  std::int64_t late = 0;  // so much longer takes every third copy
  double ns_per_clock = 0.625;
};

// One block, which takes one query tile; a second block is told by when it took that tile alone.
Timeline run(const Machine& m);

}  // namespace attn::test
