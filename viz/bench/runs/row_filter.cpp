#include "viz/bench/runs/row_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"
#include "kernels/formats/expression_grammar.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"

namespace attn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Extent {
  std::string_view name;
  std::int64_t (*of)(const Problem&);
};
constexpr std::array kExtents{
    Extent{"Lq", [](const Problem& p) { return p.Lq; }}, Extent{"Lk", [](const Problem& p) { return p.Lk; }},
    Extent{"Hq", [](const Problem& p) { return p.Hq; }}, Extent{"Hkv", [](const Problem& p) { return p.Hkv; }},
    Extent{"Dv", [](const Problem& p) { return p.Dv; }},
};

bool is_kernel(std::string_view text) {
  return find_kernel(text).has_value() || find_peer(text) != nullptr;
}
template <auto from_name>
bool is_named(std::string_view text) {
  return from_name(text).has_value();
}
template <std::string_view const&... words>
bool is_one_of(std::string_view text) {
  return ((text == words) || ...);
}
constexpr std::string_view kForward = "forward", kBackward = "backward", kTraining = "training";
constexpr std::string_view kFull = "full", kCausal = "causal", kOther = "other";
constexpr std::string_view kRight = "right", kWrong = "wrong", kNotJudged = "not_judged", kNotVerified = "not_verified";

std::string_view mask_of(const Measurement& m) {
  const Mask& mask = m.key.problem.mask;
  if (!mask.any()) return kFull;
  Mask causal;
  causal.causal = true;
  return mask == causal ? kCausal : kOther;
}

std::string_view answer_of(const Measurement& m) {
  if (!m.verdict) return kNotVerified;
  if (m.verdict->not_judged) return kNotJudged;
  return outcome_of(*m.verdict) == Outcome::wrong ? kWrong : kRight;
}

struct TextColumn {
  std::string_view name;
  std::string_view (*of)(const Measurement&);
  bool (*may_be)(std::string_view);  // null: anything
  std::string_view such_as;
};
constexpr std::array kTextColumns{
    TextColumn{"kernel", [](const Measurement& m) -> std::string_view { return m.key.kernel; }, is_kernel, "naive"},
    TextColumn{"dtype", [](const Measurement& m) { return name_of(m.key.problem.dtype); }, is_named<dtype_from_name>,
               "f32, f16, bf16"},
    TextColumn{"mask", mask_of, is_one_of<kFull, kCausal, kOther>, "full, causal, other"},
    TextColumn{"pass", [](const Measurement& m) { return name_of(m.key.problem.pass); },
               is_one_of<kForward, kBackward, kTraining>, "forward, backward, training"},
    TextColumn{"device", [](const Measurement& m) -> std::string_view { return m.key.device; }, nullptr, ""},
    TextColumn{"l2", [](const Measurement& m) { return name_of(m.key.l2); }, is_named<l2_state_from_name>,
               "cold, warm"},
    TextColumn{"state", [](const Measurement& m) { return name_of(m.state); }, is_named<row_state_from_name>,
               "done, refused, failed, cancelled"},
    TextColumn{"answer", answer_of, is_one_of<kRight, kWrong, kNotJudged, kNotVerified>,
               "right, wrong, not_judged, not_verified"},
};

// The choices of an option, as a message and a completion name them.
std::string choices_of(const Option& option) {
  return fmt::format("{}", fmt::join(option.choices, ", "));
}

const Option* choice_named(std::string_view word) {
  for (const Option* option : declared_options())
    if (option->is_choice() && same_letters(option->name, word)) return option;
  return nullptr;
}

// A number; a text of the row's, by its column or its option; a text that was written; or whether something holds.
struct RowValue {
  enum class Kind : std::uint8_t { number, column, text, truth };
  Kind kind = Kind::number;
  double number = kNone;
  const TextColumn* column = nullptr;
  const Option* option = nullptr;  // that is a choice, in place of a column
  bool missing = false;            // the row's kernel does not read the option
  std::string text;
  bool quoted = false;
  bool truth = false;

