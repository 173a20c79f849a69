#include "viz/step/facts/letters.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/inks.h"
#include "viz/step/place/place.h"

namespace attn {
namespace {

Ink ink_of_letter(std::string_view letter) {
  if (letter.starts_with("α")) return TensorColour::alpha;
  if (letter.starts_with("ℓ")) return TensorColour::l;
  if (letter.starts_with("δ")) return TensorColour::alpha;
  // A gradient has the colour of what it is the gradient of.
  if (letter.size() > 1 && letter[0] == 'd') return ink_of_letter(letter.substr(1));
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
  TextRuns runs;

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
  // The narrow space between thousands is the words': the numbers' face has none.
  void add_number(std::string_view text, Ink hue, int raise) {
    constexpr std::string_view kNarrow = "\u2009";
    for (std::size_t at = text.find(kNarrow); at != std::string_view::npos; at = text.find(kNarrow)) {
      add(std::string(text.substr(0, at)), Face::mono, hue, raise);
      add(std::string(kNarrow), Face::text, hue, raise);
      text.remove_prefix(at + kNarrow.size());
    }
    add(std::string(text), attn::number(std::string(text)).face, hue, raise);
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
  // The sign before a number becomes another.
  bool turns(std::string_view sign, std::string_view into) {
    if (runs.empty() || !runs.back().text.ends_with(sign)) return false;
    std::string& text = runs.back().text;
    text.replace(text.size() - sign.size(), sign.size(), into);
    return true;
  }
  // As it stands behind the sign before it: "a + −b" is "a − b", "a = ≈ b" is "a ≈ b"; and the formula does not lead
  // to a number that differs.
  std::string_view behind_sign(const StepNumber& x) {
    constexpr std::string_view kMinus = "−", kAbout = "≈ ";
    std::string_view text = x.text;
    if (x.differs) turns("= ", "≠ ");
    if (text.starts_with(kAbout) && turns("= ", kAbout)) text.remove_prefix(kAbout.size());
    if (text.starts_with(kMinus) && turns(" + ", " − ")) text.remove_prefix(kMinus.size());
    return text;
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
          if (value)
            add_number(behind_sign(at->second), at->second.ink, raise);
          else
            add(number(inside), face, ink, raise);
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

// What a step between a score and its use does to it: empty where that is another step, or all that there is a mask.
std::vector<std::string> changes_of_scores(const Recording& rec, EventIndex e) {
  const Problem& p = rec.problem;
  if (rec.events[e].id.phase != Phase::mask || !p.changes_scores()) return {};
  const StepPlace at = place_of(rec, e, {});
  const std::int64_t end = std::int64_t{at.first_key} + at.keys;
  std::vector<std::string> all;
  if (p.softcap) all.emplace_back(tr("softcap"));
  if (p.has_bias()) all.emplace_back(tr("bias"));
  if (p.alibi) all.emplace_back("ALiBi");
  if (p.cover(at.b, at.first_row, at.first_row + at.rows, at.first_key, end) != TileCover::full)
    all.emplace_back(letter_of(Phase::mask));
  return all;
}

}  // namespace

bool holds(std::string_view when, const StepValues& values) {
  while (!when.empty()) {
    const std::size_t space = when.find(' ');
    if (!values.conditions.contains(when.substr(0, space))) return false;
    when = space == std::string_view::npos ? std::string_view() : when.substr(space + 1);
  }
  return true;
}

TextRuns runs_of(std::string_view text, const StepValues& values, Face face, Ink ink) {
  Parser parser{values, face, ink, {}};
  parser.parse(text, 0);
  return parser.runs;
}

Ink ink_of(Phase phase) {
  const std::optional<Slot> makes = phase_name(phase).makes;
  return makes ? Ink(tensor_of(*makes)) : Ink(Token::faint);
}

std::string_view letter_of(Phase phase) {
  return phase_name(phase).letter;
}

std::string letter_of_step(const Recording& rec, EventIndex e) {
  const std::vector<std::string> changes = changes_of_scores(rec, e);
  if (changes.empty()) return std::string(letter_of(rec.events[e].id.phase));
  return fmt::format("{}", fmt::join(changes, ", "));
}

std::string brief_letter_of_step(const Recording& rec, EventIndex e) {
  const std::vector<std::string> changes = changes_of_scores(rec, e);
  if (changes.size() < 2) return letter_of_step(rec, e);
  return changes.front() + " …";
}

std::string_view letter_of(Slot slot) {
  return slot_row(slot).letter;
}

std::string range_words(std::string_view what, std::int32_t first, std::int32_t count) {
  static constexpr std::pair<std::string_view, std::string_view> kSeveral[] = {
      {"row", marked("rows")}, {"key", marked("keys")}, {"value", marked("values")}, {"query", marked("queries")}};
  if (count <= 1) return fmt::format(" {} {}", tr_of(what), first);
  const auto* const several = std::ranges::find(kSeveral, what, [](const auto& words) { return words.first; });
  return fmt::format(" {} {}–{}", several == std::end(kSeveral) ? what : tr_of(several->second), first,
                     first + count - 1);
}

}  // namespace attn
