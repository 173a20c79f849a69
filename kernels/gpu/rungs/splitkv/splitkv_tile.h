// The tile of flash_splitkv and into how many parts it cuts the keys, by one formula of D, Dv, lengths, heads and
// multiprocessors; what it decides it can say in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn::gpu {

// Rows of a head of keys, and tiles of them: the query heads that share it are packed.
std::int64_t split_rows(const Problem& p);
std::int64_t split_row_tiles(const Problem& p, std::int32_t br);

// No batch's keys lie in two parts: nothing is to be merged, which the host knows where no key lengths are given.
bool cuts_no_batch(const Problem& p, const Options& o);

// Bytes of shared memory of a block, of options without 0 left.
std::int64_t split_shared_bytes(const Problem& p, const Options& o);
// Registers of a thread that S and O take, and those that they may.
std::int64_t split_registers(const Problem& p, const Options& o);
inline constexpr std::int64_t kSplitRegisters = 144;

// One batch, and not so much to compute that half a GPU would be too little: not f32, nor scores that are changed.
bool may_merge_in_clusters(const Problem& p);
// Whether the parts of the only batch are the blocks of a cluster, which merges them: no second launch does.
bool merges_in_clusters(const Problem& p, const Options& o, const ArchLimits& arch, std::int32_t sms);

// What is asked for stays, and the rest is chosen to go with it: the first of tile, threads and stages that keeps
// enough on its way, and as many parts as fill `sms` multiprocessors.
Options split_options(const Problem& p, const Options& asked, const ArchLimits& arch, std::int32_t sms);
std::int32_t split_blocks_of_sm(const Problem& p, const Options& o, const ArchLimits& arch);
// What else is worth a try.
std::vector<Options> split_candidates(const Problem& p, const Options& asked, const ArchLimits& arch, std::int32_t sms);

// "8 heads on 132 SMs: 16 splits, with 64.0 KiB in flight per SM".
std::string split_words(const Problem& p, const Options& o, const ArchLimits& arch, std::int32_t sms);

// O and LSE of the parts, in bytes of the workspace that begins at `from`; nothing where there is one part.
struct SplitWorkspace {
  std::uint64_t o = 0, lse = 0, end = 0;
};
SplitWorkspace split_workspace(const Problem& p, std::int64_t splits, std::uint64_t from);

}  // namespace attn::gpu