  std::string_view name() const { return column != nullptr ? column->name : option->name; }
  bool may_be(std::string_view word) const {
    if (option != nullptr) return std::ranges::find(option->choices, word) != option->choices.end();
    return column->may_be == nullptr || column->may_be(word);
  }
  std::string such_as() const { return option != nullptr ? choices_of(*option) : std::string(column->such_as); }
};
using Kind = RowValue::Kind;

class RowEvaluator : public ExpressionGrammar<RowEvaluator, RowValue> {
 public:
  RowEvaluator(std::string_view text, const Measurement& m) : ExpressionGrammar(text), m_(m) {}

  Result<bool> holds() {
    if (text_.size() > kMaxRowFilter)
      return bad_input(phrase("The filter has {1} characters; use at most {0}.", kMaxRowFilter, text_.size()));
    auto value = whole();
    if (!value) return tl::unexpected(value.error());
    if (value->kind != Kind::truth) return refuse(phrase("'{}' is not a comparison; write {} == ...", text_, "d"));
    return value->truth;
  }

 private:
  friend ExpressionGrammar;
  enum class Does : std::uint8_t {
    at_most,
    at_least,
    equal,
    unlike,
    less,
    more,
    add,
    subtract,
    multiply,
    divide,
    both,
    either
  };
  struct Sign {
    std::string_view text;
    Does does;
  };
  static constexpr std::array<Sign, 7> kComparisons{{{"<=", Does::at_most},
                                                     {">=", Does::at_least},
                                                     {"==", Does::equal},
                                                     {"!=", Does::unlike},
                                                     {"<", Does::less},
                                                     {">", Does::more},
                                                     {"=", Does::equal}}};
  static constexpr std::array<Sign, 2> kSums{{{"+", Does::add}, {"-", Does::subtract}}};
  static constexpr std::array<Sign, 2> kProducts{{{"*", Does::multiply}, {"/", Does::divide}}};
  static constexpr std::array<Sign, 1> kOrs{{{"or", Does::either}}};
  static constexpr std::array<Sign, 1> kAnds{{{"and", Does::both}}};
  static constexpr bool kNegates = true, kJoins = true, kTexts = true;

  tl::unexpected<Error> refuse(std::string why) const { return bad_input(std::move(why)); }
  tl::unexpected<Error> missing(ExpressionGap what) const {
    const std::size_t column = std::min(at_, text_.size()) + 1;
    switch (what) {
      case ExpressionGap::depth:
        return refuse(phrase("Brackets are nested too deeply; use at most {} levels.", kMaxExpressionDepth));
      case ExpressionGap::bracket:
        return refuse(phrase("')' is missing at character {}.", column));
      case ExpressionGap::quote:
        return refuse(phrase("The string that starts at character {} has no closing '\"'.", column));
      case ExpressionGap::end:
        return refuse(phrase("Missing 'and' or 'or' before '{}' at character {}.", text_.substr(at_), column));
      case ExpressionGap::atom:
        break;
    }
    return refuse(phrase("Expected a name, a number or '(' at character {}.", column));
  }

  // A word that is no name, where a number or a comparison is wanted.
  tl::unexpected<Error> no_name(std::string_view word) const {
    std::vector<std::string_view> near;
    for (const MetricRow& row : metric_table())
      if (word.size() >= 3 && row.id.find(word) != std::string_view::npos && near.size() < 3) near.push_back(row.id);
    if (!near.empty()) return refuse(phrase("Unknown name '{}'; use {}.", word, fmt::join(near, ", ")));
    return refuse(phrase("Unknown name '{}'; use kernel, dtype, L, D, br, tflops or the id of another metric.", word));
  }
  Result<RowValue> truth_of(bool holds) const {
    RowValue v;
    v.kind = Kind::truth;
    v.truth = holds;
    return v;
  }
  Result<bool> wanted_truth(const RowValue& v) const {
    if (v.kind == Kind::truth) return v.truth;
    if (v.kind == Kind::text) return no_name(v.text);
    return refuse(tr("Use 'and', 'or' and 'not' only with comparisons, such as d == 64."));
  }
  Result<double> wanted_number(const RowValue& v) const {
    if (v.kind == Kind::number) return v.number;
    if (v.kind == Kind::text) return no_name(v.text);
    if (v.kind == Kind::column) return refuse(phrase("'{}' is a string; compare it using == or !=.", v.name()));
    return refuse(tr("A comparison cannot be used as a number; join comparisons with 'and' or 'or'."));
  }
  Result<RowValue> compared_texts(const Sign& sign, const RowValue& a, const RowValue& b) const {
    const RowValue &column = a.kind == Kind::column ? a : b, &text = a.kind == Kind::column ? b : a;
    const bool fits = (sign.does == Does::equal || sign.does == Does::unlike) &&
                      (text.kind == Kind::text || text.kind == Kind::column);
    if (!fits)
      return refuse(phrase("'{}' is a string; compare it with another string, using == or !=.", column.name()));
    if (text.kind == Kind::text && !text.quoted && !column.may_be(text.text))
      return refuse(phrase("Unknown {} '{}'; use a value such as {}, or quote the string: \"...\".", column.name(),
                           text.text, column.such_as()));
    if (column.missing || text.missing) return truth_of(false);
    return truth_of((column.text == text.text) == (sign.does == Does::equal));
  }

