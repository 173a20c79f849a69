// The `?` sheet: every key, out of the table that drives them, and the preferences.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/shell/shell.h"
#include "app/shell/widgets/key_caps.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kRowHeight = 26, kCapsWidth = 132, kColumnWidth = 372, kSheetSide = 24;

void draw_row(const KeyRow& row, const KeyRow* last_of_range) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float centre = at.y + s.px(kRowHeight) / 2;
  float x = draw_chord(list, at.x, centre, row.chord);
  if (last_of_range != nullptr) {
    draw_text_in(list, {{x - s.px(4), at.y}, {x + s.px(12), at.y + s.px(kRowHeight)}}, Align::centre, Face::text, 13,
                 colour(s.theme, Token::dim), tr("to"));
    x = draw_last_cap(list, x + s.px(16), centre, last_of_range->chord);
  } else if (row.other == ImGuiKey_Space || row.other == ImGuiKey_PageDown) {
    x = draw_chord(list, x + s.px(4), centre, row.other);
  }
  const float words = std::max(at.x + s.px(kCapsWidth), x + s.px(8));
  draw_text_in(list, {{words, at.y}, {at.x + s.px(kColumnWidth), at.y + s.px(kRowHeight)}}, Align::left, Face::text, 13,
               colour(s.theme, Token::text), tr_of(row.what));
  ImGui::Dummy({s.px(kColumnWidth - 24), s.px(kRowHeight)});
}

void draw_heading(std::string_view words) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_text(ImGui::GetWindowDrawList(), at, Face::bold, 13, colour(s.theme, Token::text), words);
  ImGui::Dummy({1, s.px(24)});
}

void draw_group(std::string_view group) {
  const auto keys = key_table();
  draw_heading(tr_of(group));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].group != group) continue;
    // Rows without words after a row belong to it: Ctrl+1 to Ctrl+4.
    std::size_t last = i;
    while (last + 1 < keys.size() && keys[last + 1].what.empty()) ++last;
    const bool range = last > i && (keys[i].chord & ~ImGuiMod_Mask_) == ImGuiKey_1;
    draw_row(keys[i], range ? &keys[last] : nullptr);
  }
  ImGui::Dummy({1, style().px(10)});
}

// What the hand on the mouse can do, and no button says.
struct MouseRow {
  std::string_view gesture, what;
};
constexpr MouseRow kMouse[] = {
    {marked("click a cell"), marked("pins or unpins the cell; Esc unpins")},
    {marked("double click Q, K, V"), marked("edits the number")},
    {marked("drag a label sideways"), marked("changes the number in the Problem panel")},
    {marked("wheel in a chart"), marked("zooms (with Ctrl where the page scrolls)")},
    {marked("drag in a chart"), marked("pans")},
    {marked("click in a chart"), marked("selects the value and the kernel")},
    {marked("double click in a chart"), marked("resets the zoom")},
    {marked("right click in a chart"), marked("values, lines, copy")},
    {marked("click a line's name"), marked("hides or shows it")},
};

// And what a finger can.
constexpr MouseRow kTouch[] = {
    {marked("tap"), marked("presses a button; pins or unpins a cell")},
    {marked("double tap Q, K, V"), marked("edits the number")},
    {marked("swipe sideways"), marked("next or previous step")},
    {marked("swipe up or down"), marked("scrolls")},
    {marked("two fingers"), marked("larger or smaller")},
    {marked("drag the timeline"), marked("moves through the steps")},
};

// `gesture`, `width`: of what is done, and of a line, pixels.
void draw_gestures(std::span<const MouseRow> gestures, float gesture, float width) {
  constexpr float kFree = 4;  // logical: under what it does
  const Style& s = style();
  for (const MouseRow& row : gestures) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList* list = ImGui::GetWindowDrawList();
    draw_text(list, at, Face::text, 13, colour(s.theme, Token::dim), tr_of(row.gesture));
    const TextRuns what{word(std::string(tr_of(row.what)), Token::text)};
    const float height = draw_paragraph(list, {at.x + gesture, at.y}, width - gesture, 13, what, 3);
    ImGui::Dummy({width, height + s.px(kFree)});
  }
  ImGui::Dummy({1, s.px(10)});
}

