#include "viz/learn/lesson/lesson_place.h"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

// A letter and the number after it: "i12". False where `text` does not begin with the letter.
bool take_number(std::string_view& text, char letter, std::int32_t& value) {
  if (text.size() < 2 || text[0] != letter || std::isdigit(static_cast<unsigned char>(text[1])) == 0) return false;
  const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
  if (code != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Result<LessonPlace> parse_place(std::string_view text) {
  const std::string_view all = text;
  const auto refuse = [&] {
    return bad_input(phrase("invalid place '{}'; use i0j3.max, i0.normalise or *, for example", all));
  };
  LessonPlace place;
  if (text == "*") {
    place.all = true;
    return place;
  }
  if (take_number(text, 'b', place.b) && !take_number(text, 'h', place.h)) return refuse();
  const bool query = take_number(text, 'i', place.i), key = take_number(text, 'j', place.j);
  if (!query && !key) return refuse();
  if (text.empty()) return place;
  if (text[0] != '.') return refuse();
  place.phase = phase_named(text.substr(1));
  if (!place.phase) return bad_input(phrase("'{}' does not name a phase", all));
  return place;
}

Result<EventIndex> event_at(const Recording& rec, const LessonPlace& place) {
  if (place.all || !place.phase) return bad_input(tr("a destination must name a phase, such as i0j0.scores"));
  const EventId id{place.b, place.h, place.i, place.j, *place.phase};
  if (const auto e = rec.find(id)) return *e;
  // Orders differ in whether a load or an end has a query or a key tile.
  // Naive loads each key tile once, with the first query tile.
  const bool load = place.phase == Phase::load_k || place.phase == Phase::load_v || place.phase == Phase::load_kv;
  for (const auto& [i, j] : {std::pair{place.i, -1}, {-1, place.j}, {0, place.j}}) {
    if (i == 0 && !load) continue;
    if (const auto e = rec.find({place.b, place.h, i, j, *place.phase})) return *e;
  }
  return bad_input(phrase("the run has no step {}", place_words(place)));
}

std::string place_words(const LessonPlace& p) {
  if (p.all) return tr("in any tile");
  std::string words = "at ";
  if (p.i >= 0) words += fmt::format("i{}", p.i);
  if (p.j >= 0) words += fmt::format("j{}", p.j);
  if (p.phase) words += fmt::format(".{}", name_of(*p.phase));
  return words;
}

}  // namespace attn
