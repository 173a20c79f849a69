// What a traced run of a rung writes, and where, in floats from the beginning of its buffer. Compiled by the program
// (how much to ask for, what to read) and by NVRTC (where to write): one place, so the two cannot disagree.
//
// Flash orders: a word of every thread, the place of the tile that it is in; then a record of each (head, i, j), then
// one of each (head, i). A tile is written whole, Br x Bc, what is beyond the end too; a key tile that the kernel skips
// is not written at all. Orders that store S: whole matrices, [heads, rows, columns].
// `who` is 1 + 32 block + warp, an integer; the program fills the buffer with NaN, so what nobody wrote shows.
#pragma once

namespace attn::gpu {

constexpr int kTraceCut = 16;    // orders that store S: `who` of each 16 columns of a row
constexpr int kTraceWarps = 32;  // a block has no more

// Of a flash order: offsets within a tile's record, and within a query tile's. All are multiples of 16, rows of O too:
// fragments of tensor cores are stored whole.
struct FlashTrace {
  int lanes;                                    // that share a row, each with a column of l
  int o_stride;                                 // from row to row of O
  int s, masked, p, m, alpha, l, o, who, tile;  // `tile`: floats of the record
  int row_o, row;                               // O / l; `row`: floats of the record
};
constexpr FlashTrace flash_trace(int Dv, int br, int bc, int lanes) {
  FlashTrace x{};
  x.lanes = lanes;
  x.o_stride = (Dv + 15) / 16 * 16;
  x.masked = x.s + br * bc;
  x.p = x.masked + br * bc;
  x.m = x.p + br * bc;
  x.alpha = x.m + br;
  x.l = x.alpha + br;
  x.o = x.l + br * lanes;
  x.who = x.o + br * x.o_stride;
  x.tile = x.who + br;
  x.row = x.row_o + br * x.o_stride;
  return x;
}

// Where the records of a run begin. `query_tiles` are those of all heads, each with `key_tiles`.
struct FlashTracePlaces {
  long long tiles, rows, total;
};
constexpr FlashTracePlaces flash_trace_places(const FlashTrace& x, long long query_tiles, long long key_tiles,
                                              int threads) {
  FlashTracePlaces at{};
  at.tiles = query_tiles * threads;
  at.rows = at.tiles + query_tiles * key_tiles * x.tile;
  at.total = at.rows + query_tiles * x.row;
  return at;
}

// Of an order that stores S. `rows` are those of all heads.
struct StoredTrace {
  long long s, p, m, l, o, who_s, who_p, who_o, total;
  long long cuts_s, cuts_o;  // of a row
};
constexpr StoredTrace stored_trace(long long rows, long long Lk, long long Dv) {
  StoredTrace x{};
  x.cuts_s = (Lk + kTraceCut - 1) / kTraceCut;
  x.cuts_o = (Dv + kTraceCut - 1) / kTraceCut;
  x.p = x.s + rows * Lk;
  x.m = x.p + rows * Lk;
  x.l = x.m + rows;
  x.o = x.l + rows;
  x.who_s = x.o + rows * Dv;
  x.who_p = x.who_s + rows * x.cuts_s;
  x.who_o = x.who_p + rows;
  x.total = x.who_o + rows * x.cuts_o;
  return x;
}

}  // namespace attn::gpu
