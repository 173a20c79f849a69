#include "viz/step/charts/charts_draw.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr TensorColour kHue = TensorColour::o;
constexpr float kLeastMap = 30, kLowMap = 48;  // logical: how wide at the least, and how high over its words

// From the field's grey to the ink of O: the wash of a cell is too faint in the light theme for small errors.
ImU32 fill_of(float shade) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(colour_of(Token::field)),
               b = ImGui::ColorConvertU32ToFloat4(colour_of(kHue));
  const float f = (std::clamp(shade, -1.0F, 1.0F) + 1) / 2;
  return ImGui::ColorConvertFloat4ToU32({a.x + (b.x - a.x) * f, a.y + (b.y - a.y) * f, a.z + (b.z - a.z) * f, 1.0F});
}

Box cell_box(const Box& map, const ErrorScan& scan, std::int32_t r, std::int32_t c) {
  const float w = map.width() / static_cast<float>(scan.cols), h = map.height() / static_cast<float>(scan.rows);
  return {{map.min.x + w * static_cast<float>(c), map.min.y + h * static_cast<float>(r)},
          {map.min.x + w * static_cast<float>(c + 1), map.min.y + h * static_cast<float>(r + 1)}};
}

void draw_cell(ImDrawList* list, const Box& box, const ErrorCell& cell) {
  const Style& s = style();
  const float gap = std::min(box.width(), box.height()) > s.px(7) ? std::max(1.0F, s.px(0.5F)) : 0;
  const Box in{{box.min.x + gap, box.min.y + gap}, {box.max.x - gap, box.max.y - gap}};
  switch (cell.look) {
    case ErrorLook::error:
      list->AddRectFilled(in.min, in.max, fill_of(cell.shade));
      break;
    case ErrorLook::exact:
      draw_outline(list, in, colour_of(Token::line), 1, 0);
      break;
    case ErrorLook::overflow:
      list->AddRectFilled(in.min, in.max, colour_of(Token::text));
      if (in.height() > s.px(11) && in.width() > s.px(11))
        draw_text_in(list, in, Align::centre, Face::text, 13, colour_of(Token::card), "∞");
      break;
    case ErrorLook::undefined:
      draw_hatch(list, in, faded(colour_of(Token::faint), 0.7F), 5);
      break;
    case ErrorLook::to_come:
      if (in.width() > s.px(4) && in.height() > s.px(4)) draw_dashed(list, in, faded(colour_of(Token::faint), 0.6F), 2);
      break;
  }
}

// The scale: a bar of shades with a decade each, and what the other looks mean.
void draw_scale(ImDrawList* list, const Box& box, const ErrorScan& scan) {
  const Style& s = style();
  constexpr int kDecades = kMaxErrorDecade - kMinErrorDecade;
  const Box bar{{box.min.x, box.min.y + s.px(4)}, {box.min.x + s.px(14), box.max.y - s.px(4)}};
  const float step = bar.height() / kDecades;
  for (int d = 0; d < kDecades; ++d) {
    const float share = (static_cast<float>(d) + 0.5F) / kDecades;
    list->AddRectFilled({bar.min.x, bar.max.y - step * static_cast<float>(d + 1)},
                        {bar.max.x, bar.max.y - step * static_cast<float>(d)}, fill_of(2 * share - 1));
  }
  const auto label = [&](int decade, const char* text) {
    const float y = bar.max.y - step * static_cast<float>(decade - kMinErrorDecade);
    draw_text_in(list, {{bar.max.x + s.px(6), y - s.px(8)}, {box.max.x, y + s.px(8)}}, Align::left, Face::mono, 11,
                 colour_of(Token::dim), text);
  };
  label(0, "1");
  label(-3, "1e−3");
  label(-6, "1e−6");
  label(-9, "1e−9");
  if (scan.max > 0) {
    // Where the largest error stands.
    const float y = bar.max.y - bar.height() * (error_shade(scan.max) + 1) / 2;
    list->AddTriangleFilled({bar.min.x - s.px(7), y - s.px(4)}, {bar.min.x - s.px(7), y + s.px(4)},
                            {bar.min.x - s.px(1), y}, colour_of(Token::text));
  }
}

// What the plates are, under the map at its right; under a narrow one a little beyond.
void draw_overflow_key(ImDrawList* list, const Box& map, float words_end) {
  const Style& s = style();
  const float wide = text_width(Face::text, 12, tr("not finite")), y = map.max.y + s.px(3);
  const float x = std::max(map.max.x - wide, words_end + s.px(10 + 16));
  if (x + wide > map.max.x + s.px(34)) return;
  list->AddRectFilled({x - s.px(16), y}, {x - s.px(5), y + s.px(11)}, colour_of(Token::text));
  draw_text(list, {x, map.max.y + s.px(2)}, Face::text, 12, colour_of(Token::dim), tr("not finite"));
}

float words_height(ImDrawList* list, const ErrorScene& scene, float width) {
  float height = scene.progress.empty() ? 0 : style().px(16);
  for (const TextRuns& runs : scene.words)
    height += draw_paragraph(list, {}, width, 13, runs, 5, false) + style().px(6);
  return height;
}

