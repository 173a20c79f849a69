// The verdict, in a strip over the charts: first what is faster than what, then why.
#include <algorithm>

#include "viz/bench_cache.h"
#include "viz/canvas.h"
#include "viz/theme.h"

namespace attn {

void draw_bench_strip(const State& state, const Model& model, BenchCache& cache, float width) {
  const Style& s = style();
  const BenchVerdict& verdict = cache.scene.verdict;
  const Token reason_ink = model.task.error.empty() ? Token::dim : Token::text;
  const Runs headline{{verdict.headline, Face::bold, Token::text, 0, false}};
  const Runs reason{{verdict.reason, Face::text, reason_ink, 0, false}};
  const float left = s.px(20), right = s.px(84), pad = s.px(12);
  const float room = std::max(s.px(120), width - left - right);
  const float headline_height = draw_paragraph(nullptr, {}, room, 17, headline, 3, false);
  const float reason_height = verdict.reason.empty() ? 0 : draw_paragraph(nullptr, {}, room, 13, reason, 3, false);
  const float height = headline_height + reason_height + 2 * pad + (verdict.reason.empty() ? 0 : s.px(4));
  if (begin_bench_card("strip", ImVec2(width, height))) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    const ImU32 bar =
        verdict.kernel.empty() ? colour(s.theme, Token::faint) : kernel_colour(state.preferences.theme, verdict.kernel);
    list->AddRectFilled(at, {at.x + s.px(5), at.y + height}, bar, s.px(8), ImDrawFlags_RoundCornersLeft);
    draw_paragraph(list, {at.x + left, at.y + pad}, room, 17, headline, 3);
    draw_paragraph(list, {at.x + left, at.y + pad + headline_height + s.px(4)}, room, 13, reason, 3);
    const float button = text_width(Face::text, 12, "labels") + s.px(12);
    ImGui::SetCursorPos({width - button - s.px(12), pad - s.px(2)});
    if (bench_toggle("labels", cache.labels, "Names at the ends of the lines")) cache.labels = !cache.labels;
  }
  ImGui::EndChild();
}

}  // namespace attn
