// The mosaic, its empty slots under it, the other kernel on the same scale, and the legend at its right.
#include "viz/profile/phases/mosaic_draw.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/phases/phase_menu_draw.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kLabels = 50, kCells = 104, kFall = 12, kEmpty = 17, kOther = 14, kLine = 18, kGap = 6;
constexpr float kNoteText = 11.5F, kRule = 16, kOneLine = 1150;  // in a low page so wide the rule is on the notes' line
constexpr float kLegendBar = 22, kLegendLeft = 18, kLegendWords = 13, kLeastLegend = 190, kMostLegend = 0.34F;
constexpr float kPads = 24 + 24, kNarrow = 720;
constexpr float kCellsLow = 76;                // of the cells where the page is low
constexpr float kSign = 10, kSignSide = 4.5F;  // in a box; clear beside it, for slanted letters lean over their width
constexpr float kOneLeader = 12;               // columns that lie so close to one another have one leader

CellColours colours_of(ImU32 hue, WarpState state) {
  return cell_colours(style().theme, hue, state);
}

float along(const Box& box, double share) {
  return box.min.x + box.width() * static_cast<float>(share);
}

void draw_sign(ImDrawList* list, const Box& box, const PhaseSign& sign, float size, ImU32 ink) {
  draw_text_in(list, box, Align::centre, sign.face, sign.face == Face::maths ? size * kMathsSize : size, ink,
               sign.text);
}

float sign_width(const PhaseSign& sign, float size) {
  return text_width(sign.face, sign.face == Face::maths ? size * kMathsSize : size, sign.text);
}

// The label of a column, and where it stands.
struct Label {
  const MosaicColumn* column = nullptr;
  std::string share;  // empty: its column is too narrow for it
  float centre = 0, width = 0;
};

// With share and time, as far as its column holds them; a letter that is wider than its column stands above.
Label label_of(const MosaicColumn& column, const Box& cells) {
  Label label;
  label.column = &column;
  const float room = along(cells, column.to) - along(cells, column.from);
  const double percent = std::strtod(column.share.c_str(), nullptr);
  const std::string brief = percent < 0.95 ? "<1 %" : fmt::format("{:.0f} %", percent);
  label.width = sign_width(column.sign, 11) + style().px(kGap);
  for (const std::string& share : {brief, column.share, column.share + "  " + column.time}) {
    const float width = std::max(label.width, text_width(Face::mono, 11, share) + style().px(2));
    if (width > room) break;
    label.share = share;
  }
  label.centre = (along(cells, column.from) + along(cells, column.to)) / 2;
  return label;
}

// Those of narrow columns, letters alone: pushed apart to the right, then back from the right edge; without those of
// the smallest columns where there is no room.
void push_apart(std::vector<Label>& labels, const Box& cells) {
  const auto width = [&] {
    float sum = 0;
    for (const Label& label : labels) sum += label.width;
    return sum;
  };
  while (labels.size() > 1 && width() > cells.width())
    labels.erase(
        std::ranges::min_element(labels, {}, [](const Label& label) { return label.column->to - label.column->from; }));
  float right = cells.min.x;
  for (Label& label : labels) {
    label.centre = std::max(label.centre, right + label.width / 2);
    right = label.centre + label.width / 2;
  }
  float left = cells.max.x;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->centre = std::min(label->centre, left - label->width / 2);
    left = label->centre - label->width / 2;
  }
}

// From the letters above down to their columns. Those of columns that lie close to one another share a leader, under a
// bracket: several would run into one line.
void draw_leaders(ImDrawList* list, const std::vector<Label>& above, const Box& cells) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::faint);
  std::vector<float> middles;
  middles.reserve(above.size());
  for (const Label& label : above)
    middles.push_back((along(cells, label.column->from) + along(cells, label.column->to)) / 2);
  const float foot = cells.min.y - s.px(kLabels - 15), bend = foot + s.px(5), inset = s.px(kGap) / 2;
  std::size_t first = 0;
  for (const std::size_t end : leaders_of(middles, s.px(kOneLeader))) {
    const Label &a = above[first], &b = above[end - 1];
    const float left = a.centre - a.width / 2 + inset, right = b.centre + b.width / 2 - inset;
    const float column = (middles[first] + middles[end - 1]) / 2, begin = std::clamp(column, left, right);
    if (end - first > 1) list->AddLine({left, foot}, {right, foot}, ink, s.px(1));
    list->AddLine({begin, foot}, {column, bend}, ink, s.px(1));
    // Down its own column, so that it crosses nobody's words.
    list->AddLine({column, bend}, {column, cells.min.y - s.px(1)}, ink, s.px(1));
    if (end - first > 1)
      list->AddLine({middles[first], cells.min.y - s.px(2)}, {middles[end - 1], cells.min.y - s.px(2)}, ink, s.px(1));
    first = end;
  }
}

