#include "viz/learn/chapter_pictures_draw.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "viz/draw/theme.h"

namespace attn {
namespace {

// A sheet of 24 x 24 units, its middle in the circle's.
struct Sheet {
  ImDrawList* list;
  ImVec2 origin;
  float unit;
  float strength;

  ImVec2 at(float x, float y) const { return {origin.x + x * unit, origin.y + y * unit}; }
  ImU32 ink(Ink of, float opacity = 1) const { return faded(colour_of(of), opacity * strength); }
  void cell(float x, float y, float w, float h, Ink of, float opacity = 1) const {
    list->AddRectFilled(at(x, y), at(x + w, y + h), ink(of, opacity), std::min(w, h) * unit * 0.14F);
  }
  void frame(float x, float y, float w, float h, Ink of, float thick = 1.4F) const {
    list->AddRect(at(x, y), at(x + w, y + h), ink(of), unit, 0, style().px(thick));
  }
  void line(float x0, float y0, float x1, float y1, Ink of, float thick = 1.6F) const {
    list->AddLine(at(x0, y0), at(x1, y1), ink(of), style().px(thick));
  }
  void dot(float x, float y, float r, Ink of) const { list->AddCircleFilled(at(x, y), r * unit, ink(of)); }
};

using Hue = TensorColour;

void wall(const Sheet& s) {
  s.cell(3, 2, 19, 19, Hue::s, 0.55F);
  s.list->AddRectFilled(s.at(3, 8), s.at(16, 21), s.ink(Token::card), s.unit);
  s.frame(3, 8, 13, 13, Token::text, 2);
  s.cell(6, 15, 2, 2, Token::text);
}
void average(const Sheet& s) {
  constexpr float kHeights[] = {3, 3, 3, 8};
  for (int n = 0; n < 4; ++n) {
    const auto x = static_cast<float>(2 + 5.4F * static_cast<float>(n));
    s.cell(x, 9 - kHeights[n], 4, kHeights[n], Hue::p);
    s.cell(x, 11, 4, 3, Hue::v);
    s.line(x + 2, 14, 12, 18, Token::dim, 1);
  }
  s.cell(9.5F, 18, 5, 4, Hue::o);
}
void by_hand(const Sheet& s) {
  for (int n = 0; n < 4; ++n) {
    const float x = n % 2 == 0 ? 3.5F : 12.5F, y = n < 2 ? 3.5F : 12.5F;
    s.cell(x, y, 8, 8, Hue::s, n == 3 ? 1.0F : 0.4F + 0.15F * static_cast<float>(n));
  }
  s.line(13.5F, 19, 19.5F, 19, Hue::m, 2);
}
void softmax(const Sheet& s) {
  for (float x = 2; x < 21; x += 3) s.line(x, 6, x + 1.6F, 6, Hue::m);
  s.list->AddBezierCubic(s.at(2, 21), s.at(14, 21), s.at(18, 16), s.at(20, 3), s.ink(Hue::p), style().px(2));
  s.dot(19, 6, 1.6F, Hue::m);
}
void checkpoint(const Sheet& s) {
  s.frame(7, 6, 10, 12, Token::dim, 1);
  const std::string_view mark = "?";
  const float width = text_width(Face::bold, 13, mark);
  draw_text(s.list, {s.at(12, 12).x - width / 2, s.at(12, 12).y - line_height(13) / 2}, Face::bold, 13,
            s.ink(Token::text), mark);
}
void one_pass(const Sheet& s) {
  const ImVec2 stairs[] = {s.at(2, 19), s.at(8, 19), s.at(8, 11), s.at(16, 11), s.at(16, 4), s.at(22, 4)};
  s.list->AddPolyline(stairs, static_cast<int>(std::size(stairs)), s.ink(Hue::m), 0, style().px(2));
  constexpr ImVec2 kDots[] = {{3, 21}, {6, 19.5F}, {9, 13}, {12, 16}, {14, 11.5F}, {17.5F, 8}, {20.5F, 5}};
  for (const ImVec2& d : kDots) s.dot(d.x, d.y, 1.1F, Hue::s);
}
void two_halves(const Sheet& s) {
  s.cell(8.5F, 2, 7, 5, Hue::l);
  s.cell(2, 17, 8, 5, Hue::l, 0.7F);
  s.cell(14, 17, 8, 5, Hue::l, 0.7F);
  s.line(6, 17, 12, 12, Token::text, 1.2F), s.line(18, 17, 12, 12, Token::text, 1.2F);
  s.line(12, 12, 12, 7, Token::text, 1.2F);
  s.list->AddCircleFilled(s.at(12, 12), 2.6F * s.unit, s.ink(Token::card));
  s.list->AddCircle(s.at(12, 12), 2.6F * s.unit, s.ink(Token::text), 0, style().px(1.2F));
  s.line(10.5F, 12, 13.5F, 12, Token::text, 1.2F), s.line(12, 10.5F, 12, 13.5F, Token::text, 1.2F);
}
void masks(const Sheet& s) {
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) {
      const float x = 2.5F + 5 * static_cast<float>(c), y = 2.5F + 5 * static_cast<float>(r);
      if (c <= r) s.cell(x, y, 4, 4, Hue::s, c == r ? 1.0F : 0.6F);
      if (c > r) s.line(x, y + 4, x + 4, y, Token::faint, 1);
    }
  }
}
void bytes(const Sheet& s) {
  constexpr Hue kFew[] = {Hue::q, Hue::k, Hue::v, Hue::o};
  for (int n = 0; n < 4; ++n) s.cell(2 + 3 * static_cast<float>(n), 6, 2.4F, 5, kFew[n]);
  struct Part {
    float x, w;
    Hue hue;
  };
  constexpr Part kMany[] = {
      {2, 2.4F, Hue::q}, {5, 2.4F, Hue::k}, {8, 6, Hue::s}, {14.6F, 5, Hue::p}, {20.2F, 2, Hue::o}};
  for (const Part& p : kMany) s.cell(p.x, 14, p.w, 5, p.hue);
}
void sram(const Sheet& s) {
  s.frame(3, 2, 18, 20, Token::dim);
  constexpr Hue kHues[] = {Hue::q, Hue::k, Hue::o, Hue::s, Hue::v, Hue::p};
  for (int n = 0; n < 6; ++n) {
    const int row = n / 2;
    s.cell(n % 2 == 0 ? 5.0F : 12.5F, 4 + 6 * static_cast<float>(row), 6.5F, 4.6F, kHues[n]);
  }
}
void outside(const Sheet& s) {
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 5; ++c)
      s.cell(2.5F + 4 * static_cast<float>(c), 8 + 4.6F * static_cast<float>(r), 3.2F, 3.6F, Hue::s,
             c == 2 ? 1.0F : 0.4F);
  s.line(2.5F, 4, 20, 4, Token::text, 1.2F), s.line(20, 4, 17.5F, 2, Token::text, 1.2F);
  s.line(20, 4, 17.5F, 6, Token::text, 1.2F);
}
void warps(const Sheet& s) {
  const ImVec2 roof[] = {s.at(2, 20), s.at(12, 6), s.at(22, 6)};
  s.list->AddPolyline(roof, static_cast<int>(std::size(roof)), s.ink(Token::text), 0, style().px(1.8F));
  s.dot(8, 18, 1.6F, Token::dim), s.dot(13, 13, 1.6F, Hue::q), s.dot(17, 9, 1.6F, Hue::v);
}
void few_bits(const Sheet& s) {
  const ImVec2 stairs[] = {s.at(2, 21), s.at(7, 21), s.at(7, 16), s.at(12, 16), s.at(12, 11), s.at(22, 11)};
  s.list->AddPolyline(stairs, static_cast<int>(std::size(stairs)), s.ink(Hue::l), 0, style().px(2));
  for (float n = 0; n < 5; ++n) s.line(12 + 2 * n, 10 - 1.9F * n, 13.1F + 2 * n, 9 - 1.9F * n, Token::dim, 1.4F);
}
void museum(const Sheet& s) {
  s.frame(3, 3, 18, 18, Token::dim);
  const std::string_view alpha = "α";
  const float size = 17, width = text_width(Face::maths, size, alpha);
  draw_text(s.list, {s.at(12, 12).x - width / 2, s.at(12, 12).y - line_height(size) * 0.62F}, Face::maths, size,
            s.ink(Hue::alpha), alpha);
  s.line(6, 19, 18, 5, Hue::m, 2);
}
void backward(const Sheet& s) {
  constexpr Hue kHues[] = {Hue::o, Hue::p, Hue::s};
  for (int n = 0; n < 3; ++n) s.cell(2 + 7.3F * static_cast<float>(n), 3, 5.4F, 6, kHues[n]);
  s.list->AddBezierCubic(s.at(19, 11), s.at(19, 17), s.at(5, 17), s.at(5, 11), s.ink(Token::text), style().px(1.4F));
  s.line(5, 11, 3, 13.5F, Token::text, 1.4F), s.line(5, 11, 7, 13.5F, Token::text, 1.4F);
  s.frame(9, 17.5F, 6, 5, Hue::p, 1);
}
void overlap(const Sheet& s) {
  for (int n = 0; n < 3; ++n) s.cell(1.5F + 7.4F * static_cast<float>(n), 6, 5.6F, 4.6F, Hue::s);
  for (int n = 0; n < 2; ++n) s.cell(5.2F + 7.4F * static_cast<float>(n), 13, 5.6F, 4.6F, Hue::p);
  s.cell(20, 13, 2.6F, 4.6F, Hue::p);
}

