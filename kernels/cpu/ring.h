// cpu_flash round a ring (kernels/model/ring.h), on the CPU: one rank of it, in whatever process. All ranks in one
// process, turn after turn, give the bits that a process a rank gives: they are the same calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/call.h"
#include "kernels/cpu/rank_of_ring.h"
#include "kernels/cpu/team.h"
#include "kernels/model/ring.h"
#include "kernels/recording/recorder.h"

namespace attn::cpu {

// How a kernel walks a ring. `rank`: one rank in a process of its own; what it is given outlives it. A forward also
// says what it makes of one query tile: m, l and O over some key tiles, from m = -inf, in the scratch; and O / l and
// LSE of what stands there. Without a recorder nothing is recorded; `j` is of the event that begins the tile.
struct RingTile {
  std::unique_ptr<RankOfRing> (*rank)(const Plan&, const Buffers&, std::int64_t rank, Team&) = nullptr;
  void (*keys)(const Call&, const Place2d& rows, std::int64_t i, std::int64_t j, std::span<const TileRange> keys,
               const Team&, Call::Scratch&, Recorder*) = nullptr;
  void (*finish)(const Call&, const Place2d& rows, std::int64_t i, Call::Scratch&, Recorder*) = nullptr;
};

// One rank on a call of the whole problem. Of Q, O and LSE it touches the rows of its own queries alone; of K and V,
// in a turn, those of the share that is there.
class RingRank {
 public:
  // `call` outlives it.
  RingRank(const Call& call, RingTile tile, std::int64_t rank);

  // Whose keys it has in a turn.
  std::int64_t share(std::int64_t turn) const { return ring_.share(rank_, turn); }
  // Makes ready the keys of a rank's share, which lie in the call's K and V.
  void pack(std::int64_t share, Team& team) const;
  // Its queries against the keys that it has in this turn, merged with what the turns before made. Turns come in order.
  void turn(std::int64_t turn, Team& team) const;
  // O / l and LSE of its queries, after the last turn.
  void finish(Team& team) const;

 private:
  template <class Work>
  void for_its_tiles(Team& team, const Work& work) const;

  const Call& call_;
  RingTile tile_;
  Ring ring_;
  std::int64_t rank_;
};

// A rank in a process of its own.
std::unique_ptr<RankOfRing> forward_rank(const Plan& plan, const Buffers& buffers, const RingTile& tile,
                                         std::int64_t rank, Team& team);

// All ranks in this process, for what is packed already.
void ring_walk(const Call& call, const RingTile& of_tile, Team& team);

// The same, recorded turn after turn; interleave_lanes() brings the ranks of a turn side by side.
void ring_record(const Call& call, const RingTile& of_tile, Team& team, Recorder& trace);
// A recording shows each rank with query tiles and key tiles of its own: refused in words where one has none.
Result<void> check_recorded_ring(const Ring& ring);

}  // namespace attn::cpu
