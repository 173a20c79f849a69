#include "viz/step/timeline/map.h"

#include <algorithm>

#include <fmt/format.h>

namespace attn {
MapScene map_scene(const Recording& rec, const StepPlace& at) {
  MapScene scene;
  scene.rows = rec.query_tiles();
  scene.cols = rec.key_tiles();
  scene.i = at.i;
  scene.j = at.j;
  const std::int32_t last_pass = stores_scores(rec.order) ? 2 : 0;
  for (std::int32_t i = 0; i < scene.rows; ++i) {
    const std::int64_t r0 = static_cast<std::int64_t>(i) * at.br,
                       r1 = std::min<std::int64_t>(rec.problem.Lq, r0 + at.br);
    for (std::int32_t j = 0; j < scene.cols; ++j) {
      const std::int64_t c0 = static_cast<std::int64_t>(j) * at.bc,
                         c1 = std::min<std::int64_t>(rec.problem.Lk, c0 + at.bc);
      MapTile tile;
      const TileCover cover = rec.problem.cover(at.b, r0, r1, c0, c1);
      tile.partial = cover == TileCover::partial;
      tile.current = i == at.i && j == at.j;
      if (cover == TileCover::skipped) {
        tile.look = MapLook::skipped;
        ++scene.skipped;
      } else {
        const auto last = rec.find({at.b, at.h, i, j, Phase::output}, last_pass);
        const auto first = rec.find({at.b, at.h, i, j, Phase::scores}, 0);
        if (last && *last <= at.event)
          tile.look = MapLook::done;
        else if (first && *first <= at.event)
          tile.look = MapLook::begun;
        (tile.look == MapLook::done ? scene.done : scene.to_come) += tile.current && tile.look != MapLook::done ? 0 : 1;
      }
      scene.tiles.push_back(tile);
    }
  }
  return scene;
}

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
    if (at.i >= 0)
      draw_text_in(list,
                   {{box.min.x, origin.y + side * static_cast<float>(at.i)},
                    {origin.x - s.px(5), origin.y + side * static_cast<float>(at.i + 1)}},
                   Align::right, Face::mono, 11, colour_of(Token::text), std::to_string(at.i));
  }
  const float width = side * static_cast<float>(scene.cols), height = side * static_cast<float>(scene.rows);
  const float words_left = origin.x + width + s.px(14);
  float y = origin.y;
  const auto say = [&](std::int32_t n, const char* what) {
    const std::string text = fmt::format("{} {}", n, what);
    if (words_left + text_width(Face::text, 13, text) > box.max.x) return;
    draw_text(list, {words_left, y}, Face::text, 13, colour_of(Token::dim), text);
    y += s.px(18);
  };
  say(scene.done, scene.done == 1 ? "tile done" : "tiles done");
  say(scene.to_come, "to come");
  if (scene.skipped > 0) say(scene.skipped, "skipped");
  if (width < 1 || height < 1) return;
  ImGui::SetCursorScreenPos(origin);
  if (!ImGui::InvisibleButton("##step_map", {width, height})) return;
  const ImVec2 p = ImGui::GetMousePos();
  const auto i = static_cast<std::int32_t>((p.y - origin.y) / side),
             j = static_cast<std::int32_t>((p.x - origin.x) / side);
  for (const Phase phase : {rec.events[at.event].id.phase, Phase::scores, Phase::skipped}) {
    if (const auto e = rec.find({at.b, at.h, i, j, phase})) {
      commands.emplace_back(GoToEvent{*e});
      return;
    }
  }
}

}  // namespace attn
