// Undo and redo of the document, of each view its own: Step's part and Bench's go back apart, so that undo changes
// nothing that is not on screen. An entry also carries what the eye saw when it was made, so that it gets that back; a
// change of the view alone makes none. Play, workspace and preferences are not in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/state/state.h"

namespace attn {

// What is seen of a document, and undone with it.
struct Sight {
  EventIndex cursor = 0;
  StepChart chart = StepChart::row;
  OutputReading reading = OutputReading::as_summed;
  std::array<std::string, kBenchCharts> metrics;
  std::optional<std::int64_t> value;
  BenchPage page = BenchPage::charts;
  std::array<std::string, 2> sources;
  bool operator==(const Sight&) const = default;
};

struct HistoryEntry {
  Document document;
  Sight sight;
};
HistoryEntry entry_of(const State& state);

// step: problem, inputs, kernel, selection. bench: the sweep and the list of runs.
enum class DocumentPart : std::uint8_t { step, bench };
// The part that a workspace shows: Learn has Step's panels, Profile has Bench's rows.
DocumentPart part_of(Workspace w);
bool differ(const Document& a, const Document& b, DocumentPart part);
// That part of the document, and what was seen of it, as in `then`; all but the cursor, which needs a recording.
void go_to(const HistoryEntry& then, DocumentPart part, State& state);

class History {
 public:
  // Older entries go when there are more.
  static constexpr std::size_t kMaxEntries = 500;

  // The document was that of `before` and is `now`: an entry for each part that differs. Changes of one gesture > 0 are
  // one entry.
  void changed(const HistoryEntry& before, const Document& now, int gesture);
  // An entry for what was seen alone.
  void seen(const HistoryEntry& before, DocumentPart part, int gesture);
  // What follows is a gesture of its own, whatever its number.
  void end_gesture();
  // The entry to go to, or none. `now` is what the other direction comes back to.
  std::optional<HistoryEntry> undo(const HistoryEntry& now, DocumentPart part);
  std::optional<HistoryEntry> redo(const HistoryEntry& now, DocumentPart part);

  bool can_undo(DocumentPart part) const { return !of(part).past.empty(); }
  bool can_redo(DocumentPart part) const { return !of(part).future.empty(); }

  // Changes one part's entries with those of another history: Step's document was put aside, or came back.
  void swap(History& other, DocumentPart part);

 private:
  struct Track {
    std::vector<HistoryEntry> past, future;
    int gesture = 0;  // of the newest entry; 0 = closed
  };
  Track& of(DocumentPart part) { return tracks_.at(static_cast<std::size_t>(part)); }
  const Track& of(DocumentPart part) const { return tracks_.at(static_cast<std::size_t>(part)); }

  std::array<Track, 2> tracks_;
};

}  // namespace attn
