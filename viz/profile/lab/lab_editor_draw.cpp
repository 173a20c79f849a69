// The editor of the lab. Dear ImGui's own text field takes keys, caret and selection; its text is transparent, and the
// lines under it are drawn here, with their letters' colours and what the compiler says of them.
#include "viz/profile/lab/lab_editor_draw.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "imgui_stdlib.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/source/code_draw.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

constexpr float kCode = 14;                              // logical pixels; the field's lines are as high as its letters
constexpr float kGutter = 58, kNumber = 44, kMark = 14;  // from the window's left edge
constexpr float kRow = 17;                               // of the difference
constexpr float kShare = 62;                             // of the warp time, between the number and the text

ImU32 error_ink() {
  return colour(style().theme, TensorColour::m);
}
ImU32 warning_ink() {
  return colour(style().theme, TensorColour::k);
}

std::int32_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::int32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::size_t start_of_line(std::string_view text, std::int32_t line) {
  std::size_t at = 0;
  for (std::int32_t n = 1; n < line; ++n) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) return at;
    at = end + 1;
  }
  return at;
}

// What the field tells while it has the keyboard, and what it is told.
struct Caret {
  std::int32_t line = 0;   // from 1
  std::size_t column = 0;  // bytes
  std::int32_t go_to = 0;  // 0 = nowhere
  bool active = false;
};
int follow_caret(ImGuiInputTextCallbackData* data) {
  Caret& caret = *static_cast<Caret*>(data->UserData);
  const std::string_view text(data->Buf, static_cast<std::size_t>(data->BufTextLen));
  if (caret.go_to > 0) {
    data->CursorPos = data->SelectionStart = data->SelectionEnd = static_cast<int>(start_of_line(text, caret.go_to));
    caret.go_to = 0;
  }
  const auto at = static_cast<std::size_t>(data->CursorPos);
  caret.active = true;
  caret.line = line_of(text, at);
  caret.column = at - start_of_line(text, caret.line);
  return 0;
}

ImU32 text_ink(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  const bool quiet = first != line.npos && (line[first] == '#' || line.substr(first, 2) == "//");
  return colour(style().theme, quiet ? Token::dim : Token::text);
}

// Every character of the numbers' face is as wide.
void draw_line(ImDrawList* list, ImVec2 at, std::string_view line) {
  const float each = text_width(Face::mono, kCode, "0");
  const ImU32 ink = text_ink(line);
  const auto piece = [&](std::size_t from, std::size_t to, ImU32 c) {
    if (to > from)
      draw_text(list, {at.x + each * static_cast<float>(from), at.y}, Face::mono, kCode, c,
                line.substr(from, to - from));
  };
  std::size_t done = 0;
  for (const LetterSpan& letter : letters_of(line)) {
    piece(done, letter.from, ink);
    piece(letter.from, letter.from + letter.size, colour(style().theme, letter.hue));
    done = letter.from + letter.size;
  }
  piece(done, line.size(), ink);
}

// Where the text begins, pixels from the window's left edge.
float text_left(const LabScene& scene) {
  return style().px(kGutter + (scene.lines.by_line.empty() ? 0 : kShare));
}

// A bar in the phase's colour, as long as the line's share is of the largest, and the share.
void draw_share(ImDrawList* list, const LabScene& scene, const LabLine& line, const Box& box) {
  const Style& s = style();
  const float length = box.width() * static_cast<float>(line.share / scene.lines.most);
  list->AddRectFilled({box.min.x, box.min.y + s.px(1)}, {box.min.x + length, box.max.y - s.px(1)},
                      faded(hue_of(line.phase), 0.45F));
  const bool little = line.share < 0.001;
  draw_text_in(list, box, Align::right, Face::mono, 11, colour(s.theme, little ? Token::dim : Token::text), line.text,
               3);
}

// Number, a bar where the line was edited, a sign where the compiler says something, what share of the time it takes.
void draw_gutter(ImDrawList* list, const LabScene& scene, std::int32_t line, const Box& box) {
  const Style& s = style();
  const float x = box.min.x, middle = box.centre().y;
  draw_text_in(list, {{x, box.min.y}, {x + s.px(kNumber), box.max.y}}, Align::right, Face::mono, 11,
               colour(s.theme, Token::dim), fmt::format("{}", line));
  if (scene.edited.contains(line))
    list->AddRectFilled({x + s.px(kNumber + 4), box.min.y}, {x + s.px(kNumber + 7), box.max.y},
                        colour(s.theme, Token::text));
  if (const auto share = scene.lines.by_line.find(line); share != scene.lines.by_line.end())
    draw_share(list, scene, share->second,
               {{x + s.px(kGutter), box.min.y}, {x + s.px(kGutter + kShare - 6), box.max.y}});
  const auto mark = scene.marks.find(line);
  if (mark == scene.marks.end()) return;
  const float arm = s.px(3.5F), at = x + s.px(kMark / 2);
  if (mark->second.error) {
    list->AddLine({at - arm, middle - arm}, {at + arm, middle + arm}, error_ink(), s.px(1.8F));
    list->AddLine({at - arm, middle + arm}, {at + arm, middle - arm}, error_ink(), s.px(1.8F));
  } else {
    list->AddTriangle({at, middle - arm}, {at + arm, middle + arm}, {at - arm, middle + arm}, warning_ink(),
                      s.px(1.5F));
  }
}

