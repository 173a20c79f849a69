// A recording's numbers again in fp64, each with a bound on how far the kernel's fp32 number may be from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact_number.h"

namespace attn {

// Of one query tile of one head, all its key tiles; of what is summed over queries (dK, dV) any key tile.
// A row of attention asks nothing of another row, so each is computed when it is first asked for: a picture that
// spells one row of a large tile pays for one. Remembers what it computed; one thread at a time. Keep the recording.
class ExactTile {
 public:
  // `accumulate`: the type whose rounding the bounds allow l and O; none = the one that the run accumulated in.
  // f32 asks what a run would have had to reach without the what-if of a narrower type.
  ExactTile(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t i,
            std::optional<DType> accumulate = std::nullopt);
  ~ExactTile();
  ExactTile(ExactTile&&) noexcept;
  ExactTile& operator=(ExactTile&&) noexcept;
  bool covers(std::int32_t b, std::int32_t h, std::int32_t i) const;
  // One row of a version (`row` counts in the version), by column. Empty for a version of another query tile and for
  // inputs, which are exact as they are. Cost at the first call for a row: Lk (D + Dv) fused products.
  std::span<const ExactNumber> row(VersionId v, std::int32_t row) const;
  // The same by element of the version, row-major.
  std::optional<ExactNumber> at(VersionId v, std::size_t element) const;

 private:
  struct Rows;
  std::int32_t b_, h_, i_;
  std::unique_ptr<Rows> rows_;
};

}  // namespace attn
