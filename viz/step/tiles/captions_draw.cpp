// The algorithm under the tiles, a term a column: the live one first, the others as far as there is room. And what
// stands over the tiles of each part or consumer.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/step/facts/abreast.h"
#include "viz/step/orders/looks.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/parts_draw.h"
#include "viz/step/tiles/tiles_draw.h"

namespace attn::tiles {
namespace {

// A caption where it would stand.
struct PlacedCaption {
  TextRuns words;
  float size = 14, x = 0, width = 0;
  bool live = false;
  Column column = Column::q;
};

// Without the letter that is made: it stands over its column.
TextRuns brief_words(TextRuns words) {
  const auto made = std::ranges::find(words, " ← ", &TextRun::text);
  if (made != words.end())
    words.erase(words.begin(), made + 1);
  else if (words.size() > 2 && words[0].text == "α" && words[1].text == " = ")
    words.erase(words.begin(), words.begin() + 2);
  return words;
}

// In letters of `most` at most.
PlacedCaption place_caption(const Drawn& d, const TilesBand& band, std::size_t n, bool brief, float most) {
  const Column c = d.scene.columns[n];
  const bool query = d.scene.look->column(c)->title == TitleKind::rows;
  CaptionScene caption = d.scene.captions[static_cast<std::size_t>(c)];
  if (brief) caption.words = brief_words(std::move(caption.words));
  const TilePlace& place = d.layout.places[static_cast<std::size_t>(c)];
  PlacedCaption out{caption.words, most, 0, 0, caption.live, c};
  const float room = place.box.width() + d.s.px(c == d.scene.look->output || query ? 40 : 60);
  while (out.size > 11 && runs_width(out.words, out.size) > room) out.size -= 1;
  // Beside Q stands S, whose caption is the wider: what Q does gives way.
  if (query && runs_width(out.words, out.size) > room - d.s.px(30))
    out.words.erase(out.words.begin() + 1, out.words.end());
  out.width = runs_width(out.words, out.size);
  // A term that joins old and new stands under both.
  float centre = place.box.centre().x;
  if (n > band.first && d.scene.look->column(d.scene.columns[n - 1])->beside_next)
    centre = (d.layout.places[static_cast<std::size_t>(d.scene.columns[n - 1])].box.min.x + place.box.max.x) / 2;
  out.x = std::max(std::min(centre - out.width / 2, band.right - out.width), band.left);
  return out;
}

// Logical: between two, on a phone, where they are read one by one, and from one to the middle of its column.
constexpr float kCaptionGap = 10, kPhoneGap = 12, kCaptionReach = 8;

float caption_gap(const Drawn& d) {
  return d.s.px(d.layout.in_bands() ? kPhoneGap : kCaptionGap);
}

bool is_free(const Drawn& d, const std::vector<PlacedCaption>& placed, const PlacedCaption& c) {
  const float gap = caption_gap(d);
  return std::ranges::all_of(placed, [&](const PlacedCaption& other) {
    return c.x >= other.x + other.width + gap || c.x + c.width + gap <= other.x;
  });
}

// Beside what is in its way, as long as it stands at its own column. Whether there is such a place.
bool move_aside(const Drawn& d, const TilesBand& band, const std::vector<PlacedCaption>& placed, PlacedCaption& c) {
  const float reach = d.s.px(kCaptionReach), gap = caption_gap(d);
  const float middle = d.layout.places[static_cast<std::size_t>(c.column)].box.centre().x, wanted = c.x;
  std::optional<float> best;
  const auto look = [&](float x) {
    c.x = x;
    const bool at_column = x - reach <= middle && middle <= x + c.width + reach;
    const bool inside = x >= band.left && x + c.width <= band.right;
    if (at_column && inside && is_free(d, placed, c) && (!best || std::abs(x - wanted) < std::abs(*best - wanted)))
      best = x;
  };
  for (const PlacedCaption& other : placed) {
    look(other.x + other.width + gap);
    look(other.x - gap - c.width);
  }
  c.x = best.value_or(wanted);
  return best.has_value();
}

// The live term first; of the others those that reach into none: in few words, or a little aside, where they have no
// room otherwise. `brief`: in few words from the first.
std::vector<PlacedCaption> placed_captions(const Drawn& d, const TilesBand& band, bool brief, float most) {
  std::vector<std::size_t> order;
  for (std::size_t n = band.first; n < band.first + band.count; ++n)
    if (!d.scene.captions[static_cast<std::size_t>(d.scene.columns[n])].words.empty()) order.push_back(n);
  std::ranges::stable_partition(
      order, [&](std::size_t n) { return d.scene.captions[static_cast<std::size_t>(d.scene.columns[n])].live; });
  std::vector<PlacedCaption> placed;
  for (const std::size_t n : order) {
    PlacedCaption c = place_caption(d, band, n, brief, most);
    if (!is_free(d, placed, c) && !move_aside(d, band, placed, c)) c = place_caption(d, band, n, true, most);
    if (c.live || is_free(d, placed, c) || move_aside(d, band, placed, c)) placed.push_back(std::move(c));
  }
  return placed;
}

constexpr float kPartTitle = 25, kUnderHbm = 3;  // logical

// Where both have no room on one line, a title's words stand below it; at every step, so that no tile moves.
int lines_under_title(float width) {
  constexpr float kOneLine = 400, kTwoLines = 210;  // logical
  const float logical = width / style().scale;
  return logical >= kOneLine ? 0 : logical >= kTwoLines ? 1 : 2;
}

}  // namespace

float lane_title_height(float width) {
  return style().px(kPartTitle) + line_height(13) * static_cast<float>(lines_under_title(width));
}

void draw_lane_title(ImDrawList* list, const Box& area, const LaneTitle& lane, bool live) {
  const Style& s = style();
  const Face face = live ? Face::bold : Face::text;
  const float y = area.min.y + s.px(kUnderHbm), title = text_width(face, 14, lane.title) + s.px(10);
  draw_text(list, {area.min.x, y}, face, 14, colour_of(live ? Token::text : Token::dim), lane.title);
  if (const int lines = lines_under_title(area.width()); lines > 0)
    draw_paragraph(list, {area.min.x, y + line_height(14)}, area.width(), 13, lane.words, lines);
  else
    draw_paragraph(list, {area.min.x + title, y + s.px(1)}, area.width() - title, 13, lane.words, 1);
}

void draw_captions(const Drawn& d, const TilesBand& band) {
  if (!d.layout.has_captions) return;
  // Smaller letters, or fewer words, where that brings more of them to their columns. Halves abreast have the same few.
  std::vector<PlacedCaption> captions;
  for (const float size : {14.0F, 12.5F, 11.0F}) {
    for (const bool brief : {false, true}) {
      if (d.scene.look->in_halves && !brief) continue;
      if (auto placed = placed_captions(d, band, brief, size); placed.size() > captions.size())
        captions = std::move(placed);
    }
  }
  for (const PlacedCaption& c : captions) {
    const float top = band.captions_top + d.s.px(4);
    draw_runs(d.list, {c.x, top}, c.size, c.words);
    d.ui.titles.push_back(
        {d.scene.tiles[static_cast<std::size_t>(c.column)].slot, c.x, top, c.x + c.width, top + line_height(c.size)});
    if (!c.live) continue;
    const float y = band.captions_top + d.s.px(24);
    d.list->AddRectFilled({c.x, y}, {c.x + c.width, y + d.s.px(2.5F)}, colour_of(Token::text), d.s.px(1));
  }
}

// ---- parts of the keys, or consumers with rows of their own: side by side, or on a phone below one another

namespace {

// The step that the run has come to.
EventIndex cursor_of(const TilesPanel& panel) {
  return std::min(panel.state.view.step.cursor, static_cast<EventIndex>(panel.rec.events.size() - 1));
}

// As it stands, with its own bounds.
void draw_beside(const TilesPanel& panel, const Box& place, EventIndex event) {
  const Selection& selection = panel.state.document.selection;
  const bool rows = order_row(panel.rec.order).abreast == Abreast::rows;
  TilesScene beside = tiles_scene(panel.rec, event, cursor_of(panel), selection, panel.scales);
  fold_tiles(beside, panel.look);
  const TilesLayout layout = panel.seen > 0 ? layout_tiles(beside, place, true) : layout_in_card(beside, place);
  std::optional<ExactTile> exact;
  if (rows) exact.emplace(panel.rec, beside.at.b, beside.at.h, beside.at.i);
  const TilesPanel own{panel.rec, exact ? &*exact : panel.exact, panel.scales, panel.state, panel.ui, panel.commands,
                       panel.look};
  give_texts(own, beside, layout);
  const std::optional<CellRef> nothing;
  draw_scene({ImGui::GetWindowDrawList(), beside, layout, nothing, panel.ui, style()});
}

// The other of two, below its title; `place`: of both.
void draw_titled(const TilesPanel& panel, Box place, std::int64_t lane) {
  const auto event = last_abreast(panel.rec, cursor_of(panel), lane);
  draw_lane_title(ImGui::GetWindowDrawList(), place, lane_title(panel.rec, lane, event), false);
  place.min.y += lane_title_height(place.width());
  if (event) return draw_beside(panel, place, *event);
  draw_text_in(ImGui::GetWindowDrawList(), place, Align::centre, Face::text, 13, colour_of(Token::dim),
               tr("not started"));
}

float draw_below(const TilesPanel& panel, const TilesScene& scene, Box& area) {
  const PhoneStack stack = phone_stack(scene, panel.rec, panel.look, area);
  if (stack.parts == 0) return 0;
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = area.min.y, height = area.height() / static_cast<float>(stack.parts);
  const auto part_at = [&](std::int64_t n) {
    const float from = top + stack.part * static_cast<float>(n);
    return Box{{area.min.x, from}, {area.max.x, from + height}};
  };
  if (stack.parts > 1) {
    draw_titled(panel, part_at(1 - stack.live), stack.first + 1 - stack.live);
    const float y = top + stack.part;
    list->AddLine({area.min.x, y}, {area.max.x, y}, colour_of(Token::line), std::max(1.0F, s.px(1)));
  }
  area = part_at(stack.live);
  draw_lane_title(list, area, lane_title(panel.rec, stack.first + stack.live, scene.at.event), true);
  area.min.y += lane_title_height(area.width());
  return lane_title_height(area.width());
}

float draw_side_by_side(const TilesPanel& panel, const TilesScene& scene, Box& area) {
  const auto lane = panel.rec.lane_of(scene.at.event);
  const std::int64_t all = abreast(panel.rec);
  if (!lane || all < 2) return 0;
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::int64_t left = *lane / 2 * 2, other = *lane == left ? left + 1 : left;
  const float middle = area.centre().x;
  Box half[] = {{area.min, {middle - s.px(kBetweenParts / 2), area.max.y}},
                {{middle + s.px(kBetweenParts / 2), area.min.y}, area.max}};
  if (other >= all) half[0] = area;
  area = half[*lane - left];
  draw_lane_title(list, area, lane_title(panel.rec, *lane, scene.at.event), true);
  const float title = lane_title_height(area.width());
  area.min.y += title;
  if (other >= all) return title;
  list->AddLine({middle, area.min.y}, {middle, area.max.y}, colour_of(Token::line), std::max(1.0F, s.px(1)));
  draw_titled(panel, half[other - left], other);
  return title;
}

}  // namespace

PhoneStack phone_stack(const TilesScene& scene, const Recording& rec, const StepFocus& look, const Box& area) {
  PhoneStack stack;
  const auto lane = rec.lane_of(scene.at.event);
  const std::int64_t all = abreast(rec);
  Box first = area;
  // In Step an upright phone has the live one alone.
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const bool both = look.parts.any() || is_tablet(window.x / style().scale, window.y / style().scale);
  if (both && lane && all > 1) {
    stack.first = *lane / 2 * 2;
    stack.parts = std::min<std::int64_t>(2, all - stack.first);
    stack.live = *lane - stack.first;
    first.max.y = first.min.y + area.height() / static_cast<float>(stack.parts);
    first.min.y += lane_title_height(area.width());
  }
  const TilesLayout layout = layout_tiles(scene, first, true);
  // A lesson's chart follows at once.
  const bool ends = layout.in_bands() || stack.parts > 0 || look.parts.any();
  // One band that is higher than the page is scrolled as several are.
  stack.part = (ends ? layout.bottom : std::max(layout.bottom, first.max.y)) - area.min.y;
  return stack;
}

float draw_other_part(const TilesPanel& panel, const TilesScene& scene, Box& area) {
  return panel.seen > 0 ? draw_below(panel, scene, area) : draw_side_by_side(panel, scene, area);
}

}  // namespace attn::tiles
