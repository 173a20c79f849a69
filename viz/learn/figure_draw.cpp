#include "viz/learn/figure_draw.h"

#include <algorithm>

#include "imgui.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/heartbeat_draw.h"
#include "viz/profile/occupancy_draw.h"
#include "viz/profile/roofline_draw.h"

namespace attn {
namespace {

// All strips: where the box is low it scrolls. What a drag over them asks for is Profile's, and not a lesson's.
void draw_beat(const HeartbeatScene& scene, ImVec2 size) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  const bool open = ImGui::BeginChild("strips", size, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const float least = heartbeat_height(scene, size.x);
  Commands of_profile;
  if (open) draw_heartbeat(scene, {ImGui::GetContentRegionAvail().x, std::max(size.y, least)}, of_profile);
  ImGui::EndChild();
}

}  // namespace

void draw_stage_figure(const StageFigure& figure, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const ImVec2 size{box.width(), box.height()};
  const bool roof = figure.kind == FigureKind::roofline, beat = figure.kind == FigureKind::heartbeat;
  if (!figure.waits && beat) return draw_beat(figure.heartbeat, size);
  if (!figure.waits) return roof ? draw_roofline(figure.roof, size) : draw_occupancy(figure.occupancy, size);
  if (begin_card("waits", size)) {
    heading(roof ? "Roofline" : beat ? "Heartbeat" : "Occupancy");
    dim_text("That of " + figure.of + " waits for your answer.");
  }
  ImGui::EndChild();
}

}  // namespace attn
