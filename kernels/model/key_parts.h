// Keys cut into parts, whole key tiles each: who splits the keys and who shows it cut them in the same places.
#pragma once

#include <cstdint>

#include "kernels/model/options.h"

namespace attn {

struct KeyParts {
  std::int64_t tiles = 1, parts = 1;  // key tiles, and parts of them; a part may be empty where there are more

  std::int64_t first(std::int64_t part) const { return tiles * part / parts; }
  std::int64_t end(std::int64_t part) const { return first(part + 1); }
  std::int64_t of_tile(std::int64_t tile) const { return ((tile + 1) * parts - 1) / tiles; }
};

inline std::int64_t splits_of(const Options& o) {
  return chosen(o, kSplits).value_or(1);
}

inline bool merges_as_tree(const Options& o) {
  return chosen(o, kMerge).value_or(0) != 0;
}

// Two neighbours become one: the second's m, l and O go into the first's.
struct MergeStep {
  std::int64_t into = 0, from = 0;  // parts
};
// In the order of the keys, or as a tree: pairs first, then pairs of pairs. `use(MergeStep)`.
template <class Use>
void for_each_merge(std::int64_t parts, bool tree, const Use& use) {
  for (std::int64_t step = tree ? 1 : parts; step < parts; step *= 2)
    for (std::int64_t p = 0; p + step < parts; p += 2 * step) use(MergeStep{p, p + step});
  for (std::int64_t p = 1; !tree && p < parts; ++p) use(MergeStep{0, p});
}

}  // namespace attn
