#include "viz/step/timeline/attention_draw.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/number_text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/timeline/heads.h"
#include "viz/step/timeline/map.h"

namespace attn {
namespace {

constexpr float kLabels = 46, kSharp = 64, kFoot = 16, kSmall = 34, kSmallGap = 4;
constexpr float kLeastMap = 30, kUnder = 6, kScale = 24;  // between map and words under it; the strip of shades
constexpr int kMapImage = 0, kHeadImages = 1;             // keys of the pictures

struct Extent {
  float width = 0, height = 0;
};

// Square cells where that neither starves nor stretches the map.
Extent extent_of(const AttentionMap& map, float room, float height) {
  const float wanted = height * static_cast<float>(map.keys) / static_cast<float>(std::max(map.queries, 1));
  return {std::clamp(wanted, std::min(height * 0.6F, room), std::min(room, height * 2.2F)), height};
}

ImU32 pixel_of(const Style& s, const AttentionCell& cell, float x, float y) {
  const float step = std::max(s.px(5), 2.0F);
  switch (cell.look) {
    case AttentionLook::value:
      return cell_fill(s.theme, TensorColour::p, cell.shade);
    case AttentionLook::to_come:
      return faded(colour_of(Token::faint), 0.12F);
    case AttentionLook::not_finite:
      // A chequer: no shade of any weight looks like it.
      return (static_cast<int>(x / s.px(3)) + static_cast<int>(y / s.px(3))) % 2 == 0 ? colour_of(Token::text)
                                                                                      : colour_of(Token::field);
    case AttentionLook::masked:
    case AttentionLook::skipped:
      break;
  }
  // The lines of draw_hatch().
  const bool line = std::fmod(x + y, step) < std::max(1.0F, s.px(1));
  const float strength = cell.look == AttentionLook::skipped ? 0.35F : 0.7F;
  return line ? faded(colour_of(Token::faint), strength) : 0;
}

void draw_map(ImDrawList* list, const Box& box, const AttentionMap& map, PixelImages& images, int key) {
  const Style& s = style();
  images.draw(
      list, key, box,
      [&](float y, float first_x, std::span<ImU32> row) {
        const auto r = static_cast<std::int32_t>((y - box.min.y) / box.height() * static_cast<float>(map.rows));
        if (r < 0 || r >= map.rows) return;
        for (std::size_t n = 0; n < row.size(); ++n) {
          const float x = first_x + static_cast<float>(n);
          const auto c = static_cast<std::int32_t>((x - box.min.x) / box.width() * static_cast<float>(map.cols));
          if (c >= 0 && c < map.cols) row[n] = pixel_of(s, map.cell(r, c), x, y);
        }
      },
      IM_COL32_WHITE);
}

float share_of(std::int64_t n, std::int64_t all) {
  return static_cast<float>(static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(all, 1)));
}

// Edges of the tiles, where they are wide enough to be seen, and the live one.
void draw_tiles(ImDrawList* list, const Box& box, const Recording& rec, const StepPlace& at) {
  const Style& s = style();
  const Problem& p = rec.problem;
  const auto x_of = [&](std::int64_t key) { return box.min.x + box.width() * share_of(std::min(key, p.Lk), p.Lk); };
  const auto y_of = [&](std::int64_t row) { return box.min.y + box.height() * share_of(std::min(row, p.Lq), p.Lq); };
  const ImU32 line = colour_of(Token::card);
  if (box.width() * share_of(at.bc, p.Lk) > s.px(7)) {
    for (std::int64_t key = at.bc; key < p.Lk; key += at.bc)
      list->AddLine({x_of(key), box.min.y}, {x_of(key), box.max.y}, line, std::max(1.0F, s.px(1)));
  }
  if (box.height() * share_of(at.br, p.Lq) > s.px(7)) {
    for (std::int64_t row = at.br; row < p.Lq; row += at.br)
      list->AddLine({box.min.x, y_of(row)}, {box.max.x, y_of(row)}, line, std::max(1.0F, s.px(1)));
  }
  if (at.i < 0 || at.j < 0) return;
  draw_outline(list,
               {{x_of(at.first_key) - s.px(1), y_of(at.first_row) - s.px(1)},
                {x_of(at.first_key + at.keys) + s.px(1), y_of(at.first_row + at.rows) + s.px(1)}},
               colour_of(Token::text), 2, 2);
}

// A bar a row: the longer, the more keys share the row. Hollow while the row is not finished.
void draw_sharpness(ImDrawList* list, const Box& box, const AttentionScene& scene) {
  const Style& s = style();
  const AttentionMap& map = scene.map;
  const float pitch = box.height() / static_cast<float>(std::max(map.rows, 1));
  const float gap = pitch > s.px(5) ? std::max(1.0F, s.px(1)) : 0;
  list->AddLine(box.min, {box.min.x, box.max.y}, colour_of(Token::faint), std::max(1.0F, s.px(1)));
  for (std::int32_t r = 0; r < map.rows; ++r) {
    const Sharpness& row = map.sharpness[static_cast<std::size_t>(r)];
    if (!row.known) continue;
    const float share = std::clamp(static_cast<float>(row.bits / scene.most_bits), 0.0F, 1.0F);
    const float y = box.min.y + pitch * static_cast<float>(r);
    const Box bar{{box.min.x, y + gap}, {box.min.x + std::max(box.width() * share, s.px(1.5F)), y + pitch - gap}};
    list->AddRectFilled(bar.min, bar.max, faded(colour_of(TensorColour::p), row.whole ? 1.0F : 0.4F));
  }
}

// "1e−4" to "1" under a strip of shades.
void draw_scale(ImDrawList* list, ImVec2 at, float width) {
  const Style& s = style();
  const int steps = std::max(static_cast<int>(std::round(width)), 1);
  const float left = std::round(at.x);
  for (int n = 0; n < steps; ++n) {
    const float shade = 2 * (static_cast<float>(n) + 0.5F) / static_cast<float>(steps) - 1;
    list->AddRectFilled({left + static_cast<float>(n), at.y}, {left + static_cast<float>(n + 1), at.y + s.px(8)},
                        cell_fill(s.theme, TensorColour::p, shade));
  }
  const float y = at.y + s.px(10);
  draw_text(list, {at.x, y}, Face::mono, 11, colour_of(Token::dim), "≤ 1e−4");
  draw_text(list, {at.x + width - text_width(Face::mono, 11, "1"), y}, Face::mono, 11, colour_of(Token::dim), "1");
}

// How sharp the row under the pointer is: a bar is a length, this is its number.
void explain_sharpness(const Box& box, const Recording& rec, const StepPlace& at) {
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton("##attention_sharpness", {box.width(), box.height()});
  if (!ImGui::IsItemHovered()) return;
  const float share = (ImGui::GetMousePos().y - box.min.y) / box.height();
  const auto row = static_cast<std::int32_t>(share * static_cast<float>(rec.problem.Lq));
  if (row >= 0 && row < rec.problem.Lq) show_tooltip(plain_text(sharpness_words(rec, at, row)));
}

void take_pointer(const Box& box, const Recording& rec, const StepPlace& at, const Selection& selection,
                  Commands& commands) {
  ImGui::SetCursorScreenPos(box.min);
  const bool clicked = ImGui::InvisibleButton("##attention_map", {box.width(), box.height()});
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 p = ImGui::GetMousePos();
  const auto row = static_cast<std::int32_t>((p.y - box.min.y) / box.height() * static_cast<float>(rec.problem.Lq)),
             key = static_cast<std::int32_t>((p.x - box.min.x) / box.width() * static_cast<float>(rec.problem.Lk));
  if (row < 0 || row >= rec.problem.Lq || key < 0 || key >= rec.problem.Lk) return;
  show_tooltip(by_touch() ? phrase("{}.\n"
                                   "{}\n"
                                   "Tap to pin it and go to its tile.",
                                   attention_words(rec, at, row, key), plain_text(sharpness_words(rec, at, row)))
                          : phrase("{}.\n"
                                   "{}\n"
                                   "Click to pin it and go to its tile.",
                                   attention_words(rec, at, row, key), plain_text(sharpness_words(rec, at, row))));
  if (!clicked) return;
  Selection pinned = selection;
  pinned.b = at.b, pinned.h = at.h, pinned.row = row;
  pinned.slot = Slot::p, pinned.col = key;
  commands.emplace_back(Select{pinned});
  const std::int32_t i = row / std::max(at.br, 1), j = key / std::max(at.bc, 1);
  if (i == at.i && j == at.j) return;
  if (const auto e = event_of_tile(rec, at, i, j)) commands.emplace_back(GoToEvent{*e});
}

// All heads, as many as there is room for; the live one is outlined.
void draw_heads(const Box& box, const Recording& rec, const AttentionScene& scene, const StepPlace& at,
                const Selection& selection, PixelImages& images, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, box.min, Face::text, 12, colour_of(Token::dim), rec.problem.B > 1 ? tr("batch, head") : tr("heads"));
  const float side = s.px(kSmall), gap = s.px(kSmallGap), top = box.min.y + s.px(18);
  const auto across = std::max(static_cast<std::int32_t>((box.width() + gap) / (side + gap)), 1),
             down = std::max(static_cast<std::int32_t>((box.max.y - top + gap) / (side + gap)), 1);
  const auto all = static_cast<std::int32_t>(scene.heads.size()),
             live = at.b * static_cast<std::int32_t>(rec.problem.Hq) + at.h;
  // Whole pages, the live head's.
  const std::int32_t page = across * down, first = live / page * page;
  for (std::int32_t n = first; n < std::min(first + page, all); ++n) {
    const AttentionMap& map = scene.heads[static_cast<std::size_t>(n)];
    const std::int32_t line = (n - first) / across, place = (n - first) % across;
    const ImVec2 corner{box.min.x + (side + gap) * static_cast<float>(place),
                        top + (side + gap) * static_cast<float>(line)};
    const Box cell{corner, {corner.x + side, corner.y + side}};
    draw_map(list, cell, map, images, kHeadImages + n - first);
    if (n == live) draw_outline(list, cell.grown(s.px(1)), colour_of(Token::text), 2, 2);
    ImGui::PushID(n);
    ImGui::SetCursorScreenPos(cell.min);
    if (ImGui::InvisibleButton("##attention_head", {side, side})) {
      Selection moved = selection;
      moved.b = map.b, moved.h = map.h;
      commands.emplace_back(Select{moved});
      commands.emplace_back(GoToEvent{event_of_head(rec, at, map.b, map.h)});
    }
    tooltip(phrase("batch {}, query head {}", map.b, map.h));
    ImGui::PopID();
  }
}

