// Undo and redo of the document. The view (cursor, play, workspace) and the preferences are not in it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "viz/state/state.h"

namespace attn {

class History {
 public:
  // Older entries go when there are more.
  static constexpr std::size_t kMaxEntries = 500;

  // The document was `before` and has changed. Changes of one gesture > 0 are one entry.
  void changed(const Document& before, int gesture);
  // The document to go to, or none. `now` is what the other direction comes back to.
  std::optional<Document> undo(const Document& now);
  std::optional<Document> redo(const Document& now);

  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }

 private:
  std::vector<Document> past_, future_;
  int gesture_ = 0;  // of the newest entry; 0 = closed
};

}  // namespace attn
