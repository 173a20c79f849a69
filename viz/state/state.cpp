#include "viz/state/state.h"

#include <tuple>

#include "kernels/base/text.h"
#include "kernels/museum/museum.h"

namespace attn {
namespace {

// What makes two sweeps the same to the user. `peak` is this machine's, not a choice.
auto choices_of(const SweepSpec& s) {
  return std::tie(s.kernels, s.own, s.axis, s.values, s.base, s.tokens, s.ragged, s.options, s.tuned, s.peers, s.gpu,
                  s.arch, s.l2, s.counters, s.generator, s.seed, s.seconds_per_point, s.min_repeats, s.memory_limit,
                  s.verify, s.verify_full);
}

}  // namespace

std::string_view name_of(BenchPage page) {
  switch (page) {
    case BenchPage::charts:
      return "charts";
    case BenchPage::ladder:
      return "ladder";
    case BenchPage::sources:
      return "sources";
    case BenchPage::tiles:
      return "tiles";
    case BenchPage::ranks:
      return "ranks";
  }
  return "?";
}

std::string_view name_of(Workspace w) {
  switch (w) {
    case Workspace::step:
      return "step";
    case Workspace::bench:
      return "bench";
    case Workspace::profile:
      return "profile";
    case Workspace::learn:
      return "learn";
  }
  return "?";
}

std::string_view title_of(Workspace w) {
  switch (w) {
    case Workspace::step:
      return tr("Step");
    case Workspace::bench:
      return tr("Bench");
    case Workspace::profile:
      return tr("Profile");
    case Workspace::learn:
      return tr("Learn");
  }
  return "?";
}

bool shows_step(const View& view) {
  return view.workspace == Workspace::step ||
         (view.workspace == Workspace::learn && !view.learn.lesson.empty() && !view.learn.figure);
}

bool teaches(const View& view) {
  return view.workspace == Workspace::learn && view.learn.teach;
}

const std::string& bench_kernel(const State& state) {
  static const std::string kNone;
  if (!state.view.bench.kernel.empty()) return state.view.bench.kernel;
  // What is wrong on purpose is no kernel of Bench, and while it is to be found its name is kept back.
  const bool exhibit = state.document.exhibit != Exhibit::none || piece_of(state.document.kernel) != nullptr;
  return exhibit ? kNone : state.document.kernel;
}

bool Document::operator==(const Document& other) const {
  return std::tie(preset, problem, inputs, kernel, exhibit, options, selection, runs) ==
             std::tie(other.preset, other.problem, other.inputs, other.kernel, other.exhibit, other.options,
                      other.selection, other.runs) &&
         choices_of(sweep) == choices_of(other.sweep);
}

}  // namespace attn