void take_pointer(const Box& map, const ErrorScan& scan, const Selection& selection, Commands& commands) {
  ImGui::SetCursorScreenPos(map.min);
  const bool clicked = ImGui::InvisibleButton("##error_map", {map.width(), map.height()});
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 p = ImGui::GetMousePos();
  const auto r = static_cast<std::int32_t>((p.y - map.min.y) / map.height() * static_cast<float>(scan.rows)),
             c = static_cast<std::int32_t>((p.x - map.min.x) / map.width() * static_cast<float>(scan.cols));
  if (r < 0 || r >= scan.rows || c < 0 || c >= scan.cols) return;
  show_tooltip(cell_words(scan, r, c));
  if (!clicked) return;
  Selection pinned = selection;
  pinned.row = r;
  pinned.slot = Slot::o_new;
  pinned.col = c;
  commands.emplace_back(Select{pinned});
}

}  // namespace

void draw_error(const Box& in, const ErrorScene& scene, const ErrorScan& scan, const StepPlace& at,
                const Selection& selection, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float labels = s.px(46), scale = s.px(76);
  const float beside = std::clamp(in.width() * 0.4F, s.px(180), s.px(320));
  // Where words and map have no room beside one another, the words stand under it.
  const bool stacked = in.width() - labels - scale - beside < s.px(kLeastMap);
  const ImVec2 go{s.px(86), s.px(for_finger(24))};
  const float lines =
      stacked ? words_height(list, scene, in.width()) + (scene.first ? go.y + s.px(2) : 0) + s.px(6) : 0;
  const float room = in.width() - labels - scale - (stacked ? 0 : beside);
  const float height = std::max(in.max.y - in.min.y - s.px(16) - lines, stacked ? s.px(kLowMap) : 0);
  if (height < s.px(24) || room < s.px(kLeastMap)) return;
  // Cells no wider than three of their heights: a narrow output does not become a banner.
  const float max = height / static_cast<float>(scan.rows) * 4 * static_cast<float>(scan.cols);
  const float width = std::min(room, std::max(max, s.px(60)));
  const Box map{{in.min.x + labels, in.min.y}, {in.min.x + labels + width, in.min.y + height}};
  for (std::int32_t r = 0; r < scan.rows; ++r) {
    for (std::int32_t c = 0; c < scan.cols; ++c)
      draw_cell(
          list, cell_box(map, scan, r, c),
          scan.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(scan.cols) + static_cast<std::size_t>(c)]);
  }
  const Box row = cell_box(map, scan, at.row, 0);
  draw_outline(list, {{map.min.x - s.px(1), row.min.y - s.px(1)}, {map.max.x + s.px(1), row.max.y + s.px(1)}},
               colour_of(Token::text), 1, 2);
  draw_text_in(list, {{in.min.x, row.centre().y - s.px(8)}, {map.min.x - s.px(6), row.centre().y + s.px(8)}},
               Align::right, Face::text, 12, colour_of(Token::text), phrase("row {}", at.row));
  const std::string size =
      scan.rows * scan.cols == 1 ? tr("the output") : phrase("output, {} × {}", scan.rows, scan.cols);
  draw_text(list, {map.min.x, map.max.y + s.px(2)}, Face::text, 12, colour_of(Token::dim), size);
  if (scan.overflows > 0) draw_overflow_key(list, map, map.min.x + text_width(Face::text, 12, size));
  draw_scale(list, {{map.max.x + s.px(18), in.min.y}, {map.max.x + scale, map.max.y}}, scan);
  const ImVec2 corner =
      stacked ? ImVec2{in.min.x, map.max.y + s.px(16 + 6)} : ImVec2{map.max.x + scale + s.px(8), in.min.y};
  const auto put_words = [&](float wide, bool draw) {
    float y = corner.y;
    for (const TextRuns& runs : scene.words)
      y += draw_paragraph(list, {corner.x, y}, wide, 13, runs, 5, draw) + s.px(6);
    return y;
  };
  // The button stands under the words, in a low card beside them.
  float wide = in.max.x - corner.x;
  const bool under = stacked || !scene.first || put_words(wide, false) + go.y + s.px(2) <= in.max.y + s.px(4);
  if (!under) wide -= go.x + s.px(12);
  const float y = put_words(wide, true);
  if (!scene.progress.empty()) draw_text(list, {corner.x, y}, Face::text, 12, colour_of(Token::dim), scene.progress);
  if (scene.first) {
    const ImVec2 place = under ? ImVec2{corner.x, y} : ImVec2{in.max.x - go.x, in.max.y - go.y};
    const Box button{place, {place.x + go.x, place.y + go.y}};
    if (box_button(button, "##error_go", tr("Go there"))) {
      const Commands go_there = go_to(*scene.first, selection);
      commands.insert(commands.end(), go_there.begin(), go_there.end());
    }
  }
  take_pointer(map, scan, selection, commands);
}

}  // namespace attn
