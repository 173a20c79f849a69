#include "viz/step/facts/code_phase.h"

#include <algorithm>

#include "kernels/base/text.h"

namespace attn {

using gpu::CodePhase;

std::vector<Phase> step_phases(const OrderRow& order, CodePhase phase) {
  const std::string_view code = gpu::name_of(phase);
  std::vector<Phase> found;
  // What is stored last is the answer.
  for (auto row = order.phases.rbegin(); row != order.phases.rend(); ++row) {
    if (row->code == code) found.push_back(row->phase);
  }
  // V may come along with K.
  for (const OrderPhase& row : order.phases) {
    const bool along =
        row.code != code && std::ranges::any_of(row.loads, [code](Slot s) { return letter_of_slot(s) == code; });
    if (along) found.push_back(row.phase);
  }
  return found;
}

std::optional<CodePhase> code_phase_of(Phase phase) {
  for (const OrderRow& order : all_orders()) {
    const OrderPhase* row = order.phase(phase);
    if (row != nullptr && !row->code.empty()) return gpu::code_phase_from_name(row->code);
  }
  return std::nullopt;
}

std::string why_no_step(CodePhase phase) {
  const auto shows = [phase](const OrderRow& order) { return !step_phases(order, phase).empty(); };
  if (std::ranges::any_of(all_orders(), shows)) return {};
  if (phase == CodePhase::none) return tr("These instructions have no phase, so they have no step.");
  return phrase("The phase {} belongs to the hardware, not the algorithm: the paper has no step for it.",
                gpu::name_of(phase));
}

Result<EventIndex> step_of(const Recording& rec, CodePhase phase) {
  if (const std::string why = why_no_step(phase); !why.empty()) return fail(ErrorKind::cannot_run, why);
  for (const Phase step : step_phases(order_row(rec.order), phase)) {
    const auto at = std::ranges::find_if(rec.events, [step](const Event& e) { return e.id.phase == step; });
    if (at != rec.events.end()) return static_cast<EventIndex>(at - rec.events.begin());
  }
  const char* why = phase == CodePhase::mask ? tr("nothing is masked in this tile") : tr("its order lacks this phase");
  return fail(ErrorKind::cannot_run,
              phrase("The run of {} has no step for {}: {}.", rec.kernel, gpu::name_of(phase), why));
}

}  // namespace attn
