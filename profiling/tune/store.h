// The tiles that tuning chose, one file each in the user's cache: the key they hold for, the numbers, and all that was
// tried. A file that is damaged, of another version or of another key is refused in words, never half used.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/tune/tune.h"

namespace attn {

// What a chosen tile holds for. Two problems with equal keys take the same tile.
struct TunedKey {
  std::string kernel, device, source_hash, compiler;  // compiler: "NVRTC 13.0"; empty on a CPU
  std::string dtype;
  std::int64_t D = 0, Dv = 0;
  std::string mask;    // mask_class()
  std::string length;  // length_band()
  std::string blocks;  // blocks_band()
  bool operator==(const TunedKey&) const = default;
};

// "full", "causal", "window", each with "+lengths" and "+bias" where the problem has them: what of a mask changes which
// tiles a kernel skips.
std::string mask_class(const Problem& p);
// Powers of two that Lq and Lk lie between: "4096..8191", or "1..1 x 4096..8191" where the two differ.
std::string length_band(const Problem& p);
// How many blocks of 64 query rows each SM (CPU: core) gets, between powers of two: "8..15"; "0..0": not all have one.
std::string blocks_band(const Problem& p, const Device& d);

// `source_hash` as in measurements.
TunedKey tuned_key(const KernelRow& row, const Problem& p, const Device& device, const std::string& source_hash,
                   const std::string& compiler);
// One line for messages.
std::string describe(const TunedKey& key);

// $XDG_CACHE_HOME/attnscope/tiles; empty where there is no cache folder.
std::filesystem::path tuned_folder();
// Where the result of a key lies in `folder`.
std::filesystem::path tuned_file(const std::filesystem::path& folder, const TunedKey& key);

// Temporary name, synced, renamed. Refuses a result without a decision.
Result<void> keep_tuned(const std::filesystem::path& folder, const TunedKey& key, TuneResult result);
// What was kept for this key. ErrorKind::cannot_run: nothing was; any other: there is a file, and why it is refused.
Result<TuneResult> read_tuned(const std::filesystem::path& folder, const TunedKey& key);

// All that was kept in `folder`, by the files' names; a file that is refused is named with why.
struct KeptTunings {
  std::vector<TuneResult> results;
  std::vector<std::string> refused;
};
KeptTunings kept_tunings(const std::filesystem::path& folder);

// The options with the tile, threads and stages that were kept for this key in place of their zeros, or why there are
// none: then the message names the command that finds them.
Result<Options> tuned_options(const std::filesystem::path& folder, const TunedKey& key, const KernelRow& row,
                              const Problem& p, const Options& o, const Device& device);

// Where a row's tile came from ("default", "tuned", "asked"; Measurement::tile_from): `asked` are the options as they
// were given. Empty where the kernel has no tile.
std::string tile_from(const KernelRow& row, const Options& asked, bool tuned);

}  // namespace attn
