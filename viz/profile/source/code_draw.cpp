// The machine code of a line: address, share of the line's samples, instruction, and what its warps did. The text
// alone goes sideways; the columns about it stay.
#include "viz/profile/source/code_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

constexpr float kRow = 18, kCode = 12, kShare = 38, kHead = 15, kState = 11, kGap = 10;  // logical pixels
constexpr float kBar = 30, kShortBar = 14;  // of the shares; in a card narrower than kWide, and none below kWithBars
constexpr float kWide = 360, kWithBars = 260;
constexpr float kHeads = 54;  // of the card: edges, heading, space

// Where the columns begin and end, from the left edge, pixels.
struct CodeColumns {
  float share = 0, bar = 0, text = 0, state = 0, right = 0;  // state = right: there is no such column
};
CodeColumns columns_of(const CodeScene& code, float width) {
  const Style& s = style();
  CodeColumns columns;
  columns.share = text_width(Face::mono, kCode, "00000") + s.px(12);
  columns.bar = columns.share + (code.sampled ? s.px(kShare) : 0);
  const float bar = width < s.px(kWithBars) ? 0 : s.px((width < s.px(kWide) ? kShortBar : kBar) + kGap / 2);
  columns.text = columns.bar + (code.sampled ? bar + s.px(kGap) : 0);
  columns.right = columns.state = width;
  float widest = 0, least = 0;
  std::size_t longest = 0;
  for (const CodeRow& row : code.rows) {
    widest = std::max(widest, text_width(Face::text, kState, row.state));
    least = std::max(least, text_width(Face::text, kState, row.state_brief));
    longest = std::max(longest, row.text.size());
  }
  const float text = text_width(Face::mono, kCode, "0") * static_cast<float>(longest);
  if (widest > 0)
    columns.state = width - state_column(width - columns.text - s.px(kGap), text, widest + s.px(3), least + s.px(3));
  return columns;
}

// The first that fits, else the beginning of the last.
std::string one_that_fits(const std::string& words, const std::string& brief, float room) {
  return text_width(Face::text, kState, words) <= room ? words : fitted_text(Face::text, kState, brief, room);
}

void draw_head(const CodeColumns& columns) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 dim = colour(s.theme, Token::dim);
  draw_text_in(list, {at, {at.x + columns.bar, at.y + s.px(kHead)}}, Align::right, Face::text, 11, dim,
               tr("% of line"));
  if (columns.state < columns.right)
    draw_text_in(list, {{at.x + columns.state, at.y}, {at.x + columns.right, at.y + s.px(kHead)}}, Align::left,
                 Face::text, 11, dim,
                 one_that_fits(tr("most of its warps"), tr("its warps"), columns.right - columns.state));
  ImGui::Dummy({ImGui::GetContentRegionAvail().x, s.px(kHead)});
  tooltip(tr("What warps were doing when sampled at this line's instructions."));
}

// `most`: of the rows' parts, that of the longest bar.
void draw_row(const CodeRow& row, const CodeColumns& columns, double most) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float x = ImGui::GetWindowPos().x, height = s.px(kRow), bottom = at.y + height;
  const float y = at.y + (height - s.px(kCode)) / 2;
  ImGui::Dummy(
      {columns.text + text_width(Face::mono, kCode, row.text) + columns.right - columns.state + s.px(kGap), height});
  const float end = columns.state < columns.right ? columns.state - s.px(kGap) : columns.right;
  const bool of_one = row.side != gpu::CodeSide::both;
  if (of_one)
    list->AddRectFilled({x, at.y}, {x + columns.right, bottom},
                        side_colour(row.side == gpu::CodeSide::first ? 0 : 1, 0.16F));
  list->PushClipRect({x + columns.text, at.y}, {x + end, bottom}, true);
  draw_text(list, {at.x + columns.text, y}, row.is_fold ? Face::text : Face::mono, kCode,
            colour(s.theme, row.is_name || row.is_fold ? Token::dim : Token::text), row.text);
  list->PopClipRect();
  // It goes on under the next column, or beyond the edge.
  const float text_end = at.x + columns.text + text_width(row.is_fold ? Face::text : Face::mono, kCode, row.text);
  if (!of_one && text_end > x + end) fade_before(list, x + end, at.y, bottom);
  list->AddRectFilled({x, at.y}, {x + s.px(3), bottom}, hue_of(row.phase));
  draw_text(list, {x + s.px(9), y}, Face::mono, kCode, colour(s.theme, of_one ? Token::text : Token::dim), row.address);
  if (row.share.empty()) return;
  // The hot ones are found at a glance.
  const Box bar{{x + columns.bar + s.px(kGap / 2), at.y + s.px(5)}, {x + columns.text - s.px(kGap), bottom - s.px(5)}};
  if (bar.width() > 0 && most > 0)
    list->AddRectFilled(bar.min, {bar.min.x + bar.width() * static_cast<float>(row.part / most), bar.max.y},
                        hue_of(row.phase));
  draw_text_in(list, {{x + columns.share, at.y}, {x + columns.bar, bottom}}, Align::right, Face::mono, kCode,
               colour(s.theme, Token::text), row.share);
  draw_text_in(list, {{x + columns.state, at.y}, {x + columns.right, bottom}}, Align::left, Face::text, kState,
               colour(s.theme, Token::dim), one_that_fits(row.state, row.state_brief, columns.right - columns.state));
  tooltip(fmt::format("{}\n{}", row.text, row.words));
}