// The lines in sight, under the field.
void draw_lines(const LabScene& scene, const LabUiState& ui, ImVec2 origin, float row) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 window = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const std::string_view text = ui.text;
  std::int32_t line = 1;
  for (std::size_t at = 0; at <= text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const float top = origin.y + row * static_cast<float>(line - 1);
    if (top > window.y + size.y) return;
    if (top + row >= window.y) {
      const Box box{{window.x, top}, {window.x + size.x, top + row}};
      const auto mark = scene.marks.find(line);
      if (mark != scene.marks.end())
        list->AddRectFilled(box.min, box.max, faded(mark->second.error ? error_ink() : warning_ink(), 0.16F));
      else if (line == ui.cursor)
        list->AddRectFilled(box.min, box.max, colour(s.theme, Token::band));
      list->PushClipRect({window.x + text_left(scene), window.y}, {window.x + size.x, window.y + size.y}, true);
      draw_line(list, {origin.x, top}, text.substr(at, end - at));
      list->PopClipRect();
      draw_gutter(list, scene, line, box);
      if (ImGui::IsMouseHoveringRect(box.min, {box.min.x + text_left(scene), box.max.y})) {
        std::string tip = mark == scene.marks.end() ? std::string() : mark->second.words;
        if (const auto share = scene.lines.by_line.find(line); share != scene.lines.by_line.end())
          tip += (tip.empty() ? "" : "\n") + share->second.tip;
        if (!tip.empty()) show_tooltip(tip, 420);
      }
    }
    at = end + 1;
  }
}

float widest(std::string_view text) {
  std::size_t most = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    most = std::max(most, end);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return text_width(Face::mono, kCode, "0") * static_cast<float>(most + 4);
}

// The caret's line and column come into sight when they change.
void follow(const Caret& caret, float row, LabUiState& ui) {
  if (!caret.active || caret.line == ui.cursor) return;
  ui.cursor = caret.line;
  const float top = row * static_cast<float>(caret.line - 1), now = ImGui::GetScrollY(),
              height = ImGui::GetWindowHeight();
  if (top < now + row) ImGui::SetScrollY(std::max(0.0F, top - row));
  if (top + 3 * row > now + height) ImGui::SetScrollY(top + 3 * row - height);
}

void draw_text_field(const LabScene& scene, const LabView& lab, LabUiState& ui, Commands& commands) {
  const Style& s = style();
  ImGui::PushFont(s.fonts.mono, s.px(kCode));
  const float row = ImGui::GetFontSize();
  const auto lines = static_cast<float>(line_of(ui.text, ui.text.size()) + 2);
  const float width = std::max(ImGui::GetContentRegionAvail().x - text_left(scene), widest(ui.text));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0F);
  for (const ImGuiCol each : {ImGuiCol_FrameBg, ImGuiCol_Text, ImGuiCol_NavCursor}) ImGui::PushStyleColor(each, 0U);
  ImGui::SetCursorPosX(text_left(scene));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Caret caret;
  caret.go_to = ui.go_to;
  if (ui.go_to > 0) {
    ImGui::SetKeyboardFocusHere();
    ImGui::SetScrollY(std::max(0.0F, row * static_cast<float>(ui.go_to - 1) - ImGui::GetWindowHeight() * 0.4F));
  }
  if (const std::int32_t line = std::exchange(ui.look_at, 0); line > 0)
    ImGui::SetScrollY(std::max(0.0F, row * static_cast<float>(line - 1) - ImGui::GetWindowHeight() * 0.4F));
  draw_lines(scene, ui, origin, row);
  // Another text is another field: the old one's caret and undo are not its.
  const std::string id = fmt::format("##lab_text_{}", ui.put);
  const bool typed = ImGui::InputTextMultiline(
      id.c_str(), &ui.text, {width, std::max(row * lines, ImGui::GetWindowHeight() - row)},
      ImGuiInputTextFlags_AllowTabInput | ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_NoUndoRedo,
      follow_caret, &caret);
  if (ui.go_to > 0 && caret.active) ui.go_to = 0;
  ui.typing = caret.active;
  // Escape would put the text back as it was when the field was entered; here it leaves the field.
  if (ImGui::IsItemActive() &&
      ImGui::Shortcut(ImGuiKey_Escape, ImGuiInputFlags_RouteGlobal | ImGuiInputFlags_RouteOverActive))
    ImGui::SetWindowFocus(nullptr);
  ImGui::PopStyleColor(3);
  ImGui::PopStyleVar(2);
  follow(caret, row, ui);
  ImGui::PopFont();
  if (!typed) return;
  LabChange change = lab.now;
  change.text = ui.text;
  commands.push_back(EditLab{std::move(change), lab.kernel});
}

