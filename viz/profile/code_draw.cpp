#include "viz/profile/code_draw.h"

#include <cstddef>
#include <tuple>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/phase_hue_draw.h"

namespace attn {
namespace {

constexpr float kRow = 18, kCode = 12;  // logical pixels

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
    if (ImGui::BeginChild("code_lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
      ImDrawList* list = ImGui::GetWindowDrawList();
      const float row_height = s.px(kRow), address = text_width(Face::mono, kCode, "00000") + s.px(12);
      ImGuiListClipper clipper;
      clipper.Begin(static_cast<int>(code.rows.size()), row_height);
      while (clipper.Step()) {
        for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n) {
          const CodeRow& row = code.rows[static_cast<std::size_t>(n)];
          const ImVec2 at = ImGui::GetCursorScreenPos();
          const float y = at.y + (row_height - s.px(kCode)) / 2;
          ImGui::Dummy({address + text_width(Face::mono, kCode, row.text), row_height});
          list->AddRectFilled(at, {at.x + s.px(3), at.y + row_height}, hue_of(row.phase));
          draw_text(list, {at.x + s.px(9), y}, Face::mono, kCode, colour(s.theme, Token::dim), row.address);
          draw_text(list, {at.x + address, y}, Face::mono, kCode, colour(s.theme, Token::text), row.text);
        }
      }
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
}

}  // namespace attn
