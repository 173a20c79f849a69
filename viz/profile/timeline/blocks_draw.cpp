#include "viz/profile/timeline/blocks_draw.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kLine = 22, kHead = 24, kLane = 104, kMostBands = 180, kStacked = 720, kGutter = 12, kPads = 26,
                kSms = 48;
constexpr int kMostTail = 3;  // lines

float shares_height(const PipelineScene& scene) {
  return style().px(kPads + kHead + kLine * static_cast<float>(scene.lanes.size()));
}
float tail_height(const PipelineScene& scene, float room) {
  return draw_paragraph(nullptr, {}, room, 12, {{scene.tail, Face::text, Token::text, 0, false}}, kMostTail, false) +
         style().px(6);
}
float bands_height(const PipelineScene& scene, float width) {
  const Style& s = style();
  return s.px(kPads + kHead + 20) + tail_height(scene, width - 2 * s.px(kCardSide)) +
         std::clamp(static_cast<float>(scene.band_rows), s.px(60), s.px(kMostBands));
}

// What the part is with its share, or its share alone, as there is room.
void draw_part_words(ImDrawList* list, const PathShare& part, const Box& box) {
  const Style& s = style();
  const ImU32 ink = part.hatched ? colour(s.theme, Token::text) : text_on(colour_of(part.ink));
  for (const std::string& words : {fmt::format("{} {}", part.words, part.value), part.value}) {
    if (text_width(Face::text, 11, words) + s.px(6) >= box.width()) continue;
    return draw_text_in(list, box, Align::centre, Face::text, 11, ink, words);
  }
}

void draw_shares(const PipelineScene& scene) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  draw_text_in(list, {at, {at.x + width, at.y + s.px(kHead)}}, Align::left, Face::bold, 13,
               colour(s.theme, Token::text), tr("Where each lane's time goes"));
  float y = at.y + s.px(kHead);
  for (const PipelineScene::LaneShares& lane : scene.lanes) {
    draw_text_in(list, {{at.x, y}, {at.x + s.px(kLane), y + s.px(kLine)}}, Align::left, Face::text, 12,
                 colour(s.theme, Token::text), fitted_text(Face::text, 12, lane.lane, s.px(kLane - 6)));
    const float left = at.x + s.px(kLane), room = width - s.px(kLane);
    float x = left;
    std::string words;
    for (const PathShare& part : lane.parts) {
      const float wide = room * static_cast<float>(part.share);
      const Box box{{x, y + s.px(3)}, {x + wide, y + s.px(kLine - 4)}};
      const ImU32 hue = colour_of(part.ink);
      if (part.hatched)
        draw_outline(list, box, hue, s.px(1), 1);
      else
        list->AddRectFilled(box.min, box.max, hue);
      draw_part_words(list, part, box);
      x += wide;
      words += fmt::format("{}{} {}", words.empty() ? "" : "\n", part.words, part.value);
    }
    ImGui::SetCursorScreenPos({at.x, y});
    ImGui::InvisibleButton(fmt::format("lane_{}", lane.lane).c_str(), {width, s.px(kLine)});
    tooltip(words);
    y += s.px(kLine);
  }
}

// The first row's SM and the last one's beside the bands.
void draw_sms(ImDrawList* list, const PipelineScene& scene, float left, const Box& plot) {
  const Style& s = style();
  const float half = line_height(11) / 2;
  const auto name = [&](std::int32_t row, float y) {
    const auto band = std::ranges::find(scene.bands, row, &BlockBand::row);
    if (band == scene.bands.end()) return;
    draw_text_in(list, {{left, y - half}, {plot.min.x - s.px(6), y + half}}, Align::left, Face::text, 11,
                 colour(s.theme, Token::dim), phrase("SM {}", band->sm));
  };
  name(0, plot.min.y + half);
  if (scene.band_rows > 1) name(scene.band_rows - 1, plot.max.y - half);
}

// When the first SM has no block left.
double tail_from(const PipelineScene& scene) {
  double from = 0;
  for (const BlockBand& b : scene.bands)
    if (b.row == 0) from = std::max(from, b.to_ns);
  return from;
}

// Where SMs have no work left, and its name where there is room for it.
void draw_tail(ImDrawList* list, const Box& box) {
  const Style& s = style();
  if (box.width() < s.px(2)) return;
  draw_hatch(list, box, colour(s.theme, Token::dim), 5);
  list->AddLine(box.min, {box.min.x, box.max.y}, colour(s.theme, Token::text), s.px(1));
  const std::string words = tr("tail");
  const float width = text_width(Face::bold, 11, words);
  if (width + s.px(6) > box.width()) return;
  const Box tag{{box.max.x - width - s.px(5), box.min.y + s.px(3)},
                {box.max.x - s.px(1), box.min.y + s.px(3) + line_height(11)}};
  list->AddRectFilled(tag.min, tag.max, colour(s.theme, Token::card), s.px(2));
  draw_text_in(list, tag, Align::centre, Face::bold, 11, colour(s.theme, Token::text), words);
}

