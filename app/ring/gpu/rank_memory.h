// What lies on a rank's GPU: its queries, its share of K and V, two places for shares that arrive, and the sums so far.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/ring/gpu/messages.h"
#include "kernels/gpu/device/driver.h"

namespace attn {

// K and V of a share in one block, K first: one copy carries both.
struct ShareBlock {
  std::uint64_t v_at = 0, bytes = 0;
};

// Sizes of a rank's tensors, which are [rows, heads, width].
struct RankSizes {
  std::int64_t rows = 0, heads = 0, kv_heads = 0, D = 0, Dv = 0;
  std::uint64_t element = 2;

  RankSizes(const GpuOpenRequest& r);
  std::uint64_t q_bytes() const { return element * static_cast<std::uint64_t>(rows * heads * D); }
  std::uint64_t o_bytes() const { return element * static_cast<std::uint64_t>(rows * heads * Dv); }
  std::uint64_t sums_bytes() const { return sizeof(float) * static_cast<std::uint64_t>(rows * heads * Dv); }
  std::uint64_t lse_bytes() const { return sizeof(float) * static_cast<std::uint64_t>(rows * heads); }
  std::uint64_t k_bytes(std::int64_t keys) const { return element * static_cast<std::uint64_t>(keys * kv_heads * D); }
  std::uint64_t v_bytes(std::int64_t keys) const { return element * static_cast<std::uint64_t>(keys * kv_heads * Dv); }
  ShareBlock share(std::int64_t keys) const;
};

class RankMemory {
 public:
  // Copies the rank's rows; every other byte is NaN, flags apart, which are 0.
  static Result<RankMemory> place(gpu::Driver& driver, const GpuOpenRequest& r, std::span<const std::byte> rows,
                                  gpu::StreamHandle stream);
  // What is to be computed or to arrive is NaN again.
  Result<void> poison(gpu::Driver& driver, gpu::StreamHandle stream) const;

  const RankSizes& sizes() const { return sizes_; }
  gpu::DevicePointer q() const { return q_->address(); }
  gpu::DevicePointer own() const { return own_->address(); }
  gpu::DevicePointer slot(std::int64_t n) const { return slots_.at(static_cast<std::size_t>(n))->address(); }
  gpu::DevicePointer flags() const { return flags_->address(); }
  gpu::DevicePointer o() const { return o_->address(); }
  gpu::DevicePointer lse() const { return lse_->address(); }
  gpu::DevicePointer sums() const { return sums_->address(); }
  gpu::DevicePointer part_o() const { return part_o_->address(); }
  gpu::DevicePointer part_lse() const { return part_lse_->address(); }
  // K and V of the share that a turn computes with.
  gpu::DevicePointer share(std::int64_t turn) const { return turn == 0 ? own() : slot((turn - 1) % 2); }

 private:
  explicit RankMemory(const RankSizes& sizes) : sizes_(sizes) {}
  RankSizes sizes_;
  std::optional<gpu::Memory> q_, own_, flags_, o_, lse_, sums_, part_o_, part_lse_;
  std::array<std::optional<gpu::Memory>, 2> slots_;
};

// Places in the flags of a rank, in bytes: values that a neighbour writes and a stream of ours awaits.
inline constexpr std::uint64_t kFlagHere = 0, kFlagGo = 256, kFlagArrived = 512, kFlagFree = 768, kFlagBytes = 1024;

}  // namespace attn
