// "Row r across the keys": the scores of the followed row with the stairs of m above; below the weights as they stand
// now, exp(S - m), with a dashed ghost of what they were before the last rescaling, and the share that each would have
// if the row ended here; under them m and l after each key tile. Nothing of the future: what is not computed yet is an
// empty slot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/step/place/place.h"

namespace attn {

struct RowChartKey {
  std::string word;  // that stands at it; may be empty
  bool scored = false, masked = false;
  float score = 0;
  bool weighed = false;
  double weight = 0;  // exp(S - m) with the maximum of this moment (orders that store S: over l)
  double ghost = 0;   // what it was before x alpha; 0 = the same
  double share = 0;   // of the row's weights so far, summed in fp64: softmax, if these were all its keys. Of keys in
                      // parts that are not merged yet: of its own part's
};

// The bar of a key that a lesson asks to be dragged; its height is shared with the line on the lesson's card.
struct AskedBar {
  std::int32_t key = 0;
  std::optional<double> value;       // where it stands; none: what is typed is no number
  std::optional<double> dragged_to;  // out: in this frame
};

struct RowChartTile {
  std::int32_t first_key = 0, keys = 0;
  bool live = false, skipped = false;
  bool starts_part = false;  // keys in parts: what came before is not known here
  bool has_m = false;
  bool has_l = false;
  float m = 0, l = 0;  // the running maximum and sum after this tile
};

struct RowChartScene {
  std::int32_t row = 0;
  std::vector<RowChartKey> keys;
  std::vector<RowChartTile> tiles;     // left to right by key
  bool any_score = false;              // a finite one
  std::string no_score;                // why there is none of those; empty where there is
  std::optional<float> maximum;        // the row's at this moment; keys in parts: once they are merged
  std::int64_t parts = 1;              // of the keys, each with an m and an l of its own until they are merged
  std::optional<RowChartTile> merged;  // m and l of all keys, once they are
  float min = 0, max = 0;              // finite scores and maxima shown
  bool any_weight = false;
  double max_weight = 1;
  std::vector<TextRuns> notes;  // beside the weights: their sum and what comes next
  bool statistics = true;       // m and l go along with the keys; else LSE of the row is known from the start
  bool letters = true;          // m and l are spoken of: a lesson's first beats come before them
  bool subtracts = true;        // the maximum from each score
  bool final_weights = false;   // orders that store S: divided by the whole row's l
  std::string no_weight;        // why there is none yet; empty where there is
};
// What the stairs and the strips show: m and l after each key tile, or those of the merged row.
inline std::span<const RowChartTile> statistics_of(const RowChartScene& scene) {
  if (scene.merged) return {&*scene.merged, 1};
  return scene.tiles;
}
// A share above its bar: with two digits, in whole percents, or those without their sign.
enum class ShareText : std::uint8_t { exact, whole, bare };
std::string share_text(double share, ShareText how);  // "6.7 %", "7 %", "7"; "<1" where it rounds to nothing

// `asks`: a question is open, so no product of what it may be about is worked out. `letters`: whether m and l are
// known.
RowChartScene row_chart_scene(const Recording& rec, const StepPlace& at, bool asks = false, bool letters = true);

// What the chart draws, for its legend: of its upper half, and of its lower one. `shares`: they stand over the bars.
enum class RowMark : std::uint8_t { none, dot, line, bar, ghost };
struct RowLegendEntry {
  RowMark mark = RowMark::none;
  TextRuns words;
};
std::vector<RowLegendEntry> legend_of_scores(const RowChartScene& scene);
std::vector<RowLegendEntry> legend_of_weights(const RowChartScene& scene, bool shares);

}  // namespace attn
