#include "viz/step/beside/legend_draw.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kText = 12;
constexpr float kEarlier = 0.45F;  // strength of what a ring's earlier turns computed

// Logical: the bar of shades, a mark, and after each entry. The tight one where the narrow words have no room else.
struct Spacing {
  float bar, swatch, gap;
};
constexpr Spacing kUsual{90, 24, 18}, kTight{50, 14, 9};

void draw_mark(ImDrawList* list, const Box& box, const LegendEntry& entry) {
  const Style& s = style();
  switch (entry.mark) {
    case LegendMark::empty:
      draw_dashed(list, box, colour_of(Token::faint));
      break;
    case LegendMark::dropped:
      draw_dropped_cell(list, box, true);
      break;
    case LegendMark::masked:
      list->AddRectFilled(box.min, box.max, faded(colour_of(Token::field), 0.6F), s.px(2));
      draw_hatch(list, box, faded(colour_of(Token::faint), 0.7F), 6);
      break;
    case LegendMark::past_end:
      draw_outline(list, box, colour_of(Token::line), 1);
      break;
    case LegendMark::minus_infinity:
      list->AddRectFilled(box.min, box.max, colour_of(Token::ground), s.px(2));
      draw_outline(list, box, colour_of(Token::faint), 1);
      break;
    case LegendMark::partly:
      list->AddTriangleFilled(box.min, {box.min.x, box.max.y}, box.max, colour_of(TensorColour::p));
      break;
    case LegendMark::turn:
      list->AddRectFilled(box.min, box.max, colour_of(TensorColour::p), s.px(2));
      draw_outline(list, box, colour_of(Token::text), 2, 3);
      break;
    case LegendMark::earlier:
      list->AddRectFilled(box.min, box.max, faded(colour_of(TensorColour::p), kEarlier), s.px(2));
      break;
    case LegendMark::not_finite:
      list->AddRectFilled(box.min, box.max, colour_of(Token::text), s.px(2));
      break;
    case LegendMark::made:
      list->AddRectFilled(box.min, box.max, colour_of(Token::line), s.px(2));
      draw_outline(list, box, colour_of(Token::text), 2, 3);
      break;
    case LegendMark::flight:
      draw_hatch(list, box, faded(colour_of(entry.hue), 0.6F), 6);
      draw_outline(list, box, faded(colour_of(entry.hue), 0.9F), 1);
      break;
    case LegendMark::gauge:
      draw_gauge_cell(list, box, 0.5F, faded(colour_of(TensorColour::alpha), 0.75F));
      draw_outline(list, box, colour_of(Token::faint), 1);
      break;
    case LegendMark::gradient:
      draw_cut(list, box, colour_of(Token::faint));
      break;
    case LegendMark::largest:
      list->AddRectFilled(box.min, box.max, colour_of(Token::line), s.px(2));
      list->AddRectFilled({box.min.x + s.px(3), box.max.y - s.px(4)}, {box.max.x - s.px(3), box.max.y - s.px(2)},
                          colour_of(TensorColour::m));
      break;
  }
}

// That of draw_scale().
float scale_width(const LegendScale& scale, const Spacing& space) {
  const Style& s = style();
  if (scale.min.empty()) return 0;
  return runs_width({letter(scale.letter, scale.hue)}, 13) + text_width(Face::mono, kText, scale.min) +
         text_width(Face::mono, kText, scale.max) + s.px(7 + 6 + space.bar + 6);
}