// Over its own column where that holds them; letters of slivers in a line above, joined to theirs.
void draw_labels(ImDrawList* list, const MosaicScene& scene, const Box& cells) {
  const Style& s = style();
  std::vector<Label> above;
  const auto sign = [&](const Label& label, float top) {
    const float left = label.centre - label.width / 2;
    draw_sign(list, {{left, top}, {left + label.width, top + s.px(14)}}, label.column->sign, 11,
              colour_of(label.column->sign.ink));
  };
  for (const MosaicColumn& column : scene.columns) {
    const Label label = label_of(column, cells);
    if (label.share.empty()) {
      above.push_back(label);
      continue;
    }
    sign(label, cells.min.y - s.px(30));
    const float left = along(cells, column.from), right = along(cells, column.to), top = cells.min.y - s.px(17);
    draw_text_in(list, {{left, top}, {right, top + s.px(14)}}, Align::centre, Face::mono, 11,
                 colour(s.theme, Token::text), label.share);
  }
  push_apart(above, cells);
  for (const Label& label : above) sign(label, cells.min.y - s.px(kLabels));
  draw_leaders(list, above, cells);
}

// Lines that rise to the right: what waits is found by its pattern, however pale its tint is.
void hatch(ImDrawList* list, const Box& box, ImU32 ink) {
  const Style& s = style();
  const float step = s.px(7), height = box.height();
  list->PushClipRect(box.min, box.max, true);
  // From one grid, so that neighbours' lines meet.
  const float first = std::floor((box.min.x + box.max.y) / step) * step - box.max.y - height;
  for (float x = first; x < box.max.x + step; x += step)
    list->AddLine({x, box.max.y}, {x + height, box.min.y}, ink, s.px(1));
  list->PopClipRect();
}

// On plain ground: no line of the hatch goes through them.
void draw_words(ImDrawList* list, const Box& box, Align align, Face face, const CellColours& c,
                const std::string& words) {
  const Style& s = style();
  constexpr float kSize = 11.5F, kInset = 7;
  const float width = text_width(face, kSize, words), half = std::min(s.px(7.5F), box.height() / 2);
  const float left = align == Align::left ? box.min.x + s.px(kInset) : box.centre().x - width / 2;
  const float pad = std::min(s.px(3), left - box.min.x);
  list->AddRectFilled({left - pad, box.centre().y - half}, {left + width + pad, box.centre().y + half}, c.fill);
  draw_text_in(list, box, align, face, kSize, c.text, words, align == Align::left ? kInset : 0);
}

void draw_cell(ImDrawList* list, const Box& box, const MosaicCell& cell, ImU32 hue, bool lit) {
  const Style& s = style();
  const CellColours c = colours_of(hue, cell.state);
  list->AddRectFilled(box.min, box.max, c.fill);
  if (waits(cell.state)) hatch(list, box, c.hatch);
  if (box.height() >= s.px(13)) {
    const float room = box.width() - s.px(12);
    const bool whole = text_width(Face::text, 11.5F, cell.text) <= room;
    const bool brief = text_width(Face::mono, 11.5F, cell.brief) <= box.width() - s.px(2);
    if (whole)
      draw_words(list, box, Align::left, Face::text, c, cell.text);
    else if (brief)
      draw_words(list, box, Align::centre, Face::mono, c, cell.brief);
  }
  if (lit) draw_outline(list, box, colour(s.theme, Token::text), s.px(1.5F), 0);
}

// From its part of the bottom to its part of the empty slots.
void draw_fall(ImDrawList* list, const Box& cells, const Box& empty, const MosaicColumn& column) {
  const ImU32 pale = faded(hue_of(column.phase), 0.22F);
  list->AddQuadFilled({along(cells, column.from), cells.max.y}, {along(cells, column.to), cells.max.y},
                      {along(empty, column.empty_to), empty.min.y}, {along(empty, column.empty_from), empty.min.y},
                      pale);
}

