#include "viz/draw/canvas.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

namespace attn {
namespace {

// Raised and lowered letters: their size and how far they move, as a share of the line's size.
constexpr float kScriptSize = 0.72F;
constexpr float kSuperscript = -0.42F;
constexpr float kSubscript = 0.2F;

constexpr float kLeastScript = 10;  // logical: an index in an exponent must be read as well

float run_size(const TextRun& run, float size) {
  const float full = size * (run.face == Face::maths ? kMathsSize : 1.0F);
  if (run.raise == 0) return full;
  const float script = full * (run.raise == 2 ? kScriptSize * 0.86F : kScriptSize);
  return std::min(full, std::max(script, kLeastScript));
}

// Baselines of the faces differ: a maths letter of another size must stand on the same line.
float baseline(Face face, float size) {
  ImFontBaked* baked = font_of(face)->GetFontBaked(style().px(size));
  return baked->Ascent;
}

struct Word {
  const TextRun* run;
  std::string_view text;
};

// Runs cut at spaces and ends of lines; the space stays with the word before it.
std::vector<Word> words_of(const TextRuns& runs) {
  std::vector<Word> words;
  for (const TextRun& run : runs) {
    std::string_view rest = run.text;
    while (!rest.empty()) {
      std::size_t space = rest.find_first_of(" \n");
      // "12 %" does not break.
      if (space != std::string_view::npos && rest.substr(space + 1).starts_with('%')) space = rest.find(' ', space + 1);
      const std::size_t n = space == std::string_view::npos ? rest.size() : space + 1;
      words.push_back({&run, rest.substr(0, n)});
      rest.remove_prefix(n);
    }
  }
  return words;
}

// "--block" in the numbers' face: in that of the words its two hyphens are read as one dash.
TextRuns with_options_apart(const TextRuns& runs) {
  TextRuns apart;
  for (const TextRun& run : runs) {
    std::string_view rest = run.text;
    const auto add = [&](std::string_view text, Face face) {
      if (text.empty()) return;
      apart.push_back(run);
      apart.back().text = text;
      apart.back().face = face;
    };
    for (std::size_t at = rest.find("--"); run.face == Face::text && at != std::string_view::npos;
         at = rest.find("--")) {
      const std::size_t end = std::min(rest.find_first_of(" \n.,;:\"", at), rest.size());
      add(rest.substr(0, at), Face::text);
      add(rest.substr(at, end - at), Face::mono);
      rest.remove_prefix(end);
    }
    add(rest, run.face);
  }
  return apart;
}

bool is_unit_behind(std::string_view number, std::string_view next) {
  const bool digit = number.size() > 1 && number[number.size() - 2] >= '0' && number[number.size() - 2] <= '9';
  return digit && number.ends_with(' ') &&
         std::ranges::any_of(std::array{"%", "µs", "ns"}, [&](const char* unit) { return next.starts_with(unit); });
}

// Whether a line may end after this word: an exponent is kept in one piece, and so are a number and its unit.
bool may_break_after(const std::vector<Word>& words, std::size_t n) {
  if (!words[n].text.ends_with(' ') && !words[n].text.ends_with('\n')) return false;
  if (n + 1 < words.size() && is_unit_behind(words[n].text, words[n + 1].text)) return false;
  return !(words[n].run->raise > 0 && n + 1 < words.size() && words[n + 1].run->raise > 0);
}

float draw_piece(ImDrawList* list, ImVec2 at, float size, const TextRun& run, std::string_view text, bool draw) {
  const float own = run_size(run, size);
  const float width = text_width(run.face, own, text);
  if (!draw) return width;
  // All pieces share the baseline of the plain face at the line's size.
  float y = at.y + baseline(Face::text, size) - baseline(run.face, own);
  if (run.raise > 0) y += style().px(size * (run.raise == 1 ? kSuperscript : kSuperscript + 0.14F));
  if (run.raise < 0) y += style().px(size * kSubscript);
  draw_text(list, {at.x, y}, run.face, own, colour_of(run.ink), text);
  if (run.underlined) {
    const float under = at.y + style().px(size * 1.45F);
    list->AddRectFilled({at.x, under}, {at.x + width, under + style().px(2)}, colour_of(Token::text));
  }
  return width;
}

}  // namespace

ImU32 colour_of(Ink ink) {
  return ink.tensor ? colour(style().theme, ink.hue) : colour(style().theme, ink.token);
}

ImU32 faded(ImU32 c, float opacity) {
  const auto alpha = static_cast<float>((c >> IM_COL32_A_SHIFT) & 0xffU) * std::clamp(opacity, 0.0F, 1.0F);
  return (c & ~IM_COL32_A_MASK) | (static_cast<ImU32>(std::lround(alpha)) << IM_COL32_A_SHIFT);
}

ImU32 side_colour(std::size_t side, float opacity) {
  return faded(side == 0 ? IM_COL32(0xd5, 0x5e, 0x00, 0xff) : IM_COL32(0x00, 0x72, 0xb2, 0xff), opacity);
}

ImFont* font_of(Face face) {
  const Fonts& fonts = style().fonts;
  switch (face) {
    case Face::text:
      return fonts.text;
    case Face::bold:
      return fonts.bold;
    case Face::mono:
      return fonts.mono;
    case Face::maths:
      return fonts.maths;
  }
  return fonts.text;
}

float text_width(Face face, float size, std::string_view text) {
  return font_of(face)->CalcTextSizeA(style().px(size), FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

std::string elided_text(Face face, float size, std::string_view text, float room) {
  if (text_width(face, size, text) <= room) return std::string(text);
  const float dots = text_width(face, size, "…");
  std::size_t end = text.size();
  while (end > 0 && text_width(face, size, text.substr(0, end)) + dots > room) {
    --end;
    // Not in the middle of a character.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  }
  return std::string(text.substr(0, end)) + "…";
}

float line_height(float size) {
  return std::ceil(style().px(size * 1.4F));
}

void draw_text(ImDrawList* list, ImVec2 at, Face face, float size, ImU32 c, std::string_view text) {
  list->AddText(font_of(face), style().px(size), {std::round(at.x), std::round(at.y)}, c, text.data(),
                text.data() + text.size());
}

void draw_text_over(ImDrawList* list, ImVec2 at, Face face, float size, ImU32 c, std::string_view text) {
  const float side = style().px(2), height = style().px(1.25F * size);
  list->AddRectFilled({at.x - side, at.y}, {at.x + text_width(face, size, text) + side, at.y + height},
                      colour_of(Token::card));
  draw_text(list, at, face, size, c, text);
}

void draw_text_in(ImDrawList* list, const Box& box, Align align, Face face, float size, ImU32 c, std::string_view text,
                  float inset) {
  const float width = text_width(face, size, text);
  float x = box.min.x + style().px(inset);
  if (align == Align::centre) x = (box.min.x + box.max.x - width) / 2;
  if (align == Align::right) x = box.max.x - width - style().px(inset);
  draw_text(list, {x, (box.min.y + box.max.y - style().px(size)) / 2}, face, size, c, text);
}

float runs_width(const TextRuns& runs, float size) {
  float width = 0;
  for (const TextRun& run : runs) width += text_width(run.face, run_size(run, size), run.text);
  return width;
}

float draw_runs(ImDrawList* list, ImVec2 at, float size, const TextRuns& runs) {
  float script_from = 0, script_end = 0;
  int last_raise = 0;
  for (const TextRun& run : runs) {
    // A superscript right after a subscript stands over it (K with index and transpose).
    if (run.raise != 0 && last_raise != 0 && (run.raise < 0) != (last_raise < 0)) {
      script_end = at.x;
      at.x = script_from;
    } else if (run.raise != 0 && last_raise == 0) {
      script_from = at.x;
      script_end = at.x;
    } else if (run.raise == 0) {
      at.x = std::max(at.x, script_end);
      script_end = 0;
    }
    at.x += draw_piece(list, at, size, run, run.text, true);
    last_raise = run.raise;
  }
  return std::max(at.x, script_end);
}

void draw_runs_in(ImDrawList* list, const Box& box, Align align, float size, const TextRuns& runs) {
  const float width = runs_width(runs, size);
  float x = box.min.x;
  if (align == Align::centre) x = (box.min.x + box.max.x - width) / 2;
  if (align == Align::right) x = box.max.x - width;
  draw_runs(list, {x, (box.min.y + box.max.y - style().px(size)) / 2}, size, runs);
}

namespace {

// A piece of a paragraph: where it begins, from the paragraph's left.
struct Piece {
  float x = 0;
  int line = 0;
  const TextRun* run = nullptr;
  std::string_view text;
};

std::string_view without_blanks(std::string_view text) {
  while (text.ends_with(' ') || text.ends_with(',')) text.remove_suffix(1);
  return text;
}

// Ends what was placed with …, in place of as many words of the last line as it takes.
void end_with_dots(std::vector<Piece>& pieces, float width, float size) {
  const auto end_of = [&](const Piece& p) {
    return p.x + draw_piece(nullptr, {}, size, *p.run, without_blanks(p.text), false);
  };
  const auto dots_of = [&](const Piece& p) { return draw_piece(nullptr, {}, size, *p.run, "…", false); };
  const int last = pieces.back().line;
  while (pieces.size() > 1 && pieces[pieces.size() - 2].line == last &&
         end_of(pieces.back()) + dots_of(pieces.back()) > width)
    pieces.pop_back();
  Piece& end = pieces.back();
  end.text = without_blanks(end.text);
  const float room = width - dots_of(end) - end.x;
  while (!end.text.empty() && draw_piece(nullptr, {}, size, *end.run, end.text, false) > room) {
    end.text.remove_suffix(1);
    while (!end.text.empty() && (static_cast<unsigned char>(end.text.back()) & 0xC0U) == 0x80U)
      end.text.remove_suffix(1);
    if (!end.text.empty() && (static_cast<unsigned char>(end.text.back()) & 0xC0U) == 0xC0U) end.text.remove_suffix(1);
  }
  pieces.push_back({end_of(end), last, end.run, "…"});
}

}  // namespace

float draw_paragraph(ImDrawList* list, ImVec2 at, float width, float size, const TextRuns& given, int max_lines,
                     bool draw) {
  const bool options =
      std::ranges::any_of(given, [](const TextRun& r) { return r.text.find("--") != std::string::npos; });
  const TextRuns apart = options ? with_options_apart(given) : TextRuns();
  const TextRuns& runs = options ? apart : given;
  const float step = line_height(size);
  float x = 0;
  int line = 0;
  std::vector<Piece> pieces;
  const auto draw_all = [&] {
    if (!draw) return;
    for (const Piece& p : pieces)
      draw_piece(list, {at.x + p.x, at.y + step * static_cast<float>(p.line)}, size, *p.run, p.text, true);
  };
  const std::vector<Word> words = words_of(runs);
  for (std::size_t n = 0; n < words.size(); ++n) {
    // A word may go on in the next run (a letter and its comma): they break together.
    float need = 0;
    for (std::size_t k = n; k < words.size(); ++k) {
      std::string_view text = words[k].text;
      const bool ends = may_break_after(words, k);
      if (ends) text.remove_suffix(1);
      need += draw_piece(list, at, size, *words[k].run, text, false);
      if (ends) break;
    }
    const bool starts_word = n == 0 || may_break_after(words, n - 1);
    const bool new_line = n > 0 && words[n - 1].text.ends_with('\n');
    if (new_line || (starts_word && x > 0 && x + need > width)) {
      x = 0;
      if (++line >= max_lines) {
        if (draw && !pieces.empty()) end_with_dots(pieces, width, size);
        draw_all();
        return step * static_cast<float>(max_lines);
      }
    }
    std::string_view text = words[n].text;
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (draw) pieces.push_back({x, line, words[n].run, text});
    x += draw_piece(list, at, size, *words[n].run, text, false);
  }
  draw_all();
  return step * static_cast<float>(line + 1);
}

void draw_card(ImDrawList* list, const Box& box) {
  // A fill takes one white texel. Looked up without filtering, a software renderer needs half the time for it, and
  // cards are most of the window.
  const ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  const bool unfiltered =
      platform.DrawCallback_SetSamplerNearest != nullptr && platform.DrawCallback_SetSamplerLinear != nullptr;
  if (unfiltered) list->AddCallback(platform.DrawCallback_SetSamplerNearest, nullptr);
  list->AddRectFilled(box.min, box.max, colour_of(Token::card), style().px(8));
  if (unfiltered) list->AddCallback(platform.DrawCallback_SetSamplerLinear, nullptr);
  list->AddRect(box.min, box.max, colour_of(Token::line), style().px(8), 0, std::max(1.0F, style().px(1)));
}

void draw_card_edge(ImDrawList* list, const Box& card, ImU32 c) {
  const Style& s = style();
  // A box as narrow as the stroke could not have corners as round as the card's.
  list->PushClipRect(card.min, {card.min.x + s.px(5), card.max.y}, true);
  list->AddRectFilled(card.min, {card.min.x + s.px(32), card.max.y}, c, ImGui::GetStyle().ChildRounding,
                      ImDrawFlags_RoundCornersLeft);
  list->PopClipRect();
}

void draw_outline(ImDrawList* list, const Box& box, ImU32 c, float thickness, float rounding) {
  list->AddRect(box.min, box.max, c, style().px(rounding), 0, std::max(1.0F, style().px(thickness)));
}

void draw_dashed_line(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 c, float dash) {
  const float length = std::hypot(to.x - from.x, to.y - from.y);
  if (length <= 0) return;
  const ImVec2 unit{(to.x - from.x) / length, (to.y - from.y) / length};
  const float step = std::max(style().px(dash), 1.0F);
  for (float at = 0; at < length; at += 2 * step) {
    const float end = std::min(at + step, length);
    list->AddLine({from.x + unit.x * at, from.y + unit.y * at}, {from.x + unit.x * end, from.y + unit.y * end}, c,
                  std::max(1.0F, style().px(1)));
  }
}

void draw_dashed(ImDrawList* list, const Box& box, ImU32 c, float dash) {
  const ImVec2 a{std::floor(box.min.x) + 0.5F, std::floor(box.min.y) + 0.5F};
  const ImVec2 b{std::floor(box.max.x) - 0.5F, std::floor(box.max.y) - 0.5F};
  draw_dashed_line(list, a, {b.x, a.y}, c, dash);
  draw_dashed_line(list, {b.x, a.y}, b, c, dash);
  draw_dashed_line(list, {a.x, b.y}, b, c, dash);
  draw_dashed_line(list, a, {a.x, b.y}, c, dash);
}

void draw_hatch(ImDrawList* list, const Box& box, ImU32 c, float step) {
  const float d = std::max(style().px(step), 2.0F);
  // Lines x + y = s: the same s everywhere, so that neighbouring cells hatch as one.
  const float first = std::ceil((box.min.x + box.min.y) / d) * d;
  for (float s = first; s < box.max.x + box.max.y; s += d) {
    const ImVec2 a{std::max(box.min.x, s - box.max.y), std::min(box.max.y, s - box.min.x)};
    const ImVec2 b{std::min(box.max.x, s - box.min.y), std::max(box.min.y, s - box.max.x)};
    if (b.x > a.x) list->AddLine(a, b, c, std::max(1.0F, style().px(1)));
  }
}

void draw_arrow(ImDrawList* list, ImVec2 centre, float size, Arrow arrow, ImU32 c) {
  const float r = style().px(size) / 2;
  const float x = centre.x, y = centre.y;
  const float bar = style().px(2);
  switch (arrow) {
    case Arrow::left:
      list->AddTriangleFilled({x + r * 0.7F, y - r}, {x - r * 0.8F, y}, {x + r * 0.7F, y + r}, c);
      break;
    case Arrow::right:
      list->AddTriangleFilled({x - r * 0.7F, y - r}, {x + r * 0.8F, y}, {x - r * 0.7F, y + r}, c);
      break;
    case Arrow::first:
      list->AddRectFilled({x - r, y - r}, {x - r + bar, y + r}, c);
      list->AddTriangleFilled({x + r, y - r}, {x - r * 0.4F, y}, {x + r, y + r}, c);
      break;
    case Arrow::last:
      list->AddRectFilled({x + r - bar, y - r}, {x + r, y + r}, c);
      list->AddTriangleFilled({x - r, y - r}, {x + r * 0.4F, y}, {x - r, y + r}, c);
      break;
    case Arrow::down:
      list->AddTriangleFilled({x - r, y - r * 0.5F}, {x + r, y - r * 0.5F}, {x, y + r * 0.6F}, c);
      break;
    case Arrow::pause:
      list->AddRectFilled({x - r * 0.8F, y - r}, {x - r * 0.2F, y + r}, c);
      list->AddRectFilled({x + r * 0.2F, y - r}, {x + r * 0.8F, y + r}, c);
      break;
  }
}

void draw_pencil(ImDrawList* list, ImVec2 centre, float size, ImU32 c) {
  // Along the diagonal from the point: the point, the shaft, its end.
  const float unit = style().px(size) / 10, line = style().px(1.25F);
  const auto at = [&](float along, float across) {
    return ImVec2{centre.x + (along - 5 + across) * unit, centre.y - (along - 5 - across) * unit};
  };
  const ImVec2 outline[] = {at(0, 0), at(2.6F, -1.5F), at(9.5F, -1.5F), at(9.5F, 1.5F), at(2.6F, 1.5F)};
  list->AddPolyline(outline, static_cast<int>(std::size(outline)), c, ImDrawFlags_Closed, line);
  list->AddLine(at(7.4F, -1.5F), at(7.4F, 1.5F), c, line);
  list->AddTriangleFilled(at(0, 0), at(1.7F, -1), at(1.7F, 1), c);
}

}  // namespace attn
