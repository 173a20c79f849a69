#include "viz/profile/code_draw.h"

#include <cstddef>
#include <tuple>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/phase_hue_draw.h"

namespace attn {
namespace {

constexpr float kRow = 18, kCode = 12, kShare = 40, kHead = 15;  // logical pixels

// Where the columns begin, from the left edge, pixels.
struct CodeColumns {
  float share = 0, text = 0;
};
CodeColumns columns_of(const CodeScene& code) {
  const Style& s = style();
  const float share = text_width(Face::mono, kCode, "00000") + s.px(12);
  return {share, share + (code.sampled ? s.px(kShare + 12) : 0)};
}

void draw_head(const CodeColumns& columns) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text_in(ImGui::GetWindowDrawList(), {at, {at.x + columns.text - s.px(12), at.y + s.px(kHead)}}, Align::right,
               Face::text, 11, colour(s.theme, Token::dim), "% of line");
  ImGui::Dummy({ImGui::GetContentRegionAvail().x, s.px(kHead)});
  tooltip("Of the samples of this line's instructions: where its warps were when they were looked at.");
}

// Its share of the line, and at the right, where that has room, what most of its warps did there.
void draw_row(const CodeRow& row, const CodeColumns& columns, float right) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = s.px(kRow), y = at.y + (height - s.px(kCode)) / 2;
  const float end = columns.text + text_width(Face::mono, kCode, row.text);
  ImGui::Dummy({end, height});
  list->AddRectFilled(at, {at.x + s.px(3), at.y + height}, hue_of(row.phase));
  draw_text(list, {at.x + s.px(9), y}, Face::mono, kCode, colour(s.theme, Token::dim), row.address);
  draw_text(list, {at.x + columns.text, y}, Face::mono, kCode, colour(s.theme, Token::text), row.text);
  if (row.share.empty()) return;
  draw_text_in(list, {{at.x + columns.share, at.y}, {at.x + columns.text - s.px(12), at.y + height}}, Align::right,
               Face::mono, kCode, colour(s.theme, Token::text), row.share);
  const float state = text_width(Face::text, 11, row.state);
  if (at.x + end + s.px(16) + state < right)
    draw_text_in(list, {{right - state - s.px(2), at.y}, {right, at.y + height}}, Align::left, Face::text, 11,
                 colour(s.theme, Token::dim), row.state);
  tooltip(row.words);
}

}  // namespace

void draw_code(const CodeScene& code, CodeKind kind, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("profile_code", size)) {
    heading(code.title.c_str());
    for (const auto& [choice, label, help] :
         {std::tuple{CodeKind::sass, "SASS", "What the multiprocessor runs, as nvdisasm prints it"},
          std::tuple{CodeKind::ptx, "PTX", "What the compiler made of it on the way"}}) {
      if (toggle(label, kind == choice, help)) commands.push_back(ChooseCode{choice});
      ImGui::SameLine();
    }
    ImGui::BeginDisabled(code.rows.empty());
    if (toggle("Copy", true, "All of these lines, with tabs between, to the clipboard"))
      commands.push_back(CopyText{code_text(code)});
    ImGui::EndDisabled();
    if (!code.empty.empty()) dim_text(code.empty);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    const CodeColumns columns = columns_of(code);
    if (code.sampled) draw_head(columns);
    if (ImGui::BeginChild("code_lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
      const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - ImGui::GetStyle().ScrollbarSize;
      ImGuiListClipper clipper;
      clipper.Begin(static_cast<int>(code.rows.size()), s.px(kRow));
      while (clipper.Step())
        for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n)
          draw_row(code.rows[static_cast<std::size_t>(n)], columns, right);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
}

}  // namespace attn
