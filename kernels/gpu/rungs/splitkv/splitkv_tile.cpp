#include "kernels/gpu/rungs/splitkv/splitkv_tile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/splitkv/splitkv_layout.h"
#include "kernels/gpu/rungs/splitkv/splitkv_parts.h"

namespace attn::gpu {
namespace {

constexpr std::int32_t kRowsOfTile = 16;
// A read of HBM takes less than a microsecond, in which an H100 moves 20 KiB an SM.
constexpr std::int64_t kOnTheirWay = std::int64_t{64} << 10;
// A multiprocessor that reads less than this spends much of its time on the first tiles and the last: twice as much on
// its way took 1.5 to 3 % less time on an H100 (B = 1, D = 128, 1 head of 131072 keys or 4 of 65536). One that reads
// more gains nothing. Some multiprocessors then get more than their share and end a quarter earlier, and all together
// took 0.6 % more for 16 x 8192 keys of 8 heads, and as long for 64 x 4096 and 128 x 2048.
constexpr double kReadsLittle = 2 << 20;

struct Shape {
  std::int32_t threads, blocks;  // of a multiprocessor
};
// Warps enough to hide what one computes behind the copies of the others, then fewer where shared memory is short.
// While a warp computes, it has a tile less on its way: one of eight is missed less than one of four. On an H100 (f16,
// D = 128, 8 heads) blocks of eight took 0.5 to 1.6 % less time than blocks of four for batches of 16 x 8192, 64 x 4096
// and 128 x 2048 keys.
constexpr Shape kShapes[] = {{256, 1}, {128, 2}, {128, 1}, {64, 2}, {64, 1}, {32, 1}};
constexpr std::int32_t kMostStages = 6;

std::int64_t rounded_16(std::int64_t n) {
  return (n + 15) / 16 * 16;
}

std::int32_t rows_for(const Problem& p) {
  const std::int64_t dv = rounded_16(p.Dv);
  const std::int64_t most = dv <= 128 ? 32 : 16;  // as many as O leaves room for
  for (std::int64_t br = kRowsOfTile; br < most; br *= 2)
    if (br >= split_rows(p)) return static_cast<std::int32_t>(br);
  return static_cast<std::int32_t>(most);
}

std::int64_t element(const Problem& p) {
  return static_cast<std::int64_t>(size_of(p.dtype));
}
std::int64_t bytes_of_key(const Problem& p) {
  return element(p) * (rounded_16(p.D) + rounded_16(p.Dv));
}

// A tile of K and V is 8 KiB or more: fewer, longer copies.
std::int32_t keys_for(const Problem& p) {
  return !p.changes_scores() && bytes_of_key(p) <= 256 ? 32 : 16;
}

std::int64_t stage_bytes(const Problem& p, const Options& o) {
  return std::int64_t{o.bc} * bytes_of_key(p) * (o.threads / kWarp);
}
std::int64_t on_their_way(const Problem& p, const Options& o, std::int32_t blocks) {
  return blocks * stage_bytes(p, o) * (o.stages - 1);
}

// A cluster has all parts of its rows and needs no second launch. Clusters of 8, which every GPU that has them takes,
// leave multiprocessors idle, but half of them read as fast as all do if each has twice as much on its way. On an H100
// (B = 1, D = 128, f16), and in parentheses in parts for all multiprocessors: 8 heads of 4096 keys 12.7 us (16.7), of
// 131072 keys 180 (182 to 187); 4 heads of 4096 keys 11.5 (14.4), 12 heads 15.8 (19.2); 6 heads of 65536 keys 72 (76),
// but 4 heads 69 (55) and 12 heads 145 (141). Blocks that share a multiprocessor are not worth it: clusters crowd on
// some and leave others idle.
constexpr std::int64_t kCluster = 8;

bool has_clusters(const ArchLimits& arch) {
  return arch.arch == "sm_90" || arch.arch == "sm_100" || arch.arch == "sm_120";
}
std::int64_t blocks_in_clusters(const Problem& p, const Options& o) {
  return p.Hkv * split_row_tiles(p, o.br) * kCluster;
}

std::int32_t most_stages(const Problem& p, Options o, std::int64_t room) {
  for (o.stages = kMostStages; o.stages > 2; --o.stages)
    if (split_shared_bytes(p, o) <= room) break;
  return o.stages;
}
// The fewest that keep enough on their way while one of the warps computes, if they may be fewer than fit.
std::int32_t stages_for(const Problem& p, Options o, std::int64_t room, const Shape& shape, bool few) {
  const std::int32_t most = most_stages(p, o, room), warps = shape.blocks * o.threads / kWarp;
  if (!few) return most;
  constexpr std::int64_t kWhileOneComputes = kOnTheirWay * 7 / 8;
  for (o.stages = 2; o.stages < most; ++o.stages)
    if (on_their_way(p, o, shape.blocks) * (warps - 1) / warps >= kWhileOneComputes) break;
  return o.stages;
}

void choose_pipeline(const Problem& p, const ArchLimits& arch, bool few_stages, Options& o) {
  const Options asked = o;
  for (const Shape& shape : kShapes) {
    if (asked.threads != 0 && asked.threads != shape.threads) continue;
    const std::int64_t room = std::min(arch.shared / shape.blocks - arch.shared_kept, arch.shared_block);
    o.threads = shape.threads;
    o.stages = asked.stages != 0 ? asked.stages : stages_for(p, o, room, shape, few_stages);
    if (split_shared_bytes(p, o) <= room && on_their_way(p, o, shape.blocks) >= kOnTheirWay) return;
  }
  // None keeps as much on its way: the one that keeps most.
  Options best = asked;
  std::int64_t most = -1;
  for (const Shape& shape : kShapes) {
    o.threads = asked.threads != 0 ? asked.threads : shape.threads;
    const std::int64_t room = std::min(arch.shared / shape.blocks - arch.shared_kept, arch.shared_block);
    o.stages = asked.stages != 0 ? asked.stages : most_stages(p, o, room);
    if (split_shared_bytes(p, o) > room || on_their_way(p, o, shape.blocks) <= most) continue;
    most = on_their_way(p, o, shape.blocks);
    best = o;
  }
  if (most < 0) best = o;  // nothing fits: the plan refuses it
  o = best;
}

// Key blocks of a batch that these queries see at most. Key lengths do not count: what is prepared may be given others.
std::int64_t key_blocks_of(const Problem& p, std::int32_t bc, std::int64_t from, std::int64_t to) {
  Problem whole = p;
  whole.mask.key_lengths.clear();
  const KeyRange first = whole.visible_keys(0, from), last = whole.visible_keys(0, to - 1);
  return key_blocks(std::min(first.first, last.first), std::max(first.last, last.last), bc).count;
}
std::int64_t key_blocks_of(const Problem& p, std::int32_t bc) {
  return key_blocks_of(p, bc, 0, p.Lq);
}

bool reads_little(const Problem& p, const Options& o, std::int32_t sms) {
  const auto line = static_cast<double>(p.B * key_blocks_of(p, o.bc) * o.bc);
  return line * static_cast<double>(p.Hkv * split_row_tiles(p, o.br) * bytes_of_key(p)) < kReadsLittle * sms;
}

// As asked for, in clusters: where they are about half the multiprocessors, and where they are fewer or more but a
// block has so little to read that the saved launch counts for more.
bool choose_clusters(const Problem& p, const ArchLimits& arch, std::int32_t sms, Options& o) {
  constexpr std::int32_t kThreads = 256;
  constexpr std::int64_t kLittle = std::int64_t{256} << 10;
  const std::int64_t blocks = blocks_in_clusters(p, o),
                     of_block = key_blocks_of(p, o.bc) * o.bc * bytes_of_key(p) / kCluster;
  const bool half = blocks * 3 >= sms && blocks * 5 <= sms * std::int64_t{3};
  if (!half && (blocks * 5 < sms || of_block > kLittle)) return false;
  Options all = o;
  if (all.threads == 0) all.threads = kThreads;
  if (all.stages == 0) all.stages = most_stages(p, all, arch.shared_block);
  if (chosen(all, kSplits).value_or(0) == 0) choose(all, kSplits, kCluster);
  if (split_shared_bytes(p, all) > arch.shared_block || !merges_in_clusters(p, all, arch, sms)) return false;
  o = all;
  return true;
}

// How full the last wave is, of all of them.
double efficiency(std::int64_t blocks, std::int64_t at_once) {
  const std::int64_t waves = tiles(blocks, at_once);
  return static_cast<double>(blocks) / static_cast<double>(waves * at_once);
}

// Blocks of a multiprocessor that keep enough on their way; no more than it has room for. More only add to the merge:
// on an H100 (B = 1, 8 heads of 131072 keys, D = 128) parts for one block an SM took 179.1 us, for two 184.5.
std::int32_t blocks_that_do(const Problem& p, const Options& o, const ArchLimits& arch) {
  const std::int32_t room = std::max(1, split_blocks_of_sm(p, o, arch));
  for (std::int32_t n = 1; n < room; ++n)
    if (on_their_way(p, o, n) >= kOnTheirWay) return n;
  return room;
}

// The fewest parts that fill the GPU nearly as well as any, and then as many as fit into the same waves.
std::int64_t splits_for(const Problem& p, const Options& o, const ArchLimits& arch, std::int32_t sms) {
  constexpr double kNearly = 0.95;
  constexpr std::int64_t kMost = 1024;
  const std::int64_t heads = p.Hkv * split_row_tiles(p, o.br);
  const std::int64_t at_once = std::int64_t{sms} * blocks_that_do(p, o, arch);
  const std::int64_t line = p.B * (key_blocks_of(p, o.bc) + kBatchCost);
  // Each warp of a part shall have a key block beside what a batch costs.
  const std::int64_t most = std::clamp<std::int64_t>(line / (kBatchCost + o.threads / kWarp), 1, kMost);
  double best = 0;
  for (std::int64_t n = 1; n <= most; ++n) best = std::max(best, efficiency(heads * n, at_once));
  std::int64_t splits = 1;
  while (splits < most && efficiency(heads * splits, at_once) < kNearly * best) ++splits;
  const std::int64_t waves = tiles(heads * splits, at_once);
  splits = std::clamp<std::int64_t>(waves * at_once / heads, splits, most);
  if (p.B > 1) return splits;
  // Dealt out, some parts have a tile a warp more than others: no more parts than end with those.
  const std::int64_t blocks = std::max<std::int64_t>(1, key_blocks_of(p, o.bc)), warps = o.threads / kWarp;
  return tiles(blocks, tiles(blocks, splits * warps) * warps);
}

}  // namespace

std::int64_t split_rows(const Problem& p) {
  return p.Lq * (p.Hq / p.Hkv);
}
std::int64_t split_row_tiles(const Problem& p, std::int32_t br) {
  return tiles(split_rows(p), br);
}

bool cuts_no_batch(const Problem& p, const Options& o) {
  constexpr std::int64_t kMostTiles = 64;  // beyond them nobody looks: a merge too many is no mistake
  const std::int64_t tile_count = split_row_tiles(p, o.br), group = p.Hq / p.Hkv;
  if (!p.mask.key_lengths.empty() || tile_count > kMostTiles) return false;
  for (std::int64_t tile = 0; tile < tile_count; ++tile) {
    const std::int64_t from = tile * o.br / group, to = (std::min((tile + 1) * o.br, split_rows(p)) - 1) / group + 1;
    const std::int64_t count = key_blocks_of(p, o.bc, from, to), each = count + kBatchCost, line = p.B * each;
    const int asked = static_cast<int>(chosen(o, kSplits).value_or(1)), parts = parts_used(line, asked);
    if (p.B == 1) {
      if (parts_dealt(count, o.threads / kWarp, asked) > 1) return false;
      continue;
    }
    for (int part = 1; part < parts; ++part) {
      const std::int64_t at = part_begin(line, parts, part), before = blocks_before(at, at / each * each, count);
      if (before > 0 && before < count) return false;
    }
  }
  return true;
}

std::int64_t split_shared_bytes(const Problem& p, const Options& o) {
  return splitkv_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), static_cast<int>(element(p)), o.br, o.bc,
                        o.threads, o.stages)
      .total;
}

