// The attention map: the weights of a head, every query row by every key, as far as the run has come, and how sharp
// each row is. Nothing after the cursor counts as computed: a row that is not finished shows the softmax of the keys
// that it has seen. Values are the recording's P, measured against the maximum of this moment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/step/place/place.h"

namespace attn {

enum class AttentionLook : std::uint8_t {
  skipped,     // the mask skips its tile
  masked,      // the mask hides this key from this row
  to_come,     // not weighed yet
  value,       // a share of its row, 0 included
  not_finite,  // the row's weights do not add up to a number
};
struct AttentionCell {
  AttentionLook look = AttentionLook::to_come;
  float weight = 0;  // of the row's weights so far; the largest of the keys that the cell stands for
  float shade = -1;  // weight_shade(weight)
};
// How sharp a row is: the entropy of its weights so far.
struct Sharpness {
  bool known = false;
  bool whole = false;     // all keys that it may see are weighed
  double bits = 0;        // 0: one key has it all; log2 n: n keys share alike
  std::int32_t keys = 0;  // weighed so far
};
struct AttentionMap {
  std::int32_t b = 0, h = 0;
  std::int32_t rows = 0, cols = 0;  // drawn; more queries than that are sampled evenly, more keys are put together
  std::int32_t queries = 0, keys = 0;
  std::vector<AttentionCell> cells;  // row-major
  std::vector<Sharpness> sharpness;  // of the drawn rows
  std::int32_t query_of(std::int32_t row) const {
    return static_cast<std::int32_t>((2LL * row + 1) * queries / (2LL * rows));
  }
  std::int32_t first_key_of(std::int32_t col) const {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(col) * keys / cols);
  }
  const AttentionCell& cell(std::int32_t r, std::int32_t c) const {
    return cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(c)];
  }
};
// The map of one head from step to step: a row is made anew only where other tiles of it are weighed than before, and
// rows of no tile and of the most tiles so far are kept, so that going to and fro costs little. Always as
// attention_map() is.
class AttentionRows {
 public:
  const AttentionMap& at(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t max_rows,
                         std::int32_t max_cols);

  // The versions that a query tile's rows are made of, a key tile each.
  struct Weighed {
    VersionId p = kNoVersion, s = kNoVersion, m = kNoVersion;
    bool operator==(const Weighed&) const = default;
  };

 private:
  struct Made {
    bool any = false;
    std::vector<Weighed> of;
    std::vector<AttentionCell> cells;  // of the drawn rows of one query tile
    std::vector<Sharpness> sharpness;
  };
  struct QueryTile {
    std::int32_t first = 0, end = 0;  // drawn rows
    std::vector<Weighed> shown;       // what the map's rows are made of
    bool any = false;                 // they are made
    Made none, most;                  // kept: before any tile was weighed, and with the most that were
  };
  void begin(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t rows, std::int32_t cols);
  void make(const Recording& rec, QueryTile& tile, const std::vector<Weighed>& weighed);

  const Recording* of_ = nullptr;  // never looked into: it may be gone
  AttentionMap map_;
  std::vector<QueryTile> tiles_;
};

// At most so many rows and columns. Cost: rows x keys of the recording.
AttentionMap attention_map(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t max_rows,
                           std::int32_t max_cols);
// Of each key its share of the row's weights so far; NaN where it is not weighed, or hidden by the mask.
std::vector<float> shares_of_row(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t row);
Sharpness sharpness_of_row(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t row);

// -1 .. 1 on a log scale from 10^kMinWeightDecade to 1.
constexpr int kMinWeightDecade = -4;
float weight_shade(float weight);

struct AttentionScene {
  AttentionMap map;                 // of the live head
  std::vector<AttentionMap> heads;  // all, small; empty where there is but one
  Sharpness followed;               // of the followed row
  double most_bits = 1;             // log2 of the keys of the row that sees most
  std::vector<TextRuns> words;
};
// Small maps of the other heads have at most this many rows and columns.
constexpr std::int32_t kSmallMap = 24;
// `maps`: of this recording, the live head's first, then all small ones; from step to step the same.
AttentionScene attention_scene(const Recording& rec, const StepPlace& at, std::int32_t max_rows, std::int32_t max_cols,
                               std::vector<AttentionRows>& maps);
AttentionScene attention_scene(const Recording& rec, const StepPlace& at, std::int32_t max_rows, std::int32_t max_cols);
// "Row 4: 2.95 bits, as if 7.75 of its 16 keys had equal weights."
TextRuns sharpness_words(const Recording& rec, const StepPlace& at, std::int32_t row);
// "row 3, key 5: 0.12 of the row's weight so far": a cell under the pointer, exactly, whatever the map puts together.
std::string attention_words(const Recording& rec, const StepPlace& at, std::int32_t row, std::int32_t key);

}  // namespace attn
