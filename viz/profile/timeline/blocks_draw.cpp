#include "viz/profile/timeline/blocks_draw.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/bands_draw.h"
#include "viz/profile/timeline/sms_draw.h"

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

// What the part is with its share, by its long name or its short one, as there is room; a share alone says nothing.
void draw_part_words(ImDrawList* list, const PathShare& part, const Box& box) {
  const Style& s = style();
  const ImU32 ink = part.hatched ? colour(s.theme, Token::text) : text_on(colour_of(part.ink));
  for (const std::string& words :
       {fmt::format("{} {}", part.words, part.value), fmt::format("{} {}", part.brief, part.value), part.brief}) {
    if (part.brief.empty() && words != fmt::format("{} {}", part.words, part.value)) continue;
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
               colour(s.theme, Token::text),
               scene.beside == nullptr ? tr("Where each lane's time goes") : tr("Where each lane's time goes, above"));
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
        draw_outline(list, box, hue, 1, 1);
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

void draw_all(const PipelineScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  // Of two recordings both cards speak of the upper one alone.
  const char* const heading = scene.beside == nullptr ? tr("All blocks") : tr("All blocks, above");
  draw_text_in(list, {at, {at.x + room.x, at.y + s.px(kHead)}}, Align::left, Face::bold, 13,
               colour(s.theme, Token::text), heading);
  const float left = at.x + text_width(Face::bold, 13, heading) + s.px(12);
  const std::string words = tr("A line per SM; hatched: no block left; strongest: the block shown.");
  draw_text_in(list, {{left, at.y}, {at.x + room.x, at.y + s.px(kHead)}}, Align::left, Face::text, 12,
               colour(s.theme, Token::dim), fitted_text(Face::text, 12, words, at.x + room.x - left));
  draw_paragraph(list, {at.x, at.y + s.px(kHead)}, room.x, 12, {{scene.tail, Face::text, Token::text, 0, false}},
                 kMostTail);
  const Box box{{at.x + s.px(kSms), at.y + s.px(kHead) + tail_height(scene, room.x)},
                {at.x + room.x, at.y + room.y - s.px(18)}};
  const BandPlot plot{scene, even_lines(box, scene.band_rows), scene.launch_ns};
  draw_sms(list, plot, at.x);
  draw_bands(list, plot, true);
  const Box axis{{box.min.x, plot.box.max.y}, {box.max.x, plot.box.max.y + s.px(18)}};
  draw_text_in(list, axis, Align::left, Face::mono, 11, colour(s.theme, Token::dim), "0");
  draw_text_in(list, axis, Align::right, Face::mono, 11, colour(s.theme, Token::dim),
               fmt::format("{:.1f} µs", scene.launch_ns * 1e-3));
  point_at_bands("timeline_blocks", plot, &commands);
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
    draw_all(scene, commands);
  ImGui::EndChild();
}

}  // namespace attn
