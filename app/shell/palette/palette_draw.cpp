#include "app/shell/palette/palette_draw.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/shell/keys/shortcuts.h"
#include "app/shell/widgets/key_caps.h"
#include "app/shell/widgets/popup.h"
#include "app/state/apply/history.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "misc/cpp/imgui_stdlib.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr const char* kPalette = "Commands";
constexpr const char* kAnswer = "Answer";
constexpr float kAnswerWidth = 560, kFormula = 24;                                     // logical
constexpr float kPaletteWidth = 680, kRow = 26, kGroup = 96, kText = 13, kSmall = 12;  // logical

// Up and down belong to the list while the field has the keyboard.
int move_by_arrows(ImGuiInputTextCallbackData* data) {
  int& move = *static_cast<int*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackHistory) move += data->EventKey == ImGuiKey_UpArrow ? -1 : 1;
  return 0;
}

void start(PaletteUiState& ui, const Controller& controller) {
  ui.query.clear();
  const DocumentPart part = part_of(controller.state().view.workspace);
  ui.entries = palette_entries({controller.state(), controller.model(), controller.history().can_undo(part),
                                controller.history().can_redo(part)});
  ui.hits = palette_hits(ui.entries, "");
  ui.chosen.reset();
  if (!ui.hits.empty()) ui.chosen = 0;
  ui.take_keyboard = false;
}

// Words with the letters that were found in bold; returns the x after them.
float draw_found(ImDrawList* list, const Box& box, const std::string& words, const std::vector<std::size_t>& at,
                 ImU32 ink) {
  float x = box.min.x;
  const auto is_found = [&](std::size_t n) {
    // Whole characters alone: the bytes of one stay together.
    return static_cast<unsigned char>(words[n]) < 0x80U && std::binary_search(at.begin(), at.end(), n);
  };
  for (std::size_t from = 0; from < words.size();) {
    const bool found = is_found(from);
    std::size_t to = from + 1;
    while (to < words.size() && is_found(to) == found) ++to;
    const std::string_view part = std::string_view(words).substr(from, to - from);
    const Face face = found ? Face::bold : Face::text;
    draw_text_in(list, {{x, box.min.y}, box.max}, Align::left, face, kText, ink, part);
    x += text_width(face, kText, part);
    from = to;
  }
  return x;
}

// The right end of a line: its keys, or why it cannot be, or that it is so already. Returns where it begins.
float draw_right(ImDrawList* list, const Box& box, const PaletteEntry& entry, float room) {
  const Style& s = style();
  if (!entry.why_not.empty()) {
    const std::string words = fitted_text(Face::text, kSmall, entry.why_not, room);
    draw_text_in(list, box, Align::right, Face::text, kSmall, colour_of(Token::dim), words);
    return box.max.x - text_width(Face::text, kSmall, words);
  }
  if (entry.chord != 0 && !by_touch()) {
    const float left = box.max.x - chord_width(entry.chord);
    draw_chord(list, left, box.centre().y, entry.chord);
    return left;
  }
  if (!entry.on) return box.max.x;
  draw_text_in(list, box, Align::right, Face::text, kSmall, colour_of(Token::dim), tr("now"));
  return box.max.x - text_width(Face::text, kSmall, tr("now")) - s.px(4);
}

void draw_line(const PaletteEntry& entry, const PaletteHit& hit, const Box& line, bool chosen) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (chosen) list->AddRectFilled(line.min, line.max, colour_of(Token::field), s.px(6));
  const bool can = entry.why_not.empty();
  Box box{{line.min.x + s.px(10), line.min.y}, {line.max.x - s.px(10), line.max.y}};
  draw_text_in(list, box, Align::left, Face::text, kSmall, colour_of(Token::dim),
               fitted_text(Face::text, kSmall, entry.group, s.px(kGroup - 8)));
  box.min.x += s.px(kGroup);
  const ImU32 ink = colour_of(can ? Token::text : Token::dim);
  const std::string words = fitted_text(Face::bold, kText, entry.words, box.width());
  const float after = draw_found(list, box, words, hit.at, ink) + s.px(12);
  const float right = draw_right(list, box, entry, std::max(0.0F, box.max.x - after)) - s.px(12);
  if (entry.more.empty() || !can || right - after < s.px(60)) return;
  draw_text_in(list, {{after, box.min.y}, {right, box.max.y}}, Align::left, Face::text, kSmall, colour_of(Token::dim),
               fitted_text(Face::text, kSmall, entry.more, right - after));
}