// "S −3.2 [shades, a tick at 0] 15.2". Returns where it ends.
float draw_scale(ImDrawList* list, const Box& box, const LegendScale& scale, const Spacing& space) {
  const Style& s = style();
  float x = box.min.x;
  if (scale.min.empty()) return x - s.px(space.gap + 8);  // no number to shade
  const float text_top = box.centre().y - s.px(kText) * 0.62F;
  x = draw_runs(list, {x, text_top - s.px(1)}, 13, {letter(scale.letter, scale.hue)}) + s.px(7);
  draw_text(list, {x, text_top}, Face::mono, kText, colour_of(Token::dim), scale.min);
  x += text_width(Face::mono, kText, scale.min) + s.px(6);
  // A column a pixel, so that no seam is seen.
  const int steps = static_cast<int>(std::round(s.px(space.bar)));
  const float width = static_cast<float>(steps), left = std::round(x);
  const Box bar{{left, std::round(box.centre().y - s.px(5))}, {left + width, std::round(box.centre().y + s.px(5))}};
  for (int n = 0; n < steps; ++n) {
    const float share = (static_cast<float>(n) + 0.5F) / width, column = left + static_cast<float>(n);
    list->AddRectFilled({column, bar.min.y}, {column + 1, bar.max.y},
                        cell_fill(s.theme, scale.hue, scale.first + (scale.last - scale.first) * share));
  }
  if (scale.diverges && scale.zero > 0.02F && scale.zero < 0.98F) {
    const float zero = bar.min.x + width * scale.zero;
    list->AddRectFilled({zero - s.px(0.75F), bar.min.y - s.px(3)}, {zero + s.px(0.75F), bar.max.y + s.px(3)},
                        colour_of(Token::text));
    const float w = text_width(Face::mono, kText, "0");
    draw_text(list, {zero - w / 2, bar.max.y + s.px(2)}, Face::mono, kText, colour_of(Token::dim), "0");
  }
  x = bar.max.x + s.px(6);
  draw_text(list, {x, text_top}, Face::mono, kText, colour_of(Token::dim), scale.max);
  return x + text_width(Face::mono, kText, scale.max);
}

using Entries = std::vector<LegendEntry>;

float entry_width(const std::string& words, const Spacing& space) {
  return style().px(space.swatch + 6) + text_width(Face::text, kText, words);
}

void draw_entry(ImDrawList* list, ImVec2 at, const LegendEntry& entry, const std::string& words, const Spacing& space) {
  const Style& s = style();
  draw_mark(list, {{at.x, at.y - s.px(7)}, {at.x + s.px(space.swatch), at.y + s.px(7)}}, entry);
  draw_text(list, {at.x + s.px(space.swatch + 6), at.y - s.px(kText) * 0.62F}, Face::text, kText, colour_of(Token::dim),
            words);
}

// How the entries are written: in full words where one line holds them.
struct Wording {
  std::string LegendEntry::*words;
  const Spacing& space;
};
Wording choose_wording(float width, const LegendScale& scale, const Entries& entries, bool one_line) {
  const auto wide = [&](std::string LegendEntry::*words, const Spacing& space) {
    float sum = scale_width(scale, space) + style().px(8);
    for (const LegendEntry& e : entries) sum += entry_width(e.*words, space) + style().px(space.gap);
    return sum;
  };
  if (wide(&LegendEntry::words, kUsual) <= width) return {&LegendEntry::words, kUsual};
  const bool tight = one_line && wide(&LegendEntry::narrow, kUsual) > width;
  return {&LegendEntry::narrow, tight ? kTight : kUsual};
}

// All of it, below each other.
void show_legend(const LegendScale& scale, const Entries& entries) {
  const Style& s = style();
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) return;
  constexpr float kLine = 22, kWide = 270, kHeadText = 13;
  const std::string head =
      scale.min.empty() ? std::string(tr("How to read a cell:"))
      : scale.diverges
          ? phrase(
                "How to read a cell. The bar shows {} from its smallest to its largest value over the run, neutral "
                "at 0. The other marks:",
                scale.letter)
          : phrase(
                "How to read a cell. The bar shows {} from its smallest to its largest value over the run. The other "
                "marks:",
                scale.letter);
  const TextRuns runs{{head, Face::text, Token::text, 0, false}};
  const float top = draw_paragraph(nullptr, {}, s.px(kWide), kHeadText, runs, 4, false) + s.px(6);
  const ImVec2 size{s.px(kWide), top + s.px(kLine) * static_cast<float>(entries.size())};
  if (!begin_tooltip(size)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  draw_paragraph(list, at, s.px(kWide), kHeadText, runs, 4);
  float y = at.y + top + s.px(kLine) / 2;
  for (const LegendEntry& e : entries) {
    draw_entry(list, {at.x, y}, e, e.words, kUsual);
    y += s.px(kLine);
  }
  ImGui::EndTooltip();
}

}  // namespace

