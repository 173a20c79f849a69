// How far the run is from fp64: |O - O_fp64| over the output of the live head as a map in log colour, and the first
// cell of the run that is further from fp64 than the rounding of fp32 explains (what-if: narrow sums, no maximum
// subtracted). Computed a row at a time, some each frame, so that no frame waits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/replay/exact.h"
#include "viz/draw/text_runs.h"
#include "viz/state/commands.h"
#include "viz/step/place/place.h"

namespace attn {

enum class ErrorLook : std::uint8_t {
  to_come,    // not compared yet
  exact,      // the fp64 answer, to the last bit of the dtype
  error,      // finite, not 0
  overflow,   // not finite where fp64 is
  undefined,  // fp64 is not finite either, or may or may not be (inputs with infinities; kernels/judge/verdict.h)
};
struct ErrorCell {
  ErrorLook look = ErrorLook::to_come;
  float error = 0;
  float shade = -1;  // -1 .. 1 of the log scale
};
// The first cell, in the order of the run, that leaves its bound.
struct FirstDifference {
  EventIndex event = 0;
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // in the whole tensor; a key's index for S and P
  double recorded = 0, exact = 0, bound = 0;
  bool operator==(const FirstDifference&) const = default;
};
// To its step and its number, in the head of `selection`.
Commands go_to(const FirstDifference& first, Selection selection);

// The log scale of the map, the same for every recording, so that two runs can be compared by eye.
constexpr int kMinErrorDecade = -9, kMaxErrorDecade = 0;
float error_shade(double error);  // -1 at 1e-9 and below, 1 at 1 and above

// Compares one head of a recording with fp64, row by row.
class ErrorScan {
 public:
  ErrorScan(std::shared_ptr<const Recording> rec, std::int32_t b, std::int32_t h);
  bool is_of(const std::shared_ptr<const Recording>& rec, std::int32_t b, std::int32_t h) const;
  // Compares rows until about `budget` multiplications are spent, at least one; true when all are done.
  bool advance(std::int64_t budget);
  bool done() const { return rows_done >= rows; }

  std::int32_t b = 0, h = 0;
  std::int32_t rows = 0, cols = 0;
  std::vector<ErrorCell> cells;  // rows x cols
  std::int32_t rows_done = 0;
  double max = 0;  // largest finite error, and where
  std::int32_t max_row = 0, max_col = 0;
  std::int64_t overflows = 0;
  double allowed = 0;  // the most that rounding may have moved a number of O: where nothing differs, what that rests on
  std::optional<FirstDifference> first;
  std::string trouble;  // why fp64 could not be had; else empty

 private:
  void compare_row(std::int32_t row);
  void look_for_first(std::int32_t row);

  std::shared_ptr<const Recording> rec_;
  std::optional<ExactTile> exact_;  // of the query tile that is being compared,
  std::vector<EventIndex> events_;  // and its events
};

struct ErrorScene {
  std::vector<TextRuns> words;  // the largest error; then the first cell that differs, or that none does
  std::optional<FirstDifference> first;
  std::string progress;  // "12 of 64 rows compared"; empty when all are
};
// "O 3,5: 1.2e−07": what a cell says under the pointer.
std::string cell_words(const ErrorScan& scan, std::int32_t row, std::int32_t col);
ErrorScene error_scene(const Recording& rec, const ErrorScan& scan);

}  // namespace attn
