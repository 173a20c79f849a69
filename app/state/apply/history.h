// Undo and redo of the document. An entry also carries what the eye saw when it was made, so that it gets that back; a
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
// All of `sight` but the cursor, which needs a recording.
void show_sight(const Sight& sight, View& view);

class History {
 public:
  // Older entries go when there are more.
  static constexpr std::size_t kMaxEntries = 500;

  // The document was that of `before` and has changed. Changes of one gesture > 0 are one entry.
  void changed(const HistoryEntry& before, int gesture);
  // What follows is a gesture of its own, whatever its number.
  void end_gesture() { gesture_ = 0; }
  // The entry to go to, or none. `now` is what the other direction comes back to.
  std::optional<HistoryEntry> undo(const HistoryEntry& now);
  std::optional<HistoryEntry> redo(const HistoryEntry& now);

  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }

 private:
  std::vector<HistoryEntry> past_, future_;
  int gesture_ = 0;  // of the newest entry; 0 = closed
};

}  // namespace attn