void draw_difference(const LabScene& scene) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (scene.difference.empty()) return dim_text(tr("The source is unchanged."));
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(scene.difference.size()), s.px(kRow));
  while (clipper.Step()) {
    for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n) {
      const LabDiffRow& row = scene.difference[static_cast<std::size_t>(n)];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float text = s.px(kGutter + 12);
      ImGui::Dummy({text + text_width(Face::mono, kCode, row.text), s.px(kRow)});
      const Box box{{ImGui::GetWindowPos().x, at.y},
                    {ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), at.y + s.px(kRow)}};
      if (row.sign == '+' || row.sign == '-')
        list->AddRectFilled(box.min, box.max, side_colour(row.sign == '-' ? 0 : 1, 0.16F));
      if (row.line > 0)
        draw_text_in(list, {at, {at.x + s.px(kNumber), box.max.y}}, Align::right, Face::mono, 11,
                     colour(s.theme, Token::dim), fmt::format("{}", row.line));
      const float y = at.y + s.px((kRow - kCode) / 2);
      if (row.sign == '+' || row.sign == '-')
        draw_text(list, {at.x + s.px(kGutter - 6), y}, Face::mono, kCode, colour(s.theme, Token::text),
                  row.sign == '-' ? "−" : "+");
      draw_text(list, {at.x + text, y}, Face::mono, kCode,
                row.sign == '.' ? colour(s.theme, Token::dim) : text_ink(row.text), row.text);
    }
  }
}

// Under the heading: what the compiler says, a line each; a press leads there.
void draw_marks(const LabScene& scene, LabUiState& ui) {
  constexpr int kShown = 4;
  int shown = 0;
  for (const auto& [line, mark] : scene.marks) {
    if (++shown > kShown) break;
    const std::string words = fmt::format("{} {}: {}", mark.error ? tr("error") : tr("warning"), line,
                                          std::string_view(mark.words).substr(0, mark.words.find('\n')));
    ImGui::PushStyleColor(ImGuiCol_Text, mark.error ? error_ink() : warning_ink());
    const std::string fits = elided_text(Face::text, 13, words, ImGui::GetContentRegionAvail().x);
    if (ImGui::Selectable(fmt::format("{}###lab_mark_{}", fits, line).c_str())) ui.go_to = line;
    ImGui::PopStyleColor();
    tooltip(mark.words);
  }
}

void draw_heads(const LabScene& scene, LabUiState& ui) {
  const Style& s = style();
  heading(scene.title.c_str());
  ImGui::PushFont(s.fonts.text, s.px(12));
  if (toggle(tr("Editor"), !ui.difference, tr("The whole source, editable"))) ui.difference = false;
  ImGui::SameLine();
  if (toggle(tr("Difference"), ui.difference, tr("Shows only the changes from the original"))) ui.difference = true;
  if (!scene.lines.by_line.empty()) {
    ImGui::SameLine();
    if (toggle(tr("Hottest line"), true, tr("The line with the largest share of warp time"))) {
      ui.difference = false;
      ui.go_to = hottest_line(scene);
    }
    ImGui::SameLine();
    dim_text(scene.lines.heading);
    tooltip(scene.lines.tip);
  }
  if (!scene.marks.empty()) {
    ImGui::SameLine();
    const bool back = ImGui::Shortcut(ImGuiMod_Shift | ImGuiKey_F8, ImGuiInputFlags_RouteGlobal);
    const bool on = ImGui::Shortcut(ImGuiKey_F8, ImGuiInputFlags_RouteGlobal);
    if (toggle(tr("Next mark"), true,
               for_hands(tr("Next line with a compiler message (F8; Shift+F8: previous)"),
                         tr("Next line with a compiler message"))) ||
        on || back) {
      ui.difference = false;
      ui.go_to = next_mark(scene, ui.cursor, back ? -1 : 1);
    }
  }
  ImGui::PopFont();
  draw_marks(scene, ui);
}

}  // namespace

void draw_lab_editor(const LabScene& scene, const LabView& lab, LabUiState& ui, ImVec2 size, Commands& commands) {
  if (!ui.filled || ui.put != lab.put) {
    // Who types goes on where the text was changed.
    const bool typing = ui.filled && ui.typing;
    const auto [was, is] = std::ranges::mismatch(ui.text, lab.now.text);
    const std::int32_t changed = line_of(lab.now.text, static_cast<std::size_t>(is - lab.now.text.begin()));
    ui.filled = true;
    ui.put = lab.put;
    ui.text = lab.now.text;
    ui.go_to = typing ? changed : 0;
    ui.options = lab.now.options;
    ui.max_registers = lab.now.build.max_registers;
    ui.cursor = 0;
    ui.look_at = first_look(scene);
  }
  if (begin_card("lab_editor", size)) {
    if (!scene.empty.empty()) {
      heading(tr("Source"));
      dim_text(scene.empty);
    } else {
      draw_heads(scene, ui);
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
      if (ImGui::BeginChild("lab_lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
        ui.difference ? draw_difference(scene) : draw_text_field(scene, lab, ui, commands);
        fade_where_more();
        fade_long_lines();
      }
      ImGui::EndChild();
      ImGui::PopStyleVar();
      ImGui::PopStyleColor();
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
