#include "kernels/model/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

// "f32, f16 or bf16".
std::string any_of(std::span<const std::string_view> names) {
  std::string words;
  for (std::size_t i = 0; i < names.size(); ++i) {
    words += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    words += names[i];
  }
  return words;
}

auto place_of(std::vector<Setting>& further, std::string_view name) {
  return std::ranges::lower_bound(further, name, {}, [](const Setting& s) { return std::string_view(s.name); });
}

}  // namespace

bool is_option_name(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= Option::kLongestName && letter(name.front()) &&
         std::ranges::all_of(name, inner);
}

std::span<const Option* const> common_options() {
  static constexpr std::array kAll{&Option::br,           &Option::bc,        &Option::threads,   &Option::stages,
                                   &Option::subtract_max, &Option::key_order, &Option::accumulate};
  return kAll;
}

const Option* common_option(std::string_view name) {
  const auto all = common_options();
  const auto at = std::ranges::find(all, name, [](const Option* o) { return o->name; });
  return at == all.end() ? nullptr : *at;
}

std::optional<std::int64_t> chosen(const Options& o, const Option& option) {
  if (option.get != nullptr) {
    const std::int64_t value = option.get(o);
    return value == 0 && !option.is_choice() ? std::nullopt : std::optional(value);
  }
  const auto at = std::ranges::find(o.further, option.name, &Setting::name);
  return at == o.further.end() ? std::nullopt : std::optional(at->value);
}

void choose(Options& o, const Option& option, std::optional<std::int64_t> value) {
  if (option.set != nullptr) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    option.set(o, std::min(value.value_or(option.get(Options{})), kMost));
    return;
  }
  const auto at = place_of(o.further, option.name);
  const bool there = at != o.further.end() && at->name == option.name;
  if (!value) {
    if (there) o.further.erase(at);
  } else if (there) {
    at->value = *value;
  } else {
    o.further.insert(at, {std::string(option.name), *value});
  }
}

std::string value_text(const Option& option, std::int64_t value) {
  const bool named = value >= 0 && static_cast<std::uint64_t>(value) < option.choices.size();
  return named ? std::string(option.choices[static_cast<std::size_t>(value)]) : fmt::format("{}", value);
}

Result<std::optional<std::int64_t>> value_from_text(const Option& option, std::string_view text) {
  if (text == "auto") return std::optional<std::int64_t>();
  if (option.is_choice()) {
    const auto at = std::ranges::find(option.choices, text);
    if (at != option.choices.end()) return std::optional<std::int64_t>(at - option.choices.begin());
    return bad_input(phrase("{} is {}, not '{}'", option.name, any_of(option.choices), text));
  }
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size();
  if (!whole || value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    return bad_input(phrase("{} must be an integer or auto, not '{}'", option.name, text));
  return std::optional(value);
}

std::string range_words(const OptionSpec& spec) {
  if (spec.option != nullptr && spec.option->is_choice()) {
    const auto first = static_cast<std::size_t>(std::max(spec.min, 0));
    const auto end = std::min(static_cast<std::size_t>(std::max(spec.max, 0)) + 1, spec.option->choices.size());
    return any_of(spec.option->choices.subspan(first, end - first));
  }
  if (spec.min == spec.max) return fmt::format("{}", spec.min);
  return fmt::format("{} to {}{}", spec.min, spec.max, spec.step == 1 ? "" : phrase(" in steps of {}", spec.step));
}

}  // namespace attn