void ring(const Sheet& s) {
  s.cell(9, 1.5F, 6, 5, Hue::k), s.cell(17, 9.5F, 6, 5, Hue::v);
  s.cell(9, 17.5F, 6, 5, Hue::k), s.cell(1, 9.5F, 6, 5, Hue::v);
  s.list->AddBezierCubic(s.at(16, 4), s.at(19, 4), s.at(20, 6), s.at(20, 8.5F), s.ink(Token::text), style().px(1.4F));
  s.list->AddBezierCubic(s.at(20, 15.5F), s.at(20, 18), s.at(19, 20), s.at(16, 20), s.ink(Token::text),
                         style().px(1.4F));
  s.list->AddBezierCubic(s.at(8, 20), s.at(5, 20), s.at(4, 18), s.at(4, 15.5F), s.ink(Token::text), style().px(1.4F));
  s.list->AddBezierCubic(s.at(4, 8.5F), s.at(4, 6), s.at(5, 4), s.at(8, 4), s.ink(Token::text), style().px(1.4F));
}

struct Picture {
  std::string_view lesson;
  void (*draw)(const Sheet&);
};
constexpr Picture kPictures[] = {{"wall", wall},
                                 {"weighted-average", average},
                                 {"by-hand", by_hand},
                                 {"safe-softmax", softmax},
                                 {"checkpoint-row", checkpoint},
                                 {"one-pass", one_pass},
                                 {"two-halves", two_halves},
                                 {"masks", masks},
                                 {"checkpoint-merge", checkpoint},
                                 {"bytes", bytes},
                                 {"sram", sram},
                                 {"outside", outside},
                                 {"few-warps", warps},
                                 {"few-bits", few_bits},
                                 {"bug-museum", museum},
                                 {"backward", backward},
                                 {"overlap", overlap},
                                 {"ring", ring}};

}  // namespace

void draw_chapter_picture(ImDrawList* list, ImVec2 centre, float radius, const ChapterScene& chapter, float strength) {
  const auto* picture = std::ranges::find(kPictures, chapter.id, &Picture::lesson);
  if (picture != std::end(kPictures)) {
    const float side = radius * 1.22F;  // a square within the circle
    return picture->draw({list, {centre.x - side / 2, centre.y - side / 2}, side / 24, strength});
  }
  const std::string& words = chapter.number.empty() ? chapter.title.substr(0, 1) : chapter.number;
  const float width = text_width(Face::bold, 18, words);
  draw_text(list, {centre.x - width / 2, centre.y - line_height(18) / 2}, Face::bold, 18,
            faded(colour_of(Token::text), strength), words);
}

}  // namespace attn
