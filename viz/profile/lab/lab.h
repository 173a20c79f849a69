// What the lab shows, as plain values with the text already in them: what became of the edit, its figures beside the
// original's, where the compiler says something, the tries and the experiments. lab_draw.cpp draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "viz/profile/figures/profile_scene.h"
#include "viz/profile/lab/lab_lines.h"
#include "viz/profile/source/source.h"
#include "viz/state/lab_view.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// Whose text stands in the lab, on what, for which architecture: the kernel that is chosen, or flash_simt where that is
// none of a GPU; the problem of its row that Profile shows, else that of Bench, with what the kernel takes.
struct LabSubject {
  std::string kernel;
  Problem problem;
  std::string arch;
};
LabSubject lab_subject(const State& state, const Model& model);
// Changes when the subject may: it takes all rows that are shown, and is asked for once a frame.
std::string lab_subject_key(const State& state, const Model& model);

// The line that a header's refusal names ("my.cu, line 3: ..."); 0 = none.
std::int32_t header_line(std::string_view message);

struct LabMarkLine {
  bool error = false;
  std::string words;  // of all marks of the line, a line each
};

struct LabTryRow {
  std::size_t number = 0;  // in LabView::tries
  std::string name;        // "1a2b3c4d"
  std::string what;        // "3 lines", "Br 64", "as shipped"
  std::string time, registers, spills;
  std::string outcome;  // "pass", "wrong", "does not compile", "compiled"
  bool good = false, on = false;
  std::string tip;
};

struct LabExperimentRow {
  std::string id, title, tip;
  bool on = false;
};

// A line of the difference; '-' is the original's, '+' the edit's, ' ' both, '.' leaves some out.
struct LabDiffRow {
  char sign = ' ';
  std::int32_t line = 0;  // of the side that has it; of both: the edit's
  std::string text;
};

struct LabScene {
  Options shipped;    // what is launched where the user chose nothing; 0: not known
  std::string empty;  // why there is no text; then nothing below is set
  std::string headline;
  std::vector<std::string> words;
  std::string problem, title;  // title: "flash_simt.cu: 3 lines edited"
  std::string question;        // of the experiment that is open: its question, what is changed, what answered it
  std::string name;            // of the edit where it was built: "flash_simt@1a2b3c4d"
  std::vector<ProfileGroup> groups;
  std::map<std::int32_t, LabMarkLine> marks;  // by line
  std::set<std::int32_t> edited;              // lines that the original has not
  LabLines lines;                             // where the warps' time goes in it
  std::vector<LabTryRow> tries;               // the newest first
  std::vector<LabExperimentRow> experiments;
  std::vector<LabDiffRow> difference;
  std::string draft;  // what is offered; empty: nothing
  bool changed = false, building = false;
  std::int32_t profiled_line = 0;  // of the text as it was, where Profile's samples are the most; 0 = not known
};
// `profiled`: the row of the original that Profile shows, may be null.
LabScene lab_scene(const LabView& lab, const GpuView& gpu, const Measurement* profiled = nullptr);

// What the editor remembers between frames.
struct LabUiState {
  std::string text;       // as it is being typed
  std::uint64_t put = 0;  // LabView::put that it was taken over from; the model's begins below
  bool filled = false;
  std::int32_t cursor = 0, go_to = 0;  // lines from 1: where the caret stands; where it is to go, 0 = nowhere
  std::int32_t look_at = 0;            // that is to come into sight, the caret where it is; 0 = none
  bool difference = false;             // shown in place of the text
  bool typing = false;                 // the field has the keyboard
  std::int32_t max_registers = 0;      // as it is being typed
  Options options;
};

// Where one would look first: the first line that is edited, else the one with the most of the warp time, else 0.
std::int32_t first_look(const LabScene& scene);
// The line with the most of the warp time; 0 where nothing was sampled.
std::int32_t hottest_line(const LabScene& scene);
// The next marked line behind `line`, or before it, around the end; 0 where there is none.
std::int32_t next_mark(const LabScene& scene, std::int32_t line, int direction);

}  // namespace attn
