#include "viz/bench/tiles/tile_map_draw.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kSide = 48, kHead = 20, kGap = 3, kMinWidth = 44, kMaxWidth = 190, kMinHeight = 30, kMaxHeight = 60;
constexpr float kLine = 20, kCorner = 9;

ImU32 mixed(ImU32 a, ImU32 b, float share) {
  const ImVec4 x = ImGui::ColorConvertU32ToFloat4(a), y = ImGui::ColorConvertU32ToFloat4(b);
  const auto mix = [&](float p, float q) { return p + (q - p) * share; };
  return ImGui::ColorConvertFloat4ToU32({mix(x.x, y.x), mix(x.y, y.y), mix(x.z, y.z), 1});
}

// The best tile has the kernel's own colour; one that takes twice as long or more has hardly any of it.
ImU32 fill_of(const TuneMap& scene, const TileCell& cell) {
  const Style& s = style();
  const ImU32 none = colour(s.theme, Token::field);
  if (cell.state != TileCellState::timed) return none;
  const auto strength = static_cast<float>(std::clamp((cell.share - 0.5) / 0.5, 0.0, 1.0));
  return mixed(none, kernel_colour(s.theme, scene.kernel), 0.1F + 0.9F * strength * strength);
}

void draw_marks(ImDrawList* list, const Box& box, const TileCell& cell, ImU32 ink) {
  const Style& s = style();
  if (cell.spills) {
    const float r = s.px(kCorner);
    list->AddTriangleFilled({box.max.x - r, box.min.y}, {box.max.x, box.min.y}, {box.max.x, box.min.y + r}, ink);
  }
  if (cell.usual) draw_dashed(list, box.grown(-s.px(2)), ink, 2);
  if (cell.chosen) draw_outline(list, box.grown(s.px(0.5F)), colour(s.theme, Token::text), 2.5F, 3);
}

void draw_cell(ImDrawList* list, const Box& box, const TuneMap& scene, const TileCell& cell) {
  const Style& s = style();
  const ImU32 fill = fill_of(scene, cell);
  list->AddRectFilled(box.min, box.max, fill, s.px(3));
  const bool out = cell.state == TileCellState::refused;
  if (out) draw_hatch(list, box, faded(colour(s.theme, Token::faint), 0.45F), 6);
  const bool timed = cell.state == TileCellState::timed;
  const ImU32 ink =
      timed ? text_on(fill) : colour(s.theme, cell.state == TileCellState::wrong ? Token::text : Token::dim);
  const bool both =
      !cell.small.empty() && box.height() >= s.px(36) && text_width(Face::text, 11, cell.small) < box.width() - s.px(6);
  const float middle = box.centre().y;
  const Box top{box.min, {box.max.x, both ? middle + s.px(3) : box.max.y}};
  const Face face = cell.state == TileCellState::wrong ? Face::bold : timed ? Face::mono : Face::text;
  if (!out)
    draw_text_in(list, top, Align::centre, face, 13, ink, elided_text(face, 13, cell.text, box.width() - s.px(4)));
  if (both && !out)
    draw_text_in(list, {{box.min.x, middle}, box.max}, Align::centre, Face::text, 11, timed ? faded(ink, 0.85F) : ink,
                 cell.small);
  draw_marks(list, box, cell, timed ? ink : colour(s.theme, Token::faint));
}

struct Grid {
  ImVec2 origin;                // of the first cell
  float width = 0, height = 0;  // of a cell, the gap included
};

Grid grid_of(const TuneMap& scene, ImVec2 at, ImVec2 room) {
  const Style& s = style();
  Grid g;
  g.origin = {at.x + s.px(kSide), at.y + s.px(kHead)};
  const auto columns = static_cast<float>(scene.columns.size()), rows = static_cast<float>(scene.rows.size());
  g.width = std::clamp((room.x - s.px(kSide)) / columns, s.px(kMinWidth), s.px(kMaxWidth));
  g.height = std::clamp((room.y - s.px(kHead)) / rows, s.px(kMinHeight), s.px(kMaxHeight));
  return g;
}

void draw_sides(ImDrawList* list, const TuneMap& scene, const Grid& g) {
  const Style& s = style();
  const ImU32 dim = colour(s.theme, Token::dim);
  for (std::size_t c = 0; c < scene.columns.size(); ++c) {
    const float x = g.origin.x + g.width * static_cast<float>(c);
    draw_text_in(list, {{x, g.origin.y - s.px(kHead)}, {x + g.width - s.px(kGap), g.origin.y}}, Align::centre,
                 Face::mono, 12, dim, fmt::format("{}", scene.columns[c]));
  }
  for (std::size_t r = 0; r < scene.rows.size(); ++r) {
    const float y = g.origin.y + g.height * static_cast<float>(r);
    draw_text_in(list, {{g.origin.x - s.px(kSide), y}, {g.origin.x - s.px(8), y + g.height - s.px(kGap)}}, Align::right,
                 Face::mono, 12, dim, fmt::format("{}", scene.rows[r]));
  }
  draw_text_in(list, {{g.origin.x - s.px(kSide), g.origin.y - s.px(kHead)}, {g.origin.x - s.px(8), g.origin.y}},
               Align::right, Face::text, 11, dim, "Br \\ Bc");
}

