#include "app/print/page_flow.h"

#include <algorithm>
#include <utility>

#include "kernels/base/text.h"
#include "viz/draw/theme_table.h"

namespace attn {
namespace {

constexpr double kLineOfText = 1.42, kBaseline = 1.05;  // times the size
constexpr double kRuledLine = 21, kThin = 0.5;
constexpr std::uint32_t kRule = 0xB4BBC4, kLight = 0xF1F3F5, kStrong = 0x8B95A1;

TextRuns of(const TextRun& like, std::string text) {
  TextRun run = like;
  run.text = std::move(text);
  return {std::move(run)};
}

}  // namespace

PageFlow::PageFlow(Pdf pdf, const Paper& paper, std::string foot)
    : pdf_(std::move(pdf)), paper_(paper), foot_(std::move(foot)) {}

// place(x, line, run) of every piece that stays together; returns the number of lines.
template <class Place>
double PageFlow::broken(const TextRuns& words, double size, double indent, const Place& place) const {
  struct Piece {
    TextRuns run;
    double width;
  };
  std::vector<Piece> together;  // up to the next place to break
  double x = 0, wide = 0;
  int line = 0;
  const auto flush = [&] {
    if (x > 0 && x + wide > room() - indent) x = 0, ++line;
    for (const Piece& piece : together) {
      place(x, line, piece.run);
      x += piece.width;
    }
    together.clear();
    wide = 0;
  };
  const auto add = [&](const TextRun& like, std::string text) {
    if (text.empty()) return;
    TextRuns run = of(like, std::move(text));
    const double width = pdf_.width(size, run);
    wide += width;
    together.push_back({std::move(run), width});
  };
  for (const TextRun& run : words) {
    std::string text;
    for (const char c : run.text) {
      if (c != ' ' && c != '\n') {
        text += c;
        continue;
      }
      add(run, std::exchange(text, {}));
      flush();
      if (c == '\n')
        x = 0, ++line;
      else if (x > 0)
        x += pdf_.width(size, of(run, " "));
    }
    add(run, std::move(text));
  }
  flush();
  return line + 1;
}

double PageFlow::height_of(const TextRuns& words, double size, double indent) const {
  return broken(words, size, indent, [](double, int, const TextRuns&) {}) * size * kLineOfText;
}

void PageFlow::paragraph(const TextRuns& words, double size, double gap, double indent) {
  if (words.empty()) return;
  const double height = height_of(words, size, indent);
  keep(std::min(height, size * kLineOfText * 4));
  double top = y_;
  int first = 0;
  broken(words, size, indent, [&](double x, int line, const TextRuns& run) {
    // What is longer than a page goes on.
    if (top + (line - first + 1) * size * kLineOfText > paper_.height - kBottom) {
      foot();
      pdf_.next_page();
      ++page_;
      top = kTop, first = line;
    }
    pdf_.words(kSide + indent + x, top + (line - first) * size * kLineOfText + size * kBaseline, size, run);
  });
  const double lines = height / (size * kLineOfText);
  y_ = top + (lines - first) * size * kLineOfText + gap;
}

void PageFlow::ends_of_line(const TextRuns& left, const TextRuns& right, double size, double gap) {
  pdf_.words(kSide, y_ + size, size, left);
  pdf_.words(paper_.width - kSide - pdf_.width(size, right), y_ + size, size, right);
  y_ += size * kLineOfText + gap;
}

LaidOut PageFlow::laid_out_here(const PlanScene& scene, double size) const {
  return laid_out(scene, static_cast<float>(room()), static_cast<float>(size),
                  [&](float high, const TextRuns& words) { return static_cast<float>(pdf_.width(high, words)); });
}

double PageFlow::height_of(const PlanScene& scene, double size) const {
  return laid_out_here(scene, size).height;
}

void PageFlow::picture(const PlanScene& scene, double size, double gap) {
  const LaidOut picture = laid_out_here(scene, size);
  keep(picture.height);
  for (const PlanRect& r : picture.rects) {
    const double x = kSide + r.x, y = y_ + r.y;
    if (r.fill == PlanFill::light) pdf_.fill(x, y, r.width, r.height, kLight);
    if (r.fill == PlanFill::strong) pdf_.fill(x, y, r.width, r.height, kStrong);
    if (r.fill == PlanFill::hatched) pdf_.hatch(x, y, r.width, r.height, kStrong);
    pdf_.edge(x, y, r.width, r.height, r.dashed);
  }
  for (const PlanWords& w : picture.words) {
    const double wide = pdf_.width(w.size, w.words);
    const double x = w.align == PlanAlign::left     ? w.x
                     : w.align == PlanAlign::centre ? w.x + (w.width - wide) / 2
                                                    : w.x + w.width - wide;
    pdf_.words(kSide + x, y_ + w.y + w.height / 2 + w.size * 0.36, w.size, w.words);
  }
  y_ += picture.height + gap;
}

void PageFlow::ruled(int lines, double gap) {
  for (int n = 0; n < lines; ++n) {
    y_ += kRuledLine;
    pdf_.line(kSide, y_, paper_.width - kSide, y_, kThin, kRule);
  }
  y_ += gap;
}

void PageFlow::rule(double gap) {
  pdf_.line(kSide, y_, paper_.width - kSide, y_, kThin, kRule);
  y_ += gap;
}

void PageFlow::keep(double points) {
  if (y_ + points <= paper_.height - kBottom || y_ == kTop) return;
  foot();
  pdf_.next_page();
  ++page_;
  y_ = kTop;
}

void PageFlow::foot() {
  constexpr double kSize = 8.5;
  const double y = paper_.height - kBottom + 26;
  const TextRuns number{word(phrase("page {}", page_), Token::dim)};
  pdf_.words(kSide, y, 8, {{foot_, Face::mono, Token::dim, 0, false}});  // a command
  pdf_.words(paper_.width - kSide - pdf_.width(kSize, number), y, kSize, number);
}

Result<std::vector<std::byte>> PageFlow::end() {
  foot();
  return pdf_.end();
}

}  // namespace attn
