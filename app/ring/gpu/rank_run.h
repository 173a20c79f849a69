// One rank's work on its GPU: all turns are enqueued at once, and the GPUs wait for one another without the host.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/ring/gpu/messages.h"
#include "app/ring/gpu/nccl.h"
#include "app/ring/gpu/rank_gradients.h"
#include "app/ring/gpu/rank_memory.h"
#include "app/worker/open_gpu.h"
#include "kernels/gpu/device/peers.h"
#include "kernels/gpu/launch/parameters.h"
#include "kernels/gpu/ring/ring_merge.h"

namespace attn {

class RankRun {
 public:
  // Opens the GPU, compiles, allocates and sends the rows.
  static Result<std::unique_ptr<RankRun>> open(OpenGpu& gpu, GpuOpenRequest request, std::span<const std::byte> rows);
  ~RankRun();
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;

  Result<GpuOpened> opened();
  Result<void> connect(const GpuConnectRequest& r);

  // Enqueues a whole run; the times are those of the GPU, once finished() says so.
  Result<void> enqueue();
  Result<bool> finished();
  Result<GpuRankTimes> times();

  // Enqueues copies of the largest share to the right neighbour, all ranks at once; microseconds of each afterwards.
  Result<void> enqueue_link();
  struct LinkTimes {
    std::vector<double> us;
    std::uint64_t bytes = 0;
  };
  Result<LinkTimes> link_times();

  Result<std::vector<std::byte>> answer();

 private:
  struct TurnEvents {
    // Of the computing stream. Where sums travel, those of the turn's share came between `computed` and `came`.
    gpu::Event waited = nullptr, begin = nullptr, computed = nullptr, came = nullptr, end = nullptr;
    gpu::Event send_begin = nullptr, send_end = nullptr, sums_begin = nullptr, sums_end = nullptr;
  };
  RankRun(OpenGpu& gpu, GpuOpenRequest request, RankMemory memory)
      : gpu_(gpu), r_(std::move(request)), memory_(std::move(memory)) {}
  Result<void> make_streams_and_events();
  Result<void> prepare_turns();
  Result<void> prepare_turn(std::int64_t turn);
  Result<void> enqueue_barrier();
  Result<void> enqueue_turn(std::int64_t turn);
  Result<void> enqueue_merge(std::int64_t turn);
  Result<void> enqueue_send(std::int64_t turn);
  Result<void> enqueue_sums(std::int64_t turn);
  Result<void> await_sums(std::int64_t turn);
  Result<void> enqueue_home();
  struct Carried {
    gpu::DevicePointer from = 0, to = 0;  // `to`: of the right neighbour
    std::uint64_t sent = 0;
    gpu::DevicePointer received_at = 0;  // our own
    std::uint64_t received = 0;
  };
  Result<void> carry(const Carried& c);
  Carried share_in(std::int64_t turn) const;
  std::uint64_t bytes_in(std::int64_t rank, std::int64_t turn) const;
  std::uint32_t value_of(std::int64_t turn) const {
    return static_cast<std::uint32_t>(run_ * (r_.turns.ranks + 1) + turn);
  }
  bool sends_sums() const { return gradients_ != nullptr && r_.turns.turns() > 1; }
  bool carries_by_peers() const { return r_.travel == Travel::ipc; }
  gpu::Driver& driver() { return gpu_.driver(); }
  gpu::StreamHandle computing() { return gpu_.queue().stream(); }

  OpenGpu& gpu_;
  GpuOpenRequest r_;
  RankMemory memory_;
  std::unique_ptr<RankGradients> gradients_;  // of a backward
  std::unique_ptr<gpu::Peers> peers_;
  std::unique_ptr<Nccl> nccl_;
  std::optional<gpu::RingMerger> merger_;
  std::optional<GpuPeaks> peaks_;
  std::unique_ptr<GpuSensors> sensors_;
  // A turn's launch; none: it computes nothing.
  std::vector<std::optional<Prepared>> prepared_;
  std::vector<gpu::Memory> workspaces_;
  std::array<gpu::DevicePointer, 2> right_slots_{}, right_sums_{};
  gpu::DevicePointer right_flags_ = 0, left_flags_ = 0;
  std::vector<gpu::DevicePointer> opened_;  // of neighbours
  gpu::StreamHandle carrying_ = nullptr, meeting_ = nullptr;
  std::vector<gpu::Event> events_;
  std::vector<TurnEvents> turns_;  // and, where sums travel, one of their way home
  gpu::Event ready_ = nullptr, zero_ = nullptr, released_ = nullptr;
  std::vector<std::array<gpu::Event, 2>> link_;
  Options resolved_;
  std::int64_t run_ = 0;  // counts the barriers
  double host_began_us_ = 0, host_us_ = 0, clock_mhz_ = 0;
};

}  // namespace attn
