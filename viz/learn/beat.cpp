#include "viz/learn/beat.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/learn/figure/figure.h"
#include "viz/learn/lesson/references.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/values.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// "S[0,2]" of a click: which cell, and what it holds.
struct NamedCell {
  std::string_view tensor;
  std::int32_t row = 0, col = 0;
};
std::optional<NamedCell> named_cell(std::string_view text) {
  NamedCell cell;
  const std::size_t open = text.find('['), comma = text.find(','), close = text.find(']');
  if (open == text.npos || close == text.npos || !is_tensor_name(text.substr(0, open))) return std::nullopt;
  cell.tensor = text.substr(0, open);
  const std::string_view row = text.substr(open + 1, std::min(comma, close) - open - 1);
  const std::string_view col = comma == text.npos ? "0" : text.substr(comma + 1, close - comma - 1);
  for (const auto& [part, number] : {std::pair{row, &cell.row}, std::pair{col, &cell.col}}) {
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), *number);
    if (code != std::errc() || end != part.data() + part.size()) return std::nullopt;
  }
  return cell;
}

struct CellLetter {
  std::string_view tensor, letter, mark;
  Slot slot;
  bool by_col;
};
constexpr CellLetter kCellLetters[] = {
    {"Q", "Q", "", Slot::q, true},
    {"K", "K", "", Slot::k, true},
    {"V", "V", "", Slot::v, true},
    {"S", "S", "", Slot::s, true},
    {"P", "P", "", Slot::p, true},
    {"m", "m", "", Slot::m_new, false},
    {"l", "ℓ", "", Slot::l_new, false},
    {"O", "O", "", Slot::o_new, true},
    {"alpha", "α", "", Slot::alpha, false},
    {"m_old", "m", "old", Slot::m_old, false},
    {"l_old", "ℓ", "old", Slot::l_old, false},
    {"O_old", "O", "old", Slot::o_old, true},
};

// Whether `id` holds the truth at this cell.
bool holds_at(const Recording& rec, VersionId id, const CellRef& cell, double truth) {
  if (id == kNoVersion) return false;
  const Version& v = rec.version(id);
  const std::int32_t r = cell.row - v.first_row, c = cell.col - v.first_col;
  if (r < 0 || r >= v.rows || c < 0 || c >= v.cols) return false;
  const auto at = static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c);
  return static_cast<double>(rec.values(id)[at]) == truth;
}

// The cell of the tile on screen that a number is asked of. None where the value is no cell, is one of another tile, or
// stands there already: which cells a step fills is no secret, what it puts in is.
std::optional<CellRef> asked_cell(const Beat& beat, const ExpressionScope& scope, double truth) {
  const std::string_view value = beat.ask->value;
  const std::size_t close = value.find(']');
  if (beat.ask->kind != AskKind::num || beat.reveal.empty() || !beat.reveal_run.empty() || close == value.npos)
    return std::nullopt;
  if (close + 1 != value.size() && value[close + 1] != '@') return std::nullopt;
  const auto named = named_cell(value);
  const auto rec = scope.recording_of(scope.run);
  const auto place = parse_place(beat.reveal);
  if (!named || !rec || !place) return std::nullopt;
  const auto revealed = event_at(**rec, *place);
  if (!revealed) return std::nullopt;
  // While parts are merged they have a picture of their own, which has no field.
  const OrderLook* const usual = &order_look((*rec)->order);
  if (&look_at(**rec, scope.horizon) != usual || &look_at(**rec, *revealed) != usual) return std::nullopt;
  const EventId &then = (*rec)->events[*revealed].id, &now = (*rec)->events[scope.horizon].id;
  if (then.b != now.b || then.h != now.h || then.i != now.i) return std::nullopt;
  if (now.j >= 0 && then.j >= 0 && then.j != now.j) return std::nullopt;
  for (const CellLetter& l : kCellLetters) {
    // O so far stands where the new O will.
    if (l.tensor != named->tensor || l.slot == Slot::o_new) continue;
    const CellRef cell{l.slot, named->row, named->col};
    if (holds_at(**rec, (*rec)->after(scope.horizon, l.slot), cell, truth)) return std::nullopt;
    if (holds_at(**rec, (*rec)->after(*revealed, l.slot), cell, truth)) return cell;
  }
  return std::nullopt;
}