  Result<RowValue> joined(const Sign& sign, const RowValue& a, const RowValue& b) const {
    if (sign.does == Does::both || sign.does == Does::either) {
      const auto left = wanted_truth(a), right = wanted_truth(b);
      if (!left || !right) return tl::unexpected(left ? right.error() : left.error());
      return truth_of(sign.does == Does::both ? *left && *right : *left || *right);
    }
    const bool compares = sign.does <= Does::more;
    if (compares && (a.kind == Kind::column || b.kind == Kind::column)) return compared_texts(sign, a, b);
    const auto left = wanted_number(a), right = wanted_number(b);
    if (!left || !right) return tl::unexpected(left ? right.error() : left.error());
    const double x = *left, y = *right;
    RowValue v;
    switch (sign.does) {
      case Does::at_most:
        return truth_of(x <= y);
      case Does::at_least:
        return truth_of(x >= y);
      case Does::equal:
        return truth_of(x == y);
      case Does::unlike:
        return truth_of(x < y || x > y);  // of nothing neither holds
      case Does::less:
        return truth_of(x < y);
      case Does::more:
        return truth_of(x > y);
      case Does::add:
        v.number = x + y;
        break;
      case Does::subtract:
        v.number = x - y;
        break;
      case Does::multiply:
        v.number = x * y;
        break;
      case Does::divide:
        v.number = x / y;
        break;
      case Does::both:
      case Does::either:
        break;
    }
    return v;
  }
  Result<RowValue> negated(const RowValue& a) const {
    const auto number = wanted_number(a);
    if (!number) return tl::unexpected(number.error());
    RowValue v;
    v.number = -*number;
    return v;
  }
  Result<RowValue> refuted(const RowValue& a) const {
    const auto truth = wanted_truth(a);
    return truth ? truth_of(!*truth) : tl::unexpected(truth.error());
  }
  Result<RowValue> quoted(std::string_view text) const {
    RowValue v;
    v.kind = Kind::text;
    v.text = text;
    v.quoted = true;
    return v;
  }
  Result<RowValue> number() {
    RowValue v;
    const char* const first = text_.data() + at_;
    const auto [end, wrong] = std::from_chars(first, text_.data() + text_.size(), v.number);
    if (wrong != std::errc()) return refuse(phrase("Invalid number at character {}.", at_ + 1));
    at_ += static_cast<std::size_t>(end - first);
    return v;
  }
  Result<RowValue> word() {
    const std::string_view word = name();
    RowValue v;
    for (const TextColumn& column : kTextColumns) {
      if (!same_letters(column.name, word)) continue;
      v.kind = Kind::column;
      v.column = &column;
      v.text = column.of(m_);
      return v;
    }
    if (const Option* option = choice_named(word)) {
      const auto value = option_value(m_.key.kernel, *option, m_.key.options);
      v.kind = Kind::column;
      v.option = option;
      v.missing = !value;
      if (value) v.text = value_text(*option, *value);
      return v;
    }
    if (const auto number = number_named(word)) {
      v.number = *number;
      return v;
    }
    v.kind = Kind::text;  // what it is compared with says whether it may be
    v.text = word;
    return v;
  }

