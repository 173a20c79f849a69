// A ring of processes with a GPU each: K and V travel from GPU to GPU while the share at hand is computed. A backward's
// sums of dK and dV follow a turn later, and then go home.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/ring/gpu/forecast.h"
#include "app/ring/gpu/messages.h"
#include "app/ring/listen.h"
#include "app/system/child_process.h"
#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn {

struct GpuRingRequest {
  std::vector<std::int32_t> gpus;  // one a rank
  std::string kernel;
  Options options;
  GpuDeal deal = GpuDeal::zigzag;
  Travel travel = Travel::ipc;
  std::int32_t spared_sms = 0;
  std::string nccl_folder;
};

struct GpuRingRun {
  std::vector<GpuRankTimes> ranks;  // spans since rank 0 left the barrier
  // From the first that began to the last that ended.
  double us() const;
};

// Refused: what a ring of GPUs does not take, in words.
Result<void> check_gpu_ring(const Problem& p, const GpuRingRequest& r);
GpuTurns turns_of(const Problem& p, const GpuRingRequest& r);

// The kernel of a backward's ring, where none is named.
inline constexpr const char* kGpuBackwardRingKernel = "flash_bwd_hopper";

// A rank's rows of Q, K and V, or of O: [rows, heads, width], as [1, heads, rows, width] has them.
void take_rows(const Array& tensor, std::span<const DealtRows> rows, const DealtRows& heads,
               std::vector<std::byte>& block);
void put_rows(std::span<const std::byte> block, std::span<const DealtRows> rows, const DealtRows& heads, Array& tensor);
// The same as [heads, rows, width]: of LSE, and of gradients. put_heads() takes what the rows are from the block, which
// goes on behind them.
void take_heads(const Array& tensor, std::span<const DealtRows> rows, const DealtRows& heads,
                std::vector<std::byte>& block);
void put_heads(std::span<const std::byte>& block, std::span<const DealtRows> rows, const DealtRows& heads,
               Array& tensor);

class GpuRingProcesses {
 public:
  using Starter = std::function<Result<Child>()>;
  static Result<Child> start_program();

  // Starts, deals and connects.
  static Result<GpuRingProcesses> start(const Problem& p, const GpuRingRequest& r, const Inputs& in,
                                        const RingLimits& limits, const Starter& start = start_program);
  Result<GpuRingRun> go(const RingLimits& limits);
  // The rate of a plain copy of a share to the neighbour while all copy, in bytes a microsecond: the slowest rank's
  // median.
  Result<double> link(const RingLimits& limits);
  Result<Outputs> fetch(const RingLimits& limits);

  const GpuTurns& turns() const { return turns_; }
  const std::vector<GpuOpened>& opened() const { return opened_; }
  const GpuRingRequest& request() const { return request_; }

 private:
  GpuRingProcesses(Problem p, GpuRingRequest r, const GpuTurns& turns)
      : problem_(std::move(p)), request_(std::move(r)), turns_(turns) {}
  Result<void> connect(const RingLimits& limits);
  Result<void> put_answer(std::size_t rank, std::span<const std::byte> bytes, Outputs& out) const;

  Problem problem_;
  GpuRingRequest request_;
  GpuTurns turns_;
  std::vector<GpuOpened> opened_;
  std::vector<Child> children_;
};

}  // namespace attn
