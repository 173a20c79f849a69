// Where a pipeline's block was recorded, what a what-if changed, and what that does.
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/orders/hopper/derived.h"
#include "viz/step/facts/pipeline.h"

namespace attn {
namespace {

using orders::hopper::Followed, orders::hopper::RecordedBlock;

constexpr double kUsOfNs = 1e-3;

double us_of(const RecordedBlock& b) {
  return b.clocks * b.ns_a_clock * kUsOfNs;
}

// What was replayed with a change; empty: nothing was.
std::string replayed(Followed followed) {
  switch (followed) {
    case Followed::one_slot:
      return tr("Replayed with the recorded durations: one slot each for K and V.");
    case Followed::late_load:
      return tr(
          "Replayed with the recorded durations: K of the third key tile is requested only when a consumer waits for "
          "it.");
    default:
      return {};
  }
}

}  // namespace

PipelineNote pipeline_note(const Recording& rec) {
  const RecordedBlock& block = orders::hopper::followed_block(rec.options);
  const RecordedBlock& recorded = orders::hopper::recorded_block();
  const Followed followed = orders::hopper::followed_by(rec.options);
  PipelineNote note;
  note.source =
      phrase("{} on {}: step {}, L {}, D {}, one block", block.kernel, block.device, block.step, block.L, block.D);
  note.brief = phrase("{}: step {}, L {}, D {}, one block", block.kernel, block.step, block.L, block.D);
  if (rec.key_tiles() < block.key_tiles)
    for (std::string* const source : {&note.source, &note.brief})
      *source = phrase("{}; the first {} of its {} key tiles", *source, rec.key_tiles(), block.key_tiles);
  if (followed == Followed::no_turns)
    note.outcome = phrase("No turns: {:.1f} µs, with turns {:.1f}.", us_of(block), us_of(recorded));
  note.derived = replayed(followed);
  if (note.derived.empty()) return note;
  const double of_recorded = block.clocks * recorded.ns_a_clock * kUsOfNs;
  note.outcome = phrase("{:.1f} µs instead of {:.1f}, {:.0f} % longer.", of_recorded, us_of(recorded),
                        100 * (static_cast<double>(block.clocks) / recorded.clocks - 1));
  return note;
}

std::string told_words(const PipelineNote& note) {
  return note.derived + (note.derived.empty() || note.outcome.empty() ? "" : " ") + note.outcome;
}

std::vector<NoteForm> note_forms(const PipelineNote& note) {
  const std::string told = told_words(note);
  std::vector<NoteForm> forms{{told, note.source}, {told, note.brief}};
  if (!told.empty()) forms.push_back({told, ""});
  if (!note.derived.empty() && !note.outcome.empty()) forms.push_back({note.outcome, ""});
  if (!note.derived.empty()) forms.emplace_back();
  return forms;
}

}  // namespace attn
