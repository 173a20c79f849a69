#include "viz/step/charts/charts_draw.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kGap = 28, kLane = 27, kLanesAcross = 4, kLanesDown = 8, kLabel = 18, kLeastCell = 17, kMostCell = 32;
constexpr float kLeastMap = 11, kMostMap = 24, kWideMap = 32, kNumberWide = 15, kFramedFrom = 20, kLeastMaps = 200;

// What is lit: a lane, and of the tile the cell that is pointed at, where one is.
struct Lit {
  std::int32_t lane = 0, row = -1, column = -1;
  bool pointed = false;
};

struct Layout {
  Box tile, lanes, maps;
  float cell = 0;        // pixels
  bool below = false;    // the maps stand under the rest
  bool stacked = false;  // the lanes stand under the tile, what is said of them beside them
};

// A tile and the lanes beside it want as much at least.
float least_beside() {
  return style().px(kLabel + 16 * kLeastCell + kLane * kLanesAcross + kGap);
}

Box cell_box(const Box& tile, float cell, std::int32_t row, std::int32_t column) {
  const ImVec2 at{tile.min.x + cell * static_cast<float>(column), tile.min.y + cell * static_cast<float>(row)};
  return {at, {at.x + cell, at.y + cell}};
}

Box lane_box(const Box& lanes, std::int32_t lane) {
  const float side = style().px(kLane);
  return cell_box(lanes, side, lane / 4, lane % 4);
}

Layout layout_of(const Box& in, const FragmentScene& scene) {
  const Style& s = style();
  Layout l;
  const float label = s.px(kLabel), lanes = s.px(kLane * kLanesAcross), gap = s.px(kGap);
  const auto rows = static_cast<float>(scene.extent.rows), columns = static_cast<float>(scene.extent.columns);
  l.stacked = in.width() < least_beside();
  const float wide = l.stacked ? in.width() - label : (in.width() - lanes - 2 * gap) * 0.5F - label;
  l.cell =
      std::floor(std::clamp(std::min((in.height() - label) / rows, wide / columns), s.px(kLeastCell), s.px(kMostCell)));
  const ImVec2 at{in.min.x + label, in.min.y + label};
  l.tile = {at, {at.x + l.cell * columns, at.y + l.cell * rows}};
  const ImVec2 first = l.stacked ? ImVec2(in.min.x, l.tile.max.y + gap + label) : ImVec2(l.tile.max.x + gap, at.y);
  l.lanes = {first, {first.x + lanes, first.y + s.px(kLane * kLanesDown)}};
  l.maps = {{l.lanes.max.x + gap, in.min.y}, in.max};
  l.below = l.stacked || l.maps.width() < s.px(kLeastMaps);
  if (l.below) l.maps = {{in.min.x, std::max(l.tile.max.y, l.lanes.max.y) + s.px(20)}, in.max};
  return l;
}

Lit lit_of(const Layout& l, const FragmentScene& scene) {
  Lit lit;
  if (!ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) return lit;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (l.tile.contains(mouse)) {
    lit.row = std::min(static_cast<std::int32_t>((mouse.y - l.tile.min.y) / l.cell), scene.extent.rows - 1);
    lit.column = std::min(static_cast<std::int32_t>((mouse.x - l.tile.min.x) / l.cell), scene.extent.columns - 1);
    lit.lane = cell_at(scene, lit.row, lit.column).place.lane;
    lit.pointed = true;
  } else if (l.lanes.contains(mouse)) {
    const float side = style().px(kLane);
    const auto row = static_cast<std::int32_t>((mouse.y - l.lanes.min.y) / side),
               column = static_cast<std::int32_t>((mouse.x - l.lanes.min.x) / side);
    lit.lane = std::min(row * 4 + column, 31);
    lit.pointed = true;
  }
  return lit;
}

// One register more is a little stronger, so that a lane's registers are told apart by their place's shade too.
ImU32 fill_of(const FragmentScene& scene, const FragmentCell& cell) {
  return faded(colour(style().theme, scene.hue), 0.12F + 0.05F * static_cast<float>(cell.place.reg));
}

