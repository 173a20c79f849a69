// A kernel's source with what each line and each phase became: which instructions, how many, of what kind. They are
// counted where they stand in the machine code. Plain values; source_draw.cpp draws them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/listing/machine_code.h"
#include "profiling/figures/samples.h"
#include "viz/draw/inks.h"
#include "viz/draw/text_runs.h"
#include "viz/profile/source/counts.h"
#include "viz/state/commands_profile.h"
#include "viz/state/model.h"
#include "viz/state/view_profile.h"

namespace attn {

// A phase's sign: a tensor's letter in its colour, or a short word in the theme's.
struct PhaseSign {
  std::string text;
  Face face = Face::text;
  Ink ink;
};
PhaseSign sign_of(gpu::CodePhase phase);

// A name of the text that is a tensor's letter: it wears its colour.
struct LetterSpan {
  std::size_t from = 0, size = 0;  // bytes
  TensorColour hue = TensorColour::s;
};

// The names of a line's code, not of its comment, that are tensors' letters.
std::vector<LetterSpan> letters_of(std::string_view text);

struct SourceRow {
  std::string text;  // tabs are spaces
  std::vector<LetterSpan> letters;
  gpu::CodePhase phase = gpu::CodePhase::none;
  bool names_phase = false;  // the first line of a stretch of its phase: its sign stands beside it
  bool is_tag = false;       // the comment that names it
  gpu::InstructionMix mix;
  std::uint32_t total = 0;
  SampleCounts samples;     // of its instructions, where the kernel was sampled
  double sample_share = 0;  // of all samples
  CountCells counts;        // of its instructions, where they were counted
};

struct PhaseRow {
  gpu::CodePhase phase = gpu::CodePhase::none;
  PhaseSign sign;
  std::string words;  // "scores, Q times K transposed"
  gpu::InstructionMix mix;
  std::uint32_t total = 0;
  double share = 0;  // of all instructions
  PhaseCountCells counts;
  // Its line with the most instructions; line 0 = it has none in these files (a routine of the compiler's own).
  std::string file;
  std::int32_t line = 0;
};

struct FileChoice {
  std::string name;  // "flash_tile.cuh"; empty = the kernel's own
  std::string shown;
  std::uint32_t instructions = 0;
  bool on = false;
};

struct SourceScene {
  std::string empty;        // why there is no source; then nothing below is set
  std::string why_no_sass;  // why there is no machine code: the source and its phases alone
  std::string title;        // "flash_simt for sm_90a: 3480 instructions"
  std::vector<FileChoice> files;
  std::size_t file = 0;  // index into KernelListing::files
  std::vector<SourceRow> rows;
  std::vector<PhaseRow> phases;              // those that have instructions, in the order of the algorithm
  std::uint32_t instructions = 0, most = 0;  // of all; of the row that has the most
  std::vector<std::int32_t> hot;             // lines with instructions, from 1, the most first; sampled: with samples
  // The kernel was sampled, and its lines are those of this text. `why_no_samples`: it was, and they are not.
  bool sampled = false;
  std::string why_no_samples;
  std::uint64_t samples = 0, most_samples = 0;  // of all; of the row that has the most
  // Its instructions were counted, and its lines are those of this text; else `why_no_counts`.
  bool counted = false;
  std::string why_no_counts;
  std::array<CountHead, kCountColumns> count_heads;
  std::array<std::vector<std::int32_t>, kCountColumns> most_counted;  // lines from 1, those with the most first
};

// What was taken of the kernel's row; both may be null.
struct TakenOfRow {
  const KernelSamples* samples = nullptr;
  const KernelCounts* counts = nullptr;
  std::string why_no_counts;  // where they were asked for
};

// `subject_key`: key_of() what is to be shown; the model may hold another, or none yet.
SourceScene source_scene(const ListingView& listing, const std::string& subject_key, const ProfileView& view,
                         const TakenOfRow& taken = {});

// The line that is looked at, from 1: the view's where the file has it, else the one with the most instructions.
std::int32_t line_shown(const SourceScene& scene, const ProfileView& view);
// The phase of that line; `none` where there is no source.
gpu::CodePhase phase_shown(const SourceScene& scene, const ProfileView& view);
// Where the phase that the view seeks is: the line of it with the most instructions, or no line where no instruction is
// of it. Nothing while it is not known, and where no phase is sought.
std::optional<ChooseSourceLine> line_of_sought(const SourceScene& scene, const ProfileView& view);
// The next line in the order of `hot`, or of what a column counts, or the one before; from a line that is not in it the
// hottest.
std::int32_t next_hot(const SourceScene& scene, std::int32_t line, int direction,
                      std::optional<CountColumn> by = std::nullopt);
// The next line from `line` on, upwards or downwards and around, whose text holds `words` (small letters are large
// letters too); nothing where none does.
std::optional<std::int32_t> find_in(const SourceScene& scene, std::string_view words, std::int32_t line, int direction);
// "FMA 512, shared 64, other 12": those that there are, the most first.
std::string mix_words(const gpu::InstructionMix& mix);
// A share as percent, short: "9.9", "12".
std::string share_text(double share);
// "14.2 % of all samples, 18757: 61 % waits for shared memory, 20 % issues"; empty: it has none.
std::string samples_words(const SampleCounts& samples, double share);

// The machine code or the PTX of a line.
struct CodeRow {
  std::string address;  // "0x04d0"; of PTX the line's number
  std::string text;
  gpu::CodePhase phase = gpu::CodePhase::none;
  // Where the kernel was sampled: of the samples of the line's instructions, and what its warps did there.
  std::string share;        // "12", percent; empty: it has none
  std::string state;        // what most of them did, where it has any
  std::string state_brief;  // the same in a word
  std::string words;        // all of it, for a tip
  double part = 0;          // of the samples of the line's instructions, 0 to 1
  // Of a diff: whose it is, and whether it names a function or stands for many that are alike.
  gpu::CodeSide side = gpu::CodeSide::both;
  bool is_name = false, is_fold = false;
};
struct CodeScene {
  std::string title;  // "SASS of line 111: FMA 512, shared 64"
  std::string empty;  // why there is none
  std::string words;  // of a diff: how many instructions of which kind it takes away and adds
  std::vector<CodeRow> rows;
  bool sampled = false;  // its rows have samples beside them, or none fell on them
};
// `samples`: null, or of any text; they are passed over where the scene's lines are not theirs.
CodeScene code_scene(const gpu::KernelListing& listing, const SourceScene& scene, std::int32_t line, CodeKind kind,
                     const KernelSamples* samples = nullptr);
// Address, tab, instruction: a line each.
std::string code_text(const CodeScene& code);

// What the cards remember between frames.
struct SourceUiState {
  std::string search;
  std::string nothing_found;     // the words that no line holds
  std::int32_t scrolled_to = 0;  // the line that was last brought into sight
  std::size_t scrolled_file = 0;
  std::string code_scrolled_to;  // of the machine code, whose hottest row was last brought into sight
  gpu::CodePhase phase_scrolled_to = gpu::CodePhase::none;  // the same of the table of phases
  bool hide_counts = false;                                 // the columns of what was counted, and the phases' table
  std::optional<CountColumn> by;                            // what F8 goes by; nothing: samples, or instructions
};

}  // namespace attn
