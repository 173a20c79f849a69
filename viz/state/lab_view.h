// The lab of Profile: the text of one kernel, changed in place, and what became of it. Panels read it; it changes
// through the effects of commands_profile.h alone (app/control/profile/labs.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu/compile/source_mark.h"
#include "kernels/gpu/own_kernel/build_choices.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "profiling/figures/measurement.h"

namespace attn {

// What the user may change.
struct LabChange {
  std::string text;
  gpu::BuildChoices build;
  Options options;  // 0 = as the original is launched
  bool operator==(const LabChange&) const = default;
};

// What a build came to.
struct LabTry {
  std::string name;  // "flash_simt@1a2b3c4d"; of what is no kernel: empty
  LabChange change;
  std::shared_ptr<const Measurement> row;
  double begun = 0;  // when it was asked for, by steady_seconds()
  // From then to the row, and to its samples by line; 0: not there. What was waited for the samples of another counts.
  double row_seconds = 0, lines_seconds = 0;
};

// A text that was typed earlier and never built away: it was kept when the window closed or crashed.
struct LabDraft {
  LabChange change;
  std::string when;  // "2026-11-23 12:05"
};

struct LabView {
  std::string kernel;  // whose text; empty: nothing is open
  Problem problem;
  std::string arch;
  std::vector<OptionSpec> options;            // of the launch: which it has, and what they take
  std::string error;                          // why there is no text
  LabChange original, now;                    // as it is without a change, and as it stands in the editor
  std::uint64_t put = 0;                      // counts the texts that nobody typed: the editor takes each over
  std::string experiment;                     // id of the one that was opened; empty: none
  std::optional<LabDraft> draft;              // offered
  std::string building;                       // what is being done; empty: nothing
  std::string sampling;                       // whose lines are being sampled, while the next may be built
  std::shared_ptr<const Measurement> before;  // of the original on this problem
  std::vector<LabTry> tries;                  // the newest last
  std::vector<gpu::SourceMark> marks;         // of the newest try
  std::vector<LabChange> back, forth;         // what undo and redo lead to, the next one last
  bool changed() const { return !(now == original); }
  // The try of what stands in the editor; null where it was not built.
  const LabTry* built() const { return !tries.empty() && tries.back().change == now ? &tries.back() : nullptr; }
};

}  // namespace attn