Result<Choice> cell_choice(const std::string& text, ExpressionScope& scope) {
  const auto cell = named_cell(text);
  if (!cell) return bad_input(phrase("unknown cell '{}'; use S[0,2], for example", text));
  Choice choice;
  for (const CellLetter& l : kCellLetters) {
    if (l.tensor != cell->tensor) continue;
    const Ink ink = tensor_of(l.slot);
    choice.label.push_back(letter(std::string(l.letter), ink));
    const std::string index = l.by_col ? fmt::format("{},{}", cell->row, cell->col) : fmt::format("{}", cell->row);
    choice.label.push_back(subscript(l.mark.empty() ? index : fmt::format("{} {}", l.mark, index), ink));
    choice.slot = l.slot;
    choice.row = cell->row, choice.col = l.by_col ? cell->col : -1;
  }
  const EventIndex latest = std::exchange(scope.latest, kNoEvent);
  const auto value = evaluate_number(text, scope);
  const EventIndex made = std::exchange(scope.latest, latest);
  if (!value) return tl::unexpected(value.error());
  if (made == kNoEvent || made <= scope.horizon) choice.value = *value;
  return choice;
}

// Keys are chosen by their column of K or S, rows by any cell of theirs.
Choice line_choice(ClickAmong among, std::int32_t n) {
  Choice choice;
  const bool key = among == ClickAmong::keys;
  choice.label.push_back(word(fmt::format("{} {}", key ? tr("key") : tr("row"), n), Token::text));
  if (key) choice.slot = Slot::s;
  (key ? choice.col : choice.row) = n;
  return choice;
}

// The lines of a kernel; the one with the most samples is the right one.
Result<void> add_lines(const Beat& beat, const ExpressionScope& scope, Question& q) {
  if (!scope.session) return bad_input(tr("the lesson does not name a session"));
  const auto session = scope.session(beat.session);
  if (!session) return tl::unexpected(session.error());
  const auto lines = named_lines(**session, *beat.figure, beat.ask->cells);
  if (!lines) return bad_input(phrase("field 'lines': {}", lines.error().message));
  const auto most = std::ranges::max_element(*lines, {}, &NamedLine::samples);
  if (std::ranges::count(*lines, most->samples, &NamedLine::samples) != 1)
    return bad_input(phrase("field 'lines': several lines tie for the most samples ({})", most->samples));
  for (const NamedLine& line : *lines) {
    Choice choice;
    choice.label = {word(phrase("line {}: ", line.number), Token::dim),
                    {line.words, Face::mono, Token::text, 0, false}};
    choice.line = line.number;
    q.choices.push_back(std::move(choice));
    q.right.push_back(&line == &*most);
  }
  q.truth = static_cast<double>(most - lines->begin());
  return ok();
}

Result<void> add_click(const Beat& beat, ExpressionScope& scope, Question& q) {
  const LessonAsk& ask = *beat.ask;
  if (ask.among == ClickAmong::lines) return add_lines(beat, scope, q);
  std::int32_t first = 0;
  if (ask.among == ClickAmong::cells) {
    for (const std::string& cell : ask.cells) {
      auto choice = cell_choice(cell, scope);
      if (!choice) return tl::unexpected(choice.error());
      q.choices.push_back(*std::move(choice));
    }
  } else {
    first = ask.first;
    for (std::int32_t n = ask.first; n <= ask.last; ++n) q.choices.push_back(line_choice(ask.among, n));
  }
  q.right.assign(q.choices.size(), false);
  const double at = q.truth - first;
  if (!(at >= 0 && at < static_cast<double>(q.choices.size())) || at != std::floor(at)) {
    return bad_input(phrase("field 'value': {} is not one of the clickable choices", q.truth));
  }
  q.right[static_cast<std::size_t>(at)] = true;
  return ok();
}

Result<void> add_map(const LessonAsk& ask, ExpressionScope& scope, Question& q) {
  const auto rec = scope.recording_of(scope.run);
  if (!rec) return tl::unexpected(rec.error());
  q.map_rows = (*rec)->query_tiles();
  q.map_cols = (*rec)->key_tiles();
  for (std::int32_t i = 0; i < q.map_rows; ++i) {
    for (std::int32_t j = 0; j < q.map_cols; ++j) {
      q.kinds.push_back(kind_of_tile(**rec, scope.at.b, i, j));
      q.right.push_back(q.kinds.back() == ask.tiles);
    }
  }
  if (std::count(q.right.begin(), q.right.end(), true) == 0)
    return bad_input("field 'tiles': the run has no such tiles");
  return ok();
}