void draw_tile(ImDrawList* list, const Layout& l, const FragmentScene& scene, const Lit& lit) {
  const Style& s = style();
  const ImU32 dim = colour(s.theme, Token::dim), text = colour(s.theme, Token::text);
  const bool two_lines = l.cell >= s.px(26);
  for (std::int32_t row = 0; row < scene.extent.rows; ++row) {
    const Box first = cell_box(l.tile, l.cell, row, 0);
    draw_text_in(list, {{first.min.x - s.px(kLabel), first.min.y}, {first.min.x - s.px(4), first.max.y}}, Align::right,
                 Face::mono, 11, dim, fmt::format("{}", row));
    for (std::int32_t column = 0; column < scene.extent.columns; ++column) {
      const FragmentCell& cell = cell_at(scene, row, column);
      const Box box = cell_box(l.tile, l.cell, row, column), inner = box.grown(-s.px(0.75F));
      const bool pointed = row == lit.row && column == lit.column;
      const bool mine = cell.place.lane < 0 ? pointed : cell.place.lane == lit.lane;
      list->AddRectFilled(inner.min, inner.max, fill_of(scene, cell), s.px(2));
      const Box high{inner.min,
                     {inner.max.x, two_lines && !cell.reg.empty() ? inner.centre().y + s.px(1) : inner.max.y}};
      draw_text_in(list, high, Align::centre, Face::mono, l.cell >= s.px(20) ? 12 : 11, text,
                   fmt::format("{}", cell.place.lane < 0 ? cell.bank : cell.place.lane));
      if (two_lines && !cell.reg.empty())
        draw_text_in(list, {{inner.min.x, inner.centre().y - s.px(1)}, inner.max}, Align::centre, Face::mono, 11,
                     mine ? text : dim, cell.reg);
      if (mine) draw_outline(list, inner, text, pointed ? 2.5F : 1.5F);
    }
  }
  for (std::int32_t column = 0; column < scene.extent.columns; ++column) {
    const Box first = cell_box(l.tile, l.cell, 0, column);
    draw_text_in(list, {{first.min.x, first.min.y - s.px(14)}, {first.max.x, first.min.y}}, Align::centre, Face::mono,
                 11, dim, fmt::format("{}", column));
  }
}

void draw_lanes(ImDrawList* list, const Layout& l, const FragmentScene& scene, const Lit& lit) {
  const Style& s = style();
  draw_text(list, {l.lanes.min.x, l.lanes.min.y - s.px(kLabel)}, Face::text, 12, colour(s.theme, Token::dim),
            tr("lanes of a warp"));
  for (std::int32_t lane = 0; lane < 32; ++lane) {
    const Box box = lane_box(l.lanes, lane).grown(-s.px(0.75F));
    const bool mine = lane == lit.lane && !in_no_lane(scene);
    list->AddRectFilled(box.min, box.max,
                        mine ? faded(colour(s.theme, scene.hue), 0.4F) : colour(s.theme, Token::field), s.px(2));
    if (mine) draw_outline(list, box, colour(s.theme, Token::text), 1.5F);
    draw_text_in(list, box, Align::centre, Face::mono, 12, colour(s.theme, Token::text), fmt::format("{}", lane));
  }
}

// Of the reads the one that takes the lit element.
std::int32_t lit_moment(const FragmentScene& scene, const BankMap& map, const Lit& lit) {
  const std::int32_t elements = per_chunk(scene);
  for (std::int32_t row = 0; row < scene.extent.rows; ++row) {
    for (std::int32_t column = 0; column < scene.extent.columns; ++column) {
      const bool this_one =
          lit.row >= 0 ? row == lit.row && column == lit.column : cell_at(scene, row, column).place.lane == lit.lane;
      const std::int32_t cell = row * map.width + column / elements;
      if (this_one) return map.cells[static_cast<std::size_t>(cell)].moment;
    }
  }
  return -1;
}

constexpr float kMapHead = 20;  // logical: the title of a map, where it takes one line

// In as many lines as its number needs. Returns its height, pixels.
float draw_map_head(ImDrawList* list, ImVec2 at, float width, const BankMap& map, bool draw = true) {
  const TextRuns words{{phrase("{}: {} passes", map.title, map.turns), Face::bold, Token::text, 0, false}};
  const float lines = draw_paragraph(list, at, width, 13, words, 3, draw);
  return std::max(style().px(kMapHead), lines + style().px(4));
}

// `cell`: of a chunk, pixels; `head`: the height of the title.
void draw_map(ImDrawList* list, const Box& in, float head, ImVec2 cell, const FragmentScene& scene, const BankMap& map,
              const Lit& lit) {
  const Style& s = style();
  const ImU32 text = colour(s.theme, Token::text), dim = colour(s.theme, Token::dim);
  draw_map_head(list, in.min, in.width(), map);
  const Box grid{{in.min.x, in.min.y + head}, in.max};
  const std::int32_t moment = lit_moment(scene, map, lit);
  for (const BankCell& c : map.cells) {
    const ImVec2 at{grid.min.x + cell.x * static_cast<float>(c.chunk), grid.min.y + cell.y * static_cast<float>(c.row)};
    const Box box = Box{at, {at.x + cell.x, at.y + cell.y}}.grown(-s.px(0.5F));
    const std::int32_t quad = c.first_bank / 4;
    list->AddRectFilled(box.min, box.max, faded(text, 0.03F + 0.045F * static_cast<float>(quad)));
    const bool taken = c.moment >= 0 && c.moment == moment;
    // A frame has room around a number, or it would be read with it.
    const bool framed = taken && cell.x >= s.px(kFramedFrom) && cell.y >= s.px(kFramedFrom - 4);
    const ImU32 hue = colour(s.theme, scene.hue);
    if (taken) list->AddRectFilled(box.min, box.max, faded(hue, framed ? 0.4F : 1));
    if (framed) draw_outline(list, box, hue, 1.25F);
    const ImU32 ink = taken && !framed ? text_on(hue) : taken || quad >= 3 ? text : dim;  // on light grey: brighter
    if (cell.x >= s.px(kNumberWide))
      draw_text_in(list, box, Align::centre, Face::mono, 11, ink, fmt::format("{}", c.first_bank));
  }
}