void draw_mouse() {
  constexpr float kGesture = 152;
  const Style& s = style();
  draw_heading(tr("Mouse"));
  draw_gestures(kMouse, s.px(kGesture), s.px(kColumnWidth - 24));
}

// A finger sees that the sheet closes, and where.
void draw_cross(float right, Commands& commands) {
  const Style& s = style();
  const float side = s.px(kFinger), arm = s.px(5);
  const ImVec2 before = ImGui::GetCursorScreenPos();
  const Box box{{right - side, before.y - s.px(13)}, {right, before.y - s.px(13) + side}};
  ImGui::SetCursorScreenPos(box.min);
  if (ImGui::InvisibleButton("##close_keys", {side, side}, ImGuiButtonFlags_EnableNav))
    commands.emplace_back(ShowKeys{false});
  const ImU32 ink = colour(s.theme, ImGui::IsItemHovered() ? Token::text : Token::dim);
  const ImVec2 c = box.centre();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({c.x - arm, c.y - arm}, {c.x + arm, c.y + arm}, ink, s.px(1.5F));
  list->AddLine({c.x - arm, c.y + arm}, {c.x + arm, c.y - arm}, ink, s.px(1.5F));
  ImGui::SetCursorScreenPos(before);
}

void draw_preferences(const State& state, Commands& commands) {
  const Style& s = style();
  draw_heading(tr("Appearance"));
  const Preferences& p = state.preferences;
  if (ImGui::Button(p.theme == Theme::dark ? tr("Light theme") : tr("Dark theme"), {s.px(120), 0})) {
    commands.emplace_back(SetTheme{p.theme == Theme::dark ? Theme::light : Theme::dark});
  }
  ImGui::SameLine();
  if (ImGui::Button("-", {s.px(for_finger(28)), 0})) commands.emplace_back(SetScale{p.scale - 0.1F});
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(fmt::format("{:.0f} %", p.scale * 100).c_str());
  ImGui::SameLine();
  if (ImGui::Button("+", {s.px(for_finger(28)), 0})) commands.emplace_back(SetScale{p.scale + 0.1F});
  bool still = p.reduced_motion;
  // Without an edge an empty box is no more than a patch.
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, std::max(1.0F, s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_Border, colour(s.theme, Token::dim));
  if (ImGui::Checkbox(tr("Reduce motion"), &still)) commands.emplace_back(SetReducedMotion{still});
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::SameLine();
  if (ImGui::Button(tr("Reset layout"))) commands.emplace_back(ResetLayout{});
  tooltip(tr("Put all panels back in their original places"));
}

// For the hand on the mouse.
void draw_file_buttons(Commands& commands) {
  const auto send = [&](const char* words, Command command) {
    if (ImGui::Button(words)) commands.emplace_back(std::move(command));
  };
  send(tr("Save session"), SaveSession{});
  ImGui::SameLine();
  send(tr("Copy state"), CopyState{});
  ImGui::SameLine();
  // Not of this sheet.
  if (ImGui::Button(tr("Picture"))) {
    commands.emplace_back(ShowKeys{false});
    commands.emplace_back(SavePicture{});
  }
}

// Where there is no keyboard.
void draw_touch_content(const State& state, Commands& commands) {
  const Style& s = style();
  draw_text(ImGui::GetWindowDrawList(), ImGui::GetCursorScreenPos(), Face::bold, 17, colour(s.theme, Token::text),
            tr("Touch"));
  constexpr float kSides = 16 + 2 * 24;  // logical: around what is written
  const float width = std::min(s.px(kColumnWidth - 24), ImGui::GetMainViewport()->Size.x - s.px(kSides));
  draw_cross(ImGui::GetCursorScreenPos().x + width + s.px(14), commands);
  ImGui::Dummy({1, s.px(36)});
  float gesture = 0;
  for (const MouseRow& row : kTouch) gesture = std::max(gesture, text_width(Face::text, 13, tr_of(row.gesture)));
  draw_gestures(kTouch, gesture + s.px(16), width);
  const FingerSized fingers;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(8)));  // the frames have their size
  draw_file_buttons(commands);
  ImGui::Dummy({1, s.px(4)});
  draw_preferences(state, commands);
  ImGui::PopStyleVar();
}

