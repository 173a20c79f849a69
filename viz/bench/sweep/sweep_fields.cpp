#include "viz/bench/sweep/sweep_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/ragged.h"
#include "kernels/model/problem/pages.h"

namespace attn {
namespace {

constexpr std::size_t kMaxValues = 64;  // more points than a chart or a patience can take
constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int32_t>::max();

// A whole number from 1 on, "4k" = 4096.
std::optional<std::int64_t> parse_count(std::string_view text) {
  text = trimmed(text);
  std::int64_t unit = 1;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) {
    unit = 1024;
    text.remove_suffix(1);
  }
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > kMaxExtent / unit) return std::nullopt;
  return n * unit;
}

std::string not_a_count(std::string_view text) {
  return phrase("Invalid value '{}'; use an integer of 1 or more.", trimmed(text));
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find_first_of(separators);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Result<std::vector<std::int64_t>> parse_range(std::string_view text, std::size_t dots) {
  std::string_view to = text.substr(dots + 2);
  std::int64_t step = 0;
  if (const auto at = to.find("step"); at != std::string_view::npos) {
    const auto n = parse_count(to.substr(at + 4));
    if (!n) return bad_input(not_a_count(to.substr(at + 4)));
    step = *n;
    to = to.substr(0, at);
  }
  const auto first = parse_count(text.substr(0, dots)), last = parse_count(to);
  if (!first) return bad_input(not_a_count(text.substr(0, dots)));
  if (!last) return bad_input(not_a_count(to));
  if (*last < *first) return bad_input(phrase("{} comes after {}; put the smaller number first.", *first, *last));
  std::vector<std::int64_t> values;
  for (std::int64_t v = *first; v <= *last; v = step > 0 ? v + step : 2 * v) {
    values.push_back(v);
    if (values.size() > kMaxValues) return bad_input(phrase("More than {} values; use a larger step.", kMaxValues));
  }
  return values;
}

// "16/4" or "16": one or two counts.
Result<std::pair<std::int64_t, std::int64_t>> parse_pair(std::string_view text, std::string_view separators) {
  const auto parts = split(text, separators);
  if (parts.size() > 2) return bad_input(phrase("'{}' has more than two numbers; use one or two.", trimmed(text)));
  const auto a = parse_count(parts.front()), b = parse_count(parts.back());
  if (!a) return bad_input(not_a_count(parts.front()));
  if (!b) return bad_input(not_a_count(parts.back()));
  return std::pair{*a, *b};
}

bool is_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), trimmed(text)) != words.end();
}

std::string pair_text(std::int64_t a, std::int64_t b) {
  return a == b ? fmt::format("{}", a) : fmt::format("{}/{}", a, b);
}

}  // namespace

Result<std::vector<std::int64_t>> parse_axis_values(std::string_view text) {
  if (const auto dots = text.find(".."); dots != std::string_view::npos) return parse_range(text, dots);
  std::vector<std::int64_t> values;
  for (const std::string_view part : split(text, ",; ")) {
    if (part.empty()) continue;
    const auto n = parse_count(part);
    if (!n) return bad_input(not_a_count(part));
    values.push_back(*n);
  }
  if (values.empty()) return bad_input(tr("No values; use 512, 1024, 2048, or 512..16384 for doubling."));
  if (values.size() > kMaxValues) return bad_input(phrase("Too many values; use at most {}.", kMaxValues));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string axis_values_text(std::span<const std::int64_t> values) {
  const auto all = [&](auto follows) {
    for (std::size_t i = 1; i < values.size(); ++i)
      if (!follows(values[i - 1], values[i])) return false;
    return values.size() >= 3;
  };
  if (all([](std::int64_t a, std::int64_t b) { return b == 2 * a; }))
    return fmt::format("{}..{}", values.front(), values.back());
  if (values.size() >= 4) {
    const std::int64_t step = values[1] - values[0];
    if (step > 0 && all([&](std::int64_t a, std::int64_t b) { return b == a + step; }))
      return phrase("{}..{} step {}", values.front(), values.back(), step);
  }
  return fmt::format("{}", fmt::join(values, ", "));
}

std::string short_count(std::int64_t n) {
  if (n >= 1024 && n % 1024 == 0) return fmt::format("{}k", n / 1024);
  return fmt::format("{}", n);
}

std::string axis_title(const Axis& a) {
  const AxisKind kind = kind_of(a);
  if (kind.problem != nullptr) return std::string(tr_of(kind.problem->title));
  if (kind.option == nullptr) return std::string(name_of(a));
  return fmt::format("{}{}", kind.option->tile ? tr("tile ") : "", tr_of(kind.option->title));
}

std::string axis_letter(const Axis& a) {
  const AxisKind kind = kind_of(a);
  return std::string(kind.option != nullptr ? kind.option->title : name_of(a));
}

namespace {

// What the first of the sweep's kernels that reads it says of the option; null: none reads it.
const OptionSpec* declared(const SweepSpec& s, const Option& o) {
  for (const std::string& id : s.kernels) {
    const auto row = find_kernel(id, s.own);
    const OptionSpec* spec = row ? spec_of(**row, o) : nullptr;
    if (spec != nullptr) return spec;
  }
  return nullptr;
}

// Doublings of what the kernel takes, four at most.
std::vector<std::int64_t> doublings_of(const OptionSpec& spec) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = std::max(spec.min, 1); value <= spec.max && values.size() < 4; value *= 2)
    if (spec.takes(value)) values.push_back(value);
  if (values.empty()) values.push_back(std::max(spec.default_value, 1));
  return values;
}

