// The phases of a kernel as a table. Its heads stay where its lines scroll.
#include "viz/profile/phases/phase_table_draw.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/phases/phase_menu_draw.h"
#include "viz/profile/phases/phase_table.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

// Logical pixels. Of the table: a line, its heads with the card's edges; the least width of a column, of the names.
constexpr float kRow = 17, kHeads = 72, kColumn = 40, kNames = 58, kBar = 66, kWide = 430;

// Where the columns of the table stand, from its left edge, pixels.
struct Columns {
  float name = 0, each = 0;
  float right(std::size_t n) const { return name + each * static_cast<float>(n + 1); }
};

Columns columns_of(const PhaseTable& table, float width) {
  const Style& s = style();
  const auto count = static_cast<float>(table.heads.size());
  Columns columns;
  columns.name = std::max(s.px(kNames), width - s.px(kColumn + 6) * count);
  columns.each = (width - columns.name) / count;
  return columns;
}

void draw_head(ImDrawList* list, ImVec2 at, const Columns& columns, const PhaseTable& table) {
  const Style& s = style();
  for (std::size_t n = 0; n < table.heads.size(); ++n) {
    const Box cell{{at.x + columns.right(n) - columns.each, at.y}, {at.x + columns.right(n), at.y + s.px(kRow)}};
    const bool first = table.timed && n == 0;
    const Face face = first ? Face::bold : Face::text;
    const float room = columns.each - s.px(3);
    const PhaseHead& head = table.heads[n];
    const bool whole = text_width(face, 11, head.text) <= room;
    ImGui::SetCursorScreenPos(cell.min);
    ImGui::Dummy({cell.width(), cell.height()});
    tooltip(head.tip);
    draw_text_in(list, cell, Align::right, face, 11, colour(s.theme, first ? Token::text : Token::dim),
                 whole ? head.text : fitted_text(face, 11, head.brief, room));
  }
  ImGui::SetCursorScreenPos(at);
}

std::string phase_tip(const PhaseRow& row, const std::string& time) {
  std::string tip = fmt::format("{}: {}.", gpu::name_of(row.phase), row.words);
  if (!time.empty()) tip += phrase(" {} % of the warps' time.", time);
  if (row.total > 0) tip += phrase(" {} instructions, {:.3g} %: {}", row.total, 100 * row.share, mix_words(row.mix));
  if (!row.counts.words.empty()) tip += "\n" + row.counts.words;
  return tip;
}

void draw_line(ImDrawList* list, const Box& box, const PhaseRow& row, const PhaseLine& line, const Columns& columns,
               std::uint32_t most) {
  const Style& s = style();
  const float x = box.min.x;
  list->AddRectFilled({x, box.min.y + s.px(1)}, {x + s.px(3), box.max.y - s.px(1)}, hue_of(row.phase));
  draw_phase_sign(list, {box.min, {x + columns.name, box.max.y}}, row.phase);
  const Box bar{{x + s.px(kBar), box.min.y + s.px(5)}, {x + columns.name - s.px(2), box.max.y - s.px(5)}};
  if (bar.width() > s.px(12)) draw_mix(list, bar, row.mix, most, row.phase);
  for (std::size_t n = 0; n < line.cells.size(); ++n) {
    const Box cell{{x + columns.right(n) - columns.each, box.min.y}, {x + columns.right(n), box.max.y}};
    draw_text_in(list, cell, Align::right, Face::mono, 11, colour(s.theme, n == 0 ? Token::text : Token::dim),
                 line.cells[n]);
  }
}

// The line of the phase that was chosen last comes into sight, once.
void follow(const PhaseTable& table, const SourceScene& scene, gpu::CodePhase shown, SourceUiState& ui) {
  if (ui.phase_scrolled_to == shown) return;
  ui.phase_scrolled_to = shown;
  const std::size_t line = line_of(table, scene, shown);
  if (line >= table.lines.size()) return;
  const float row = style().px(kRow), top = row * static_cast<float>(line), height = ImGui::GetWindowHeight();
  const float now = ImGui::GetScrollY();
  if (top < now || top + row > now + height) ImGui::SetScrollY(std::max(0.0F, top - (height - row) / 2));
}

void draw_lines(const SourceScene& scene, const PhaseTable& table, const Columns& columns, float width,
                const PhasesPlace& place, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  std::uint32_t most = 0;
  for (const PhaseRow& row : scene.phases) most = std::max(most, row.total);
  for (const PhaseLine& line : table.lines) {
    const PhaseRow& row = scene.phases[line.row];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Box box{at, {at.x + width, at.y + s.px(kRow)}};
    const std::string name(gpu::name_of(row.phase));
    const bool pressed =
        ImGui::InvisibleButton(("phase_" + name).c_str(), {width, s.px(kRow)}, ImGuiButtonFlags_EnableNav);
    if (pressed && row.line > 0) commands.push_back(ChooseSourceLine{row.file, row.line});
    draw_phase_menu(row.phase, place.to_step, commands);
    if (row.phase == place.shown || ImGui::IsItemHovered())
      list->AddRectFilled(box.min, box.max, colour(s.theme, row.phase == place.shown ? Token::band : Token::field));
    draw_line(list, box, row, line, columns, most);
    tooltip(phase_tip(row, table.timed ? line.cells.front() : std::string()));
  }
}

}  // namespace

float phases_height(const SourceScene& scene) {
  return kHeads + kRow * static_cast<float>(scene.phases.size());
}

void draw_phases(const SourceScene& scene, const MosaicScene& mosaic, const PhasesPlace& place, SourceUiState& ui,
                 ImVec2 size, Commands& commands) {
  const Style& s = style();
  const bool counts = scene.counted && !ui.hide_counts;
  if (begin_card("profile_phases", size)) {
    heading(counts ? tr("What each phase did") : tr("Instructions by phase"));
    tooltip(
        counts
            ? for_hands(tr("Counted at each instruction in one run. Click a phase for its line with the most "
                           "instructions."),
                        tr("Counted at each instruction in one run. Tap a phase for its line with the most "
                           "instructions."))
            : for_hands(tr("Instructions in the machine code, no matter how often they run. Click a phase for its line "
                           "with the most instructions."),
                        tr("Instructions in the machine code, no matter how often they run. Tap a phase for its line "
                           "with the most instructions.")));
    ImGui::SameLine();
    draw_phase_button(place.shown, place.to_step, commands);
    if (scene.phases.empty() || (!counts && scene.instructions == 0)) {
      dim_text(scene.why_no_sass.empty() ? scene.empty
                                         : tr("Instructions are counted in the machine code, which is missing here."));
    } else {
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
      const float width = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize - s.px(4);
      const PhaseTable table = phase_table(scene, mosaic, counts, width < s.px(kWide));
      const Columns columns = columns_of(table, width);
      draw_head(ImGui::GetWindowDrawList(), ImGui::GetCursorScreenPos(), columns, table);
      ImGui::Dummy({width, s.px(kRow)});
      if (ImGui::BeginChild("phase_rows", {0, 0}, ImGuiChildFlags_NavFlattened)) {
        follow(table, scene, place.shown, ui);
        draw_lines(scene, table, columns, width, place, commands);
        fade_where_more();
      }
      ImGui::EndChild();
      ImGui::PopStyleVar();
      ImGui::PopStyleColor();
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