void draw_bands(const PipelineScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  draw_text_in(list, {at, {at.x + room.x, at.y + s.px(kHead)}}, Align::left, Face::bold, 13,
               colour(s.theme, Token::text), tr("All blocks"));
  const float left = at.x + text_width(Face::bold, 13, tr("All blocks")) + s.px(12);
  const std::string words =
      tr("One line per SM, sorted by end time; hatched where no block is left. Gaps mark new query tiles.");
  draw_text_in(list, {{left, at.y}, {at.x + room.x, at.y + s.px(kHead)}}, Align::left, Face::text, 12,
               colour(s.theme, Token::dim), fitted_text(Face::text, 12, words, at.x + room.x - left));
  draw_paragraph(list, {at.x, at.y + s.px(kHead)}, room.x, 12, {{scene.tail, Face::text, Token::text, 0, false}},
                 kMostTail);
  const Box plot{{at.x + s.px(kSms), at.y + s.px(kHead) + tail_height(scene, room.x)},
                 {at.x + room.x, at.y + room.y - s.px(18)}};
  draw_sms(list, scene, at.x, plot);
  const float line = plot.height() / static_cast<float>(std::max(1, scene.band_rows));
  const auto x_of = [&](double ns) { return plot.min.x + plot.width() * static_cast<float>(ns / scene.launch_ns); };
  const ImU32 hue = kernel_colour(s.theme, scene.timeline->kernel);
  const Box tail{{x_of(tail_from(scene)), plot.min.y}, plot.max};
  draw_tail(list, tail);
  for (const BlockBand& b : scene.bands) {
    const float y = plot.min.y + line * static_cast<float>(b.row);
    const float low = y + std::max(1.0F, line - (line > 3 ? 1 : 0));
    // What works covers the hatching.
    if (x_of(b.to_ns) > tail.min.x)
      list->AddRectFilled({std::max(x_of(b.from_ns), tail.min.x), y}, {x_of(b.to_ns), low},
                          colour(s.theme, Token::card));
    list->AddRectFilled({x_of(b.from_ns), y}, {x_of(b.to_ns), low}, faded(hue, b.shown ? 1 : 0.55F));
    for (std::size_t n = 1; n < b.tiles_ns.size(); ++n)
      list->AddRectFilled({x_of(b.tiles_ns[n]), y}, {x_of(b.tiles_ns[n]) + s.px(1), low}, colour(s.theme, Token::card));
  }
  draw_text_in(list, {{plot.min.x, plot.max.y}, {plot.max.x, plot.max.y + s.px(18)}}, Align::left, Face::mono, 11,
               colour(s.theme, Token::dim), "0");
  draw_text_in(list, {{plot.min.x, plot.max.y}, {plot.max.x, plot.max.y + s.px(18)}}, Align::right, Face::mono, 11,
               colour(s.theme, Token::dim), fmt::format("{:.1f} µs", scene.launch_ns * 1e-3));
  ImGui::SetCursorScreenPos(plot.min);
  ImGui::InvisibleButton("timeline_blocks", {plot.width(), plot.height()});
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  const auto row = static_cast<std::int32_t>((pointer.y - plot.min.y) / line);
  for (const BlockBand& b : scene.bands) {
    if (b.row != row || pointer.x < x_of(b.from_ns) || pointer.x > x_of(b.to_ns)) continue;
    if (b.detailed && !b.shown && ImGui::IsMouseClicked(0)) commands.push_back(ChooseTimeBlock{b.block});
    return show_tooltip(b.tip);
  }
}

float half_of(float width) {
  return std::floor((width - style().px(kGutter)) / 2);
}
float bands_width(float width) {
  return width < style().px(kStacked) ? width : width - half_of(width) - style().px(kGutter);
}

}  // namespace

float blocks_height(const PipelineScene& scene, float width) {
  const float shares = shares_height(scene), bands = bands_height(scene, bands_width(width));
  return width < style().px(kStacked) ? shares + bands + style().px(kGutter) : std::max(shares, bands);
}

void draw_blocks(const PipelineScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  const bool stacked = size.x < s.px(kStacked);
  const float half = half_of(size.x);
  if (begin_card("timeline_shares", {stacked ? size.x : half, stacked ? shares_height(scene) : size.y}))
    draw_shares(scene);
  ImGui::EndChild();
  if (!stacked) ImGui::SameLine();
  if (begin_card("timeline_bands", {bands_width(size.x), stacked ? bands_height(scene, size.x) : size.y}))
    draw_bands(scene, commands);
  ImGui::EndChild();
}

}  // namespace attn