// The line of a drag, with what is known on it. What lies beyond its ends could not be seen on it.
Result<NumberBar> bar_of(const AskBar& ask, double truth, ExpressionScope& scope) {
  NumberBar bar{{ask.from, ask.to, ask.decades}, std::nullopt, std::nullopt, {}, std::nullopt, ask.key};
  const auto outside = [&](const char* field, double value) {
    return bad_input(phrase("field '{}': {} is out of range; use {} to {}", field, value, ask.from, ask.to));
  };
  const auto lies_on = [&](double value) { return value >= ask.from && value <= ask.to; };
  if (!lies_on(truth)) return outside("value", truth);
  for (const auto& [field, text, place] :
       {std::tuple("start", &ask.start, &bar.start), std::tuple("beside", &ask.beside, &bar.beside)}) {
    if (text->empty()) continue;
    const auto value = evaluate_number(*text, scope);
    if (!value) return bad_input(phrase("field '{}': {}", field, value.error().message));
    if (!lies_on(*value)) return outside(field, *value);
    *place = *value;
  }
  return bar;
}

std::optional<TileKind> tile_kind_named(std::string_view name) {
  if (name == "skipped") return TileKind::skipped;
  if (name == "partial") return TileKind::partial;
  if (name == "full") return TileKind::full;
  return std::nullopt;
}

}  // namespace

TileKind kind_of_tile(const Recording& rec, std::int32_t b, std::int32_t i, std::int32_t j) {
  const Problem& p = rec.problem;
  const auto extent = [](std::int32_t tile, std::int64_t all) { return tile > 0 ? tile : all; };
  const std::int64_t br = extent(rec.options.br, p.Lq), bc = extent(rec.options.bc, p.Lk);
  switch (p.cover(b, i * br, std::min((i + 1) * br, p.Lq), j * bc, std::min((j + 1) * bc, p.Lk))) {
    case TileCover::skipped:
      return TileKind::skipped;
    case TileCover::partial:
      return TileKind::partial;
    case TileCover::full:
      break;
  }
  return TileKind::full;
}

Result<ExpressionScope> scope_of(const Beat& beat, std::int32_t row, LessonFacts runs) {
  auto at = parse_place(beat.at);
  if (!at) return tl::unexpected(at.error());
  ExpressionScope scope;
  static_cast<LessonFacts&>(scope) = std::move(runs);
  scope.run = beat.run;
  scope.at = *at;
  // A load of Q stands before all key tiles: what is said of "its" tile is then of the first one.
  if (scope.at.j < 0 && scope.at.phase == Phase::load_q) scope.at.j = 0;
  scope.row = row;
  scope.session_name = beat.session;
  const auto rec = scope.recording_of(beat.run);
  if (!rec) return tl::unexpected(rec.error());
  const auto stands = event_at(**rec, *at);
  if (!stands) return tl::unexpected(stands.error());
  scope.horizon = *stands;
  return scope;
}

Result<Question> question_of(const Beat& beat, ExpressionScope& scope) {
  const LessonAsk& ask = *beat.ask;
  Question q;
  scope.latest = kNoEvent;
  const auto in_field = [](const char* field, const Error& e) {
    return bad_input(phrase("field '{}': {}", field, e.message));
  };
  if (!ask.value.empty()) {
    const auto truth = evaluate_number(ask.value, scope);
    if (!truth) return in_field("value", truth.error());
    q.truth = *truth;
    q.cell = asked_cell(beat, scope, q.truth);
  }
  if (ask.bar) {
    auto bar = bar_of(*ask.bar, q.truth, scope);
    if (!bar) return tl::unexpected(bar.error());
    q.bar = *std::move(bar);
  }
  for (const PickOption& option : ask.options) {
    const auto truth = evaluate_number(option.truth, scope);
    if (!truth) return in_field("options", truth.error());
    q.right.push_back(*truth != 0);
    Choice choice;
    choice.words = option.text;
    q.choices.push_back(std::move(choice));
  }
  q.latest = scope.latest;
  if (ask.kind == AskKind::click) {
    if (auto added = add_click(beat, scope, q); !added) return tl::unexpected(added.error());
  }
  if (ask.kind == AskKind::tiles) {
    if (auto added = add_map(ask, scope, q); !added) return tl::unexpected(added.error());
  }
  for (const WrongAnswer& wrong : ask.wrong) {
    if (ask.kind == AskKind::tiles) {
      if (!tile_kind_named(wrong.value))
        return bad_input(phrase("field 'wrong': '{}' is unknown; use skipped, partial or full", wrong.value));
      q.wrong.push_back(kNaN);
      continue;
    }
    const auto value = evaluate_number(wrong.value, scope);
    if (!value) return in_field("wrong", value.error());
    q.wrong.push_back(*value);
  }
  return q;
}

