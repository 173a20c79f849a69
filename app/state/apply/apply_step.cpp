#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "app/state/apply/apply.h"
#include "app/state/apply/apply_lists.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"
#include "kernels/museum/museum.h"
#include "viz/bench/sweep/to_step.h"
#include "viz/draw/hands.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/landmarks.h"
#include "viz/step/place/place.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

// A shape is typed one number at a time: what must follow the changed extent does, so that the first number is not
// refused because the second is still old.
Problem with_followers(Problem p, const Problem& before) {
  if (p.bias_shape.size() == 4 && p.bias_shape == before.bias_shape) {
    const std::int64_t full[4] = {p.B, p.Hq, p.Lq, p.Lk};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if (p.bias_shape[axis] != 1) p.bias_shape[axis] = full[axis];
    }
  }
  if (!p.mask.key_lengths.empty() && p.mask.key_lengths == before.mask.key_lengths && p.B > 0 && p.B <= 4096) {
    p.mask.key_lengths.resize(static_cast<std::size_t>(p.B), p.Lk);
    for (std::int64_t& keys : p.mask.key_lengths) keys = std::min(keys, p.Lk);
  }
  const bool more_keys = p.B != before.B || p.Lk != before.Lk;
  if (p.storage.kind() == Storage::paged && p.storage == before.storage && more_keys && p.B > 0 && p.Lk > 0)
    p = paged_anew(std::move(p));
  return p;
}

// A typed cell is named by its flat index: in a tensor of another shape it would land elsewhere.
void drop_edits_of_changed_shapes(InputSpec& inputs, const Problem& before, const Problem& now) {
  std::erase_if(inputs.edits, [&](const CellEdit& edit) {
    switch (edit.tensor) {
      case InputTensor::q:
        return std::tie(before.B, before.Hq, before.Lq, before.D) != std::tie(now.B, now.Hq, now.Lq, now.D);
      case InputTensor::k:
        return std::tie(before.B, before.Hkv, before.Lk, before.D) != std::tie(now.B, now.Hkv, now.Lk, now.D);
      case InputTensor::v:
        return std::tie(before.B, before.Hkv, before.Lk, before.Dv) != std::tie(now.B, now.Hkv, now.Lk, now.Dv);
      case InputTensor::d_o:
        return std::tie(before.pass, before.B, before.Hq, before.Lq, before.Dv) !=
               std::tie(now.pass, now.B, now.Hq, now.Lq, now.Dv);
      case InputTensor::bias:
        return before.bias_shape != now.bias_shape;
    }
    return true;
  });
}

constexpr std::size_t kMaxEdits = 100000;

// One overload a command: without one for each of the list this does not compile.
struct ApplyStep {
  State s;
  const Recording* recording;

  Result<State> done() { return std::move(s); }

