#include "app/state/history.h"

#include <utility>

namespace attn {

void History::changed(const Document& before, int gesture) {
  future_.clear();
  const bool goes_on = gesture > 0 && gesture == gesture_ && !past_.empty();
  gesture_ = gesture;
  if (goes_on) return;
  past_.push_back(before);
  if (past_.size() > kMaxEntries) past_.erase(past_.begin());
}

std::optional<Document> History::undo(const Document& now) {
  gesture_ = 0;
  if (past_.empty()) return std::nullopt;
  future_.push_back(now);
  Document then = std::move(past_.back());
  past_.pop_back();
  return then;
}

std::optional<Document> History::redo(const Document& now) {
  gesture_ = 0;
  if (future_.empty()) return std::nullopt;
  past_.push_back(now);
  Document then = std::move(future_.back());
  future_.pop_back();
  return then;
}

}  // namespace attn
