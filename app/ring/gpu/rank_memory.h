// What lies on a rank's GPU: its queries, its share of K and V, two places for shares that arrive, and a forward's sums
// so far. A backward's are in rank_gradients.h.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "app/ring/gpu/messages.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/model/kernel.h"

namespace attn {

inline void* pointer_to(gpu::DevicePointer at) {
  return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): the driver hands out addresses as numbers
}

// Bytes of a page of the device.
inline constexpr std::uint64_t kDevicePage = std::uint64_t{2} << 20;

// What a block takes that neighbours open: whole pages of its own, at least one.
constexpr std::uint64_t shared_bytes(std::uint64_t bytes) {
  return bytes == 0 ? kDevicePage : (bytes + kDevicePage - 1) / kDevicePage * kDevicePage;
}

using RankBlock = std::optional<gpu::Memory>;
struct NewBlock {
  RankBlock& block;
  std::uint64_t bytes = 0;
};
// In their order, up to one for which there is no room.
Result<void> allocate_blocks(gpu::Driver& driver, std::initializer_list<NewBlock> blocks);
// Every byte 0xff, which is NaN in f32, f16 and bf16.
Result<void> poison_blocks(gpu::Driver& driver, std::initializer_list<const RankBlock*> blocks,
                           gpu::StreamHandle stream);

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
  // Of "open": Q, K and V.
  std::uint64_t dealt_bytes() const { return q_bytes() + k_bytes(rows) + v_bytes(rows); }
};

// A turn is the same kernel on rows of a rank's queries and of the share: [rows, heads, width], so rows that follow one
// another are a tensor of their own.
Problem problem_of_turn(const GpuOpenRequest& r, const GpuTurn& work);

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
  // Its Q, K and V.
  Buffers inputs_of_turn(const GpuTurns& turns, const GpuTurn& work, std::int64_t turn) const;

 private:
  explicit RankMemory(const RankSizes& sizes) : sizes_(sizes) {}
  RankSizes sizes_;
  RankBlock q_, own_, flags_, o_, lse_, sums_, part_o_, part_lse_;
  std::array<RankBlock, 2> slots_;
};

// Places in the flags of a rank, in bytes: values that a neighbour writes and a stream of ours awaits.
inline constexpr std::uint64_t kFlagHere = 0, kFlagGo = 256, kFlagArrived = 512, kFlagFree = 768;
inline constexpr std::uint64_t kFlagSums = 1024, kFlagSumsFree = 1280, kFlagBytes = 1536;  // of dK and dV

}  // namespace attn