// Returns where they and what is said of them end.
float draw_maps(ImDrawList* list, const Layout& l, const FragmentScene& scene, const Lit& lit) {
  const Style& s = style();
  float y = l.maps.min.y;
  y += draw_paragraph(list, {l.maps.min.x, y}, l.maps.width(), 13, {{scene.shared, Face::text, Token::dim, 0, false}},
                      5);
  if (scene.maps[0].cells.empty()) return y;
  y += s.px(6);
  const auto rows = static_cast<float>(scene.maps[0].rows), width = static_cast<float>(scene.maps[0].width);
  const float gap = s.px(20), between = s.px(6), legend = s.px(38), half_width = (l.maps.width() - gap) / 2;
  const auto head_in = [&](float room) {
    float head = 0;
    for (const BankMap& map : scene.maps) head = std::max(head, draw_map_head(nullptr, {}, room, map, false));
    return head;
  };
  // Beside one another where the cells stay readable, else one under the other.
  const float beside = std::min(half_width / width, (l.maps.max.y - y - head_in(half_width) - legend) / rows);
  const bool stacked = beside < s.px(kLeastMap);
  const float head = head_in(stacked ? l.maps.width() : half_width);
  const float room =
      stacked ? std::min(l.maps.width() / width, ((l.maps.max.y - y - legend - between) / 2 - head) / rows) : beside;
  const float cell = std::floor(std::clamp(room, s.px(kLeastMap), s.px(kMostMap)));
  // Low rows get wide chunks: a number needs width, and a narrow tile has it.
  const float each = (stacked ? l.maps.width() : (l.maps.width() - gap) / 2) / width;
  // Of many the chunks are narrower than high, so that all of them stand in the card.
  const float chunk = each < s.px(kLeastCell / 2) ? each : std::floor(std::min(each, std::max(cell, s.px(kWideMap))));
  const float half = std::max(chunk * width, std::floor((l.maps.width() - gap) / 2));
  for (std::size_t n = 0; n < scene.maps.size(); ++n) {
    const float step = static_cast<float>(n);
    const ImVec2 at{l.maps.min.x + (stacked ? 0 : step * (half + gap)),
                    y + (stacked ? step * (head + cell * rows + between) : 0)};
    const ImVec2 end{at.x + (stacked ? l.maps.width() : half_width), at.y + head + cell * rows};
    draw_map(list, {at, end}, head, {chunk, cell}, scene, scene.maps[n], lit);
  }
  y += (stacked ? 2 : 1) * (head + cell * rows + between);
  return y + draw_paragraph(
                 list, {l.maps.min.x, y}, l.maps.width(), 12,
                 {word(chunk >= s.px(kNumberWide)
                           ? tr("A cell is a chunk of 16 bytes, numbered by the first of its four banks. Highlighted: "
                                "everything that is requested at the same moment as this element.")
                           : tr("A cell is a chunk of 16 bytes. Highlighted: everything that is requested at the same "
                                "moment as this element."))},
                 4);
}

