// Recomputes a recording's phases from the operands it holds: the proof that the pictures are the kernel's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"

namespace attn {

// One element of a version that is not what it should be.
struct WrongElement {
  std::int32_t row = 0, col = 0;  // in the tile
  double recorded = 0, right = 0;
};

// First difference between a recorded version and its recomputation, or nothing.
struct ReplayDifference {
  EventIndex event = 0;
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // in the tile
  float recorded = 0, replayed = 0;
  std::string words;  // counts steps from 1, as the window does
  double bound = 0;   // how far a right number may be from `replayed`: of a GPU's recording
  // Of a GPU's recording every number of that version that differs, this one the first; else empty.
  std::vector<WrongElement> numbers = {};
};

// Recomputes every phase of every event from its recorded operands with the kernel's own arithmetic, and the
// output and LSE from the recorded O, m, l; holds what is loaded against the inputs. Equal bit for bit (NaN to NaN) on
// the machine that recorded it. A GPU's recording is held against fp64, each phase within the bound that replay_gpu.cpp
// states. Nothing too where `stop` was asked for first.
std::optional<ReplayDifference> replay(const Recording& rec, const std::stop_token& stop = {});
// Of a recording that a GPU made.
std::optional<ReplayDifference> replay_of_gpu(const Recording& rec, const std::stop_token& stop);

// The same numbers in fp64 with a running error bound, for one query tile of one head (all its key tiles).
// |recorded - exact| <= bound for every finite element; how the bound is made stands in exact.cpp.
struct ExactNumber {
  double exact = 0;
  double bound = 0;
};
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
