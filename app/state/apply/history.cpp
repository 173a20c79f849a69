#include "app/state/apply/history.h"

#include <utility>

namespace attn {

HistoryEntry entry_of(const State& state) {
  const StepView& step = state.view.step;
  const BenchView& bench = state.view.bench;
  return {state.document,
          {step.cursor, step.chart, step.reading, bench.charts, bench.value, bench.page, bench.sources}};
}

void show_sight(const Sight& sight, View& view) {
  view.step.chart = sight.chart;
  view.step.reading = sight.reading;
  view.bench.charts = sight.metrics;
  view.bench.value = sight.value;
  view.bench.page = sight.page;
  view.bench.sources = sight.sources;
}

void History::changed(const HistoryEntry& before, int gesture) {
  future_.clear();
  const bool goes_on = gesture > 0 && gesture == gesture_ && !past_.empty();
  gesture_ = gesture;
  if (goes_on) return;
  past_.push_back(before);
  if (past_.size() > kMaxEntries) past_.erase(past_.begin());
}

std::optional<HistoryEntry> History::undo(const HistoryEntry& now) {
  gesture_ = 0;
  if (past_.empty()) return std::nullopt;
  future_.push_back(now);
  HistoryEntry then = std::move(past_.back());
  past_.pop_back();
  return then;
}

std::optional<HistoryEntry> History::redo(const HistoryEntry& now) {
  gesture_ = 0;
  if (future_.empty()) return std::nullopt;
  past_.push_back(now);
  HistoryEntry then = std::move(future_.back());
  future_.pop_back();
  return then;
}

}  // namespace attn
