// A backward on a rank's GPU, beside what every ring has (rank_memory.h): dO, O and LSE of its queries, the sums of dQ,
// which stay, and the sums of dK and dV, which travel: those of its own keys, and two places for those that arrive. All
// sums are fp32, neither scaled nor rounded until all turns are done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/ring/gpu/messages.h"
#include "app/ring/gpu/rank_memory.h"
#include "kernels/base/result.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/ring/ring_gradients.h"
#include "kernels/model/kernel.h"

namespace attn {

class RankGradients {
 public:
  // `rows`: of dO and O, [rows, heads, width], then LSE [heads, rows]. Copies them; every other byte is NaN. The queue
  // outlives it.
  static Result<std::unique_ptr<RankGradients>> place(gpu::Queue& queue, const GpuOpenRequest& r,
                                                      std::span<const std::byte> rows);
  // What is to be computed or to arrive is NaN again.
  Result<void> poison();

  // What a turn's launch reads and writes; Q, K and V are given. Of a rank alone, the final gradients.
  Buffers buffers(const Buffers& q_k_v, const GpuTurn& work, std::int64_t turn) const;
  // Which all turns share, since they follow one another; that of turn 0, which has all queries, is the largest.
  Result<void> make_workspace(std::uint64_t bytes);
  Result<void> prepare(const Plan& plan, const Buffers& b, const GpuTurn& work, std::int64_t turn);

  // Enqueue. The turn's partial gradients, dQ added; nothing where it is idle.
  Result<void> compute(std::int64_t turn);
  // The part of dK and dV to what has come.
  Result<void> add(std::int64_t turn);
  Result<void> round_d_q();
  // Once the sums are home.
  Result<void> round_d_k_d_v();

  // dK and dV of the share that the turn computes with, after it: one block.
  gpu::DevicePointer sums(std::int64_t turn) const { return turn == 0 ? own_->address() : slot((turn - 1) % 2); }
  std::uint64_t sums_bytes(std::int64_t rank, std::int64_t turn) const;
  gpu::DevicePointer slot(std::int64_t n) const { return slots_.at(static_cast<std::size_t>(n))->address(); }

  // dQ [heads, rows, D], delta [heads, rows], dK and dV [heads, rows, D].
  Result<std::vector<std::byte>> answer();

 private:
  RankGradients(gpu::Queue& queue, const GpuOpenRequest& r) : queue_(queue), r_(r), sizes_(r) {}
  Result<void> allocate();
  // Enqueues: `rows` and `late_lse` are read until the stream has done it.
  Result<void> send(std::span<const std::byte> rows, std::span<const std::byte> late_lse);
  std::int64_t d_k_numbers(std::int64_t keys) const { return keys * sizes_.kv_heads * sizes_.D; }
  std::int64_t d_q_numbers() const { return sizes_.rows * sizes_.heads * sizes_.D; }
  bool travels() const { return r_.turns.turns() > 1; }

  gpu::Queue& queue_;
  GpuOpenRequest r_;
  RankSizes sizes_;
  // `late_lse_`: of the second chunk, whose rows are a head's last ones.
  RankBlock d_o_, o_, lse_, late_lse_, d_q_sums_, own_, part_, d_q_, delta_, d_k_, d_v_, workspace_;
  std::array<RankBlock, 2> slots_;
  std::optional<gpu::RingGradients> kernels_;
  std::vector<std::optional<gpu::RingTurn>> turns_;
};

}  // namespace attn