// Whether an entry was pressed.
bool draw_list(PaletteUiState& ui, float width, float height, bool moved) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  bool pressed = false;
  if (ImGui::BeginChild("found", {width, height}, ImGuiChildFlags_None, ImGuiWindowFlags_NoNav)) {
    const float row = s.px(kRow);
    const bool near = !ui.query.empty() && !ui.hits.empty() && !ui.hits.front().sure;
    if (moved) {
      const float top = static_cast<float>(ui.chosen.value_or(0)) * row + (near && ui.chosen ? row : 0),
                  scroll = ImGui::GetScrollY();
      if (top < scroll) ImGui::SetScrollY(top);
      if (top + row > scroll + height) ImGui::SetScrollY(top + row - height);
    }
    if (near) {
      const ImVec2 corner = ImGui::GetCursorScreenPos();
      ImGui::Dummy({width, row});
      draw_text_in(ImGui::GetWindowDrawList(), {{corner.x + s.px(10), corner.y}, {corner.x + width, corner.y + row}},
                   Align::left, Face::text, kSmall, colour_of(Token::dim),
                   for_hands(tr("No such name. These are fuzzy matches. Use the arrow keys to choose a match."),
                             tr("No such name. These are fuzzy matches.")));
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(ui.hits.size()), row);
    while (clipper.Step()) {
      for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const PaletteEntry& entry = ui.entries[ui.hits[at].entry];
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        const float inside = ImGui::GetContentRegionAvail().x;
        ImGui::PushID(n);
        const bool clicked = ImGui::InvisibleButton("entry", {inside, row});
        ImGui::PopID();
        const bool pointed = ImGui::IsItemHovered();
        // The pointer that only lies there does not take the choice from the keyboard.
        if (pointed && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)) ui.chosen = at;
        if (clicked) ui.chosen = at, pressed = true;
        draw_line(entry, ui.hits[at], {corner, {corner.x + inside, corner.y + row}}, ui.chosen == at);
      }
    }
    if (ui.hits.empty()) ImGui::TextDisabled(tr("No such name."));
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  return pressed;
}

// The field; whether Enter was pressed in it. The choice moves by arrows and pages.
bool draw_query(PaletteUiState& ui, float width, int page, bool& moved) {
  const std::string before = ui.query;
  int move = 0;
  if (ImGui::IsWindowAppearing() || std::exchange(ui.take_keyboard, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(width);
  const bool entered = ImGui::InputTextWithHint(
      "##query", tr("a command, preset, kernel, metric, setting or term"), &ui.query,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory, move_by_arrows, &move);
  if (ImGui::IsKeyPressed(ImGuiKey_PageDown)) move += page;
  if (ImGui::IsKeyPressed(ImGuiKey_PageUp)) move -= page;
  if (ui.query != before) {
    ui.hits = palette_hits(ui.entries, ui.query);
    ui.chosen.reset();
    if (!ui.hits.empty() && (ui.hits.front().sure || ui.query.empty())) ui.chosen = 0;
    moved = true;
  }
  if (move == 0 || ui.hits.empty()) return entered;
  const auto last = static_cast<int>(ui.hits.size()) - 1;
  const int from = ui.chosen ? static_cast<int>(*ui.chosen) : -1;
  ui.chosen = static_cast<std::size_t>(std::clamp(from + move, 0, last));
  moved = true;
  return entered;
}

}  // namespace

void open_palette(const Controller& controller, PaletteUiState& ui) {
  start(ui, controller);
  ImGui::OpenPopup(kPalette);
}

void draw_palette(PaletteUiState& ui, Commands& commands) {
  const Style& s = style();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float width = std::min(s.px(kPaletteWidth), viewport->Size.x - s.px(40));
  const float top = std::min(s.px(90), viewport->Size.y * 0.1F);
  const float room = viewport->Size.y - 2 * top - s.px(70);
  const int rows = std::clamp(static_cast<int>(room / s.px(kRow)), 3, 14);
  if (!begin_popup(kPalette, {viewport->Pos.x + viewport->Size.x / 2, viewport->Pos.y + top}, {0.5F, 0})) return;
  bool moved = false;
  const bool entered = draw_query(ui, width, rows - 1, moved);
  const bool pressed = draw_list(ui, width, s.px(kRow) * static_cast<float>(rows), moved);
  if ((entered || pressed) && ui.chosen && *ui.chosen < ui.hits.size()) {
    const PaletteEntry& entry = ui.entries[ui.hits[*ui.chosen].entry];
    if (!entry.answer.empty()) {
      ui.asked = entry;
      ui.answer_opens = true;
      ImGui::CloseCurrentPopup();
    } else if (entry.why_not.empty()) {
      commands.insert(commands.end(), entry.commands.begin(), entry.commands.end());
      ImGui::CloseCurrentPopup();
    }
  }
  // Enter and a press take it from the field.
  if (entered || pressed) ui.take_keyboard = true;
  ImGui::EndPopup();
}

void draw_answer(PaletteUiState& ui, Commands& commands) {
  if (std::exchange(ui.answer_opens, false)) ImGui::OpenPopup(kAnswer);
  ui.answer_shown = begin_popup(kAnswer);
  if (!ui.answer_shown) return;
  const Style& s = style();
  const PaletteEntry& asked = ui.asked;
  popup_heading(asked.words);
  const float width = popup_width(kAnswerWidth);
  if (!asked.formula.empty()) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float size = kFormula;
    while (size > kText && runs_width(asked.formula, size) > width) size -= 1;
    draw_runs(ImGui::GetWindowDrawList(), {at.x, at.y + s.px(4)}, size, asked.formula);
    ImGui::Dummy({width, line_height(size) + s.px(10)});
  }
  wrapped_text(asked.answer, width);
  ImGui::Dummy({width, s.px(4)});
  if (!asked.commands.empty()) {
    if (ImGui::Button(asked.door.c_str())) {
      commands.insert(commands.end(), asked.commands.begin(), asked.commands.end());
      ImGui::CloseCurrentPopup();
    }
    ImGui::SameLine();
  }
  if (ImGui::Button(tr("Copy"))) commands.emplace_back(CopyText{asked.answer});
  ImGui::SameLine();
  if (ImGui::Button(tr("Close"), {s.px(72), 0})) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace attn
