#include "app/state/apply/history.h"

#include <utility>

namespace attn {
namespace {

// Bench's part of one document in another.
void put_bench(Document& to, const Document& from) {
  to.sweep = from.sweep;
  to.runs = from.runs;
}

}  // namespace

HistoryEntry entry_of(const State& state) {
  const StepView& step = state.view.step;
  const BenchView& bench = state.view.bench;
  return {state.document,
          {step.cursor, step.chart, step.reading, bench.charts, bench.value, bench.page, bench.sources}};
}

DocumentPart part_of(Workspace w) {
  return w == Workspace::step || w == Workspace::learn ? DocumentPart::step : DocumentPart::bench;
}

bool differ(const Document& a, const Document& b, DocumentPart part) {
  Document mixed = a;  // Step's part of `a`, Bench's of `b`
  put_bench(mixed, b);
  return !(mixed == (part == DocumentPart::bench ? a : b));
}

void go_to(const HistoryEntry& then, DocumentPart part, State& state) {
  const Sight& sight = then.sight;
  if (part == DocumentPart::bench) {
    put_bench(state.document, then.document);
    BenchView& bench = state.view.bench;
    bench.charts = sight.metrics;
    bench.value = sight.value;
    bench.page = sight.page;
    bench.sources = sight.sources;
    return;
  }
  Document document = then.document;
  put_bench(document, state.document);
  state.document = std::move(document);
  state.view.step.chart = sight.chart;
  state.view.step.reading = sight.reading;
}

void History::changed(const HistoryEntry& before, const Document& now, int gesture) {
  for (const DocumentPart part : {DocumentPart::step, DocumentPart::bench})
    if (differ(before.document, now, part)) seen(before, part, gesture);
}

void History::seen(const HistoryEntry& before, DocumentPart part, int gesture) {
  Track& t = of(part);
  t.future.clear();
  const bool goes_on = gesture > 0 && gesture == t.gesture && !t.past.empty();
  // A gesture in one view ends that of the other.
  end_gesture();
  t.gesture = gesture;
  if (goes_on) return;
  t.past.push_back(before);
  if (t.past.size() > kMaxEntries) t.past.erase(t.past.begin());
}

void History::end_gesture() {
  for (Track& t : tracks_) t.gesture = 0;
}

std::optional<HistoryEntry> History::undo(const HistoryEntry& now, DocumentPart part) {
  end_gesture();
  Track& t = of(part);
  if (t.past.empty()) return std::nullopt;
  t.future.push_back(now);
  HistoryEntry then = std::move(t.past.back());
  t.past.pop_back();
  return then;
}

std::optional<HistoryEntry> History::redo(const HistoryEntry& now, DocumentPart part) {
  end_gesture();
  Track& t = of(part);
  if (t.future.empty()) return std::nullopt;
  t.past.push_back(now);
  HistoryEntry then = std::move(t.future.back());
  t.future.pop_back();
  return then;
}

void History::swap(History& other, DocumentPart part) {
  std::swap(of(part), other.of(part));
}

}  // namespace attn