std::int64_t split_registers(const Problem& p, const Options& o) {
  return o.br / kRowsOfTile * (rounded_16(p.Dv) / 2 + o.bc / 2);
}

std::int32_t split_blocks_of_sm(const Problem& p, const Options& o, const ArchLimits& arch) {
  return occupancy(arch, o.threads, kMaxRegisters, split_shared_bytes(p, o)).blocks;
}

bool may_merge_in_clusters(const Problem& p) {
  return p.B == 1 && p.dtype != DType::f32 && !p.changes_scores();
}

bool merges_in_clusters(const Problem& p, const Options& o, const ArchLimits& arch, std::int32_t sms) {
  return may_merge_in_clusters(p) && has_clusters(arch) && chosen(o, kSplits) == kCluster &&
         blocks_in_clusters(p, o) * 4 <= sms * std::int64_t{3} && on_their_way(p, o, 1) >= 2 * kOnTheirWay;
}

Options split_options(const Problem& p, const Options& asked, const ArchLimits& arch, std::int32_t sms) {
  Options o = asked;
  if (o.br == 0) o.br = rows_for(p);
  if (o.bc == 0) o.bc = keys_for(p);
  if (choose_clusters(p, arch, sms, o)) return o;
  if (o.threads == 0 || o.stages == 0) choose_pipeline(p, arch, !reads_little(p, o, sms), o);
  if (chosen(o, kSplits).value_or(0) == 0) choose(o, kSplits, splits_for(p, o, arch, sms));
  return o;
}