void go_to(const MosaicColumn& column, Commands& commands) {
  if (column.line > 0) commands.push_back(ChooseSourceLine{column.file, column.line});
}

void draw_column(ImDrawList* list, const Box& cells, const MosaicColumn& column, const MosaicPlace& place,
                 Commands& commands) {
  const Style& s = style();
  const float gap = std::min(s.px(1), (along(cells, column.to) - along(cells, column.from)) / 3);
  const Box box{{along(cells, column.from), cells.min.y}, {along(cells, column.to) - gap, cells.max.y}};
  ImGui::SetCursorScreenPos(box.min);
  const std::string name(gpu::name_of(column.phase));
  if (ImGui::InvisibleButton(("mosaic_" + name).c_str(), {std::max(box.width(), 1.0F), box.height()}))
    go_to(column, commands);
  draw_phase_menu(column.phase, place.to_step, commands);
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  const MosaicCell* lit = nullptr;
  for (const MosaicCell& cell : column.cells) {
    const auto height = [&](double share) { return box.max.y - box.height() * static_cast<float>(share); };
    const Box at{{box.min.x, height(cell.to)}, {box.max.x, height(cell.from) - std::min(s.px(1), box.height() / 100)}};
    const bool here = hovered && pointer.y >= at.min.y && pointer.y < height(cell.from);
    if (here) lit = &cell;
    draw_cell(list, at, cell, hue_of(column.phase), here);
  }
  if (column.phase == place.shown) draw_outline(list, box, colour(s.theme, Token::text), s.px(1), 0);
  if (hovered) tooltip(lit == nullptr ? column.tip : lit->tip);
}

void draw_empty(ImDrawList* list, const Box& empty, const MosaicColumn& column, const MosaicPlace& place,
                Commands& commands) {
  const Style& s = style();
  const Box box{{along(empty, column.empty_from), empty.min.y}, {along(empty, column.empty_to), empty.max.y}};
  if (box.width() < 1) return;
  const Box inner{{box.min.x + s.px(1), box.min.y}, {std::max(box.max.x - s.px(1), box.min.x + s.px(1)), box.max.y}};
  draw_outline(list, inner, hue_of(column.phase), s.px(1), 2);
  const ImU32 ink = colour(s.theme, Token::text);
  const float sign = sign_width(column.sign, kSign), share = text_width(Face::mono, 11, column.empty_share);
  const float gap = s.px(4);
  const BoxWords words = words_in_box(inner.width(), sign, share, gap, s.px(kSignSide));
  if (words.share) {
    const float left = inner.centre().x - (sign + gap + share) / 2;
    draw_sign(list, {{left, inner.min.y}, {left + sign, inner.max.y}}, column.sign, kSign, ink);
    draw_text_in(list, {{left + sign + gap, inner.min.y}, {inner.max.x, inner.max.y}}, Align::left, Face::mono, 11, ink,
                 column.empty_share);
  } else if (words.sign) {
    draw_sign(list, inner, column.sign, kSign, ink);
  }
  ImGui::SetCursorScreenPos(box.min);
  const std::string name(gpu::name_of(column.phase));
  if (ImGui::InvisibleButton(("empty_" + name).c_str(), {box.width(), box.height()})) go_to(column, commands);
  draw_phase_menu(column.phase, place.to_step, commands);
  tooltip(column.empty_tip);
}

// On the scale of `cells` where it is no longer than they, else the whole of it over that width: phases
// stand in the order of the algorithm, so a part of it would be the share of no time.
void draw_other(ImDrawList* list, const MosaicScene& scene, const Box& cells, const Box& room) {
  const Style& s = style();
  const double end = scene.parts.back().to;
  const bool fits = end <= 1;
  const auto x_of = [&](double share) { return fits ? along(cells, share) : along(room, share / end); };
  for (const MosaicPart& part : scene.parts) {
    const Box box{{x_of(part.from), room.min.y}, {x_of(part.to), room.max.y}};
    const CellColours c = colours_of(hue_of(part.phase), WarpState::ready);
    list->AddRectFilled(box.min, {std::max(box.max.x - s.px(1), box.min.x + 1), box.max.y}, c.fill);
    if (sign_width(part.sign, 11) + s.px(4) < box.width()) draw_sign(list, box, part.sign, 11, c.text);
    ImGui::SetCursorScreenPos(box.min);
    const std::string name(gpu::name_of(part.phase));
    ImGui::InvisibleButton(("other_" + name).c_str(), {std::max(1.0F, box.width()), box.height()});
    tooltip(part.tip);
  }
}