void draw_content(const State& state, int columns, Commands& commands) {
  if (by_touch()) return draw_touch_content(state, commands);
  const Style& s = style();
  draw_text(ImGui::GetWindowDrawList(), ImGui::GetCursorScreenPos(), Face::bold, 17, colour(s.theme, Token::text),
            tr("Keys"));
  ImGui::Dummy({1, s.px(36)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(0)));
  ImGui::BeginGroup();
  draw_group(marked("Step"));
  draw_group(marked("Bench"));
  draw_group(marked("Profile"));
  if (columns < 3) {
    draw_group(marked("Learn"));
    draw_mouse();
  }
  ImGui::EndGroup();
  if (columns > 1) ImGui::SameLine(0, s.px(24));
  ImGui::BeginGroup();
  draw_group(marked("Window"));
  draw_group(marked("Edit and files"));
  ImGui::PopStyleVar();
  draw_file_buttons(commands);
  ImGui::Dummy({1, s.px(10)});
  draw_preferences(state, commands);
  ImGui::EndGroup();
  if (columns < 3) return;
  ImGui::SameLine(0, s.px(24));
  ImGui::BeginGroup();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(0)));
  draw_group(marked("Learn"));
  draw_mouse();
  ImGui::PopStyleVar();
  ImGui::EndGroup();
}

// Everything around the sheet is dimmed; the sheet itself, and its scrollbar, are Dear ImGui's.
void dim_around(const ImGuiViewport* viewport) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 a = viewport->Pos, b(a.x + viewport->Size.x, a.y + viewport->Size.y);
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize(), end(at.x + size.x, at.y + size.y);
  const ImU32 dim = ImGui::GetColorU32(ImGuiCol_ModalWindowDimBg);
  list->PushClipRectFullScreen();
  list->AddRectFilled(a, {b.x, at.y}, dim);
  list->AddRectFilled({a.x, end.y}, b, dim);
  list->AddRectFilled({a.x, at.y}, {at.x, end.y}, dim);
  list->AddRectFilled({end.x, at.y}, {b.x, end.y}, dim);
  list->PopClipRect();
}

}  // namespace

void draw_keys_sheet(const State& state, ShellUiState& ui, Commands& commands) {
  if (!state.view.keys_sheet) {
    ui.keys_sheet_shown = false;
    return;
  }
  const Style& s = style();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  if (!ui.keys_sheet_shown) ImGui::SetNextWindowFocus();
  const int columns = static_cast<int>((viewport->Size.x - s.px(16)) / s.px(kColumnWidth + 12));
  ImGui::SetNextWindowPos({viewport->Pos.x + viewport->Size.x / 2, viewport->Pos.y + viewport->Size.y / 2},
                          ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {viewport->Size.x - s.px(16), viewport->Size.y - s.px(16)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(kSheetSide), s.px(20)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, std::max(1.0F, s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour(s.theme, Token::card));
  ImGui::Begin("Keys", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse |
                   ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  dim_around(viewport);
  draw_content(state, columns, commands);
  fade_both_ends(kSheetSide / 2);  // clear of the scroll bar
  const bool beside =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) && ui.keys_sheet_shown &&
      !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  // What is open above it closes first.
  if (beside || (ui.open_popups == 0 && ImGui::IsKeyPressed(ImGuiKey_Escape))) commands.emplace_back(ShowKeys{false});
  ui.keys_sheet_shown = true;
  ImGui::End();
}

}  // namespace attn
