// A warp's ring of key tiles, filled ahead of what it computes: over the seams between batches, too, so that copies are
// on their way while (m, l, O) of a batch are merged and stored.
#pragma once

#include "kernels/gpu/splitkv_copy.cuh"
#include "kernels/gpu/splitkv_line.cuh"

namespace attn::gpu {

// A part of one row tile's line: what lies between `begin` and `end`, or, dealt out, some of it.
struct Part {
  int64 begin, end;
  int tile, kv;
  int skip = 0, step = kAt.warps;  // blocks before warp 0's first, and from one of a warp to its next
};

// What part `number` of `parts` has of a batch's `count` blocks that are dealt out.
__device__ inline Part dealt_part(int64 count, int number, int parts, int tile, int kv) {
  return {0, kBatchCost + count, tile, kv, number * kAt.warps, parts * kAt.warps};
}

// A batch on the line, and its blocks that are the part's: [first, last) of those that are seen.
struct Meeting {
  int64 at;
  int batch, first, last;
  Batch seen;

  __device__ inline Meeting(const SplitArgs& a, const Part& part, int batch_, int64 at_)
      : at(at_), batch(batch_), seen(a, part.tile, batch_) {
    first = static_cast<int>(blocks_before(part.begin, at, seen.blocks.count));
    last = static_cast<int>(blocks_before(part.end, at, seen.blocks.count));
  }
  __device__ inline int64 next() const { return at + seen.cost(); }
};

// What a warp fetches and where that goes; all lanes have it alike.
class Ring {
 public:
  // `ring`: this warp's, in shared memory.
  __device__ inline Ring(const SplitArgs& a, const Part& part, const Meeting& from, unsigned ring, QueryRows queries)
      : a_(a),
        part_(part),
        ring_(ring),
        queries_(queries),
        source_(a, from.seen, from.batch, part.kv),
        keep_(keep_in_l2(a.row_tiles > 1)) {
    meet(from);
    settle();
  }

  // As many tiles on their way as the ring has places beside that of the tile that is computed, and empty groups of
  // copies behind the last. A batch's first tile brings its Q, which waits until that of the batch before is no longer
  // read.
  __device__ inline void fill() {
#pragma unroll 1
    while (on_their_way_ < kAhead && !(fresh_ && q_taken_)) {
      // @phase loop
      if (more_) {
        const int now = page_;
        source_.fetch(a_, j_, now, ring_ + to_ * kAt.stage_bytes, keep_);
        if (fresh_) {
          queries_.fetch(a_, batch_, part_.kv, keep_);
          fresh_ = false;
          q_taken_ = true;
        }
        j_ += part_.step;
        settle();
      }
      commit_copies();
      to_ = to_ + 1 == ATTN_STAGES ? 0 : to_ + 1;
      ++on_their_way_;
    }
  }

  // The tile that comes next is there for all lanes, and none reads the one before any more: its place is free. Where
  // it lies in the ring.
  __device__ inline unsigned take() {
    // @phase barrier
    if (on_their_way_ >= kAhead) {
      wait_for_copies<kAhead - 1>();
    } else {
      wait_for_copies<0>();
    }
    __syncwarp();
    // @phase loop
    const unsigned at = from_ * kAt.stage_bytes;
    --on_their_way_;
    from_ = from_ + 1 == ATTN_STAGES ? 0 : from_ + 1;
    return at;
  }
  // No lane reads Q of the batch that is computed any more.
  __device__ inline void leave_queries() {
    q_taken_ = false;
  }
  // The place behind the tile that was taken last, which nothing is on its way to.
  __device__ inline unsigned free_place() const {
    return (from_ == 0 ? ATTN_STAGES - 1 : from_ - 1) * kAt.stage_bytes;
  }

 private:
  static constexpr int kAhead = ATTN_STAGES - 1;

  __device__ inline void meet(const Meeting& m) {
    batch_ = m.batch;
    next_ = m.next();
    const int first = static_cast<int>(m.seen.blocks.first);
    j_ = first + m.first + part_.skip + uniform(static_cast<int>(threadIdx.x) / 32);
    end_ = first + m.last;
    source_ = Source(a_, m.seen, batch_, part_.kv);
    fresh_ = true;
  }
  // On to the next batch that has a tile for this warp, if this one has no more; and the tile's pages.
  __device__ inline void settle() {
    // @phase setup
#pragma unroll 1
    while (j_ >= end_) {
      if (ATTN_ONE_BATCH || batch_ + 1 >= a_.batches || next_ >= part_.end) {
        more_ = fresh_ = false;
        return;
      }
      meet(Meeting(a_, part_, batch_ + 1, next_));
    }
    page_ = source_.page_of(j_);
  }

  const SplitArgs& a_;
  const Part& part_;
  const unsigned ring_;
  const QueryRows queries_;
  Source source_;
  const Keep keep_;
  int64 next_;  // where the batch behind this one begins
  int batch_, j_,
      end_;  // the tile that is fetched next: its batch, its block; the part's blocks of the batch end there
  int page_ = 0;
  int to_ = 0, from_ = 0, on_their_way_ = 0;  // tiles; places of the ring
  bool more_ = true;
  bool fresh_ = true;     // the tile that is fetched next is its batch's first
  bool q_taken_ = false;  // Q's place is
};

}  // namespace attn::gpu
