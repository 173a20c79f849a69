#include "viz/step/timeline/map_draw.h"

#include <algorithm>
#include <string>

#include "viz/draw/theme.h"

namespace attn {

void draw_step_map(const Box& box, const MapScene& scene, const Recording& rec, const StepPlace& at,
                   Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float labels = s.px(18);
  const float side = std::min({(box.height() - s.px(14)) / static_cast<float>(std::max(scene.rows, 1)),
                               (box.width() - labels) / static_cast<float>(std::max(scene.cols, 1)), s.px(22)});
  const ImVec2 origin{box.min.x + labels, box.min.y + s.px(14)};
  const float gap = side > s.px(6) ? s.px(1) : 0;
  for (std::int32_t i = 0; i < scene.rows; ++i) {
    for (std::int32_t j = 0; j < scene.cols; ++j) {
      const MapTile& tile =
          scene.tiles[static_cast<std::size_t>(i) * static_cast<std::size_t>(scene.cols) + static_cast<std::size_t>(j)];
      const ImVec2 a{origin.x + side * static_cast<float>(j), origin.y + side * static_cast<float>(i)};
      const Box cell{{a.x + gap, a.y + gap}, {a.x + side - gap, a.y + side - gap}};
      const ImU32 done = colour_of(Token::dim), line = colour_of(Token::faint);
      if (tile.look == MapLook::done) list->AddRectFilled(cell.min, cell.max, done, s.px(2));
      if (tile.look == MapLook::begun && side > s.px(6)) draw_dashed(list, cell, line, 2);
      if (tile.look == MapLook::begun)
        list->AddRectFilled({cell.min.x, cell.centre().y}, cell.max, faded(done, 0.6F), s.px(2));
      if (tile.look == MapLook::skipped)
        draw_hatch(list, cell, faded(line, 0.8F), 4);
      else if (tile.look == MapLook::to_come && side > s.px(6) && !tile.current)
        draw_dashed(list, cell, line, 2);
      if (tile.partial && side > s.px(6))
        list->AddLine(cell.min, cell.max, tile.look == MapLook::done ? colour_of(Token::card) : line, s.px(1));
      if (tile.current) draw_outline(list, cell.grown(gap), colour_of(Token::text), 2, 3);
    }
  }
  if (side > s.px(5)) {
    if (at.j >= 0)
      draw_text_in(list,
                   {{origin.x + side * static_cast<float>(at.j), box.min.y - s.px(2)},
                    {origin.x + side * static_cast<float>(at.j + 1), origin.y - s.px(1)}},
                   Align::centre, Face::mono, 11, colour_of(Token::text), std::to_string(at.j));
    if (scene.i >= 0)
      draw_text_in(list,
                   {{box.min.x, origin.y + side * static_cast<float>(scene.i)},
                    {origin.x - s.px(5), origin.y + side * static_cast<float>(scene.i + 1)}},
                   Align::right, Face::mono, 11, colour_of(Token::text), std::to_string(scene.i));
  }
  const float width = side * static_cast<float>(scene.cols), height = side * static_cast<float>(scene.rows);
  const float words_left = origin.x + width + s.px(14);
  float y = origin.y;
  for (const std::string& words : scene.words) {
    if (words_left + text_width(Face::text, 13, words) > box.max.x) continue;
    draw_text(list, {words_left, y}, Face::text, 13, colour_of(Token::dim), words);
    y += s.px(18);
  }
  if (width < 1 || height < 1) return;
  ImGui::SetCursorScreenPos(origin);
  if (!ImGui::InvisibleButton("##step_map", {width, height})) return;
  const ImVec2 p = ImGui::GetMousePos();
  const auto i = static_cast<std::int32_t>((p.y - origin.y) / side),
             j = static_cast<std::int32_t>((p.x - origin.x) / side);
  if (const auto e = event_of_tile(rec, at, i, j)) commands.emplace_back(GoToEvent{*e});
}

}  // namespace attn
