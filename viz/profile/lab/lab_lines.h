// Where the warps' time goes in the text that stands in the lab, by line and by phase, beside the original's. Plain
// values; lab_editor_draw.cpp draws the lines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "profiling/figures/samples.h"
#include "viz/bench/sources/source_pair.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/state/lab_view.h"

namespace attn {

struct LabLine {
  double share = 0;                             // of all samples of the kernel that the column is of, 0 to 1
  std::optional<double> before;                 // the same line's in the original, where the column is of an edit
  gpu::CodePhase phase = gpu::CodePhase::none;  // of most of them
  std::string text;                             // "12.3": percent
  std::string tip;                              // what its warps waited for, and the same line of the original
};

struct LabLines {
  std::map<std::int32_t, LabLine> by_line;  // of the text in the editor, from 1
  double most = 0;                          // the largest share
  // "% of warp time": of the edit where it was built, else of the original, in those of its lines that still stand.
  std::string heading, tip;
};
// `rows`: the original's lines beside those in the editor.
LabLines lab_lines(const LabView& lab, std::span<const PairRow> rows);

// Shares of warp time by phase, those of `before` beside them (may be null). Nothing where `now` has no samples with
// phases.
std::optional<ProfileGroup> phase_group(const Measurement& now, const Measurement* before);

// "kernels/gpu/flash_simt.cu" and "flash_simt": whether a file that the compiler names is the text in the editor.
bool is_text_of(std::string_view file, const std::string& kernel);

}  // namespace attn
