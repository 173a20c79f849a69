#include "viz/bench/sweep/sweep_pass.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/pages.h"

namespace attn {
namespace {

// The ids of a forward, its backward and their training step.
bool is_of(const KernelRow& backward, std::string_view id) {
  const TrainingStep& step = backward.training;
  return !step.id.empty() && (id == backward.id || id == step.forward || id == step.id);
}

std::string_view id_in(const KernelRow& backward, Pass pass) {
  return pass == Pass::forward    ? backward.training.forward
         : pass == Pass::backward ? backward.id
                                  : backward.training.id;
}

bool takes_type(const KernelRow& row, DType dtype) {
  return std::ranges::find(row.dtypes, dtype) != row.dtypes.end();
}

}  // namespace

SweepSpec with_pass_and_kernels(const SweepSpec& sweep, Pass pass) {
  SweepSpec s = sweep;
  if (pass == sweep.base.pass) return s;
  s.base.pass = pass;
  if (makes_gradients(pass)) {
    s.base = without_pages(std::move(s.base));
    s.base.output = OutputType::as_inputs;
  }
  std::vector<std::string_view> wanted;
  std::vector<Processor> processors;
  for (const std::string& id : sweep.kernels) {
    if (const auto row = find_kernel(id, sweep.own)) {
      processors.push_back((*row)->processor);
      if (takes_pass(**row, pass)) wanted.push_back(id);
    }
    for (const KernelRow* backward : ladder_of(Pass::backward))
      if (is_of(*backward, id)) wanted.push_back(id_in(*backward, pass));
  }
  s.kernels.clear();
  const bool none = wanted.empty();
  for (const KernelRow* row : ladder_of(pass)) {
    const bool of_device = std::ranges::find(processors, row->processor) != processors.end();
    const bool stands_in = none && of_device && takes_type(*row, s.base.dtype);
    if (stands_in || std::ranges::find(wanted, row->id) != wanted.end()) s.kernels.emplace_back(row->id);
  }
  for (const auto& own : s.own)
    if (std::ranges::find(wanted, own->id) != wanted.end()) s.kernels.emplace_back(own->id);
  return s;
}

SweepMenu pass_menu(const SweepSpec& sweep) {
  static constexpr std::string_view kWords[] = {marked("forward"), marked("backward"), marked("training")};
  const auto words = [](Pass pass) { return std::string(tr_of(kWords[static_cast<std::size_t>(pass)])); };
  SweepMenu menu{"##pass",
                 tr("Pass"),
                 words(sweep.base.pass),
                 tr("Forward: O and LSE. Backward: dQ, dK and dV. Training: both passes in one chain of launches. The "
                    "kernels change with the pass."),
                 {}};
  for (const Pass pass : kPasses)
    menu.choices.push_back({words(pass), pass == sweep.base.pass, with_pass_and_kernels(sweep, pass)});
  return menu;
}

SweepMenu output_menu(const SweepSpec& sweep) {
  const bool wide = sweep.base.output == OutputType::f32;
  SweepMenu menu{"##output",
                 tr("Type of O"),
                 std::string(name_of(sweep.base.output_dtype())),
                 tr("O in the type of Q, K and V, or in f32, the type in which it is summed. Use f32 if several "
                    "outputs will be merged."),
                 {}};
  std::string takers;
  for (const KernelRow* row : ladder_of(sweep.base.pass))
    if (std::ranges::find(row->outputs, OutputType::f32) != row->outputs.end())
      takers += fmt::format("{}{}", takers.empty() ? "" : ", ", row->id);
  if (!takers.empty()) menu.help += "\n" + phrase("Kernels that store f32: {}", takers);
  SweepChoice narrow{std::string(name_of(sweep.base.dtype)), !wide, sweep};
  narrow.changed.base.output = OutputType::as_inputs;
  menu.choices.push_back(std::move(narrow));
  if (sweep.base.dtype == DType::f32 || makes_gradients(sweep.base.pass)) return menu;
  SweepChoice sums{"f32", wide, sweep};
  sums.changed.base.output = OutputType::f32;
  sums.changed.peers.clear();  // they return O in the type of Q, K and V
  menu.choices.push_back(std::move(sums));
  return menu;
}

}  // namespace attn
