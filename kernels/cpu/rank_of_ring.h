// One rank of a ring (kernels/model/ring.h) in whatever process, of a forward or a backward. Its tensors are the whole
// problem's; it touches the rows of its own queries, and of K and V those of the share that is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attn::cpu {

class RankOfRing {
 public:
  RankOfRing() = default;
  virtual ~RankOfRing() = default;
  RankOfRing(const RankOfRing&) = delete;
  RankOfRing& operator=(const RankOfRing&) = delete;

  // Before turn 0.
  virtual void begin() {}
  // Its queries against the share of this turn, which lies in K and V. Turns come in order.
  virtual void turn(std::int64_t turn) = 0;
  // What stays with its queries (O and LSE, or dQ), after the last turn.
  virtual void finish() = 0;

  // ---- a backward's dK and dV: fp32 sums that go round with their share, one turn behind it

  // Their number; 0: nothing but K and V travels.
  virtual std::size_t sums_of(std::int64_t /*share*/) const { return 0; }
  // What the ranks before have added up comes before what this rank's turn made.
  virtual void add_sums(std::int64_t /*share*/, std::span<const float> /*came*/) {}
  virtual void take_sums(std::int64_t /*share*/, std::span<float> /*to*/) const {}
  // Its own share's, which all ranks have added to: written as dK and dV.
  virtual void put_sums(std::int64_t /*share*/, std::span<const float> /*came*/) {}
  virtual void sums_home() {}
};

}  // namespace attn::cpu
