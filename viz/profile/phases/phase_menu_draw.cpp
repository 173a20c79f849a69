#include "viz/profile/phases/phase_menu_draw.h"

#include <string>

#include <fmt/format.h>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/widgets.h"
#include "viz/step/facts/code_phase.h"

namespace attn {
namespace {

StepThrough at_phase(const StepThrough& to_step, gpu::CodePhase phase) {
  StepThrough there = to_step;
  there.phase = phase;
  return there;
}

}  // namespace

void draw_phase_menu(gpu::CodePhase phase, const StepThrough& to_step, Commands& commands) {
  if (!ImGui::BeginPopupContextItem()) return;
  begin_menu_rows();
  const std::string why = why_no_step(phase);
  if (ImGui::MenuItem(phrase("{} in Step", gpu::name_of(phase)).c_str(), nullptr, false, why.empty()))
    commands.push_back(at_phase(to_step, phase));
  if (!why.empty()) ImGui::TextDisabled("%s", why.c_str());
  end_menu();
}

void draw_phase_button(gpu::CodePhase phase, const StepThrough& to_step, Commands& commands) {
  const std::string why = why_no_step(phase);
  const bool named = phase != gpu::CodePhase::none;
  const std::string label =
      fmt::format("{}###phase_in_step",
                  named ? phrase("{} in Step", std::string(gpu::name_of(phase))) : std::string(tr("Its step")));
  ImGui::BeginDisabled(!why.empty());
  if (toggle(label.c_str(), true, tr("The first step of this phase, in the order of this kernel")))
    commands.push_back(at_phase(to_step, phase));
  ImGui::EndDisabled();
  if (!why.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) show_tooltip(why);
}

}  // namespace attn