// Each cell is a button: the keyboard walks from one to the next, and the words about it stand beside the one it is on.
void draw_cells(const TuneMap& scene, const SweepSpec& sweep, const Grid& g, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t r = 0; r < scene.rows.size(); ++r) {
    for (std::size_t c = 0; c < scene.columns.size(); ++c) {
      const TileCell& cell = scene.at(r, c);
      if (cell.state == TileCellState::none) continue;
      const ImVec2 at{g.origin.x + g.width * static_cast<float>(c), g.origin.y + g.height * static_cast<float>(r)};
      const Box box{at, {at.x + g.width - s.px(kGap), at.y + g.height - s.px(kGap)}};
      ImGui::SetCursorScreenPos(at);
      const std::string id = fmt::format("tile_{}x{}", scene.rows[r], scene.columns[c]);
      const bool pressed = ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
      const bool takes = cell.state == TileCellState::timed || cell.state == TileCellState::waiting;
      if (pressed && takes) commands.push_back(SetSweep{sweep_with_tile(sweep, cell.options, scene.gpu)});
      draw_cell(list, box, scene, cell);
      if (ImGui::IsItemHovered()) draw_outline(list, box, colour(s.theme, Token::dim), 1, 3);
      tooltip(cell.tip);
    }
  }
}

// Where there is little room the interval and the number of repeats are left to the tooltips.
void draw_turns(const TuneMap& scene, float room) {
  if (scene.table.empty()) return;
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImVec2 at = ImGui::GetCursorScreenPos();
  struct Column {
    std::size_t cell;
    float width;  // logical
  };
  constexpr Column kAll[] = {{0, 200}, {1, 84}, {2, 150}, {3, 70}, {4, 92}, {5, 110}};
  constexpr Column kFew[] = {{0, 170}, {1, 72}, {4, 84}, {5, 90}};
  const auto columns = room >= s.px(710) ? std::span<const Column>(kAll) : kFew;
  const auto line = [&](const std::vector<std::string>& cells, bool head) {
    float x = at.x;
    for (const Column& c : columns) {
      const bool left = c.cell == 0 || c.cell + 1 == cells.size();
      const Box box{{x, at.y}, {x + s.px(c.width) - s.px(12), at.y + s.px(kLine)}};
      const Face face = head || left ? Face::text : Face::mono;
      const float size = head ? 12 : 13;
      draw_text_in(list, box, left ? Align::left : Align::right, face, size,
                   colour(s.theme, head ? Token::dim : Token::text),
                   elided_text(face, size, cells[c.cell], box.width()));
      x += s.px(c.width);
    }
    at.y += s.px(kLine);
  };
  line(scene.table_head, true);
  for (const auto& row : scene.table) line(row, false);
  ImGui::Dummy({0, s.px(kLine) * static_cast<float>(scene.table.size() + 1)});
}

void draw_map(const TuneMap& scene, const SweepSpec& sweep, Commands& commands) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float below = s.px(kLine) * static_cast<float>(scene.table.empty() ? 0 : scene.table.size() + 1) + s.px(58);
  const Grid g = grid_of(scene, at, {room.x, room.y - below});
  draw_sides(ImGui::GetWindowDrawList(), scene, g);
  draw_cells(scene, sweep, g, commands);
  ImGui::SetCursorScreenPos({at.x, g.origin.y + g.height * static_cast<float>(scene.rows.size()) + s.px(10)});
  draw_turns(scene, room.x);
  ImGui::Dummy({0, s.px(6)});
  dim_text(scene.note);
}

}  // namespace

void draw_tiles(const TuneMap& scene, const SweepSpec& sweep, ImVec2 size, Commands& commands) {
  if (begin_card("tiles", size)) {
    if (!scene.empty.empty()) {
      heading(tr("Tiles"));
      dim_text(scene.empty);
    } else {
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
      if (ImGui::BeginChild("tile_map", {0, 0}, ImGuiChildFlags_NavFlattened)) draw_map(scene, sweep, commands);
      fade_where_more();
      ImGui::EndChild();
      ImGui::PopStyleVar();
      ImGui::PopStyleColor();
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