  // The pass stays, and with it the kernel, unless the preset's own is asked for: presets are forwards.
  Result<State> operator()(const ChoosePreset& c) {
    const Pass pass = s.document.problem.pass;
    auto with = with_preset(std::move(s), c.id);
    if (!with) return with;
    if (with->document.inputs.generator == Generator::words) follow_last_word(*with);
    s = *std::move(with);
    const bool paged = s.document.problem.storage.kind() == Storage::paged;
    if (paged) s.view.step.chart = StepChart::pages;
    if (s.document.problem.pass != pass && !paged && !c.forward) {
      s.document.problem.pass = pass;
      s.document.preset.clear();
    }
    let_kernel_follow();
    return done();
  }
  Result<State> operator()(const SetProblem& c) {
    Problem p = with_followers(c.problem, s.document.problem);
    if (auto valid = validate(p); !valid) return tl::unexpected(valid.error());
    if (p == s.document.problem) return done();
    drop_edits_of_changed_shapes(s.document.inputs, s.document.problem, p);
    s.document.problem = std::move(p);
    let_kernel_follow();
    s.document.selection = fitted(s.document.selection, s.document.problem);
    s.document.preset.clear();
    return done();
  }
  Result<State> operator()(const SetOptions& c) {
    const Options& o = c.options;
    if (std::min({o.br, o.bc, o.threads, o.stages}) < 0) {
      return bad_input(tr("Tile extents, threads and stages cannot be negative; 0 means the kernel's default."));
    }
    if (o != s.document.options) s.document.preset.clear();
    s.document.options = o;
    return done();
  }
  Result<State> operator()(const SetInputs& c) {
    if (c.inputs.edits.size() > kMaxEdits) {
      return bad_input(phrase("More than {} edited cells; put the numbers into a .npy file.", kMaxEdits));
    }
    if (c.inputs.generator == Generator::words) {
      if (const auto words = sentence_words(c.inputs.sentence); !words) return tl::unexpected(words.error());
    }
    if (c.inputs == s.document.inputs) return done();
    s.document.inputs = c.inputs;
    std::sort(s.document.inputs.edits.begin(), s.document.inputs.edits.end(), [](const CellEdit& a, const CellEdit& b) {
      return std::tie(a.tensor, a.index) < std::tie(b.tensor, b.index);
    });
    s.document.preset.clear();
    return done();
  }
  Result<State> operator()(const ChooseKernel& c) {
    s.document.exhibit = Exhibit::none;
    if (const Piece* piece = piece_of(c.id)) {
      let_pass_follow(*piece->row);
      return with_piece_kernel(*piece);
    }
    const auto row = find_kernel(c.id, s.document.sweep.own);
    if (!row) return tl::unexpected(row.error());
    // Step shows recordings: a kernel without them is chosen for Bench alone.
    const bool recorded = (*row)->record != nullptr;
    if (recorded) s.document.kernel = c.id;
    if (recorded) let_pass_follow(**row);
    s.view.bench.kernel = recorded ? "" : c.id;
    // Fragments are of the kernel that is stepped through, where it has any.
    if ((*row)->fragments != nullptr) s.view.step.fragment_kernel = c.id;
    return done();
  }
  Result<State> operator()(const Select& c) {
    s.document.selection = fitted(c.selection, s.document.problem);
    return done();
  }
  Result<State> operator()(const StepThrough& c) {
    const auto example = step_example(c.kernel, c.problem, c.options);
    if (!example) return tl::unexpected(example.error());
    if (auto valid = validate(example->problem); !valid) return tl::unexpected(valid.error());
    Document& d = s.document;
    if (const std::string why = why_no_step(c.phase); c.phase != gpu::CodePhase::none && !why.empty())
      return fail(ErrorKind::cannot_run, why);
    if (c.phase != gpu::CodePhase::none && d.kernel == example->kernel) {
      s.view.bench.kernel = example->kernel == c.kernel ? "" : c.kernel;
      s.view.workspace = Workspace::step;
      s.view.step.playing = false;
      return done();
    }
    d.preset.clear();
    d.kernel = example->kernel;
    d.problem = example->problem;
    d.options = example->options;
    d.inputs = {};
    d.inputs.generator = d.sweep.generator;
    d.inputs.seed = d.sweep.seed;
    d.selection = {};
    // Step says whose run stands in for a kernel that is not recorded.
    s.view.bench.kernel = example->kernel == c.kernel ? "" : c.kernel;
    s.view.workspace = Workspace::step;
    s.view.step.cursor = 0;
    return done();
  }

  Result<State> operator()(const ShowPiece& c) {
    const auto piece = find_piece(c.id);
    if (!piece) return tl::unexpected(piece.error());
    if ((*piece)->row == nullptr) {
      return fail(ErrorKind::cannot_run,
                  phrase("{} is a CUDA kernel: it needs an NVIDIA GPU and has no recording. See `attnscope museum {}`.",
                         c.id, c.id));
    }
    s.document.exhibit = Exhibit::none;
    show_problem((*piece)->problem, (*piece)->options, (*piece)->generator, (*piece)->seed);
    return with_piece_kernel(**piece);
  }
  Result<State> operator()(const ShowRandomPiece& c) {
    const RandomPiece drawn = random_piece(c.seed);
    s.document.exhibit = Exhibit::sealed;
    show_problem(drawn.problem, drawn.options, drawn.generator, drawn.seed);
    if (drawn.piece != nullptr) return with_piece_kernel(*drawn.piece);
    s.document.kernel = s.view.bench.kernel = kHealthyPatient;
    return done();
  }
  Result<State> operator()(const RevealPiece&) {
    if (s.document.exhibit == Exhibit::sealed) s.document.exhibit = Exhibit::revealed;
    return done();
  }