namespace {

Judgement judge_tiles(const LessonAsk& ask, const Question& q, const Answer& answer) {
  std::vector<bool> taken(q.right.size(), false);
  for (const std::size_t n : answer.chosen)
    if (n < taken.size()) taken[n] = true;
  Judgement j;
  j.right = taken == q.right;
  for (const WrongAnswer& wrong : ask.wrong) {
    const auto kind = tile_kind_named(wrong.value);
    for (std::size_t n = 0; !j.right && j.text.empty() && n < taken.size(); ++n) {
      if (taken[n] && q.kinds[n] == kind) j.text = wrong.text, j.about = wrong.about;
    }
  }
  return j;
}

// Who makes a usual mistake also rounds: as near as the truth is asked for, and two percent at least; but nearer to the
// mistake than to the truth.
bool is_mistake(const LessonAsk& ask, double truth, double mistake, double answer) {
  // An exponent in place of its power is rounded to a whole one.
  if (ask.within.decades > 0 && mistake < 0) return std::abs(answer - mistake) <= 0.5;
  if (ask.within.decades > 0 || !std::isfinite(mistake)) return ask.within.holds(mistake, answer);
  const double room =
      std::max({ask.within.absolute, ask.within.relative * std::abs(mistake), 0.02 * std::abs(mistake)});
  const double apart = std::isfinite(truth) ? 0.4 * std::abs(mistake - truth) : room;
  return std::abs(answer - mistake) <= std::min(room, apart) + 1e-12 * std::abs(mistake);
}

// Whoever comes so close has the right idea, and rounded on the way. What is counted is right or wrong.
bool is_near(const LessonAsk& ask, double truth, double answer) {
  constexpr double kNear = 0.1;
  const bool counted = ask.within.relative <= 0 && ask.within.absolute <= 0;
  if (counted || ask.within.decades > 0 || !std::isfinite(truth)) return false;
  return std::abs(answer - truth) <= kNear * std::abs(truth);
}

}  // namespace

Judgement judge_answer(const LessonAsk& ask, const Question& q, const Answer& answer) {
  if (ask.kind == AskKind::tiles) return judge_tiles(ask, q, answer);
  Judgement j;
  if (ask.kind == AskKind::num) {
    if (!answer.number) return j;
    j.right = ask.within.holds(q.truth, *answer.number);
    // Of mistakes that lie side by side it is the nearest one.
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; !j.right && n < q.wrong.size(); ++n) {
      if (!is_mistake(ask, q.truth, q.wrong[n], *answer.number)) continue;
      const double away = *answer.number == q.wrong[n] ? 0 : std::abs(*answer.number - q.wrong[n]);
      if (away >= nearest) continue;
      nearest = away;
      j.text = ask.wrong[n].text, j.about = ask.wrong[n].about;
    }
    if (!j.right && j.text.empty() && is_near(ask, q.truth, *answer.number)) j.near = *answer.number > q.truth ? 1 : -1;
    return j;
  }
  if (answer.chosen.size() != 1 || answer.chosen.front() >= q.right.size()) return j;
  const std::size_t chosen = answer.chosen.front();
  j.right = q.right[chosen];
  if (j.right) return j;
  if (ask.kind == AskKind::pick) {
    j.text = ask.options[chosen].wrong, j.about = ask.options[chosen].about;
    return j;
  }
  const double value =
      static_cast<double>(chosen) + (ask.among == ClickAmong::keys || ask.among == ClickAmong::rows ? ask.first : 0);
  for (std::size_t n = 0; n < q.wrong.size(); ++n) {
    if (q.wrong[n] != value) continue;
    j.text = ask.wrong[n].text, j.about = ask.wrong[n].about;
    break;
  }
  return j;
}

}  // namespace attn
