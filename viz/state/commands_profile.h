// Commands that change what Profile shows, and what the program does for Profile beside its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "kernels/gpu/compile/listing/listing_subject.h"
#include "kernels/gpu/compile/phases.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "viz/state/lab_view.h"
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
struct ChooseTimeline {
  std::string id;  // as in ProfileView
};
struct CompareTimeline {
  std::string id;  // as in ProfileView
};
// Shows another block of the recording that is shown.
struct ChooseTimeBlock {
  std::int64_t block = -1;  // as in ProfileView
};
// Nanoseconds from the block's start; both 0: all of it.
struct ChooseTimeSpan {
  std::int64_t from_ns = 0, to_ns = 0;
};
struct FollowKeyTile {
  std::int32_t tile = -1;
};
struct ShowTimePath {
  bool on = true;
};
// All SMs of the launch in place of one block's lanes.
struct ShowAllSms {
  bool on = true;
};
struct ShowRoofLevels {
  bool on = true;
};
// From a step to its phase in Profile's source, of the kernel on a GPU that walks in the step's order.
struct ShowPhase {
  gpu::CodePhase phase = gpu::CodePhase::none;
};
using ProfileCommand = std::variant<ChooseProfilePage, ChooseSourceLine, ChooseCode, ChooseAgainst, ChooseBeatSpan,
                                    ChooseTimeline, CompareTimeline, ChooseTimeBlock, ChooseTimeSpan, FollowKeyTile,
                                    ShowTimePath, ShowAllSms, ShowRoofLevels, ShowPhase>;

// The source of a kernel beside its machine code, for the model; one at a time, and one that it is set against.
struct ListKernel {
  gpu::ListingSubject subject;
  bool against = false;
};
// The timelines that came with the program, for the model.
struct FindTimelines {};
// As a file that is named in the log: one row per state, or a trace for Perfetto.
struct ExportTimeline {
  std::string id;  // id_of() it
  bool trace = false;
};
// What is taken of a row beside its figures.
enum class RowDetail : std::uint8_t {
  samples,    // where its warps wait
  heartbeat,  // counters over the time of a run
  counts,     // what each instruction does
};
// Takes it of a row of a run. What refuses is said.
struct SampleRow {
  std::string run;  // its id
  std::string kernel;
  Problem problem;
  Options options;
  RowDetail what = RowDetail::samples;
};

// The lab (viz/state/lab_view.h). What is typed is kept on disk as a draft.
struct EditLab {
  LabChange change;
  std::string kernel;  // whose text it is; what was typed into another than stands there goes nowhere
};
// Builds what stands there, checks it against fp64 and, with a GPU, times it.
struct BuildLab {};
// The original text and options; the draft goes.
struct RevertLab {};
// A prepared experiment in place of what stands there: the kernel that it is made on is chosen.
struct OpenExperiment {
  std::string id;
};
// A kernel in the lab as it ships, but for a limit of registers, in place of what stands there.
struct LimitRegisters {
  std::string kernel;
  std::int32_t registers = 0;  // a thread, > 0
};
// What an earlier try was, in place of what stands there.
struct TakeTry {
  std::size_t number = 0;
};
// The draft that is offered: taken up, or thrown away.
struct AnswerDraft {
  bool take = false;
};
// As a kernel of the user's own in Bench, with its name and hash.
struct KeepLab {};
// As a file that opens as this kernel.
struct SaveLab {};
using ProfileEffect = std::variant<ListKernel, FindTimelines, ExportTimeline, SampleRow, EditLab, BuildLab, RevertLab,
                                   OpenExperiment, LimitRegisters, TakeTry, AnswerDraft, KeepLab, SaveLab>;

}  // namespace attn
