// Where the tiles of cpu_flash_bwd lie in its workspace, and which rows and keys they cover.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/cpu/backward/flash_layout.h"
#include "kernels/cpu/backward/workspace.h"
#include "kernels/cpu/call.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/problem.h"

namespace attn::cpu {

// `head` counts the heads of queries of all batches, `kv` those of keys; i and j are tiles, c is a chunk.
class FlashPlaces {
 public:
  FlashPlaces(const Problem& p, const Buffers& buffers, const FlashLayout& at) : p_(p), buffers_(buffers), at_(at) {}

  static ConstTile read(MutTile t) { return {t.data, t.ld}; }
  float* part(std::int64_t offset) const { return static_cast<float*>(buffers_.workspace) + offset; }
  std::int64_t rows_of(std::int64_t i) const { return std::min(at_.br, p_.Lq - i * at_.br); }
  std::int64_t keys_of_tile(std::int64_t j) const { return std::min(at_.bc, p_.Lk - j * at_.bc); }

  MutTile k_panel(std::int64_t kv, std::int64_t j) const {
    return {part(at_.k_panels) + (kv * at_.tj + j) * p_.D * at_.ldk, at_.ldk};
  }
  MutTile v_panel(std::int64_t kv, std::int64_t j) const {
    return {part(at_.v_panels) + (kv * at_.tj + j) * p_.Dv * at_.ldk, at_.ldk};
  }
  MutTile k_rows(std::int64_t kv, std::int64_t j) const {
    return {part(at_.k_rows) + (kv * p_.Lk + j * at_.bc) * at_.ldd, at_.ldd};
  }
  MutTile q_rows(std::int64_t head, std::int64_t i) const {
    return {part(at_.q) + (head * p_.Lq + i * at_.br) * at_.ldd, at_.ldd};
  }
  MutTile do_rows(std::int64_t head, std::int64_t i) const {
    return {part(at_.d_o) + (head * p_.Lq + i * at_.br) * at_.ldv, at_.ldv};
  }
  float* lse(std::int64_t head, std::int64_t i) const { return part(at_.lse) + head * p_.Lq + i * at_.br; }
  float* delta(std::int64_t head, std::int64_t i) const { return part(at_.delta) + head * p_.Lq + i * at_.br; }
  MutTile dq_rows(std::int64_t c, std::int64_t head, std::int64_t i) const {
    return {part(at_.dq) + ((c * p_.B * p_.Hq + head) * p_.Lq + i * at_.br) * at_.ldd, at_.ldd};
  }
  MutTile dk_rows(std::int64_t c, std::int64_t kv, std::int64_t j) const {
    return {part(at_.dk) + ((c * p_.B * p_.Hkv + kv) * p_.Lk + j * at_.bc) * at_.ldd, at_.ldd};
  }
  MutTile dv_rows(std::int64_t c, std::int64_t kv, std::int64_t j) const {
    return {part(at_.dv) + ((c * p_.B * p_.Hkv + kv) * p_.Lk + j * at_.bc) * at_.ldv, at_.ldv};
  }
  Place2d place(std::int64_t head, std::int64_t i, std::int64_t j) const {
    return {head / p_.Hq, head % p_.Hq, i * at_.br, rows_of(i), j * at_.bc, keys_of_tile(j)};
  }
  bool hidden(const Place2d& t) const {
    return p_.cover(t.b, t.r0, t.r0 + t.rows, t.c0, t.c0 + t.cols) == TileCover::skipped;
  }

  // From key `first` of a tile on, a multiple of kLanes: K in rows, and K and V transposed.
  void pack_some_keys(std::int64_t kv, std::int64_t j, std::int64_t first, std::int64_t count) const {
    const std::int64_t last = keys_of(p_, kv / p_.Hkv);
    // Sixteen keys at a time, V through a small buffer: nothing is allocated in a thread.
    float values[kLanes * kMaxHeadDim];
    for (std::int64_t c = first; c < first + count; c += kLanes) {
      const std::int64_t n = std::min(kLanes, first + count - c), key = j * at_.bc + c;
      const MutTile rows = from_row(k_rows(kv, j), c);
      widen_rows(p_, buffers_, {Tensor::k, kv, p_.Lk, p_.D}, key, n, last, rows);
      transpose(read(rows), {k_panel(kv, j).data + c, at_.ldk}, n, p_.D);
      widen_rows(p_, buffers_, {Tensor::v, kv, p_.Lk, p_.Dv}, key, n, last, {values, p_.Dv});
      transpose({values, p_.Dv}, {v_panel(kv, j).data + c, at_.ldk}, n, p_.Dv);
    }
  }

  const Problem& p_;
  const Buffers& buffers_;
  const FlashLayout at_;
};

}  // namespace attn::cpu
