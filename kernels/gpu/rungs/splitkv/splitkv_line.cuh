// Which batches a part of the keys meets, and which keys of them (splitkv_parts.h), worked out on the device from the key
// lengths: the grid does not depend on them.
#pragma once

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/splitkv_args.h"
#include "kernels/gpu/splitkv_parts.h"

namespace attn::gpu {

// What the rows of a row tile see of a batch.
struct Batch {
  int first, last;  // keys [first, last) that some row sees
  KeyBlocks blocks;

  __device__ inline Batch(const SplitArgs& a, int tile, int batch) {
    const int low = tile * ATTN_BR, high = min(low + ATTN_BR, a.rows) - 1;
    const int length = a.problem.key_lengths == nullptr ? a.Lk : static_cast<int>(a.problem.key_lengths[batch]);
    first = max(0, low / a.group + a.first_shift);
    last = min(length, high / a.group + a.last_shift);
    blocks = key_blocks(first, last, ATTN_BC);
  }
  __device__ inline int64 cost() const { return kBatchCost + blocks.count; }
};

// All batches of one row tile, worked out by all threads of the block. `scratch`: 33 numbers of shared memory.
class Line {
 public:
  __device__ inline Line(const SplitArgs& a, int tile, int64* scratch) : a_(a), tile_(tile), scratch_(scratch) {
    if (a.problem.key_lengths == nullptr) {
      each_ = Batch(a, tile, 0).cost();
      length_ = each_ * a.batches;
      return;
    }
    const int threads = static_cast<int>(blockDim.x), share = (a.batches + threads - 1) / threads;
    begin_ = min(static_cast<int>(threadIdx.x) * share, a.batches);
    end_ = min(begin_ + share, a.batches);
    int64 sum = 0;
    for (int b = begin_; b < end_; ++b) sum += Batch(a, tile, b).cost();
    int64 upto = sum;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const int64 other = __shfl_up_sync(0xffffffffu, upto, d);
      if (lane >= d) upto += other;
    }
    if (lane == 31) scratch[warp] = upto;
    __syncthreads();
    before_ = upto - sum;
    sum_ = sum;
    for (int w = 0; w < threads / 32; ++w) {
      if (w < warp) before_ += scratch[w];
      length_ += scratch[w];
    }
  }
  __device__ inline int64 length() const {
    return length_;
  }

  struct At {
    int batch;
    int64 begin;
  };
  // The batch that has the point. For all threads.
  __device__ inline At batch_at(int64 point) const {
    if (each_ > 0) {
      const int64 batch = divided(point, each_);
      return {static_cast<int>(batch), batch * each_};
    }
    if (point >= before_ && point < before_ + sum_) {
      int64 begin = before_;
      int b = begin_;
      for (int64 cost; begin + (cost = Batch(a_, tile_, b).cost()) <= point; ++b) begin += cost;
      tell(b, begin);
    }
    return heard();
  }
  // The same of a batch.
  __device__ inline At batch(int b) const {
    if (each_ > 0) return {b, b * each_};
    if (b >= begin_ && b < end_) {
      int64 begin = before_;
      for (int n = begin_; n < b; ++n) begin += Batch(a_, tile_, n).cost();
      tell(b, begin);
    }
    return heard();
  }

 private:
  __device__ inline void tell(int batch, int64 begin) const {
    scratch_[32] = batch;
    scratch_[33] = begin;
  }
  __device__ inline At heard() const {
    __syncthreads();
    return {static_cast<int>(scratch_[32]), scratch_[33]};
  }

  const SplitArgs& a_;
  const int tile_;
  int64* const scratch_;
  int64 each_ = 0;  // of every batch, where they are alike; 0: they are not
  int64 length_ = 0, before_ = 0, sum_ = 0;
  int begin_ = 0, end_ = 0;  // this thread's batches
};

}  // namespace attn::gpu
