// Where cpu_flash_bwd keeps what: its workspace, and what one thread holds on chip; and which tiles the ranks of a ring
// have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/cpu/backward/workspace.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"

namespace attn::cpu {

// Enough pieces for many cores, few enough that the copies of dQ stay small.
inline constexpr std::int64_t kPieces = 64, kMostChunks = 16;

struct FlashLayout : Tiling {
  std::int64_t ldk = 0, ldd = 0, ldv = 0;               // padded Bc, D, Dv
  std::int64_t chunks = 0;                              // that share the key tiles of a head
  std::int64_t k_panels = 0, k_rows = 0, v_panels = 0;  // K transposed and plain, V transposed
  std::int64_t q = 0, d_o = 0, lse = 0, delta = 0;
  std::int64_t dq = 0, dk = 0, dv = 0;  // that come and go: one a chunk
  std::int64_t scratch = 0, scratch_each = 0;
  Parts parts = {};
};

// Tiles of each rank's chunks, the earlier chunk first.
inline std::vector<std::vector<std::int64_t>> tiles_of_ranks(const Ring& ring, const KeyParts& parts) {
  std::vector<std::vector<std::int64_t>> all(static_cast<std::size_t>(ring.ranks));
  for (std::int64_t rank = 0; rank < ring.ranks; ++rank)
    all[static_cast<std::size_t>(rank)] = ring.tiles_of(parts, rank);
  return all;
}

inline FlashLayout flash_layout_of(const Problem& p, const Options& o, std::int64_t most_chunks = kMostChunks) {
  FlashLayout x{tiling_of(p, o)};
  x.ldk = padded(x.bc);
  x.ldd = padded(p.D);
  x.ldv = padded(p.Dv);
  const std::int64_t kv_heads = p.B * p.Hkv, heads = p.B * p.Hq;
  const bool by_queries = orders::backward::queries_outside(o), ring = ranks_of(o) > 1;
  std::int64_t outer = by_queries ? x.ti * (p.Hq / p.Hkv) : x.tj;
  if (ring) {
    // Of the largest share: its key tiles are dealt to the chunks.
    const Ring of = ring_of(o, x.ti, x.tj);
    outer = 1;
    for (const auto& tiles : tiles_of_ranks(of, of.keys())) outer = std::max<std::int64_t>(outer, std::ssize(tiles));
  }
  x.chunks = std::clamp<std::int64_t>((kPieces + kv_heads - 1) / kv_heads, 1, std::min(outer, most_chunks));
  x.k_panels = x.parts.take({kv_heads, x.tj, p.D, x.ldk});
  x.k_rows = x.parts.take({kv_heads, p.Lk, x.ldd});
  x.v_panels = x.parts.take({kv_heads, x.tj, p.Dv, x.ldk});
  x.q = x.parts.take({heads, p.Lq, x.ldd});
  x.d_o = x.parts.take({heads, p.Lq, x.ldv});
  x.lse = x.parts.take({heads, p.Lq});
  x.delta = x.parts.take({heads, p.Lq});
  if (by_queries || ring) {
    const std::int64_t copies = by_queries ? x.chunks : 1;
    x.dk = x.parts.take({copies, kv_heads, p.Lk, x.ldd});
    x.dv = x.parts.take({copies, kv_heads, p.Lk, x.ldv});
  }
  if (!by_queries) x.dq = x.parts.take({x.chunks, heads, p.Lq, x.ldd});
  // S or P, dP or dS, the slope of the softcap; the sums that stay; LSE as a shift.
  const std::int64_t sums = by_queries ? x.br * x.ldd : x.bc * (x.ldd + x.ldv);
  x.scratch_each = (p.softcap ? 3 : 2) * x.br * x.ldk + sums + padded(x.br);
  x.scratch = x.parts.take({x.scratch_each, o.threads});
  return x;
}

// The sums of a tile: on chip, or where they wait in memory.
struct FlashSums {
  MutTile dq = {}, dk = {}, dv = {};
};
struct FlashScratch {
  MutTile s = {}, ds = {}, cap = {};
  FlashSums sums = {};
  float* shift = nullptr;
};
// Which tile of which head: `head` of queries, `kv` of keys.
struct FlashTile {
  std::int64_t head, kv, i, j;
};

inline FlashScratch scratch_at(const FlashLayout& at, float* next, bool by_queries, bool capped) {
  const auto take = [&next](std::int64_t rows, std::int64_t ld) {
    const MutTile t{next, ld};
    next += rows * ld;
    return t;
  };
  FlashScratch s;
  s.s = take(at.br, at.ldk);
  s.ds = take(at.br, at.ldk);
  if (capped) s.cap = take(at.br, at.ldk);
  if (by_queries) {
    s.sums.dq = take(at.br, at.ldd);
  } else {
    s.sums.dk = take(at.bc, at.ldd);
    s.sums.dv = take(at.bc, at.ldv);
  }
  s.shift = next;
  return s;
}

}  // namespace attn::cpu
