// A block's pipeline at a step of Step's order "hopper": where its lanes stand in their loops, what its ring of slots
// holds, and what each lane did when. Plain values, made of a recording alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/draw/inks.h"
#include "viz/draw/text_runs.h"

namespace attn {

// A state of a loop. `next`: the next step there, or the first where none follows; none: there is no step of it.
struct LoopNode {
  TextRuns words;
  Ink ink;
  bool waits = false;
  std::optional<EventIndex> next = {};
  TextRuns brief = {};  // where there is no room for the words; empty: there is no shorter form
};

// What stands at a node.
struct LoopToken {
  std::size_t node = 0;
  TextRuns words, brief = {};  // brief: where there is no room for the words; empty: there is no shorter form
  Ink ink;
  std::int32_t lane = 0;                    // of a consumer's
  bool live = false;                        // it moved in this step
  std::string tip = {};                     // what a slot holds since when
  std::optional<EventIndex> leads_to = {};  // the step that a slot was filled with, freed or asked for
};

// Nodes in the sequence in which a token goes round.
struct Loop {
  std::string title, what;
  std::vector<LoopNode> nodes;
  std::vector<LoopToken> tokens;
  TextRuns aside;  // said of those that stand at no node, in place of what it is
};

enum class SpanLook : std::uint8_t { work, wait, flight, landed, read, left_out };
struct LaneSpan {
  std::int32_t from = 0, to = 0;  // clocks since the block began
  SpanLook look = SpanLook::work;
  Ink ink;
  std::string letter;
  std::int32_t tile = -1;
};
struct LaneRow {
  std::string label;
  Ink ink;
  bool slot = false;  // of the ring, else of a lane
  bool consumer = false;
  bool live = false;  // this step is its
  std::vector<LaneSpan> spans;
};

struct PipelineNote {
  std::string source;   // what was recorded where
  std::string brief;    // the same without the GPU's name
  std::string derived;  // what was changed; empty: it is as it was recorded
  std::string outcome;  // what a change does to the block's time; empty: nothing was changed
};
// What a line holds of a note: the figure before the source. Both empty: that it was derived alone.
struct NoteForm {
  std::string told, source;
};

struct PipelineView {
  Loop producer, ring, consumers;
  std::vector<LaneRow> rows;
  std::int32_t now = 0, length = 1;  // clocks
  double ns_a_clock = 1;
  std::vector<std::int32_t> moments;  // of each step of this head
  EventIndex first = 0;               // of this head's
  PipelineNote note;
};

PipelineView pipeline_view(const Recording& rec, EventIndex e);
PipelineNote pipeline_note(const Recording& rec);
// What a note tells before its source: what was changed, and what that does.
std::string told_words(const PipelineNote& note);
// Of one line, the longest first: the GPU's name goes first, then the source, then what was changed; the figure stays.
std::vector<NoteForm> note_forms(const PipelineNote& note);
Loop consumer_loop();  // its name and what it is alone
// The step that began last at a moment; of the same head.
EventIndex step_at(const PipelineView& view, std::int32_t clock);
// What a lane does after a step: "waits for K 2".
TextRuns lane_state_words(const Recording& rec, EventIndex e);
// While a product of a consumer is in flight: what the others do. Empty at other steps.
TextRuns meanwhile_words(const Recording& rec, EventIndex e);
// The step whose state of a consumer the tiles show: the step itself where it is a consumer's, else the last of the one
// that computes the followed row.
EventIndex tiles_step(const Recording& rec, EventIndex e, std::int32_t row);
// K or V of a key tile is on its way.
bool on_its_way(const Recording& rec, EventIndex e, bool of_v, std::int32_t j);
// It lies in its slot: from when it landed until the last consumer let it go, for all of them alike.
bool lies_in_slot(const Recording& rec, EventIndex e, bool of_v, std::int32_t j);

}  // namespace attn
