// Questions in the command palette, with their answers.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/shell/palette/palette.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/costs.h"
#include "kernels/model/problem/problem.h"
#include "profiling/figures/samples.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/scene/answers.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

PaletteEntry question(std::string words, std::string more, std::string also, std::string answer) {
  PaletteEntry e;
  e.group = tr("Question");
  e.words = std::move(words);
  e.more = std::move(more);
  e.also = std::move(also);
  e.answer = std::move(answer);
  return e;
}

// The problem that the workspace speaks of.
Problem problem_here(const State& state) {
  const SweepSpec& sweep = state.document.sweep;
  const bool bench = state.view.workspace == Workspace::bench || state.view.workspace == Workspace::profile;
  if (!bench || sweep.values.empty()) return state.document.problem;
  return problem_at(sweep, state.view.bench.value.value_or(sweep.values.back()));
}

PaletteEntry formula(const Problem& problem) {
  using enum TensorColour;
  PaletteEntry e =
      question(tr("What is the formula for attention?"), "O = softmax(Q K^T / sqrt(D)) V",
               tr("equation definition softmax one line"),
               phrase("Each query is compared with every key: S is Q times K transposed, times the scale. Softmax "
                      "turns each row of S into weights that add up to 1: P = exp(S − m) / ℓ. In each row, m is the "
                      "maximum and ℓ is the sum of exp(S − m). Each row of O is the average of V's rows, weighted by "
                      "the matching row of P. Here: Q is {} × {}, K {} × {}, V {} × {}, S and P {} × {}, for each of "
                      "B × H = {} heads.",
                      problem.Lq, problem.D, problem.Lk, problem.D, problem.Lk, problem.Dv, problem.Lq, problem.Lk,
                      problem.B * problem.Hq));
  e.formula = {
      letter("O", o),    word(" = softmax( ", Token::text), letter("Q", q), word(" ", Token::text), letter("K", k),
      letter("T", k, 1), word(" / √D ) ", Token::text),     letter("V", v)};
  e.door = tr("Start chapter 1");
  e.commands = {StartLesson{"weighted-average", ""}};
  return e;
}

PaletteEntry scale(const Problem& p) {
  PaletteEntry e = question(
      tr("Why divide by √D?"), tr("So that scores do not grow with D"),
      tr("sqrt(D) square root scale 1/sqrt(D) scaling"),
      phrase("A score is the sum of D products. If the entries of q and k are independent with mean 0 and variance 1, "
             "a score has variance D. Unscaled scores are about √D in size. At D = {}, √D is {}. If scores differ by "
             "√D, softmax gives one key nearly all the weight. In training, almost no gradient reaches keys with tiny "
             "weights. Divided by √D, the scores are about 1 in size for any D. This problem's factor is {}.",
             p.D, significant_text(std::sqrt(static_cast<double>(p.D)), 3), significant_text(p.effective_scale(), 4)));
  e.door = tr("See what large scores do");
  e.commands = {ChooseWorkspace{Workspace::step}, ChoosePreset{"large_logits"}};
  return e;
}

// Of a forward of the problem, whatever pass is chosen.
PaletteEntry flop_count(Problem p) {
  p.pass = Pass::forward;
  const double flops = flops_of(p), pairs = flops / (2.0 * static_cast<double>(p.D + p.Dv));
  const auto count = [](double n) { return n < 1e15 ? grouped_count(std::llround(n)) : significant_text(n, 4); };
  PaletteEntry e = question(
      tr("How many FLOP does attention take?"), tr("4 · L² · D for each head, without a mask"),
      tr("FLOP FLOPs GFLOP TFLOP floating-point operations count arithmetic work definition"),
      phrase("Q Kᵀ takes D multiplications and D additions for each pair of a query and a key that see each other. P V "
             "takes Dv of each. That is 2 · pairs · (D + Dv), or 4 · L² · D for a head without a mask. The softmax is "
             "not counted. Here: 2 · {} pairs · ({} + {}) = {} FLOP.",
             count(pairs), p.D, p.Dv, count(flops)));
  e.formula = {word("FLOP = 4 · L² · D", Token::text)};
  e.door = tr("See it in Learn");
  e.commands = {StartLesson{"bytes", "work"}};
  return e;
}

std::vector<PaletteEntry> of_bench(const PaletteFacts& f) {
  PaletteEntry memory =
      question(tr("At which L does naive run out of memory on this GPU?"),
               tr("From the plans of the kernels that store S and P"),
               tr("memory limit largest longest L sequence OOM out of memory"), memory_answer(f.state, f.model));
  memory.door = tr("Peak memory along the axis");
  memory.commands = {ChooseWorkspace{Workspace::bench}, ChooseBenchMetric{.id = "memory_peak_bytes", .show = true}};
  PaletteEntry tile =
      question(tr("Why this tile size?"), tr("What limits Br × Bc: registers, shared memory and occupancy"),
               tr("tile Br x Bc block size occupancy limit"), tile_answer(f.state, f.model));
  tile.door = tr("All tiles");
  tile.commands = {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::tiles}};
  PaletteEntry ranks =
      question(tr("What do the ranks of a ring wait for?"), tr("When each rank computed, waited and sent"),
               tr("ring ranks lanes timeline overlap GPUs processes"), ranks_answer(f.state, f.model));
  ranks.door = tr("Lanes of the ranks");
  ranks.commands = {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::ranks}};
  PaletteEntry versions =
      question(tr("Which versions produced this session?"), tr("Driver, CUDA, NVRTC, CUPTI and this program"),
               tr("driver CUDA NVRTC CUPTI toolkit provenance commit reproduce"), versions_answer(f.state, f.model));
  std::vector<PaletteEntry> all;
  all.push_back(std::move(memory));
  all.push_back(std::move(tile));
  all.push_back(std::move(ranks));
  all.push_back(std::move(versions));
  return all;
}

}  // namespace

std::vector<PaletteEntry> palette_answers(const PaletteFacts& facts) {
  const Problem p = problem_here(facts.state);
  std::vector<PaletteEntry> all{formula(p), scale(p), flop_count(p)};
  for (PaletteEntry& e : of_bench(facts)) all.push_back(std::move(e));
  for (const StallReason& reason : stall_reasons()) {
    PaletteEntry e = question(std::string(tr_of(reason.title)), std::string(tr_of(reason.what)),
                              phrase("{} stall reason warp state", reason.name), std::string(tr_of(reason.what)));
    e.group = tr("Stall");
    e.answer += phrase("\n\nCUPTI and Nsight Compute call this state {}, which counts as \"{}\" in Profile.",
                       reason.name, words_of(reason.state));
    e.door = tr("Where the time goes");
    e.commands = {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::source}};
    all.push_back(std::move(e));
  }
  return all;
}

}  // namespace attn
