// What the program said: the log panel, and the newest line as a toast.
#include <algorithm>
#include <cmath>
#include <string>

#include "app/shell/shell.h"
#include "imgui.h"
#include "kernels/base/clock.h"
#include "viz/draw/canvas.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr double kNoteSeconds = 4, kProblemSeconds = 9;

// The mark before a line: a dot, a ring for a warning, a cross for an error. Never colour alone.
void draw_mark(ImDrawList* list, ImVec2 centre, LogLevel level) {
  const Style& s = style();
  const float r = s.px(3.5F), line = std::max(1.0F, s.px(1.5F));
  const ImU32 strong = colour(s.theme, Token::text);
  if (level == LogLevel::note) list->AddCircleFilled(centre, s.px(2.5F), colour(s.theme, Token::faint));
  if (level == LogLevel::warning) list->AddCircle(centre, r, strong, 0, line);
  if (level == LogLevel::error) {
    list->AddLine({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, strong, line);
    list->AddLine({centre.x - r, centre.y + r}, {centre.x + r, centre.y - r}, strong, line);
  }
}

void draw_entry(const LogEntry& entry, Commands& commands) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float indent = s.px(84), width = std::max(s.px(80), ImGui::GetContentRegionAvail().x - indent);
  const Runs words{{entry.text, Face::text, entry.level == LogLevel::note ? Token::dim : Token::text, 0, false}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = draw_paragraph(list, {at.x + indent, at.y}, width, 13, words, 12, false);
  if (ImGui::InvisibleButton("line", {indent + width, height + s.px(2)}, ImGuiButtonFlags_EnableNav))
    commands.emplace_back(CopyText{entry.text});
  if (ImGui::IsItemHovered()) {
    list->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), colour(s.theme, Token::band), s.px(4));
    tooltip("Press to copy");
  }
  draw_text(list, at, Face::mono, 12, colour(s.theme, Token::dim), time_text(entry.when, TimeZone::local, "%H:%M:%S"));
  draw_mark(list, {at.x + s.px(70), at.y + line_height(13) / 2}, entry.level);
  draw_paragraph(list, {at.x + indent, at.y}, width, 13, words, 12);
}

}  // namespace

void draw_log_panel(Controller& controller, ShellHeld& held, Commands& commands) {
  const Style& s = style();
  bool open = true;
  ImGui::SetNextWindowSize({s.px(720), s.px(200)}, ImGuiCond_FirstUseEver);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour(s.theme, Token::card));
  const bool visible =
      ImGui::Begin("Log###log", &open, ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor();
  if (visible) {
    const auto entries = controller.log().after(0);
    if (entries.empty()) ImGui::TextDisabled("Nothing was said yet.");
    for (const LogEntry& entry : entries) {
      ImGui::PushID(static_cast<int>(entry.number));
      draw_entry(entry, commands);
      ImGui::PopID();
    }
    if (!entries.empty() && entries.back().number != held.log_seen) {
      ImGui::SetScrollHereY(1);
      held.log_seen = entries.back().number;
    }
  }
  ImGui::End();
  if (!open) commands.emplace_back(ShowLog{false});
}

void draw_toast(Controller& controller, ShellHeld& held) {
  const auto unseen = controller.log().after(held.toast);
  if (!unseen.empty()) {
    // What the start has to say stays in the log, unless it is a problem.
    const bool first = ImGui::GetFrameCount() < 5 && unseen.back().level == LogLevel::note;
    held.toast = unseen.back().number;
    const double seconds = unseen.back().level == LogLevel::note ? kNoteSeconds : kProblemSeconds;
    held.toast_until = first ? 0 : ImGui::GetTime() + seconds;
  }
  if (ImGui::GetTime() > held.toast_until || controller.state().view.log_panel || held.toast == 0) return;
  const auto shown = controller.log().after(held.toast - 1);
  if (shown.empty()) return;
  const Style& s = style();
  const LogEntry& entry = shown.front();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float inset = s.px(34);
  const float max = std::min(s.px(560), viewport->Size.x - s.px(80)) - inset - s.px(16);
  const float width = std::min(max, text_width(Face::text, 13, entry.text) + 1);
  const Runs words{{entry.text, Face::text, Token::text, 0, false}};
  // Over everything, and in nobody's way: no window, so the pointer goes through.
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const float height = draw_paragraph(list, {}, width, 13, words, 4, false);
  const ImVec2 size(inset + width + s.px(16), height + s.px(20));
  const ImVec2 at(viewport->Pos.x + std::floor((viewport->Size.x - size.x) / 2),
                  viewport->Pos.y + viewport->Size.y - size.y - s.px(20));
  list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, colour(s.theme, Token::field), s.px(8));
  list->AddRect(at, {at.x + size.x, at.y + size.y}, colour(s.theme, Token::faint), s.px(8));
  draw_mark(list, {at.x + s.px(18), at.y + s.px(10) + line_height(13) / 2}, entry.level);
  draw_paragraph(list, {at.x + inset, at.y + s.px(10)}, width, 13, words, 4);
}

}  // namespace attn
