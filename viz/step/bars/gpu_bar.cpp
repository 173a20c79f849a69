#include "viz/step/bars/gpu_bar.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/reading.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

// A version of a slot as the first step of that phase has it; null where there is none.
const Version* version_at(const Recording& rec, Phase phase, Slot slot) {
  const auto at = std::ranges::find(rec.events, phase, [](const Event& e) { return e.id.phase; });
  if (at == rec.events.end()) return nullptr;
  const VersionId id = at->after[static_cast<std::size_t>(slot)];
  return id == kNoVersion ? nullptr : &rec.version(id);
}

std::string score_words(const Recording& rec, const Holds& s) {
  if (s.scaled) return s.base2 ? tr("S in base 2") : "";
  const bool turned = rec.gpu->sign_in_q && rec.problem.effective_scale() < 0;
  return turned ? tr("S without its scale and with the opposite sign") : tr("S without its scale");
}

std::string difference_text(double d) {
  return d == 0 ? "0" : significant_text(d, 2);
}

GpuBarDifference entry_of(const State& state, const PhaseDifference& d, const CpuComparison& comparison) {
  GpuBarDifference out;
  out.letter = d.letter;
  out.value = difference_text(d.difference);
  const bool column = slot_row(d.slot).columns == SlotColumns::one;
  const std::string where = column ? phrase("row {}", d.row) : phrase("row {}, column {}", d.row, d.col);
  out.help = phrase("{} at step {}, {}: {} here and {} on the CPU, the largest of {} differences.", d.letter,
                    d.event + 1, where, significant_text(d.gpu, 9), significant_text(d.cpu, 9), d.compared);
  const bool measured = d.letter == "m" || d.letter == "α" || d.letter == "P" || d.letter == "ℓ" || d.letter == "O";
  if (comparison.m_may_stay && measured) {
    out.help +=
        tr(" This kernel lets m stay below the maximum, so P, ℓ and the running O share another factor than on the "
           "CPU. O/ℓ is unaffected.");
  }
  Selection selection = state.document.selection;
  selection.row = d.row;
  selection.slot = d.slot == Slot::lse ? Slot::o_new : d.slot;
  selection.col = d.slot == Slot::lse ? -1 : d.col;
  out.go_there = {GoToEvent{d.event}, Select{selection}};
  return out;
}

}  // namespace

std::string held_words(const Recording& held) {
  if (!held.gpu || !differs_from_formulas(held)) return {};
  std::vector<std::string> parts;
  if (const Version* s = version_at(held, Phase::max, Slot::s)) {
    if (auto words = score_words(held, s->holds); !words.empty()) parts.push_back(std::move(words));
  }
  if (const Version* m = version_at(held, Phase::max, Slot::m_new); m != nullptr && m->holds.base2) {
    parts.push_back(held.gpu->slack > 0 ? phrase("m in base 2, up to {:g} below the maximum", held.gpu->slack)
                                        : tr("m in base 2"));
  }
  if (const Version* l = version_at(held, Phase::sum, Slot::l_new); l != nullptr && l->holds.partial) {
    parts.push_back(l->cols == 1 ? tr("ℓ from one lane") : phrase("ℓ in parts from {} lanes", l->cols));
  }
  if (held.gpu->tf32x3) {
    parts.emplace_back(tr("P enters the product as two TF32 numbers"));
  } else if (held.gpu->p != DType::f32) {
    parts.push_back(phrase("P enters the product in {}", name_of(held.gpu->p)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

GpuBarScene gpu_bar_scene(const State& state, const Recording& held, const CpuComparison& comparison) {
  GpuBarScene scene;
  if (!held.gpu) return scene;
  scene.shown = true;
  const std::string words = held_words(held);
  scene.can_be_raw = !words.empty();
  scene.raw = scene.can_be_raw && state.view.step.raw;
  scene.numbers = scene.raw           ? words
                  : !scene.can_be_raw ? tr("The kernel holds the same numbers as the formulas.")
                                      : phrase("Shown as in the formulas; the kernel holds {}", words);
  if (comparison.cpu.empty()) {
    scene.lead = comparison.why.empty() ? "" : phrase("Not compared with a CPU run: {}", comparison.why);
    return scene;
  }
  scene.lead = phrase("Largest difference from {} on the CPU", comparison.cpu);
  for (const PhaseDifference& d : comparison.phases) scene.differences.push_back(entry_of(state, d, comparison));
  return scene;
}

}  // namespace attn
