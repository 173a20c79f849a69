// Which key blocks a part has. Compiled by the program (workspace, tests) and by NVRTC (the kernels): one place, so the
// two cannot disagree.
//
// A line. The batches of one head of keys lie one behind the other, each as long as it has key blocks that some row
// sees, and kBatchCost more for what it takes beside them: Q, a pipeline that fills, the way out. The line is cut into
// parts of equal length, whatever the lengths of the batches, so a part may have the end of one batch, several whole
// ones and the beginning of another; a long batch has many parts. A line shorter than its parts has as many parts as it
// is long: none is without length.
//
// A single batch is dealt out instead: each part in turn takes as many blocks as it has warps. All parts then read one
// stretch of memory, side by side, which HBM delivers faster than as many stretches far apart.
//
// A part and a batch that meet in blocks have slot part + batch of the workspace: along the line one of the two goes up
// from one meeting to the next and none goes down, so each has a slot of its own, of parts + batches - 1.
#pragma once

namespace attn::gpu {

constexpr long long kBatchCost = 8;  // in key blocks

// A warp of the launch that merges reads as many parts at once; its blocks have no more warps than these.
constexpr int kPartsAtOnce = 8, kMostMergingWarps = 20;

struct KeyBlocks {
  long long first, count;
};

// Of `bc` keys each, that hold a key of [first_key, last_key).
constexpr KeyBlocks key_blocks(long long first_key, long long last_key, int bc) {
  if (last_key <= first_key) return {0, 0};
  return {first_key / bc, (last_key + bc - 1) / bc - first_key / bc};
}

// Divided in 32 bits where they do: on a GPU 64 take several times as long.
constexpr long long divided(long long n, long long by) {
  return ((n | by) >> 32) == 0 ? static_cast<unsigned>(n) / static_cast<unsigned>(by) : n / by;
}

constexpr int parts_used(long long line, int parts) {
  return line < parts ? static_cast<int>(line) : parts;
}

// Parts that have a block where `count` of them are dealt out.
constexpr int parts_dealt(long long count, int warps, int parts) {
  const long long hands = (count + warps - 1) / warps;
  return hands < parts ? static_cast<int>(hands) : parts;
}

// Where part `part` of `parts` begins; the last ends with the line.
constexpr long long part_begin(long long line, int parts, int part) {
  return divided(line * part, parts);
}

// The part that has the point.
constexpr int part_at(long long line, int parts, long long point) {
  int part = static_cast<int>(divided(point * parts, line));  // it begins at the point at the latest
  while (part + 1 < parts && part_begin(line, parts, part + 1) <= point) ++part;
  return part;
}

// How many of a batch's blocks lie before a point of the line; the batch begins at `at`.
constexpr long long blocks_before(long long point, long long at, long long count) {
  const long long n = point - at - kBatchCost;
  return n < 0 ? 0 : n > count ? count : n;
}

}  // namespace attn::gpu