// The words of all rows where they stand far enough apart, else of the followed one; false where there are none.
bool draw_row_words(ImDrawList* list, const Box& box, const Recording& rec, const StepPlace& at) {
  if (row_word(rec, at.b, at.row).empty()) return false;
  const Style& s = style();
  const float pitch = box.height() / static_cast<float>(rec.problem.Lq);
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(rec.problem.Lq); ++row) {
    const bool followed = row == at.row;
    if (!followed && pitch < s.px(11)) continue;
    const float y = box.min.y + pitch * (static_cast<float>(row) + 0.5F);
    const Face face = followed ? Face::bold : Face::text;
    draw_text_in(list, {{box.min.x, y - s.px(8)}, {box.max.x, y + s.px(8)}}, Align::right, face, 12,
                 colour_of(followed ? Token::text : Token::dim),
                 elided_text(face, 12, row_word(rec, at.b, row), box.width()));
  }
  return true;
}

// The same of the keys, under the map.
bool draw_key_words(ImDrawList* list, const Box& box, const Recording& rec, const StepPlace& at) {
  const Style& s = style();
  const float pitch = box.width() / static_cast<float>(rec.problem.Lk);
  if (key_word(rec, at.b, 0).empty() || pitch < s.px(22)) return false;
  for (std::int32_t key = 0; key < static_cast<std::int32_t>(rec.problem.Lk); ++key) {
    const float x = box.min.x + pitch * static_cast<float>(key);
    const bool live = key >= at.first_key && key < at.first_key + at.keys;
    draw_text_in(list, {{x, box.min.y}, {x + pitch, box.max.y}}, Align::centre, Face::text, 12,
                 colour_of(live ? Token::text : Token::dim),
                 elided_text(Face::text, 12, key_word(rec, at.b, key), pitch - s.px(2)));
  }
  return true;
}