int legend_lines(float width, const LegendScale& scale, LegendMarks marks, int most) {
  const Style& s = style();
  const Entries entries = cell_legend(marks);
  const auto [words, space] = choose_wording(width, scale, entries, most == 1);
  float x = scale_width(scale, space) + s.px(space.gap + 8);
  int lines = 1;
  for (const LegendEntry& e : entries) {
    const float wide = entry_width(e.*words, space);
    if (x + wide > width && x > 0) ++lines, x = 0;
    x += wide + s.px(space.gap);
  }
  return std::min(lines, most);
}

void draw_cell_legend(const Box& box, const LegendScale& scale, LegendMarks marks) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  // Under the bar stands its 0.
  Box line{box.min, {box.max.x, box.min.y + s.px(kLegendHeight - 7)}};
  const Entries entries = cell_legend(marks);
  const auto [written, space] = choose_wording(box.width(), scale, entries, box.height() < s.px(2 * kLegendHeight));
  float x = draw_scale(list, line, scale, space) + s.px(space.gap + 8);
  for (const LegendEntry& e : entries) {
    const std::string& words = e.*written;
    const float width = entry_width(words, space);
    if (x + width > box.max.x && line.max.y + s.px(kLegendHeight) <= box.max.y) {
      x = box.min.x;
      line = {{box.min.x, line.min.y + s.px(kLegendHeight)}, {box.max.x, line.max.y + s.px(kLegendHeight)}};
    }
    if (x + width > box.max.x) break;
    draw_entry(list, {x, line.centre().y}, e, words, space);
    x += width + s.px(space.gap);
  }
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton("##cell_legend", {std::max(box.width(), 1.0F), std::max(box.height(), 1.0F)});
  show_legend(scale, entries);
}

void draw_legend_button(const Box& box, const LegendScale& scale, LegendMarks marks) {
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton("##cell_legend", {box.width(), box.height()});
  const ImU32 ink = colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddCircle(box.centre(), box.height() / 2 - style().px(1), ink, 0, std::max(1.0F, style().px(1)));
  draw_text_in(list, box, Align::centre, Face::bold, 11, ink, "?");
  show_legend(scale, cell_legend(marks));
}

void draw_cut(ImDrawList* list, const Box& box, ImU32 fill) {
  const float cut = std::min(style().px(5), std::min(box.width(), box.height()) / 3);
  const ImVec2 corners[] = {
      box.min, {box.max.x - cut, box.min.y}, {box.max.x, box.min.y + cut}, box.max, {box.min.x, box.max.y}};
  list->AddConvexPolyFilled(corners, static_cast<int>(std::size(corners)), fill);
}

void draw_gauge_cell(ImDrawList* list, const Box& box, float share, ImU32 fill) {
  const Style& s = style();
  list->AddRectFilled(box.min, box.max, colour_of(Token::field), s.px(2));
  const float top = above_gauge(box).max.y;
  list->AddRectFilled({box.min.x, top}, {box.min.x + box.width() * share, box.max.y}, fill, s.px(1));
}

Box above_gauge(const Box& cell) {
  const Style& s = style();
  return {cell.min, {cell.max.x, cell.max.y - std::clamp(cell.height() / 6, s.px(2), s.px(5))}};
}

void draw_dropped_cell(ImDrawList* list, const Box& box, bool dot) {
  const Style& s = style();
  list->AddRectFilled(box.min, box.max, colour_of(Token::field), s.px(2));
  if (dot) list->AddCircleFilled(box.centre(), s.px(1.5F), colour_of(Token::faint));
}

void draw_masked_cell(ImDrawList* list, const Box& box) {
  list->AddRectFilled(box.min, box.max, faded(colour_of(Token::field), 0.6F), style().px(2));
  draw_hatch(list, box, faded(colour_of(Token::faint), 0.7F), 6);
}

ImU32 value_fill(TensorColour hue, float value, float shade) {
  if (std::isfinite(value)) return cell_fill(style().theme, hue, shade);
  return colour_of(value == -HUGE_VALF ? Token::ground : Token::text);
}

}  // namespace attn