// Lines under the bars that the rule has for itself.
int rule_lines(const MosaicScene& scene, float width, bool low) {
  const float room = width - style().px(2 * kCardSide);
  if (low && width >= style().px(kOneLine)) return 0;
  return text_width(Face::text, kNoteText, scene.rule) <= room ? 1 : 2;
}

// As wide as its words, so that none is cut, within a part of the card.
float legend_width(const MosaicScene& scene, float width) {
  const Style& s = style();
  float words = s.px(kLeastLegend);
  for (const MosaicCell& cell : scene.all) words = std::max(words, text_width(Face::text, kNoteText, cell.text));
  return std::min(s.px(kLegendLeft + kLegendBar + kLegendWords + 2) + words, width * kMostLegend);
}

// What the hatch says, too, is left out where there is no room for it.
std::string legend_words(const std::string& text, float room) {
  if (text_width(Face::text, kNoteText, text) <= room) return text;
  const std::string_view waits = tr("waits for ");
  std::string shorter = text;
  if (const std::size_t at = text.find(waits); at != std::string::npos) shorter.erase(at, waits.size());
  return fitted_text(Face::text, kNoteText, shorter, room);
}

// All phases together, and the words of each state beside their part of it.
void draw_legend(ImDrawList* list, const MosaicScene& scene, const Box& box) {
  const Style& s = style();
  const ImU32 grey = colour(s.theme, Token::text);
  const float bar = s.px(kLegendBar), row = s.px(13.5F);
  const Box column{box.min, {box.min.x + bar, box.max.y}};
  // Words from below, at least a row apart: of as many as there is room for, those with the most.
  const MosaicLegend legend = legend_of(scene.all, static_cast<std::size_t>(box.height() / row) + 1);
  const auto words_at = [&](float y, const std::string& words, Token ink) {
    const Box line{{column.max.x + s.px(kLegendWords), y - row / 2}, {box.max.x, y + row / 2}};
    draw_text_in(list, line, Align::left, Face::text, kNoteText, colour(s.theme, ink),
                 legend_words(words, line.width()));
  };
  float above = box.max.y + row;
  for (std::size_t n = 0; n < scene.all.size(); ++n) {
    const MosaicCell& cell = scene.all[n];
    const auto height = [&](double share) { return column.max.y - column.height() * static_cast<float>(share); };
    const Box at{{column.min.x, height(cell.to)}, {column.max.x, height(cell.from) - s.px(1)}};
    const CellColours c = colours_of(grey, cell.state);
    list->AddRectFilled(at.min, at.max, c.fill);
    if (waits(cell.state)) hatch(list, at, c.hatch);
    if (!legend.named[n]) continue;
    const float wanted = at.centre().y, y = std::min(wanted, above - row);
    above = y;
    list->AddLine({column.max.x + s.px(2), wanted}, {column.max.x + s.px(10), y}, colour(s.theme, Token::faint),
                  s.px(1));
    words_at(y, cell.text, Token::text);
  }
  if (!legend.rest.empty()) words_at(above - row, legend.rest, Token::dim);
}

void draw_heads(ImDrawList* list, const MosaicScene& scene, const Box& line) {
  const Style& s = style();
  draw_text_in(list, line, Align::left, Face::bold, 13, colour(s.theme, Token::text), tr("Where the time goes"));
  const float room = line.width() - text_width(Face::bold, 13, tr("Where the time goes")) - s.px(20);
  const std::string& scale = text_width(Face::text, 12, scene.scale) <= room ? scene.scale : scene.scale_brief;
  draw_text_in(list, line, Align::right, Face::text, 12, colour(s.theme, Token::dim),
               fitted_text(Face::text, 12, scale, room));
}