// Under the map, with the scale.
float words_height(ImDrawList* list, const AttentionScene& scene, float width) {
  const Style& s = style();
  float height = s.px(kUnder + kScale);
  for (const TextRuns& words : scene.words) height += draw_paragraph(list, {}, width, 13, words, 4, false) + s.px(4);
  return height;
}

}  // namespace

std::int32_t attention_side(const Box& in) {
  return std::clamp(static_cast<std::int32_t>(in.height() - style().px(kFoot)), 8, 512);
}

void draw_attention(const Box& in, const Recording& rec, const AttentionScene& scene, const StepPlace& at,
                    const Selection& selection, PixelImages& images, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float heads = scene.heads.empty() ? 0 : std::min(s.px(4 * (kSmall + kSmallGap) + 12), in.width() * 0.25F);
  const float beside = std::clamp(in.width() * 0.34F, s.px(150), s.px(320));
  const float free = in.width() - s.px(kLabels + kSharp + 28) - heads;
  // Where words and map have no room beside one another, the words stand under it.
  const bool stacked = free - beside < s.px(kLeastMap);
  const float below = stacked ? std::min(words_height(list, scene, in.width()), in.height() * 0.5F) : 0;
  const float end = in.max.y - below, height = end - in.min.y - s.px(kFoot), room = stacked ? free : free - beside;
  if (height < s.px(kLeastMap) || room < s.px(kLeastMap)) return;
  const Extent extent = extent_of(scene.map, room, height);
  if (heads > 0) draw_heads({in.min, {in.min.x + heads - s.px(12), end}}, rec, scene, at, selection, images, commands);
  const float left = in.min.x + heads + s.px(kLabels);
  const Box map{{left, in.min.y}, {left + extent.width, in.min.y + extent.height}};
  draw_map(list, map, scene.map, images, kMapImage);
  draw_tiles(list, map, rec, at);
  const Box sharp{{map.max.x + s.px(10), map.min.y}, {map.max.x + s.px(10 + kSharp - 8), map.max.y}};
  draw_sharpness(list, sharp, scene);
  const float y0 = map.min.y + map.height() * share_of(at.row, rec.problem.Lq),
              y1 = map.min.y + map.height() * share_of(at.row + 1, rec.problem.Lq), middle = (y0 + y1) / 2;
  draw_outline(list, {{map.min.x - s.px(1), y0 - s.px(1)}, {sharp.max.x, y1 + s.px(1)}}, colour_of(Token::text), 1, 2);
  if (!draw_row_words(list, {{in.min.x + heads, map.min.y}, {map.min.x - s.px(6), map.max.y}}, rec, at))
    draw_text_in(list, {{in.min.x + heads, middle - s.px(8)}, {map.min.x - s.px(6), middle + s.px(8)}}, Align::right,
                 Face::text, 12, colour_of(Token::text), phrase("row {}", at.row));
  const std::string size = phrase("{} rows × {} keys", rec.problem.Lq, rec.problem.Lk);
  const bool fits = text_width(Face::text, 12, size) <= map.width();
  if (!draw_key_words(list, {{map.min.x, map.max.y + s.px(1)}, {map.max.x, end}}, rec, at))
    draw_text(list, {map.min.x, map.max.y + s.px(3)}, Face::text, 12, colour_of(Token::dim),
              fits ? size : fmt::format("{} × {}", rec.problem.Lq, rec.problem.Lk));
  draw_text(list, {sharp.min.x, map.max.y + s.px(3)}, Face::text, 12, colour_of(Token::dim),
            phrase("0–{} bits", significant_text(scene.most_bits, 2)));
  const ImVec2 corner = stacked ? ImVec2{in.min.x, end + s.px(kUnder)} : ImVec2{sharp.max.x + s.px(18), in.min.y};
  float y = corner.y;
  for (std::size_t n = 0; n < scene.words.size(); ++n) {
    const float tall = draw_paragraph(list, {corner.x, y}, in.max.x - corner.x, 13, scene.words[n], 4, false);
    if (y + tall > in.max.y - s.px(24)) break;
    y += draw_paragraph(list, {corner.x, y}, in.max.x - corner.x, 13, scene.words[n], 4) + s.px(4);
  }
  draw_scale(list, {corner.x, in.max.y - s.px(22)}, std::min(in.max.x - corner.x, s.px(150)));
  take_pointer(map, rec, at, selection, commands);
  explain_sharpness(sharp, rec, at);
}

}  // namespace attn
