#include "app/shell/toast.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/shell/shell_ui_state.h"
#include "imgui.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr double kNoteSeconds = 4, kProblemSeconds = 9;
constexpr float kInset = 30, kEnd = 14;       // logical: beside the text, the mark left of it
constexpr float kBarGap = 8, kBarPad = 5;     // of one in the bar: to its neighbours, above and below its text
constexpr float kBandPad = 10, kBandGap = 6;  // of one over the workspace
constexpr float kWidest = 760, kBarWidest = 520;
constexpr int kBarLines = 2, kBandLines = 5;

TextRuns words_of(const std::string& text) {
  return {{text, Face::text, Token::text, 0, false}};
}

float longest_word(float size, std::string_view text) {
  float most = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    most = std::max(most, text_width(Face::text, size, text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return most;
}

// At the right end of what is free of the bar, in one line or two smaller ones. Whether it fits there whole.
bool put_in_bar(Toast& toast, const Box& room) {
  const Style& s = style();
  const float most = std::min(room.width() - 2 * s.px(kBarGap), s.px(kBarWidest)) - s.px(kInset + kEnd);
  if (most < s.px(24)) return false;
  for (const auto& [size, lines] : {std::pair{13.0F, 1}, {12.0F, kBarLines}}) {
    const float whole = text_width(Face::text, size, toast.text) + 1;
    if (longest_word(size, toast.text) > most) continue;
    // Two lines as even as they go.
    const float width = lines == 1 ? whole : std::min(most, std::max(whole * 0.6F, longest_word(size, toast.text) + 1));
    const float height = draw_paragraph(nullptr, {}, width, size, words_of(toast.text), lines + 1, false);
    if (width > most || height > line_height(size) * static_cast<float>(lines) + 1) continue;
    const float tall = height + 2 * s.px(kBarPad), middle = room.centre().y, right = room.max.x - s.px(kBarGap);
    if (tall > room.height() - s.px(2)) continue;
    toast.in_bar = true;
    toast.size = size;
    toast.lines = lines;
    toast.box = {{std::floor(right - width - s.px(kInset + kEnd)), std::floor(middle - tall / 2)},
                 {right, std::floor(middle + tall / 2)}};
    return true;
  }
  return false;
}

void put_over_end(Toast& toast) {
  const Style& s = style();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float beside = s.px(kInset + kEnd);
  const float most = std::min(s.px(kWidest), viewport->Size.x - s.px(24)) - beside;
  const float width = std::min(most, text_width(Face::text, 13, toast.text) + 1);
  toast.lines = kBandLines;
  const ImVec2 size(width + beside, draw_paragraph(nullptr, {}, width, 13, words_of(toast.text), kBandLines, false) +
                                        2 * s.px(kBandPad));
  const ImVec2 at(viewport->Pos.x + std::floor((viewport->Size.x - size.x) / 2),
                  viewport->Pos.y + viewport->Size.y - size.y - s.px(kBandGap));
  toast.box = {at, {at.x + size.x, at.y + size.y}};
}

}  // namespace

void draw_level_mark(ImDrawList* list, ImVec2 centre, LogLevel level) {
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

Toast toast_now(Controller& controller, ShellUiState& ui, const Box& room) {
  const Workspace workspace = controller.state().view.workspace;
  const auto unseen = controller.log().after(ui.toast);
  if (!unseen.empty()) {
    // What the start has to say stays in the log, unless it is a problem.
    const bool first = ImGui::GetFrameCount() < 5 && unseen.back().level == LogLevel::note;
    ui.toast = unseen.back().number;
    const double seconds = unseen.back().level == LogLevel::note ? kNoteSeconds : kProblemSeconds;
    ui.toast_until = first ? 0 : ImGui::GetTime() + seconds;
    ui.toast_in = workspace;
  }
  if (ui.toast_in != workspace) ui.toast_until = 0;  // whoever left it has read it, or goes on elsewhere
  Toast toast;
  if (ImGui::GetTime() > ui.toast_until || controller.state().view.log_panel || ui.toast == 0) return toast;
  const auto shown = controller.log().after(ui.toast - 1);
  if (shown.empty()) return toast;
  toast.shown = true;
  toast.text = shown.front().text;
  toast.level = shown.front().level;
  if (!put_in_bar(toast, room)) put_over_end(toast);
  return toast;
}

void draw_toast(const Toast& toast) {
  if (!toast.shown) return;
  const Style& s = style();
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const Box& box = toast.box;
  list->AddRectFilled(box.min, box.max, colour(s.theme, Token::field), s.px(8));
  list->AddRect(box.min, box.max, colour(s.theme, Token::faint), s.px(8));
  const float top = box.min.y + s.px(toast.in_bar ? kBarPad : kBandPad);
  draw_level_mark(list, {box.min.x + s.px(16), top + line_height(toast.size) / 2}, toast.level);
  draw_paragraph(list, {box.min.x + s.px(kInset), top}, box.width() - s.px(kInset + kEnd) + 1, toast.size,
                 words_of(toast.text), toast.lines);
}

}  // namespace attn
