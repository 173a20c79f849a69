// Writes a recording while a backward walks, with either tile outside. What is kept in memory between two turns is
// remembered by head and tile; FlashBackward over NoBackwardTrace compiles all of it away.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward_ring/names.h"
#include "kernels/recording/recorder.h"

namespace attn::cpu {

struct NoBackwardTrace {
  static constexpr bool kOn = false;
};

class BackwardTrace {
 public:
  static constexpr bool kOn = true;
  // Each call is a step or several of the mark.
  BackwardTrace(Recording& rec, const Inputs& in, WalkMark& mark);

  // As a mark has them.
  template <class Step>
  void once(const Step& step, std::int64_t cost) {
    to_.once(step, cost);
  }
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body) {
    to_.each(first, last, body);
  }
  template <class Body>
  void blocks(std::int64_t n, std::int64_t cost_each, const Body& body) {
    to_.blocks(n, cost_each, body);
  }

  // Query tile i: O and dO come, delta is made.
  void delta(const Place2d& t, std::int64_t i, ConstTile d_o, const float* delta);
  // Key tile j comes: rows of K, V as the kernel keeps it, transposed. i: -1 where it is outside.
  void keys(const Place2d& t, std::int64_t i, std::int64_t j, ConstTile k, ConstTile v_panel);
  void skipped(const Place2d& t, std::int64_t i, std::int64_t j);
  // Q, dO, LSE and delta of query tile i come by; j: -1 where it is outside, and they stay.
  void rows(const Place2d& t, std::int64_t i, std::int64_t j, ConstTile q, const float* lse);
  // A tile of rows x keys.
  void tile(Phase phase, Slot slot, ConstTile x, const Place2d& t, std::int64_t i, std::int64_t j, Holds holds = {});
  // dV or dK of the key tile, with the part of query tile i.
  void key_sum(Phase phase, Slot slot, ConstTile x, const Place2d& t, std::int64_t i, std::int64_t j);
  // dQ of the query tile, with the part of key tile j: it goes back to memory.
  void query_sum(ConstTile dq, const Place2d& t, std::int64_t i, std::int64_t j);
  // Of a ring: keys, or the sums of a share, leave for the next rank, or come home.
  void travels(Phase phase, const Place2d& t, std::int64_t i, std::int64_t j);
  // What a turn made of dK and dV of the key tile: kept as their first parts, or added to those that came.
  void sums(bool first, const Place2d& t, std::int64_t i, std::int64_t j, ConstTile dk, ConstTile dv);
  // As they are written: scaled and rounded.
  void keys_done(const Place2d& t, std::int64_t j, ConstTile dk, ConstTile dv);
  void rows_done(const Place2d& t, std::int64_t i, ConstTile dq);

 private:
  struct KeyTile {
    VersionId k = kNoVersion, v = kNoVersion, dk = kNoVersion, dv = kNoVersion;
  };
  struct RowTile {
    VersionId q = kNoVersion, d_o = kNoVersion, lse = kNoVersion, delta = kNoVersion;
  };
  RowTile& rows_of(const Place2d& t, std::int64_t i);
  KeyTile& keys_of(const Place2d& t, std::int64_t j);
  void clear(std::initializer_list<Slot> slots);
  void clear_rows();
  void clear_keys();
  void clear_tile();
  void clear_all();
  void put_keys(const Place2d& t, std::int64_t j, ConstTile k, ConstTile v_panel);
  std::int64_t columns_of(Slot slot) const;

  Recording& rec_;
  const Inputs& in_;
  Recorder to_;
  const orders::BackwardNames& n_ = orders::backward_names();
  const orders::BackwardRingNames& r_ = orders::backward_ring_names();
  const bool keys_outside_;
  const std::int32_t tile_pass_, keys_pass_, rows_pass_;  // of the tiles, and of what ends theirs
  std::vector<RowTile> kept_;                             // by head and query tile
  std::vector<KeyTile> kept_keys_;                        // by head of keys and key tile
  std::vector<float> work_;
};

}  // namespace attn::cpu
