// Commands that change what Profile shows, and what the program does for Profile beside its state.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "kernels/gpu/compile/listing.h"
#include "kernels/model/options.h"
#include "kernels/model/problem.h"
#include "viz/state/view_profile.h"

namespace attn {

// View: not undoable.
struct ChooseProfilePage {
  ProfilePage page = ProfilePage::figures;
};
struct ChooseSourceLine {
  std::string file;  // as in ProfileView
  std::int32_t line = 0;
};
struct ChooseCode {
  CodeKind code = CodeKind::sass;
};
struct ChooseAgainst {
  std::string id;  // as in ProfileView
};
// As in ProfileView; both 0: all of it.
struct ChooseBeatSpan {
  std::int64_t from_us = 0, to_us = 0;
};
using ProfileCommand = std::variant<ChooseProfilePage, ChooseSourceLine, ChooseCode, ChooseAgainst, ChooseBeatSpan>;

// The source of a kernel beside its machine code, for the model; one at a time.
struct ListKernel {
  gpu::ListingSubject subject;
};
// Samples a row of a run: where its warps wait, or its heartbeat. What refuses is said.
struct SampleRow {
  std::string run;  // its id
  std::string kernel;
  Problem problem;
  Options options;
  bool heartbeat = false;  // counters over the time of a run, and no samples
};
using ProfileEffect = std::variant<ListKernel, SampleRow>;

}  // namespace attn