// The operands by their letters, then the kernels. Returns where what follows begins.
float draw_choices(const Box& in, std::string_view kernel, const FragmentScene& scene, Commands& commands) {
  const Style& s = style();
  ImGui::SetCursorScreenPos(in.min);
  ImGui::PushFont(s.fonts.text, s.px(12));
  // Of a finger's size under a finger, else of its words'.
  const auto size_of = [&](float words) {
    return by_touch() ? ImVec2(std::max(words, s.px(kFinger)), s.px(kFinger)) : ImVec2(0, 0);
  };
  for (const FragmentTile tile : kFragmentTiles) {
    std::string label(name_of(tile));
    label[0] = static_cast<char>(label[0] - 'a' + 'A');
    if (tile != kFragmentTiles.front()) ImGui::SameLine(0, s.px(4));
    if (toggle(fmt::format("{}##fragment_tile", label).c_str(), tile == scene.tile, tr("Show this tile's elements"),
               false, size_of(0)))
      commands.emplace_back(ChooseFragment{std::string(kernel), tile});
  }
  // Kernels go on in the line as far as they have room there.
  float gap = s.px(20);
  for (const KernelRow* row : kernels_with_fragments()) {
    const float wide = text_width(Face::text, 12, row->id) + 2 * ImGui::GetStyle().FramePadding.x;
    if (ImGui::GetItemRectMax().x + gap + std::max(wide, size_of(wide).x) <= in.max.x)
      ImGui::SameLine(0, gap);
    else
      ImGui::SetCursorScreenPos({in.min.x, ImGui::GetItemRectMax().y + s.px(4)});
    gap = s.px(4);
    if (toggle(std::string(row->id).c_str(), row->id == kernel, tr("As this kernel holds it"), false, size_of(wide)))
      commands.emplace_back(ChooseFragment{std::string(row->id), scene.tile});
  }
  float end = ImGui::GetItemRectMax().y;
  constexpr std::string_view kOpaque = marked("The fragments of flash_wmma are opaque: WMMA does not expose them.");
  const std::string opaque(tr_of(kOpaque));
  if (ImGui::GetItemRectMax().x + s.px(20) + text_width(Face::text, 12, opaque) <= in.max.x) {
    ImGui::SameLine(0, s.px(20));
    ImGui::TextDisabled("%s", opaque.c_str());
  } else {
    end += s.px(6);
    end += draw_paragraph(ImGui::GetWindowDrawList(), {in.min.x, end}, in.width(), 12, {word(opaque)}, 3);
  }
  ImGui::PopFont();
  return std::max(in.min.y + s.px(30), end + s.px(8));
}

// What is lit, in words, under the lanes (or, where there is no room, above the maps).
void draw_words(ImDrawList* list, const Layout& l, const FragmentScene& scene, const Lit& lit, Commands& commands) {
  const Style& s = style();
  const std::string words = lit.row >= 0 ? cell_words(scene, lit.row, lit.column) : lane_words(scene, lit.lane);
  const float wide = l.below ? l.maps.max.x - l.lanes.min.x : l.lanes.width() + s.px(kGap - 8);
  const ImVec2 beside{l.lanes.max.x + s.px(16), l.lanes.min.y};
  draw_paragraph(list, l.stacked ? beside : ImVec2(l.lanes.min.x, l.lanes.max.y + s.px(10)),
                 l.stacked ? l.maps.max.x - beside.x : wide, 12, {{words, Face::text, Token::text, 0, false}}, 12);
  if (lit.pointed && !ImGui::GetIO().WantTextInput && ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_C))
    commands.emplace_back(CopyText{words});
}

}  // namespace

float fragments_height(float width) {
  constexpr float kLeastHeight = 400, kMapsBelow = 300;  // a lower card scrolls
  constexpr float kFingerChoices = 52;                   // more for two lines of what fingers choose
  const Style& s = style();
  constexpr float kLanesBelow = kGap + kLabel + kLane * kLanesDown;
  const float least = kLeastHeight + kFingerChoices * static_cast<float>(by_touch());
  const float beside = s.px(kLabel + 16 * kLeastCell + kLane * kLanesAcross + 2 * kGap + kLeastMaps);
  if (width < least_beside()) return s.px(least + kMapsBelow + kLanesBelow);
  return s.px(width < beside ? least + kMapsBelow : least);
}

void draw_fragments(const Box& in, std::string_view kernel, const FragmentScene& scene, Commands& commands) {
  const Style& s = style();
  ImGui::SetCursorScreenPos(in.min);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("fragments", {in.width(), in.height()}, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (open) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = std::max(in.height(), fragments_height(width));
    Box room{at, {at.x + width, at.y + height}};
    room.min.y = draw_choices(room, kernel, scene, commands);
    draw_text(list, room.min, Face::bold, 14, colour(s.theme, Token::text), scene.title);
    room.min.y += s.px(20);
    room.min.y += draw_paragraph(list, room.min, width, 13, {{scene.words, Face::text, Token::dim, 0, false}}, 3);
    room.min.y += s.px(10);
    const Layout l = layout_of(room, scene);
    const Lit lit = lit_of(l, scene);
    draw_tile(list, l, scene, lit);
    draw_lanes(list, l, scene, lit);
    draw_words(list, l, scene, lit, commands);
    constexpr float kLeading = 3;  // logical: of the last line, under its letters
    const float bottom = std::max({l.tile.max.y, l.lanes.max.y, draw_maps(list, l, scene, lit) - s.px(kLeading)});
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({1, std::max(bottom - at.y, 1.0F)});
    fade_where_more();
  }
  ImGui::EndChild();
}

}  // namespace attn
