#include "viz/step/strip.h"

#include <algorithm>

#include <fmt/format.h>

#include "viz/draw/number_text.h"

namespace attn {
namespace {

// The condition list of a text, all of which must hold.
bool holds(std::string_view when, const StepValues& values) {
  while (!when.empty()) {
    const std::size_t space = when.find(' ');
    if (!values.conditions.contains(when.substr(0, space))) return false;
    when = space == std::string_view::npos ? std::string_view() : when.substr(space + 1);
  }
  return true;
}

Ink ink_of_letter(std::string_view letter) {
  if (letter.starts_with("α")) return TensorColour::alpha;
  if (letter.starts_with("ℓ")) return TensorColour::l;
  switch (letter.empty() ? ' ' : letter[0]) {
    case 'Q':
    case 'q':
      return TensorColour::q;
    case 'K':
    case 'k':
      return TensorColour::k;
    case 'V':
    case 'v':
      return TensorColour::v;
    case 'S':
      return TensorColour::s;
    case 'P':
      return TensorColour::p;
    case 'm':
      return TensorColour::m;
    case 'O':
      return TensorColour::o;
    default:
      return Token::text;
  }
}

struct Parser {
  const StepValues& values;
  Face face;
  Ink ink;
  Runs runs;

  void add(std::string text, Face f, Ink i, int raise) {
    if (text.empty()) return;
    if (!runs.empty() && runs.back().face == f && runs.back().ink == i && runs.back().raise == raise) {
      runs.back().text += text;
    } else {
      runs.push_back({std::move(text), f, i, raise, false});
    }
  }
  std::string number(std::string_view name) const {
    const auto at = values.numbers.find(name);
    return at == values.numbers.end() ? "?" : at->second.text;
  }
  // Subscripts may hold numbers: "{row},{key}".
  std::string filled(std::string_view text) const {
    std::string out;
    for (std::size_t n = 0; n < text.size();) {
      const std::size_t end = text[n] == '{' ? text.find('}', n) : std::string_view::npos;
      if (end != std::string_view::npos) {
        out += number(text.substr(n + 1, end - n - 1));
        n = end + 1;
      } else {
        out += text[n++];
      }
    }
    return out;
  }
  void letter(std::string_view inside, int raise) {
    const std::size_t bar = inside.find('|');
    const std::string_view name = inside.substr(0, bar);
    const Ink hue = ink_of_letter(name);
    add(std::string(name), Face::maths, hue, raise);
    if (bar == std::string_view::npos) return;
    add(filled(inside.substr(bar + 1)), Face::text, hue, raise != 0 ? 2 : -1);
  }
  void parse(std::string_view text, int raise) {
    std::size_t plain = 0, n = 0;
    const auto flush = [&] { add(std::string(text.substr(plain, n - plain)), face, ink, raise); };
    while (n < text.size()) {
      const char c = text[n];
      if (c == '[' || c == '{') {
        const std::size_t end = text.find(c == '[' ? ']' : '}', n);
        if (end == std::string_view::npos) break;
        flush();
        const std::string_view inside = text.substr(n + 1, end - n - 1);
        if (c == '[') {
          letter(inside, raise);
        } else {
          const auto at = values.numbers.find(inside);
          // Counts and indices read as words; values stand in the number face and their tensor's colour.
          const bool value = at != values.numbers.end() && at->second.value;
          add(number(inside), value ? Face::mono : face, value ? at->second.ink : ink, raise);
        }
        plain = n = end + 1;
      } else if (c == '^' && n + 1 < text.size() && text[n + 1] == '(') {
        const std::size_t end = text.find(')', n);
        if (end == std::string_view::npos) break;
        flush();
        parse(text.substr(n + 2, end - n - 2), 1);
        plain = n = end + 1;
      } else {
        ++n;
      }
    }
    n = text.size();
    flush();
  }
};

std::string position_words(const Recording& rec, const StepPlace& at) {
  std::string words = fmt::format("Step {} of {}", at.event + 1, rec.events.size());
  if (rec.problem.B > 1) words += fmt::format(", batch {}", at.b);
  if (rec.problem.Hq > 1) words += fmt::format(", query head {}", at.h);
  if (at.i >= 0)
    words += rec.order == Order::naive && at.br == 1 ? fmt::format(", query row {}", at.i)
                                                     : fmt::format(", query tile {}", at.i);
  if (at.j >= 0 && rec.key_tiles() > 1) words += fmt::format(", key tile {}", at.j);
  return words + ": " + std::string(letter_of(rec.events[at.event].id.phase));
}

}  // namespace

Runs runs_of(std::string_view text, const StepValues& values, Face face, Ink ink) {
  Parser parser{values, face, ink, {}};
  parser.parse(text, 0);
  return parser.runs;
}

Ink ink_of(Phase phase) {
  switch (phase) {
    case Phase::load_q:
      return TensorColour::q;
    case Phase::load_kv:
    case Phase::load_k:
      return TensorColour::k;
    case Phase::load_v:
      return TensorColour::v;
    case Phase::scores:
    case Phase::mask:
    case Phase::store_s:
      return TensorColour::s;
    case Phase::max:
      return TensorColour::m;
    case Phase::rescale:
      return TensorColour::alpha;
    case Phase::weights:
      return TensorColour::p;
    case Phase::sum:
      return TensorColour::l;
    case Phase::load_state:
    case Phase::output:
    case Phase::normalise:
    case Phase::store_o:
    case Phase::store_state:
      return TensorColour::o;
    case Phase::skipped:
      return Token::faint;
  }
  return Token::text;
}

std::string_view letter_of(Phase phase) {
  switch (phase) {
    case Phase::load_q:
      return "Q";
    case Phase::load_kv:
      return "K V";
    case Phase::load_k:
      return "K";
    case Phase::load_v:
      return "V";
    case Phase::load_state:
      return "in";
    case Phase::scores:
      return "S";
    case Phase::mask:
      return "mask";
    case Phase::store_s:
      return "S out";
    case Phase::max:
      return "m";
    case Phase::rescale:
      return "α";
    case Phase::weights:
      return "P";
    case Phase::sum:
      return "ℓ";
    case Phase::output:
      return "O";
    case Phase::normalise:
      return "÷ℓ";
    case Phase::store_o:
    case Phase::store_state:
      return "out";
    case Phase::skipped:
      return "skipped";
  }
  return "";
}

StripScene strip_scene(const Recording& rec, const StepPlace& at, const StepValues& values, const StepTexts& texts) {
  StripScene scene;
  const Phase phase = rec.events[at.event].id.phase;
  scene.position = position_words(rec, at);
  scene.accent = ink_of(phase);
  const std::vector<StepText>* list = texts.find(rec.order, phase);
  if (list == nullptr) {
    scene.headline = {{std::string(name_of(phase)), Face::bold, Token::text, 0, false}};
    return scene;
  }
  for (const StepText& text : *list) {
    if (!holds(text.when, values)) continue;
    scene.headline = runs_of(text.headline, values, Face::bold, Token::text);
    scene.sentence = runs_of(text.sentence, values, Face::text, Token::dim);
    scene.formula = runs_of(text.formula, values, Face::text, Token::dim);
    break;
  }
  return scene;
}

void draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene) {
  const Style& s = style();
  draw_card(list, box);
  list->AddRectFilled(box.min, {box.min.x + s.px(5), box.max.y}, colour_of(scene.accent), s.px(8),
                      ImDrawFlags_RoundCornersLeft);
  const float left = box.min.x + s.px(24), right = box.max.x - s.px(24);
  // A low strip has its three lines closer to the top edge.
  const float lift = box.height() < s.px(80) ? s.px(4) : 0;
  draw_text(list, {left, box.min.y + s.px(12) - lift}, Face::text, 13, colour_of(Token::dim), scene.position);
  const float headline_end = draw_runs(list, {left, box.min.y + s.px(31) - lift}, 20, scene.headline);
  // The formula stands at the right of headline and position; where it would touch the headline it shrinks, then
  // the part before the numbers is enough for the eye, so it is left out.
  float size = 17;
  const float room = right - headline_end - s.px(32);
  while (size > 12 && runs_width(scene.formula, size) > room) size -= 1;
  const bool formula_fits = runs_width(scene.formula, size) <= room;
  if (formula_fits) {
    const float y = box.min.y + s.px(33) + (s.px(20) - s.px(size)) / 2;
    draw_runs(list, {right - runs_width(scene.formula, size), y}, size, scene.formula);
  }
  draw_paragraph(list, {left, box.min.y + s.px(60) - lift * 1.5F}, right - left, 14, scene.sentence, 1);
}

}  // namespace attn
