// The sources of two GPU kernels side by side, line by line, with what differs marked. Plain values;
// source_pair_draw.cpp draws them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// A piece of a line, in bytes.
struct TextSpan {
  std::size_t from = 0, size = 0;
};
// One row of the two columns: a line of the left, of the right, or of both.
struct PairRow {
  std::array<std::int32_t, 2> line{0, 0};  // from 1; 0 = this side has none here
  std::array<std::string, 2> text;         // tabs are spaces
  std::array<TextSpan, 2> differs;         // where both have a line that is another: what of it
  bool same = false;
};

// The longest common subsequence of lines stands in both columns; between, what one alone has, from the top of each
// stretch side by side.
std::vector<PairRow> paired_lines(std::string_view left, std::string_view right);

struct SourcePairScene {
  std::string empty;  // why there is nothing to compare; the choices are set all the same
  std::array<std::string, 2> kernels;
  std::vector<std::string> choices;  // ids of the GPU's kernels
  std::string headline;              // "tiled and flash_simt: 120 of 214 and 98 of 190 lines differ."
  std::array<std::string, 2> notes;  // what else is compiled with it; whether the row was measured with another text
  std::vector<PairRow> rows;
  std::vector<std::size_t> stretches;  // the first row of each stretch that differs
  // The first of them in which code differs, where one begins to read: heads are comments. Without one the first.
  std::size_t first_code = 0;
};

// Which two the view names; where it names none, the kernel that the charts speak of (`subject`, else the one that is
// chosen) and the rung before it. For one of the CPU stands the GPU's first in the same order, else in
// FlashAttention-2's: only their sources come with the program.
std::array<std::string, 2> compared_kernels(const State& state, const std::string& subject);
SourcePairScene source_pair_scene(const State& state, const Model& model, const std::string& subject);

// The next stretch that differs, downwards or upwards from row `row`, around the end; the row itself where none does.
std::size_t next_stretch(const SourcePairScene& scene, std::size_t row, int direction);

// Where the two sources are looked at.
struct SourcePairUiState {
  std::string pair;     // the kernels that `row` is of
  std::size_t row = 0;  // of the stretch that is marked
  bool follow = false;  // brings it into sight, once
};

}  // namespace attn
