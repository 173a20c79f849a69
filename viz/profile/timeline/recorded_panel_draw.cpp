#include "viz/profile/timeline/recorded_panel_draw.h"

#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/scene/recorded_panel.h"

namespace attn {
namespace {

constexpr float kRow = 19, kNumber = 48;  // logical pixels; of a line, of a column of numbers

// The kernel with its mark.
void draw_kernel(const std::string& kernel) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_mark(list, {at.x + s.px(8), at.y + s.px(kRow) / 2},
            {look_of(kernel).mark, MarkFill::solid, kernel_colour(s.theme, kernel), colour(s.theme, Token::card),
             s.px(4.5F), s.px(1.5F)});
  draw_text_in(&list, {{at.x + s.px(20), at.y}, {at.x + width, at.y + s.px(kRow)}}, Align::left, Face::bold, 13,
               colour(s.theme, Token::text), fitted_text(Face::bold, 13, kernel, width - s.px(20)));
  ImGui::Dummy({width, s.px(kRow)});
}

// The last columns: one number, or above, below and the change.
void draw_cells(const Box& line, const PanelRow& row, bool both, ImU32 ink) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto cell = [&](int from_right, const std::string& words, ImU32 c) {
    const float right = line.max.x - s.px(kNumber) * static_cast<float>(from_right);
    draw_text_in(list, {{right - s.px(kNumber), line.min.y}, {right, line.max.y}}, Align::right, Face::mono, 12, c,
                 words);
  };
  if (!both) return cell(0, row.above, ink);
  cell(2, row.above, ink);
  cell(1, row.below, ink);
  cell(0, row.change, row.way == PanelChange::same ? colour(s.theme, Token::dim) : ink);
}

void draw_panel_row(const PanelRow& row, bool both, Token token) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const Box line{at, {at.x + width, at.y + s.px(kRow)}};
  const float room = width - s.px(kNumber) * (both ? 3 : 1) - s.px(4);
  const std::string name = fitted_text(Face::text, 12, row.name, room);
  draw_text_in(ImGui::GetWindowDrawList(), {at, {at.x + room, line.max.y}}, Align::left, Face::text, 12,
               colour(s.theme, Token::dim), name);
  draw_cells(line, row, both, colour(s.theme, token));
  ImGui::InvisibleButton(row.name.c_str(), {width, s.px(kRow)});
  const std::string numbers = both ? phrase("{}: above {}, below {}", row.name, row.above, row.below)
                                   : fmt::format("{}: {}", row.name, row.above);
  if (!row.tip.empty()) {
    tooltip(numbers + "\n" + row.tip);
  } else if (name != row.name) {
    tooltip(numbers);
  }
}

void draw_table(const PanelTable& table, bool both) {
  ImGui::PushID(table.title.c_str());
  ImGui::Dummy({0, style().px(5)});
  heading(table.title.c_str());
  if (both) draw_panel_row({" ", tr("above"), tr("below"), tr("change"), {}, PanelChange::more}, true, Token::dim);
  for (const PanelRow& row : table.rows) draw_panel_row(row, both, Token::text);
  ImGui::PopID();
}

void draw_exports(const PipelineScene& scene, Commands& commands) {
  const std::string id = id_of(*scene.timeline);
  if (small_button(tr("Perfetto"), true, tr("Saves this recording as a trace for ui.perfetto.dev")))
    commands.push_back(ExportTimeline{id, true});
  ImGui::SameLine();
  if (small_button(tr("CSV"), true, tr("Saves this recording as a table with one row per state")))
    commands.push_back(ExportTimeline{id, false});
  ImGui::SameLine();
  if (small_button(tr("PNG"), true, tr("Saves a picture of this window"))) commands.push_back(SavePicture{});
}

}  // namespace

void draw_recorded_panel(const PipelineScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  const RecordedPanel panel = recorded_panel(scene);
  const bool both = !panel.below.empty();
  if (begin_card("profile_panel", size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(4)));
    ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
    const float buttons = ImGui::GetTextLineHeight() + s.px(14);
    if (ImGui::BeginChild("recorded", {0, -buttons})) {
      heading(both ? tr("Compared") : tr("Recorded"));
      draw_kernel(panel.kernel);
      if (both) {
        dim_text(panel.what.front());
        dim_text(phrase("above: {}", panel.above));
        dim_text(phrase("below: {}", panel.below));
        dim_text(panel.what.back());
      } else {
        for (const std::string& words : panel.what) dim_text(words);
      }
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
      for (const PanelTable& table : panel.tables) draw_table(table, both);
      ImGui::PopStyleVar();
      fade_where_more();
    }
    ImGui::EndChild();
    ImGui::PopStyleColor();
    ImGui::Dummy({0, s.px(2)});
    draw_exports(scene, commands);
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