// Which scale the other kernel is on, and how the samples were taken; whole in their tip where they are cut.
// `rule`: the lines of the rule under them; 0: it takes the place of how they were taken.
void draw_foot(ImDrawList* list, const MosaicScene& scene, const Box& line, int rule) {
  const Style& s = style();
  constexpr float kSize = kNoteText, kLeast = 120;  // logical pixels that are worth the beginning of a sentence
  const ImU32 ink = colour(s.theme, Token::dim);
  const bool other = !scene.parts.empty();
  std::string cut;  // what is not to be seen whole
  const auto shown = [&](const std::string& whole, float room) {
    std::string words = room < s.px(kLeast) ? std::string() : fitted_text(Face::text, kSize, whole, room);
    if (words != whole) cut += (cut.empty() ? "" : "\n") + whole;
    return words;
  };
  float left = line.min.x;
  if (other) {
    const std::string words = shown(scene.other_words, line.width());
    draw_text_in(list, line, Align::left, Face::text, kSize, ink, words);
    left += text_width(Face::text, kSize, words) + s.px(14);
  }
  if (rule == 0) shown(scene.notes, 0);
  draw_text_in(list, {{left, line.min.y}, line.max}, other ? Align::right : Align::left, Face::text, kSize, ink,
               shown(rule > 0 ? scene.notes : scene.rule, line.max.x - left));
  const TextRuns words{{scene.rule, Face::text, Token::dim, 0, false}};
  if (rule > 0) draw_paragraph(list, {line.min.x, line.max.y}, line.width(), kSize, words, rule);
  ImGui::SetCursorScreenPos(line.min);
  ImGui::InvisibleButton("mosaic_notes", {line.width(), line.height() + s.px(kRule) * static_cast<float>(rule)});
  if (!cut.empty()) tooltip(cut);
}

}  // namespace

float mosaic_height(const MosaicScene& scene, float width, bool low) {
  if (!scene.empty.empty()) return 76;
  if (!scene.there) return 0;
  const float other = scene.parts.empty() ? 0 : kOther;
  return kPads + kLabels + (low ? kCellsLow : kCells) + kFall + kEmpty + kGap + other + kLine +
         kRule * static_cast<float>(rule_lines(scene, width, low));
}

void draw_mosaic(const MosaicScene& scene, const MosaicPlace& place, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("profile_mosaic", size)) {
    if (!scene.empty.empty()) {
      heading(tr("Where the time goes"));
      dim_text(phrase("Not available: {}.", scene.empty));
    } else {
      ImDrawList* list = ImGui::GetWindowDrawList();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      const bool narrow = width < s.px(kNarrow);
      draw_heads(list, scene, {at, {at.x + width, at.y + s.px(kLine)}});
      const float top = at.y + s.px(kLine + kGap + kLabels), legend = narrow ? 0 : legend_width(scene, width);
      const Box cells{{at.x, top}, {at.x + width - legend, top + s.px(place.low ? kCellsLow : kCells)}};
      const Box empty{{cells.min.x, cells.max.y + s.px(kFall)}, {cells.max.x, cells.max.y + s.px(kFall + kEmpty)}};
      draw_labels(list, scene, cells);
      for (const MosaicColumn& column : scene.columns) draw_fall(list, cells, empty, column);
      for (const MosaicColumn& column : scene.columns) draw_column(list, cells, column, place, commands);
      for (const MosaicColumn& column : scene.columns) draw_empty(list, empty, column, place, commands);
      if (!narrow) {
        draw_legend(list, scene, {{cells.max.x + s.px(kLegendLeft), cells.min.y}, {at.x + width, cells.max.y}});
        draw_text_in(list, {{cells.max.x + s.px(kLegendLeft), empty.min.y}, {at.x + width, empty.max.y}}, Align::left,
                     Face::text, 11.5F, colour(s.theme, Token::dim),
                     fitted_text(Face::text, 11.5F, tr("where issue slots stay empty"), legend - s.px(kLegendLeft)));
      }
      float y = empty.max.y + s.px(kGap);
      if (!scene.parts.empty()) {
        draw_other(list, scene, cells, {{at.x, y}, {cells.max.x, y + s.px(kOther)}});
        y += s.px(kOther);
      }
      draw_foot(list, scene, {{at.x, y}, {at.x + width, y + s.px(kLine)}}, rule_lines(scene, size.x, place.low));
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
