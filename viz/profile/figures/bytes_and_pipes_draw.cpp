// Bytes between the least and the tile loads on one line, and what the pipes say.
#include "viz/profile/figures/bytes_and_pipes_draw.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kNumberLine = 52, kBetween = 4, kNames = 110, kNumbers = 86, kGap = 12;  // logical pixels
constexpr int kMissingLines = 4, kWordLines = 3;

// A mark on the line with its name and figure.
struct End {
  float x = 0;  // of the mark
  std::string words;
  bool strong = false;
  float left = 0, width = 0;  // of the words
};

// Its words in the middle of it, within the box.
End end_at(const Box& box, float x, const char* name, const std::string& figure, bool strong) {
  End end{x, std::string(name) + " " + figure, strong};
  end.width = text_width(Face::text, 12, end.words);
  end.left = std::clamp(x - end.width / 2, box.min.x, std::max(box.min.x, box.max.x - end.width));
  return end;
}

// Words that would meet move apart as far as they must, within the box.
void part(const Box& box, End& left, End& right) {
  const float between = style().px(kGap), both = left.width + between + right.width;
  if (left.left + left.width + between <= right.left) return;
  const float middle = (left.left + right.left + right.width) / 2;
  left.left = std::clamp(middle - both / 2, box.min.x, std::max(box.min.x, box.max.x - both));
  right.left = left.left + left.width + between;
}

void draw_end(ImDrawList* list, const Box& box, const End& end, bool over) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, end.strong ? Token::text : Token::dim);
  const float y = box.centre().y;
  if (end.strong) {
    list->AddCircleFilled({end.x, y}, s.px(5), ink);
  } else {
    list->AddLine({end.x, y - s.px(6)}, {end.x, y + s.px(6)}, ink, s.px(1.5F));
  }
  draw_text(list, {end.left, over ? y - s.px(24) : y + s.px(9)}, end.strong ? Face::bold : Face::text, 12, ink,
            end.words);
}

// Nothing stands on it where neither was counted from the shape.
bool has_number_line(const BytesScene& b) {
  return b.compulsory > 0 && b.tile_loads > 0;
}

void draw_number_line(const BytesScene& b, float width) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box box{at, {at.x + width, at.y + s.px(kNumberLine)}};
  ImGui::Dummy({width, box.height()});
  double low = b.compulsory, high = b.tile_loads;
  if (b.dram && *b.dram > 0) {
    low = std::min(low, *b.dram);
    high = std::max(high, *b.dram);
  }
  if (high <= low) high = low * 2;
  const float inset = s.px(8);
  const auto x_of = [&](double bytes) {
    const double share = std::log(bytes / low) / std::log(high / low);
    return box.min.x + inset + (box.width() - 2 * inset) * static_cast<float>(share);
  };
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({box.min.x + inset, box.centre().y}, {box.max.x - inset, box.centre().y}, colour(s.theme, Token::line),
                s.px(2));
  End least = end_at(box, x_of(b.compulsory), tr("minimum"), b.compulsory_text, false);
  End loads = end_at(box, x_of(b.tile_loads), tr("tile loads"), b.tile_loads_text, false);
  if (least.x <= loads.x) {
    part(box, least, loads);
  } else {
    part(box, loads, least);
  }
  draw_end(list, box, least, false);
  draw_end(list, box, loads, false);
  if (b.dram && *b.dram > 0) draw_end(list, box, end_at(box, x_of(*b.dram), tr("DRAM"), b.dram_text, true), true);
}

TextRuns words_of(const MissingFigures& missing) {
  return {{missing.titles + ": ", Face::text, Token::text, 0, false},
          {missing.reason + ".", Face::text, Token::dim, 0, false}};
}
// Whether so many lines end before the words do: what they show needs no tooltip.
bool is_cut(const TextRuns& words, float width, int lines) {
  const auto height = [&](int most) { return draw_paragraph(nullptr, {}, width, 12, words, most, false); };
  return height(lines + 1) > height(lines);
}
float missing_height(const MissingFigures& missing, float width) {
  return draw_paragraph(nullptr, {}, width, 12, words_of(missing), kMissingLines, false) + style().px(4);
}

float words_room(float width) {
  return std::max(style().px(60), width - style().px(kNames + kNumbers + kGap));
}
float height_of(const BytesLine& line, float width) {
  const TextRuns words{{line.words, Face::text, Token::dim, 0, false}};
  return std::max(line_height(13), draw_paragraph(nullptr, {}, words_room(width), 12, words, kWordLines, false));
}

void draw_missing(const MissingFigures& missing, float width) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = draw_paragraph(ImGui::GetWindowDrawList(), at, width, 12, words_of(missing), kMissingLines);
  ImGui::InvisibleButton(missing.titles.c_str(), {width, height + s.px(4)});
  if (is_cut(words_of(missing), width, kMissingLines)) tooltip(missing.titles + ": " + missing.reason + ".");
}

void draw_line(const BytesLine& line, float width) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float names = s.px(kNames), numbers = s.px(kNumbers), gap = s.px(kGap);
  const TextRuns words{{line.words, Face::text, Token::dim, 0, false}};
  const float room = words_room(width), height = height_of(line, width);
  const Box name{at, {at.x + names, at.y + line_height(13)}};
  draw_text_in(list, name, Align::left, Face::text, 13, colour(s.theme, Token::text), line.title);
  draw_text_in(list, {{name.max.x, at.y}, {name.max.x + numbers, name.max.y}}, Align::right, Face::mono, 13,
               colour(s.theme, line.available ? Token::text : Token::dim), line.text);
  draw_paragraph(list, {name.max.x + numbers + gap, at.y + s.px(3)}, room, 12, words, kWordLines);
  ImGui::InvisibleButton(line.title.c_str(), {width, height});
  if (is_cut(words, room, kWordLines)) tooltip(line.title + ": " + line.text + ". " + line.words);
}

}  // namespace

float bytes_height(const BytesScene& scene, float width) {
  const Style& s = style();
  const float room = width - 2 * s.px(kCardSide), gap = ImGui::GetStyle().ItemSpacing.y;
  float height = 2 * s.px(kCardEnd) + s.px(13) + gap + (has_number_line(scene) ? s.px(kNumberLine) + gap : 0);
  if (!scene.dram) height += gap + s.px(12);
  for (const BytesLine& line : scene.lines) height += height_of(line, room) + s.px(kBetween);
  for (const MissingFigures& missing : scene.missing) height += missing_height(missing, room) + s.px(kBetween);
  return std::ceil(height);
}

void draw_bytes(const BytesScene& scene, ImVec2 size) {
  if (begin_card("bytes", size)) {
    heading(tr("Bytes and pipes"));
    const float width = ImGui::GetContentRegionAvail().x;
    if (has_number_line(scene)) draw_number_line(scene, width);
    if (!scene.dram) dim_text(phrase("DRAM: {}.", scene.dram_text));  // else the strip has the sentence
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, style().px(kBetween)));
    for (const BytesLine& line : scene.lines) draw_line(line, width);
    for (const MissingFigures& missing : scene.missing) draw_missing(missing, width);
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
