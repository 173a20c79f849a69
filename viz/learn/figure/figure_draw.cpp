#include "viz/learn/figure/figure_draw.h"

#include <algorithm>
#include <cstddef>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/figure/figure.h"
#include "viz/learn/figure/wall_draw.h"
#include "viz/profile/heartbeat/heartbeat_draw.h"
#include "viz/profile/occupancy/occupancy_draw.h"
#include "viz/profile/phases/mosaic_draw.h"
#include "viz/profile/roofline/roofline_draw.h"
#include "viz/profile/source/source_draw.h"

namespace attn {
namespace {

// What does not fit the box scrolls. What is pressed in it asks for things of Profile's, and not of a lesson's.
template <class Draw>
void draw_scrolling(ImVec2 size, float least, const Draw& draw) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  const bool open = ImGui::BeginChild("figure", size, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  Commands of_profile;
  if (open) draw(ImVec2(ImGui::GetContentRegionAvail().x, std::max(size.y, least)), of_profile);
  ImGui::EndChild();
}

// A line well before those that can be chosen, so that they are in sight and none of them is pointed at.
std::int32_t before_choices(const CardScene& card) {
  constexpr std::int32_t kBefore = 8;
  std::int32_t first = 0;
  for (const CardOption& option : card.options)
    if (option.line > 0 && (first == 0 || option.line < first)) first = option.line;
  return std::max(first - kBefore, 0);
}

// The text of the kernel. A line that is clicked is looked at, and is the answer where it can be one.
void draw_lines(const StageFigure& figure, const CardScene& card, FigureUiState& ui, ImVec2 size, Commands& commands) {
  ProfileView view;
  view.file = ui.line.file;
  view.line = ui.line.line;
  const auto chosen = std::ranges::find_if(card.options, [&](const CardOption& o) { return o.chosen && o.line > 0; });
  if (card.open && chosen != card.options.end()) view.line = chosen->line;
  if (card.open && view.line == 0) view.line = before_choices(card);
  Commands of_profile;
  draw_source(figure.scenes->lines, view, ui.source, size, of_profile);
  for (const Command& command : of_profile) {
    const auto* line = command_as<ChooseSourceLine>(command);
    if (line == nullptr) {
      if (command_as<CopyText>(command) != nullptr) commands.push_back(command);
      continue;
    }
    ui.line = *line;
    const auto option = std::ranges::find(card.options, line->line, &CardOption::line);
    if (card.open && line->line > 0 && option != card.options.end())
      commands.emplace_back(ChooseAnswer{static_cast<std::size_t>(option - card.options.begin())});
  }
}

const char* heading_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::roofline:
      return tr("Roofline");
    case FigureKind::levels:
      return tr("Roofline by memory level");
    case FigureKind::occupancy:
      return tr("Occupancy");
    case FigureKind::heartbeat:
      return tr("Heartbeat");
    case FigureKind::phases:
      return tr("Where the time goes");
    case FigureKind::wall:
      return tr("What has to fit, to scale");
    case FigureKind::lines:
      break;
  }
  return tr("Source");
}

void draw_figure(const StageFigure& figure, const CardScene& card, FigureUiState& ui, ImVec2 size, Commands& commands) {
  switch (figure.kind) {
    case FigureKind::roofline:
    case FigureKind::levels:
      return draw_roofline(figure.scenes->roof, figure.kind == FigureKind::levels, size);
    case FigureKind::occupancy:
      return draw_occupancy(figure.scenes->occupancy, size);
    case FigureKind::heartbeat:
      return draw_scrolling(size, heartbeat_height(figure.scenes->heartbeat, size.x),
                            [&](ImVec2 room, Commands& none) { draw_heartbeat(figure.scenes->heartbeat, room, none); });
    case FigureKind::phases:
      return draw_scrolling(size, style().px(mosaic_height(figure.scenes->phases, size.x)),
                            [&](ImVec2 room, Commands& none) {
                              room.y = std::min(room.y, style().px(mosaic_height(figure.scenes->phases, room.x)));
                              draw_mosaic(figure.scenes->phases, {}, room, none);
                            });
    case FigureKind::wall: {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      return draw_wall(figure.scenes->wall, {at, {at.x + size.x, at.y + size.y}});
    }
    case FigureKind::lines:
      break;
  }
  draw_lines(figure, card, ui, size, commands);
}

}  // namespace

void draw_stage_figure(const StageFigure& figure, const CardScene& card, const Box& box, FigureUiState& ui,
                       Commands& commands) {
  if (figure.scenes == nullptr) return;
  ImGui::SetCursorScreenPos(box.min);
  const ImVec2 size{box.width(), box.height()};
  // The text itself is no secret: its shares are, and it has none while it waits.
  if (!figure.waits || figure.asks_with_part()) return draw_figure(figure, card, ui, size, commands);
  if (begin_card("waits", size)) {
    heading(heading_of(figure.kind));
    dim_text(phrase("The figure for {} is hidden until you answer.", figure.of));
  }
  ImGui::EndChild();
}

}  // namespace attn
