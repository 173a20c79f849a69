#include "viz/learn/lesson/lesson_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/formats/expression_grammar.h"
#include "viz/learn/lesson/figure_function.h"
#include "viz/learn/lesson/quantities.h"
#include "viz/learn/lesson/references.h"

namespace attn {
namespace {

using Values = std::vector<double>;
using Binary = double (*)(double, double);

struct Sign {
  std::string_view text;
  Binary of;
};
constexpr std::array<Sign, 6> kSignsThatCompare{{
    {"<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"==", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {"<", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {">", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
}};
constexpr std::array<Sign, 2> kSignsOfSums{{
    {"+", [](double a, double b) { return a + b; }},
    {"-", [](double a, double b) { return a - b; }},
}};
constexpr std::array<Sign, 2> kSignsOfProducts{{
    {"*", [](double a, double b) { return a * b; }},
    {"/", [](double a, double b) { return a / b; }},
}};

struct ElementFunction {
  std::string_view name;
  double (*of)(double);
};
constexpr ElementFunction kElementFunctions[] = {
    {"exp", [](double x) { return std::exp(x); }},
    {"ln", [](double x) { return std::log(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"abs", [](double x) { return std::abs(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"nan", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
};

double second_largest(const Values& v) {
  Values sorted = v;
  std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return a > b; });
  return sorted.size() < 2 ? std::numeric_limits<double>::quiet_NaN() : sorted[1];
}

struct ListFunction {
  std::string_view name;
  double (*of)(const Values&);
};
constexpr ListFunction kListFunctions[] = {
    {"max", [](const Values& v) { return *std::max_element(v.begin(), v.end()); }},
    {"min", [](const Values& v) { return *std::min_element(v.begin(), v.end()); }},
    {"sum", [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0); }},
    {"mean", [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); }},
    {"argmax", [](const Values& v) { return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin()); }},
    {"argmin", [](const Values& v) { return static_cast<double>(std::min_element(v.begin(), v.end()) - v.begin()); }},
    {"count",
     [](const Values& v) {
       return static_cast<double>(std::count_if(v.begin(), v.end(), [](double x) { return x != 0; }));
     }},
    {"second", second_largest},
};

class LessonEvaluator : public ExpressionGrammar<LessonEvaluator, Values> {
 public:
  LessonEvaluator(std::string_view text, ExpressionScope& scope) : ExpressionGrammar(text), scope_(scope) {}

 private:
  friend ExpressionGrammar;
  static constexpr const auto& kComparisons = kSignsThatCompare;
  static constexpr const auto& kSums = kSignsOfSums;
  static constexpr const auto& kProducts = kSignsOfProducts;
  static constexpr bool kNegates = true;
  static constexpr std::int64_t kAllOfThem = std::numeric_limits<std::int64_t>::max();

  tl::unexpected<Error> refuse(const std::string& why) const {
    return bad_input(phrase("expression '{}', character {}: {}", text_, at_ + 1, why));
  }
  tl::unexpected<Error> missing(ExpressionGap what) const {
    switch (what) {
      case ExpressionGap::depth:
        return refuse(tr("brackets are nested too deeply"));
      case ExpressionGap::bracket:
        return refuse(tr("')' is missing"));
      case ExpressionGap::end:
        return refuse(phrase("'{}' is left over", text_.substr(at_)));
      case ExpressionGap::quote:  // it has no texts
      case ExpressionGap::atom:
        break;
    }
    return refuse(tr("expected a number, a name or '('"));
  }

  Result<Values> joined(const Sign& sign, const Values& a, const Values& b) const {
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
      return refuse(phrase("{} numbers cannot be combined with {}", a.size(), b.size()));
    Values out(std::max(a.size(), b.size()));
    for (std::size_t n = 0; n < out.size(); ++n) out[n] = sign.of(a[a.size() == 1 ? 0 : n], b[b.size() == 1 ? 0 : n]);
    return out;
  }
  static Result<Values> negated(Values value) {
    for (double& x : value) x = -x;
    return value;
  }
  Result<Values> word() {
    std::string_view word = name(), run = scope_.run;
    if (take(".")) {
      run = word;
      word = name();
    }
    if (const FigureFunction* of_row = peek() == '(' ? find_figure_function(word) : nullptr)
      return of_session(*of_row, word);
    if (peek() == '(') return call(run, word);
    if (const Values* list = peek() == '[' ? drawn(run, word) : nullptr) return item_of(*list);
    if (peek() == '[') return reference(run, word);
    return constant(run, word);
  }
  Result<Values> number() {
    double value = 0;
    const char* first = text_.data() + at_;
    // "1..3" is a range and not "1." and ".3".
    std::size_t length = 0;
    while (at_ + length < text_.size()) {
      const char c = first[length];
      const bool point = c == '.' && at_ + length + 1 < text_.size() && is_digit(first[length + 1]);
      const bool sign = (c == '-' || c == '+') && length > 0 && first[length - 1] == 'e';
      if (!is_digit(c) && !point && !sign && c != 'e') break;
      ++length;
    }
    const auto [end, code] = std::from_chars(first, first + length, value);
    if (code != std::errc() || end != first + length) return refuse(tr("invalid number"));
    at_ += length;
    return Values{value};
  }
  Result<const Recording*> recording(std::string_view run) const {
    auto rec = scope_.recording_of(run);
    if (!rec) return refuse(rec.error().message);
    if ((*rec)->events.empty()) return refuse(phrase("the run {} has no steps", run));
    return rec;
  }
  void was_read(std::string_view run, EventIndex event) {
    if (run != scope_.run) return;
    scope_.latest = scope_.latest == kNoEvent ? event : std::max(scope_.latest, event);
  }

  // "step@i0j1.max": the number that the window gives it, from 1. Which steps there are is no secret.
  Result<Values> step_number(const Recording& rec) {
    if (peek() != '@') return refuse(tr("'step' needs a place, such as step@i0j1.max"));
    const auto where = place();
    if (!where) return tl::unexpected(where.error());
    const auto event = event_at(rec, *where);
    if (!event) return refuse(event.error().message);
    return Values{static_cast<double>(*event + 1)};
  }
  Result<Values> first_wrong(std::string_view run, const Recording& rec) {
    if (!scope_.first_wrong_of) return refuse(tr("this run cannot be searched for wrong steps"));
    const auto number = scope_.first_wrong_of(run);
    if (!number) return refuse(number.error().message);
    was_read(run, static_cast<EventIndex>(rec.events.size() - 1));
    return Values{*number};
  }

  // "KERNEL, WHAT, WHAT, L=16384, D=128)": which row, and `names` of what is read of it.
  Result<FigureQuery> query(std::string_view word, std::size_t names) {
    FigureQuery query;
    if (!take("(")) return refuse(tr("expected '('"));
    query.kernel = name();
    for (std::size_t n = 0; n < names; ++n) {
      if (!take(","))
        return refuse(
            phrase("{}() takes a kernel's name and {}", word, names == 1 ? tr("one more name") : tr("two more names")));
      query.names.emplace_back(name());
    }
    while (take(",")) {
      const std::string_view extent = name();
      if (!take("=")) return refuse(tr("expected '=', as in L=512"));
      const auto value = sum();
      if (!value) return tl::unexpected(value.error());
      if (value->size() != 1) return refuse(phrase("{} takes a single number", extent));
      query.where.emplace_back(extent, value->front());
    }
    if (!take(")")) return refuse(tr("')' is missing"));
    return query;
  }
  // "metric(naive, time_us_median, L=16384, D=128)" and what else is read of the one row of the session that fits.
  Result<Values> of_session(const FigureFunction& function, std::string_view word) {
    const auto asked = query(word, function.names);
    if (!asked) return tl::unexpected(asked.error());
    if (!scope_.session) return refuse(tr("the lesson does not name a session"));
    const auto session = scope_.session(scope_.session_name);
    if (!session) return refuse(session.error().message);
    const auto read = function.read(**session, *asked);
    if (!read) return refuse(read.error().message);
    scope_.figures[read->whose].insert(std::string(name_of(read->origin)));
    return Values{read->value};
  }

  // What an exercise has drawn comes before what its run is called by the same name.
  const Values* drawn(std::string_view run, std::string_view word) const {
    if (scope_.drawn == nullptr || run != scope_.run) return nullptr;
    const auto it = scope_.drawn->find(word);
    return it == scope_.drawn->end() ? nullptr : &it->second;
  }
  // "s[2]", "s[0..3]"
  Result<Values> item_of(const Values& list) {
    if (!take("[")) return refuse(tr("expected '['"));
    const auto items = index();
    if (!items) return tl::unexpected(items.error());
    if (!take("]")) return refuse(tr("']' is missing"));
    const auto count = static_cast<std::int64_t>(list.size());
    const std::int64_t last = items->last == kAllOfThem ? count - 1 : items->last;
    if (items->first > last || last >= count)
      return refuse(phrase("the list has {} numbers; indices start at 0", count));
    return Values(list.begin() + items->first, list.begin() + last + 1);
  }

  Result<Values> constant(std::string_view run, std::string_view word) {
    if (const Values* list = drawn(run, word)) return *list;
    if (scope_.assumptions != nullptr && run == scope_.run) {
      if (const auto it = scope_.assumptions->find(word); it != scope_.assumptions->end()) {
        scope_.assumed.insert(it->first);
        return Values{it->second};
      }
    }
    if (word == "row") return Values{static_cast<double>(scope_.row)};
    if (word == "you") {
      if (!scope_.typed) return refuse(tr("'you' is valid only where an answer was typed"));
      return Values{*scope_.typed};
    }
    const auto rec = recording(run);
    if (!rec) return tl::unexpected(rec.error());
    if (word == "step") return step_number(**rec);
    if (word == "keys") return Values{static_cast<double>(scope_.at.j < 0 ? 0 : scope_.at.j * (*rec)->options.bc)};
    if (const auto extent = extent_named(**rec, word)) return Values{*extent};
    return refuse(phrase("unknown name '{}'", word));
  }

  Result<Values> arguments() {
    Values all;
    if (!take("(")) return refuse(tr("expected '('"));
    while (!take(")")) {
      auto value = expression();
      if (!value) return value;
      all.insert(all.end(), value->begin(), value->end());
      if (!take(",") && peek() != ')') return refuse(tr("expected ',' or ')'"));
    }
    return all;
  }
  Result<Values> call(std::string_view run, std::string_view word) {
    auto args = arguments();
    if (!args) return args;
    for (const ElementFunction& f : kElementFunctions) {
      if (f.name != word) continue;
      for (double& x : *args) x = f.of(x);
      return args->empty() ? refuse(phrase("{}() needs an argument", word)) : args;
    }
    for (const ListFunction& f : kListFunctions) {
      if (f.name != word) continue;
      if (args->empty()) return refuse(phrase("{}() needs an argument", word));
      return Values{f.of(*args)};
    }
    if (word == "list") return args->empty() ? refuse(phrase("{}() needs an argument", word)) : args;
    if (const Quantity* quantity = find_quantity(word)) {
      const auto value = quantity->of(*args);
      return value ? Result<Values>(Values{*value}) : refuse(phrase("{}(): {}", word, value.error().message));
    }
    const auto rec = recording(run);
    if (!rec) return tl::unexpected(rec.error());
    if (word == "first_wrong" && args->empty()) return first_wrong(run, **rec);
    const auto count = count_named(**rec, word);
    if (!count) return refuse(phrase("unknown function {}()", word));
    if (!args->empty()) return refuse(phrase("{}() takes no arguments", word));
    // What is on chip, and each element once, is known from the problem alone.
    if (word != "chip" && word != "once") was_read(run, static_cast<EventIndex>((*rec)->events.size() - 1));
    return Values{*count};
  }

  Result<std::int64_t> whole_index() {
    const auto value = sum();
    if (!value) return tl::unexpected(value.error());
    const double x = value->front();
    if (value->size() != 1 || !(x >= 0 && x < 1e9) || x != std::floor(x))
      return refuse(tr("an index must be an integer"));
    return static_cast<std::int64_t>(x);
  }
  Result<IndexRange> index() {
    if (take("*")) return IndexRange{0, kAllOfThem};
    const auto first = whole_index();
    if (!first) return tl::unexpected(first.error());
    if (!take("..")) return IndexRange{*first, *first};
    const auto last = whole_index();
    if (!last) return tl::unexpected(last.error());
    return IndexRange{*first, *last};
  }
  Result<LessonPlace> place() {
    if (!take("@")) return scope_.at.phase ? without_phase(scope_.at) : scope_.at;
    if (take("*")) {
      LessonPlace all;
      all.b = scope_.at.b, all.h = scope_.at.h, all.all = true;
      return all;
    }
    const std::size_t from = ended() ? text_.size() : at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    auto parsed = parse_place(text_.substr(from, at_ - from));
    if (!parsed) return refuse(parsed.error().message);
    return parsed;
  }
  static LessonPlace without_phase(LessonPlace p) {
    p.phase.reset();
    return p;
  }
  Result<Values> reference(std::string_view run, std::string_view word) {
    if (!is_tensor_name(word)) return refuse(phrase("unknown tensor {}", word));
    if (!take("[")) return refuse(tr("expected '['"));
    const auto rows = index();
    if (!rows) return tl::unexpected(rows.error());
    Result<IndexRange> cols = IndexRange{0, kAllOfThem};
    if (take(",")) cols = index();
    if (!cols) return tl::unexpected(cols.error());
    if (!take("]")) return refuse(tr("']' is missing"));
    const auto where = place();
    if (!where) return tl::unexpected(where.error());
    const auto rec = recording(run);
    if (!rec) return tl::unexpected(rec.error());
    auto read = read_tensor(**rec, {word, *rows, *cols, *where});
    if (!read) return refuse(read.error().message);
    was_read(run, read->latest);
    if (!scope_.first_slot) scope_.first_slot = read->slot;
    return std::move(read->values);
  }

  ExpressionScope& scope_;
};

}  // namespace

Result<std::vector<double>> evaluate(std::string_view text, ExpressionScope& scope) {
  return LessonEvaluator(text, scope).whole();
}

Result<double> evaluate_number(std::string_view text, ExpressionScope& scope) {
  const auto values = evaluate(text, scope);
  if (!values) return tl::unexpected(values.error());
  if (values->size() == 1) return values->front();
  return bad_input(phrase("expression '{}' gives {} numbers instead of one", text, values->size()));
}

}  // namespace attn
