// The lines of a kernel's text that are there for softcap and ALiBi alone. Each ends in a comment that begins with the
// word @score:
//
//   return shaped_score(a, head, r, c, score, unit);  // @score
//
// For a problem without either they are taken out before anything is compiled, listed or hashed, so its machine code,
// its cubins on disk and its hash are those of the text without them; for a problem with one they stay and count.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/model/problem/problem.h"

namespace attn::gpu {

enum class ScoreLines : bool { out, in };

// What a problem is compiled with.
inline ScoreLines score_lines_for(const Problem& p) {
  return p.shapes_scores() ? ScoreLines::in : ScoreLines::out;
}
// The same from the defines of a compilation (specialise.h).
ScoreLines score_lines_for(std::span<const std::string> defines);

bool is_score_line(std::string_view line);
bool has_score_lines(std::string_view text);
// Whether a header is compiled for such problems only: "kernels/gpu/score.cuh".
bool is_score_header(std::string_view source_name);
std::string without_score_lines(std::string_view text);
// With an empty line for each, so that all others keep their numbers: a user's copy.
std::string with_blank_score_lines(std::string_view text);

}  // namespace attn::gpu