std::vector<std::int64_t> usual_values(const SweepSpec& s, const Axis& a) {
  const AxisKind kind = kind_of(a);
  if (kind.problem != nullptr) return kind.problem->usual(s.base);
  if (kind.option == nullptr) return s.values;
  if (!kind.option->swept.empty()) return {kind.option->swept.begin(), kind.option->swept.end()};
  const OptionSpec* spec = declared(s, *kind.option);
  return spec == nullptr ? std::vector<std::int64_t>{1, 2, 4} : doublings_of(*spec);
}

bool any_takes_pages(const SweepSpec& s) {
  return std::ranges::any_of(s.kernels, [&](const std::string& id) {
    const auto row = find_kernel(id, s.own);
    return row && std::ranges::find((*row)->storages, Storage::paged) != (*row)->storages.end();
  });
}

// The tile as far as it is not the axis: the axis overrides its side.
std::string tile_text(const SweepSpec& s) {
  const Options& o = s.options;
  if (s.tuned) return "tuned";
  if (o.br == 0 && o.bc == 0) return "usual";
  const auto side = [](std::int32_t n) { return n == 0 ? std::string("usual") : fmt::format("{}", n); };
  return side(o.br) + " x " + side(o.bc);
}

Result<Options> with_tile(Options o, std::string_view text) {
  if (trimmed(text).empty() || is_word(text, {"usual", "0", "auto"})) {
    o.br = o.bc = 0;
    return o;
  }
  std::string plain(text);
  if (const auto times = plain.find("×"); times != std::string::npos) plain.replace(times, 2, "x");
  const auto parts = split(plain, "xX,");
  if (parts.size() > 2) return bad_input(phrase("'{}' has more than two numbers; use one or two.", trimmed(text)));
  const auto side = [](std::string_view part) -> std::optional<std::int64_t> {
    if (is_word(part, {"usual", "0", "auto"})) return 0;
    return parse_count(part);
  };
  const auto br = side(parts.front()), bc = side(parts.back());
  if (!br || !bc) return bad_input(phrase("Invalid tile '{}'; use 64 x 32, usual or tuned.", trimmed(text)));
  o.br = static_cast<std::int32_t>(*br);
  o.bc = static_cast<std::int32_t>(*bc);
  return o;
}

Result<double> parse_seconds(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.back() == 's') text = trimmed(text.substr(0, text.size() - 1));
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || !(x >= 0.01 && x <= 3600))
    return bad_input(phrase("Invalid time '{}'; use 0.01 to 3600 seconds.", text));
  return x;
}

}  // namespace

