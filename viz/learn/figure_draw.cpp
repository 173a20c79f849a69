#include "viz/learn/figure_draw.h"

#include "imgui.h"
#include "viz/draw/widgets.h"
#include "viz/profile/roofline_draw.h"

namespace attn {

void draw_stage_figure(const StageFigure& figure, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const ImVec2 size{box.width(), box.height()};
  if (!figure.waits) return draw_roofline(figure.roof, size);
  if (begin_card("waits", size)) {
    heading("Roofline");
    dim_text("It waits for your answer.");
  }
  ImGui::EndChild();
}

}  // namespace attn