  std::optional<double> number_named(std::string_view word) const {
    for (const Extent& e : kExtents)
      if (same_letters(e.name, word)) return static_cast<double>(e.of(m_.key.problem));
    for (const Axis& axis : all_axes()) {
      if (!same_letters(axis.name(), word)) continue;
      const AxisKind kind = kind_of(axis);
      const auto value = kind.option != nullptr ? option_value(m_.key.kernel, *kind.option, m_.key.options)
                                                : axis_value(axis, m_.key.kernel, m_.key.problem, m_.key.options);
      return value ? static_cast<double>(*value) : kNone;
    }
    for (const MetricRow& row : metric_table()) {
      if (!same_letters(row.id, word)) continue;
      const Figure& f = figure(m_, row.id);
      return f.available() ? f.value : kNone;
    }
    return std::nullopt;
  }

  const Measurement& m_;
};

bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

std::vector<std::string> names_of_filter() {
  std::vector<std::string> names;
  names.reserve(std::size(kTextColumns) + std::size(kExtents));
  for (const TextColumn& c : kTextColumns) names.emplace_back(c.name);
  for (const Extent& e : kExtents) names.emplace_back(e.name);
  for (const Axis& axis : all_axes()) names.emplace_back(axis.name());
  for (const Option* option : declared_options())
    if (option->is_choice()) names.emplace_back(option->name);
  for (const MetricRow& row : metric_table()) names.emplace_back(row.id);
  for (const std::string_view word : {"and", "or", "not"}) names.emplace_back(word);
  return names;
}

// Of the name that is compared; empty: it has no list of values.
std::vector<std::string> values_of(std::string_view name) {
  std::vector<std::string> values;
  if (same_letters(name, kTextColumns.front().name)) {
    for (const KernelRow* row : measured_rows()) values.emplace_back(row->id);
    for (const PeerRow& peer : peer_table()) values.emplace_back(peer.id);
    return values;
  }
  if (const Option* option = choice_named(name)) return {option->choices.begin(), option->choices.end()};
  for (const TextColumn& c : kTextColumns) {
    if (!same_letters(c.name, name)) continue;
    for (std::string_view all = c.such_as; !all.empty();) {
      const std::size_t comma = all.find(", ");
      values.emplace_back(all.substr(0, comma));
      all = comma == std::string_view::npos ? std::string_view() : all.substr(comma + 2);
    }
  }
  return values;
}

bool is_in_name(char c) {
  return ExpressionText::is_letter(c) || ExpressionText::is_digit(c) || c == '-';
}

// The name and the sign of a comparison at the end of a text: "deal =="; empty: it ends otherwise.
std::string_view compared_at_end(std::string_view text) {
  text = trimmed(text);
  if (!text.ends_with('=')) return {};
  while (text.ends_with('=') || text.ends_with('!')) text.remove_suffix(1);
  text = trimmed(text);
  std::size_t begin = text.size();
  while (begin > 0 && is_in_name(text[begin - 1])) --begin;
  return text.substr(begin);
}

}  // namespace

FilterWords filter_words(std::string_view filter) {
  FilterWords found;
  found.begin = filter.size();
  while (found.begin > 0 && is_in_name(filter[found.begin - 1])) --found.begin;
  const std::string_view word = filter.substr(found.begin);
  const std::string_view compared = compared_at_end(filter.substr(0, found.begin));
  if (compared.empty() && word.empty()) return found;
  for (std::string& name : compared.empty() ? names_of_filter() : values_of(compared))
    if (name.size() > word.size() && same_letters(std::string_view(name).substr(0, word.size()), word))
      found.words.push_back(std::move(name));
  return found;
}

Result<bool> fits_filter(std::string_view filter, const Measurement& m) {
  return is_blank(filter) ? true : RowEvaluator(filter, m).holds();
}

Result<void> check_row_filter(std::string_view filter) {
  const auto read = fits_filter(filter, Measurement());
  return read ? ok() : tl::unexpected(read.error());
}

}  // namespace attn
