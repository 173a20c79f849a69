// What both backward kernels keep beside the problem's tensors, and how they widen it.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/arithmetic/vector_ops.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/team.h"
#include "kernels/model/kernel.h"

namespace attn::cpu {

// Hands out parts of a workspace in floats; each starts at a multiple of kLanes. Saturates at 2^63 - 1.
class Parts {
 public:
  std::int64_t take(std::initializer_list<std::int64_t> factors);
  std::int64_t total() const { return next_; }
  std::uint64_t bytes() const;

 private:
  std::int64_t next_ = 0;
};

// Keys that a batch has; those beyond count as 0 in K and V, whatever memory holds there: 0 * NaN is NaN.
std::int64_t keys_of(const Problem& p, std::int64_t b);

// The rows of one head of a tensor in fp32, `ld` floats apart: from `first` on so many, the padding 0. Rows from
// `last` on are 0.
struct HeadRows {
  Tensor tensor = Tensor::q;
  std::int64_t head = 0;  // batch * heads + head
  std::int64_t rows = 0;  // of a head
  std::int64_t dims = 0;
};
void widen_rows(const Problem& p, const Buffers& buffers, const HeadRows& of, std::int64_t first, std::int64_t count,
                std::int64_t last, MutTile to);

// What both rows have alike.
KernelRow backward_row();

// The launch of both: `Backward` is made of the problem as it is now, and runs.
template <class Backward>
Result<void> launch_backward(const Prepared& ready, const Stream& stream) {
  Team team(ready.plan.options.threads, stream);
  const Problem p = problem_now(ready);
  Backward(p, ready.plan.options, ready.buffers, team).run();
  return finish(team, ready.plan.kernel->id);
}

}  // namespace attn::cpu
