#include "viz/learn/figure_draw.h"

#include "imgui.h"
#include "viz/draw/widgets.h"
#include "viz/profile/occupancy_draw.h"
#include "viz/profile/roofline_draw.h"

namespace attn {

void draw_stage_figure(const StageFigure& figure, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const ImVec2 size{box.width(), box.height()};
  const bool roof = figure.kind == FigureKind::roofline;
  if (!figure.waits) return roof ? draw_roofline(figure.roof, size) : draw_occupancy(figure.occupancy, size);
  if (begin_card("waits", size)) {
    heading(roof ? "Roofline" : "Occupancy");
    dim_text("That of " + figure.of + " waits for your answer.");
  }
  ImGui::EndChild();
}

}  // namespace attn