std::vector<SweepFieldText> sweep_fields(const SweepSpec& s) {
  std::vector<SweepFieldText> out;
  const auto add = [&](SweepField field, std::string label, std::string text, std::string help) {
    out.push_back({field, std::move(label), std::move(text), std::move(help), {}});
  };
  const Problem& p = s.base;
  const ProblemAxis* const of_problem = kind_of(s.axis).problem;
  const bool keeps_tokens = of_problem != nullptr && of_problem->keeps_tokens;
  add(SweepField::values, tr("Values"), axis_values_text(s.values),
      tr("512, 1024, 2048: as listed; 512..16384: doubled each time; 64..256 step 64: in steps of 64. 4k is 4096."));
  if (s.axis != Axis::L)
    add(SweepField::length, tr("Length L"), pair_text(p.Lq, p.Lk),
        tr("Number of queries and keys: 2048, or 128/2048 if the two differ."));
  if (keeps_tokens)
    add(SweepField::tokens, tr("Tokens B·L"), s.tokens == 0 ? "free" : fmt::format("{}", s.tokens),
        tr("Keeps B·L at this number, so that the number of tokens is the same at every length. 'free' leaves the "
           "batch unchanged."));
  if (s.axis != Axis::B && !(keeps_tokens && s.tokens > 0))
    add(SweepField::batch, tr("Batch B"), fmt::format("{}", p.B), tr("Number of sequences."));
  if (s.axis != Axis::H)
    add(SweepField::heads, tr("Heads H"), pair_text(p.Hq, p.Hkv),
        tr("Number of query heads, such as 16, or 16/4 for 16 query heads and 4 KV heads."));
  if (s.axis != Axis::D)
    add(SweepField::dims, tr("Head dim D"), pair_text(p.D, p.Dv),
        tr("D of Q and K, or 128/64 if V's D differs; at most 256."));
  if (s.axis != Axis("page") && any_takes_pages(s))
    add(SweepField::page, tr("Keys per page"),
        p.storage.kind() == Storage::dense ? "none" : fmt::format("{}", p.storage.page),
        phrase("K and V in shuffled pages of this many keys, 1 to {}, as in inference servers; 'none': contiguous.",
               kMaxPage));
  add(SweepField::tile, tr("Tile Br × Bc"), tile_text(s),
      tr("A tile such as 64 x 32, usual (each kernel's default), or tuned (the tile that tuning chose for each "
         "point)."));
  if (s.axis != Axis::threads)
    add(SweepField::threads, tr("Threads"), s.options.threads == 0 ? "all" : fmt::format("{}", s.options.threads),
        tr("Number of CPU threads (per rank in a ring); 'all' uses every core."));
  if (s.axis != Axis::stages && declared(s, Option::stages) != nullptr)
    add(SweepField::stages, tr("Stages"), s.options.stages == 0 ? "usual" : fmt::format("{}", s.options.stages),
        tr("Number of K and V tiles that a GPU kernel holds in shared memory at once; usual: each kernel's default."));
  for (const Option* option : declared_options()) {
    const OptionSpec* spec = option->get == nullptr && s.axis != Axis(option->name) ? declared(s, *option) : nullptr;
    if (spec == nullptr) continue;
    const auto value = chosen(s.options, *option);
    std::string label(tr_of(option->title));
    if (label.front() >= 'a' && label.front() <= 'z') label.front() = static_cast<char>(label.front() - 'a' + 'A');
    add(SweepField::further, std::move(label), value ? value_text(*option, *value) : "usual",
        phrase("{}: {}; usual: the kernel's default.", tr_of(option->help), range_words(*spec)));
    out.back().option = option->name;
  }
  add(SweepField::seconds, tr("Time per point"), fmt::format("{} s", s.seconds_per_point),
      tr("Repeats stop after this time, or earlier, once the median's 95 % interval falls below 1 % of the median."));
  return out;
}