  Result<State> operator()(const StepBy& c) {
    if (recording != nullptr) s.view.step.cursor = step_from(*recording, s.view.step.cursor, c.unit, c.direction);
    return done();
  }
  Result<State> operator()(const GoToEvent& c) {
    s.view.step.cursor = std::min(c.event, last_event());
    return done();
  }
  Result<State> operator()(const GoToEnd& c) {
    s.view.step.cursor = c.last ? last_event() : 0;
    return done();
  }
  Result<State> operator()(const Play& c) {
    // Play at the end starts again, as every player does.
    if (c.on && s.view.step.cursor >= last_event()) s.view.step.cursor = 0;
    s.view.step.playing = c.on && last_event() > 0;
    return done();
  }
  Result<State> operator()(const SetPlaySpeed& c) {
    if (std::isfinite(c.steps_per_second))
      s.view.step.play_steps_per_second = std::clamp(c.steps_per_second, 0.25F, 60.0F);
    return done();
  }
  Result<State> operator()(const ToggleBookmark& c) {
    const EventIndex e = c.event == kNoEvent ? s.view.step.cursor : c.event;
    if (recording == nullptr || e >= recording->events.size()) return done();
    const Bookmark mark = bookmark_of(*recording, e);
    auto& marks = s.view.step.bookmarks;
    if (std::erase(marks, mark) > 0) return done();
    if (marks.size() >= kMaxBookmarks) {
      return bad_input(phrase("There can be at most {} bookmarks; remove one first.", kMaxBookmarks));
    }
    marks.push_back(mark);
    return done();
  }
  Result<State> operator()(const ClearBookmarks&) {
    s.view.step.bookmarks.clear();
    return done();
  }
  Result<State> operator()(const GoToLandmark& c) {
    if (recording == nullptr) return done();
    const auto to = next_of(landmarks(c.landmark), s.view.step.cursor, c.direction);
    if (to == kNoEvent) return bad_input(no_landmark(c));
    s.view.step.cursor = to;
    s.view.step.playing = false;
    return done();
  }
  Result<State> operator()(const SetReading& c) {
    s.view.step.reading = c.reading;
    return done();
  }
  Result<State> operator()(const ChooseStepChart& c) {
    s.view.step.chart = c.chart;
    return done();
  }
  Result<State> operator()(const ChooseFragment& c) {
    if (const KernelRow* row = shown_fragments(c.kernel); row == nullptr || row->id != c.kernel)
      return bad_input(phrase("'{}' does not describe how tensor cores hold its tiles", c.kernel));
    s.view.step.fragment_kernel = c.kernel;
    s.view.step.fragment_tile = c.tile;
    return done();
  }

  Result<State> operator()(const ShowRaw& c) {
    s.view.step.raw = c.on;
    return done();
  }
  Result<State> operator()(const SeekFirstWrong& c) {
    s.view.step.seek_first_wrong = c.on;
    return done();
  }

  void let_pass_follow(const KernelRow& row) {
    if (takes_pass(row, s.document.problem.pass)) return;
    s.document.problem.pass = row.passes.front();
    s.document.preset.clear();
  }
  // The kernel that Step shows takes the pass: where it does not, one that does stands in its place.
  void let_kernel_follow() {
    const KernelRow* other = recorded_instead(s.document);
    if (other == nullptr) return;
    s.document.kernel = other->id;
    s.view.bench.kernel.clear();
  }

  // On the problem that shows the piece.
  void show_problem(const Problem& problem, const Options& options, Generator generator, std::uint64_t seed) {
    Document& d = s.document;
    d.preset.clear();
    d.problem = problem;
    d.options = options;
    d.inputs = {};
    d.inputs.generator = generator;
    d.inputs.seed = seed;
    d.selection = {};
    s.view.workspace = Workspace::step;
    s.view.step.cursor = 0;
    s.view.step.playing = false;
    s.view.step.seek_first_wrong = false;
  }
  // Bench does not know it: there the right kernel stands in its place.
  Result<State> with_piece_kernel(const Piece& piece) {
    s.document.kernel = piece.row->id;
    s.view.bench.kernel = piece.right;
    return done();
  }
  std::vector<EventIndex> landmarks(Landmark landmark) const {
    if (landmark == Landmark::bookmark) return bookmarked_steps(*recording, s.view.step.bookmarks);
    const StepPlace at = place_of(*recording, s.view.step.cursor, s.document.selection);
    return steps_where_m_changes(*recording, at, at.row);
  }
  std::string no_landmark(const GoToLandmark& c) const {
    const char* side = c.direction > 0 ? tr("after") : tr("before");
    if (c.landmark == Landmark::bookmark) {
      const std::string none = phrase("There is no bookmark {} this step.", side);
      return by_touch() ? none : none + " " + tr("Press B to set one.");
    }
    const StepPlace at = place_of(*recording, s.view.step.cursor, s.document.selection);
    return phrase("m of row {} does not change {} this step.", at.row, side);
  }

  EventIndex last_event() const {
    return recording == nullptr || recording->events.empty() ? 0
                                                             : static_cast<EventIndex>(recording->events.size() - 1);
  }
};

}  // namespace

Result<State> apply_step(State state, const StepCommand& command, const Recording* recording) {
  return std::visit(ApplyStep{std::move(state), recording}, command);
}

}  // namespace attn
