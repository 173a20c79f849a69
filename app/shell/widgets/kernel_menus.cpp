#include "app/shell/widgets/kernel_menus.h"

#include <fmt/format.h>

#include "app/shell/widgets/submenu.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/museum/museum.h"
#include "viz/draw/widgets.h"
#include "viz/step/facts/gpu_run.h"

namespace attn {

void draw_museum_menu(const std::string& now, Commands& commands) {
  menu_separator();
  if (!begin_submenu(tr("Deliberately wrong"))) return;
  if (ImGui::MenuItem(tr("Random exhibit"))) commands.emplace_back(ShowRandomPiece{});
  if (ImGui::IsItemHovered())
    show_tooltip(tr("One of the exhibits, or a correct kernel. Find out what is wrong, if anything."));
  menu_separator();
  for (const Piece& piece : museum()) {
    ImGui::BeginDisabled(piece.row == nullptr);
    const bool chosen = piece.row != nullptr && piece.row->id == now;
    if (ImGui::MenuItem(std::string(tr_of(piece.title)).c_str(), nullptr, chosen))
      commands.emplace_back(ShowPiece{std::string(piece.id)});
    ImGui::EndDisabled();
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
      const std::string why =
          piece.row != nullptr ? "" : tr(" A CUDA kernel: it needs an NVIDIA GPU and has no recording.");
      show_tooltip(std::string(tr_of(piece.symptom)) + why);
    }
  }
  end_submenu();
}

void draw_recorded_menu(const std::string& now, Commands& commands) {
  const auto preset = find_preset(kRecordedPreset);
  if (!preset) return;
  menu_separator();
  if (!begin_submenu(tr("Recorded on a GPU"))) return;
  for (const RecordedRun& run : recorded_runs()) {
    const auto row = find_kernel(run.kernel);
    if (!row) continue;
    const std::string words = fmt::format("{}, {}", tr_of((*row)->title), name_of(run.dtype));
    if (ImGui::MenuItem(words.c_str(), nullptr, run.kernel == now)) {
      Problem problem = (*preset)->problem;
      problem.dtype = run.dtype;
      commands.emplace_back(ChoosePreset{std::string(kRecordedPreset)});
      commands.emplace_back(SetProblem{problem});
      commands.emplace_back(ChooseKernel{std::string(run.kernel)});
    }
    if (ImGui::IsItemHovered()) show_tooltip(phrase("{}: its own run of {}", run.kernel, tr_of((*preset)->title)));
  }
  end_submenu();
}

}  // namespace attn
