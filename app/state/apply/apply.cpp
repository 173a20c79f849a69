#include "app/state/apply/apply.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "app/state/apply/apply_lists.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/order_row.h"

namespace attn {
namespace {

std::int32_t cut(std::int32_t x, std::int32_t min, std::int64_t extent) {
  const std::int64_t max = std::max<std::int64_t>(extent - 1, min);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, min, std::min<std::int64_t>(max, 0x7fffffff)));
}

// Columns of a slot's whole tensor; m, l, alpha and LSE are one number a row.
std::int64_t columns_of(Slot slot, const Problem& p) {
  const std::int64_t columns[] = {1, p.D, p.Dv, p.Lk};  // SlotColumns
  return columns[static_cast<std::size_t>(slot_row(slot).columns)];
}

SweepSpec initial_sweep() {
  SweepSpec sweep;
  for (const KernelRow& row : cpu_kernel_table()) {
    if (row.processor == Processor::cpu) sweep.kernels.emplace_back(row.id);
  }
  sweep.axis = Axis::L;
  sweep.values = {64, 128, 256, 512, 1024};
  sweep.base.Lq = sweep.base.Lk = 256;
  sweep.base.D = sweep.base.Dv = 64;
  sweep.seconds_per_point = 0.5;
  return sweep;
}

// To the function of the command's list.
struct ApplyList {
  const State& state;
  const Recording* recording;

  Result<State> operator()(const StepCommand& c) const { return apply_step(state, c, recording); }
  Result<State> operator()(const BenchCommand& c) const { return apply_bench(state, c); }
  Result<State> operator()(const ProfileCommand& c) const { return apply_profile(state, c); }
  Result<State> operator()(const LearnCommand& c) const { return apply_learn(state, c); }
  Result<State> operator()(const AppCommand& c) const { return apply_app(state, c); }
};

}  // namespace

Selection fitted(const Selection& s, const Problem& p) {
  Selection f = s;
  f.b = cut(s.b, 0, p.B);
  f.h = cut(s.h, 0, p.Hq);
  // K's and V's rows are keys.
  f.row = cut(s.row, 0, slot_row(s.slot).rows == SlotRows::keys ? p.Lk : p.Lq);
  f.col = s.col < 0 ? -1 : cut(s.col, 0, columns_of(s.slot, p));
  return f;
}

Result<State> with_preset(State state, std::string_view preset_id) {
  const auto preset = find_preset(preset_id);
  if (!preset) return tl::unexpected(preset.error());
  Document& d = state.document;
  d.preset = preset_id;
  d.problem = (*preset)->problem;
  d.inputs = {};
  d.inputs.generator = (*preset)->generator;
  d.inputs.seed = (*preset)->seed;
  d.options = {};
  d.options.br = (*preset)->br;
  d.options.bc = (*preset)->bc;
  d.selection = {};
  state.view.step.cursor = 0;
  state.view.step.playing = false;
  return state;
}

void follow_last_word(State& state) {
  state.view.step.chart = StepChart::sentence;
  state.document.selection.row = static_cast<std::int32_t>(state.document.problem.Lq - 1);
}

Result<State> with_sentence(State state, const std::string& sentence) {
  const auto words = sentence_words(sentence);
  if (!words || sentence.empty())
    return bad_input(words ? phrase("The sentence is empty; type {} to {} words.", kMinWords, kMaxWords)
                           : words.error().message);
  auto with = with_preset(std::move(state), "words");
  if (!with) return with;
  Document& d = with->document;
  if (sentence != kUsualSentence) {
    d.preset.clear();
    d.problem = problem_of_words(sentence, d.problem);
    d.inputs.sentence = sentence;
  }
  follow_last_word(*with);
  return with;
}

State initial_state() {
  State state;
  state.document.sweep = initial_sweep();
  // The blackboard is a row of the preset table; a program without it still starts.
  if (auto with = with_preset(state, state.document.preset)) return *std::move(with);
  return state;
}

Result<State> apply(const State& state, const StateCommand& command, const Recording* recording) {
  return std::visit(ApplyList{state, recording}, command);
}

}  // namespace attn
