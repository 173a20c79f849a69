// A ring of processes on this machine: a kernel with its queries and keys dealt to ranks, a process each, K and V
// travelling over sockets while the share at hand is computed (kernels/model/ring.h). In a backward the sums of dK and
// dV go with them. The bits are those of `--set ranks=N` in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/ring/dealt_rows.h"
#include "app/ring/listen.h"
#include "app/ring/messages.h"
#include "app/system/child_process.h"
#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/ring.h"

namespace attn {

struct RankTimes {
  std::uint64_t sent_bytes = 0;  // to its right neighbour
  std::vector<RankSpan> spans;   // in microseconds since the ring's first began; behind the last turn sums go home
};

// One run of all ranks.
struct RingRun {
  std::vector<RankTimes> ranks;
  double us() const;  // from the first that began to the last that ended
};

// The first of the pass's ladder that walks a ring; of the forward's where none does.
Result<const KernelRow*> ring_kernel(Pass pass = Pass::forward);

class RingProcesses {
 public:
  // Starts a rank's process with its left and right neighbour; tests start their own.
  using Starter = std::function<Result<Child>(Socket& left, Socket& right)>;
  static Result<Child> start_program(const Socket& left, const Socket& right);

  // Starts and deals. `row` walks a ring; `options` have ranks chosen, and threads are a rank's: 0 = its part of the
  // cores. Inputs are not kept. Refused: what the kernel refuses.
  static Result<RingProcesses> start(const KernelRow& row, const Problem& p, const Options& options, const Inputs& in,
                                     const RingLimits& limits, const Starter& start = start_program);

  // The whole ring once. An error names the rank, and what it was at; then no rank is left, and the next go() says so.
  Result<RingRun> go(Outputs& out, const RingLimits& limits);

  // The rate of a plain copy of a share to the neighbour while all copy, in bytes a microsecond: the slowest rank's
  // median. Of one rank: 0.
  Result<double> link(const RingLimits& limits);

  const KernelRow& kernel() const { return *kernel_; }
  const Options& options() const { return options_; }  // resolved
  const Ring& ring() const { return dealt_.ring; }
  int process(std::int64_t rank) const { return children_.at(static_cast<std::size_t>(rank)).id(); }

 private:
  RingProcesses(const KernelRow& row, Problem p, Options options)
      : kernel_(&row), problem_(std::move(p)), options_(std::move(options)), dealt_(problem_, options_) {}
  Result<void> put_answer(std::size_t rank, std::span<const std::byte> bytes, Outputs& out) const;

  const KernelRow* kernel_;
  Problem problem_;
  Options options_;
  DealtProblem dealt_;
  std::vector<Child> children_;
};

}  // namespace attn