namespace {

Result<SweepSpec> with_page(SweepSpec s, std::string_view text) {
  std::int64_t page = 0;
  if (!trimmed(text).empty() && !is_word(text, {"none", "0", "off"})) {
    const auto n = parse_count(text);
    if (!n || *n > kMaxPage)
      return bad_input(phrase("Invalid page size '{}'; use 1 to {} keys, or 'none'.", trimmed(text), kMaxPage));
    page = *n;
  }
  s.base = with_pages(std::move(s.base), page);
  return s;
}

Result<SweepSpec> put_field(SweepSpec s, SweepField field, std::string_view text, std::string_view option) {
  const auto count = [&](std::int64_t& into) -> Result<SweepSpec> {
    const auto n = parse_count(text);
    if (!n) return bad_input(not_a_count(text));
    into = *n;
    return s;
  };
  const auto pair = [&](std::int64_t& first, std::int64_t& second) -> Result<SweepSpec> {
    const auto both = parse_pair(text, "/,");
    if (!both) return tl::unexpected(both.error());
    first = both->first;
    second = both->second;
    return s;
  };
  switch (field) {
    case SweepField::values: {
      auto values = parse_axis_values(text);
      if (!values) return tl::unexpected(values.error());
      s.values = std::move(*values);
      return s;
    }
    case SweepField::length:
      return pair(s.base.Lq, s.base.Lk);
    case SweepField::batch:
      return count(s.base.B);
    case SweepField::tokens:
      if (trimmed(text).empty() || is_word(text, {"free", "0", "off"})) {
        s.tokens = 0;
        return s;
      }
      return count(s.tokens);
    case SweepField::heads:
      return pair(s.base.Hq, s.base.Hkv);
    case SweepField::dims:
      return pair(s.base.D, s.base.Dv);
    case SweepField::page:
      return with_page(std::move(s), text);
    case SweepField::tile: {
      s.tuned = is_word(text, {"tuned"});
      if (s.tuned) text = "usual";
      auto o = with_tile(s.options, text);
      if (!o) return tl::unexpected(o.error());
      s.options = *o;
      return s;
    }
    case SweepField::threads: {
      std::int64_t n = 0;
      if (!trimmed(text).empty() && !is_word(text, {"all", "0"})) {
        if (auto counted = count(n); !counted) return counted;
      }
      s.options.threads = static_cast<std::int32_t>(n);
      return s;
    }
    case SweepField::stages: {
      std::int64_t n = 0;
      if (!trimmed(text).empty() && !is_word(text, {"usual", "0", "auto"})) {
        if (auto counted = count(n); !counted) return counted;
      }
      s.options.stages = static_cast<std::int32_t>(n);
      return s;
    }
    case SweepField::seconds: {
      const auto x = parse_seconds(text);
      if (!x) return tl::unexpected(x.error());
      s.seconds_per_point = *x;
      return s;
    }
    case SweepField::further: {
      const auto which = find_option(option);
      if (!which) return tl::unexpected(which.error());
      const bool usual = trimmed(text).empty() || is_word(text, {"usual", "auto"});
      const auto value = value_from_text(**which, usual ? "auto" : trimmed(text));
      if (!value) return tl::unexpected(value.error());
      choose(s.options, **which, *value);
      return s;
    }
  }
  return s;
}

}  // namespace

Result<SweepSpec> with_field(SweepSpec s, SweepField field, std::string_view text, std::string_view option) {
  auto changed = put_field(std::move(s), field, text, option);
  if (changed && changed->base.storage.kind() == Storage::paged) changed->base = paged_anew(std::move(changed->base));
  return changed;
}

SweepSpec with_axis(SweepSpec s, const Axis& a) {
  if (a == s.axis) return s;
  s.values = usual_values(s, a);
  s.axis = a;
  return s;
}

SweepSpec with_kernel(SweepSpec s, std::string_view id, bool on) {
  std::vector<std::string> kernels;
  for (const KernelRow* row : measured_rows()) {
    const bool had = std::find(s.kernels.begin(), s.kernels.end(), row->id) != s.kernels.end();
    if (row->id == id ? on : had) kernels.emplace_back(row->id);
  }
  for (const auto& own : s.own) {
    const bool had = std::find(s.kernels.begin(), s.kernels.end(), own->id) != s.kernels.end();
    if (own->id == id ? on : had) kernels.emplace_back(own->id);
  }
  s.kernels = std::move(kernels);
  return s;
}

std::string sweep_key(const SweepSpec& s) {
  const Options& o = s.options;
  std::string further;
  for (const Setting& setting : o.further) further += fmt::format("|{}={}", setting.name, setting.value);
  return fmt::format("{}|{}|{}|{}|{}|{}|{} {} {} {} {} {} {}|{} {}|{} {} {}|{} {}", fmt::join(s.kernels, ","),
                     name_of(s.axis), fmt::join(s.values, ","), describe(s.base), fmt::join(s.base.bias_shape, ","),
                     s.tokens, o.br, o.bc, o.threads, o.stages, o.subtract_max, static_cast<int>(o.key_order),
                     name_of(o.accumulate), name_of(s.generator), s.seed, s.seconds_per_point, s.min_repeats,
                     s.memory_limit, s.verify, s.verify_full) +
         fmt::format("|{} {} {} {}", s.gpu, s.arch, name_of(s.l2), s.counters) + (s.tuned ? "|tuned" : "") +
         (s.ragged == Ragged::none ? "" : fmt::format("|{}", name_of(s.ragged))) + further;
}

}  // namespace attn
