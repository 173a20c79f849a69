// Tensor maps: one thread asks for a tile, and the hardware (TMA) copies it, swizzled, between memory and shared
// memory. PTX ISA, cp.async.bulk.tensor.
//
// A map says how the tensor lies in memory, how large a tile is, and how its 16-byte chunks change places. Where a tile
// leaves the tensor, zeros come, and count among the bytes that the barrier waits for; on the way back nothing is
// written there. So no length and no D needs a case of its own.
//   Q, O   axes {column, head of the pack, query, packed head, batch}, a tile {64, PACK, rows / PACK, 1, 1}
//   K, V   axes {column, key, head, batch}, a tile {64, keys, 1, 1}
#pragma once

namespace attn::gpu {

struct alignas(128) HopperMap {  // the driver's CUtensorMap
  unsigned long long opaque[16];
};

// The map itself is read from memory, too: the first copy need not wait for it.
__device__ __forceinline__ void fetch_map(const HopperMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
__device__ __forceinline__ void load_keys(unsigned to, const HopperMap& map, unsigned barrier, int column, int key,
                                          int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(column), "r"(key), "r"(head), "r"(batch)
      : "memory");
}
__device__ __forceinline__ void load_queries(unsigned to, const HopperMap& map, unsigned barrier, int column, int query,
                                             int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(column), "r"(0), "r"(query), "r"(head), "r"(batch)
      : "memory");
}
__device__ __forceinline__ void store_rows(const HopperMap& map, unsigned from, int column, int query, int head,
                                           int batch) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
               "r"(from), "r"(column), "r"(0), "r"(query), "r"(head), "r"(batch)
               : "memory");
}
__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// The stores of this thread have read shared memory.
__device__ __forceinline__ void stores_have_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
// They have been written.
__device__ __forceinline__ void stores_are_done() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace attn::gpu