std::vector<Options> split_candidates(const Problem& p, const Options& asked, const ArchLimits& arch,
                                      std::int32_t sms) {
  std::vector<Options> all{split_options(p, asked, arch, sms)};
  const auto add = [&](Options o) {
    o = split_options(p, o, arch, sms);
    if (split_shared_bytes(p, o) <= arch.shared_block && std::ranges::find(all, o) == all.end()) all.push_back(o);
  };
  if (asked.threads == 0) {
    for (const std::int32_t threads : {64, 128, 256}) {
      Options o = asked;
      o.threads = threads;
      if (o.stages == 0) o.stages = 2;
      add(o);
      if (asked.stages == 0) add((o.stages = 3, o));
    }
  }
  if (chosen(asked, kSplits).value_or(0) == 0) {
    const std::int64_t usual = chosen(all.front(), kSplits).value_or(1);
    for (const std::int64_t n : {usual / 2, usual * 3 / 4, usual * 3 / 2, usual * 2}) {
      Options o = asked;
      if (n < 1) continue;
      choose(o, kSplits, n);
      add(o);
    }
  }
  return all;
}

std::string split_words(const Problem& p, const Options& o, const ArchLimits& arch, std::int32_t sms) {
  const std::int64_t splits = chosen(o, kSplits).value_or(1), tile_count = split_row_tiles(p, o.br);
  const std::int32_t blocks = blocks_that_do(p, o, arch);
  const std::string at_once = blocks == 1 ? fmt::format("{}", sms) : fmt::format("{} x {}", blocks, sms);
  const std::string way = format_bytes(static_cast<std::uint64_t>(on_their_way(p, o, blocks)));
  if (merges_in_clusters(p, o, arch, sms))
    return plural(p.Hkv, "{} head on {} of {} SMs: clusters of {} splits, with {} in flight per SM",
                  "{} heads on {} of {} SMs: clusters of {} splits, with {} in flight per SM", blocks_in_clusters(p, o),
                  sms, splits, way);
  if (tile_count > 1)
    return plural(p.Hkv, "{} head in {} row tiles on {} SMs: {} splits, with {} in flight per SM",
                  "{} heads in {} row tiles on {} SMs: {} splits, with {} in flight per SM", tile_count, at_once,
                  splits, way);
  return plural(p.Hkv, "{} head on {} SMs: {} splits, with {} in flight per SM",
                "{} heads on {} SMs: {} splits, with {} in flight per SM", at_once, splits, way);
}

SplitWorkspace split_workspace(const Problem& p, std::int64_t splits, std::uint64_t from) {
  constexpr std::uint64_t kUnit = 256;
  if (splits == 1) return {from, from, from};
  const std::int64_t of_lse[] = {4, splits + p.B - 1, p.Hq, p.Lq}, of_o[] = {4, splits + p.B - 1, p.Hq, p.Lq, p.Dv};
  const auto behind = [](std::uint64_t at, std::uint64_t bytes) {
    return saturating_sum(saturating_sum(at, bytes), kUnit - 1) / kUnit * kUnit;
  };
  SplitWorkspace w;
  w.o = behind(from, 0);
  w.lse = behind(w.o, saturating_product(of_o));
  w.end = saturating_sum(w.lse, saturating_product(of_lse));
  return w;
}

}  // namespace attn::gpu
