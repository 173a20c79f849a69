// What the program said: the log panel.
#include <algorithm>
#include <string>

#include "app/shell/shell.h"
#include "app/shell/toast.h"
#include "imgui.h"
#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

void draw_entry(const LogEntry& entry, Commands& commands) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float indent = s.px(84), width = std::max(s.px(80), ImGui::GetContentRegionAvail().x - indent);
  const TextRuns words{{entry.text, Face::text, entry.level == LogLevel::note ? Token::dim : Token::text, 0, false}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = draw_paragraph(list, {at.x + indent, at.y}, width, 13, words, 12, false);
  if (ImGui::InvisibleButton("line", {indent + width, height + s.px(2)}, ImGuiButtonFlags_EnableNav))
    commands.emplace_back(CopyText{entry.text});
  if (ImGui::IsItemHovered()) {
    list->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), colour(s.theme, Token::band), s.px(4));
    tooltip(for_hands(tr("Click to copy"), tr("Tap to copy")));
  }
  draw_text(list, at, Face::mono, 12, colour(s.theme, Token::dim), time_text(entry.when, TimeZone::local, "%H:%M:%S"));
  draw_level_mark(list, {at.x + s.px(70), at.y + line_height(13) / 2}, entry.level);
  draw_paragraph(list, {at.x + indent, at.y}, width, 13, words, 12);
}

}  // namespace

void draw_log_panel(Controller& controller, ShellUiState& ui, Commands& commands) {
  const Style& s = style();
  bool open = true;
  ImGui::SetNextWindowSize({s.px(720), s.px(200)}, ImGuiCond_FirstUseEver);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour(s.theme, Token::card));
  const bool visible =
      ImGui::Begin("Log###log", &open, ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor();
  if (visible) {
    const auto entries = controller.log().after(0);
    if (entries.empty()) ImGui::TextDisabled(tr("No messages yet."));
    for (const LogEntry& entry : entries) {
      ImGui::PushID(static_cast<int>(entry.number));
      draw_entry(entry, commands);
      ImGui::PopID();
    }
    if (!entries.empty() && entries.back().number != ui.log_seen) {
      ImGui::SetScrollHereY(1);
      ui.log_seen = entries.back().number;
    }
  }
  ImGui::End();
  if (!open) commands.emplace_back(ShowLog{false});
}

}  // namespace attn