// The hottest instruction of a line that was just chosen comes into sight, once.
void follow(const CodeScene& code, SourceUiState& ui) {
  const std::string now = fmt::format("{}|{}|{}|{}", code.title, code.rows.empty() ? "" : code.rows.front().address,
                                      code.rows.size(), code.sampled);
  if (ui.code_scrolled_to == now) return;
  ui.code_scrolled_to = now;
  const auto hottest = std::ranges::max_element(code.rows, {}, &CodeRow::part);
  const float row = style().px(kRow), height = ImGui::GetWindowHeight();
  const bool any = hottest != code.rows.end() && hottest->part > 0;
  const float top = any ? row * static_cast<float>(hottest - code.rows.begin()) : 0;
  ImGui::SetScrollX(0);
  // From a whole row on.
  ImGui::SetScrollY(top + row > height - row ? std::floor(std::max(0.0F, top - height * 0.3F) / row) * row : 0);
}

// Beside the heading where it has room there.
void draw_choices(const CodeScene& code, CodeKind kind, Commands& commands) {
  const Style& s = style();
  heading(code.title.c_str());
  float buttons = 0;
  for (const char* label : {"SASS", "PTX", tr("SASS diff"), tr("Copy")})
    buttons += text_width(Face::text, 12, label) + s.px(12 + 4);
  const float title = text_width(Face::bold, 13, code.title) + s.px(12);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(4), s.px(4)));
  if (const float room = ImGui::GetContentRegionAvail().x; title + buttons < room)
    ImGui::SameLine(s.px(16) + room - buttons + s.px(4));
  for (const auto& [choice, label, help] :
       {std::tuple{CodeKind::sass, "SASS", tr("The code that the multiprocessor runs, as printed by nvdisasm")},
        std::tuple{CodeKind::ptx, "PTX", tr("The compiler's intermediate code")},
        std::tuple{CodeKind::diff, tr("SASS diff"),
                   tr("Compares the kernel's entire machine code with that of the reference measurement")}}) {
    if (toggle(label, kind == choice, help)) commands.push_back(ChooseCode{choice});
    ImGui::SameLine();
  }
  ImGui::BeginDisabled(code.rows.empty());
  if (toggle(tr("Copy"), true, tr("Copies all of these lines, with tabs between columns")))
    commands.push_back(CopyText{code_text(code)});
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
}

}  // namespace

float state_column(float room, float widest_text, float widest_state, float least) {
  return std::max(std::min(room - widest_text, widest_state), std::min(least, widest_state));
}

float code_height(const CodeScene& code) {
  const float head = code.sampled ? kHead : code.words.empty() ? 0 : 3 * kHead, bar = 14;  // that goes sideways
  return kHeads + head + bar + kRow * static_cast<float>(std::max<std::size_t>(code.rows.size(), 2));
}

void fade_long_lines() {
  if (ImGui::GetScrollX() >= ImGui::GetScrollMaxX() - 1) return;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float bar = ImGui::GetStyle().ScrollbarSize;
  const float right = at.x + size.x - (ImGui::GetScrollMaxY() > 0 ? bar : 0);
  fade_before(ImGui::GetWindowDrawList(), right, at.y, at.y + size.y - bar);
}

void draw_code(const CodeScene& code, CodeKind kind, SourceUiState& ui, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("profile_code", size)) {
    draw_choices(code, kind, commands);
    if (!code.empty.empty()) dim_text(code.empty);
    if (!code.words.empty()) dim_text(code.words);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    const CodeColumns columns =
        columns_of(code, ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize - s.px(2));
    if (code.sampled) draw_head(columns);
    if (ImGui::BeginChild("code_lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
      follow(code, ui);
      double most = 0;
      for (const CodeRow& row : code.rows) most = std::max(most, row.part);
      ImGuiListClipper clipper;
      clipper.Begin(static_cast<int>(code.rows.size()), s.px(kRow));
      while (clipper.Step())
        for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n)
          draw_row(code.rows[static_cast<std::size_t>(n)], columns, most);
      fade_where_more();
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
}

}  // namespace attn
