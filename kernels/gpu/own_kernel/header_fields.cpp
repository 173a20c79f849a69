#include "kernels/gpu/own_kernel/header_fields.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace attn::gpu {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxName = 64;

}  // namespace

void HeaderFields::refuse(const std::string& path, const std::string& what) {
  if (error_) return;
  const auto at = lines_.find(path);
  const std::int32_t line = at == lines_.end() ? first_ : at->second;
  error_ = Error{ErrorKind::bad_input, phrase("{}, line {}: \"{}\" {}.", name_, line, path, what)};
}

void HeaderFields::check_keys(const json& object, const std::string& path, std::span<const std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end())
      refuse(path.empty() ? key : fmt::format("{}.{}", path, key),
             phrase("is not a known key; use {}", fmt::join(known, ", ")));
  }
}

const json* HeaderFields::member(const json& object, const std::string& path, const std::string& key) {
  const auto at = object.find(key);
  if (at != object.end()) return &*at;
  if (path.empty())
    refuse(key, phrase("is missing; {}", tr_of(kOwnExample)));
  else
    refuse(path, phrase("lacks \"{}\"", key));
  return nullptr;
}

std::int64_t HeaderFields::whole(const json& j, const std::string& path, std::int64_t min, std::int64_t max) {
  const bool small = !j.is_number_unsigned() ||
                     j.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (j.is_number_integer() && small && j.get<std::int64_t>() >= min && j.get<std::int64_t>() <= max)
    return j.get<std::int64_t>();
  refuse(path, phrase("is {}; it must be an integer from {} to {}", shown(j), min, max));
  return min;
}

std::string HeaderFields::shown(const json& j) {
  constexpr std::size_t kLongest = 40;
  const std::string text = j.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

std::vector<std::size_t> HeaderFields::choices(const json& j, const std::string& path,
                                               std::span<const std::string_view> known) {
  std::vector<std::size_t> found;
  if (!j.is_array())
    refuse(path, phrase("is {}; it must be a list of any of these: {}", shown(j), fmt::join(known, ", ")));
  for (std::size_t n = 0; j.is_array() && n < j.size() && !error_; ++n) {
    const std::string place = fmt::format("{}[{}]", path, n);
    const std::size_t index = choice(j[n], place, known);
    if (std::ranges::find(found, index) != found.end()) refuse(place, phrase("repeats {}", shown(j[n])));
    found.push_back(index);
  }
  return found;
}

std::size_t HeaderFields::choice(const json& j, const std::string& path, std::span<const std::string_view> known) {
  const auto at = j.is_string() ? std::ranges::find(known, j.get_ref<const std::string&>()) : known.end();
  if (at != known.end()) return static_cast<std::size_t>(at - known.begin());
  refuse(path, phrase("is {}; use {}", shown(j), fmt::join(known, ", ")));
  return 0;
}

bool HeaderFields::flag(const json& object, const std::string& path, const std::string& key) {
  const auto at = object.find(key);
  if (at == object.end()) return false;
  if (!at->is_boolean())
    refuse(path.empty() ? key : fmt::format("{}.{}", path, key), phrase("is {}; it must be true or false", shown(*at)));
  return at->is_boolean() && at->get<bool>();
}

std::string HeaderFields::identifier(const json& j, const std::string& path, std::string_view what) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string name = j.is_string() ? j.get<std::string>() : std::string();
  if (!name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, good) &&
      !(name[0] >= '0' && name[0] <= '9'))
    return name;
  refuse(path, phrase("is {}; it must be the name of {}", shown(j), what));
  return {};
}

SizeExpression HeaderFields::expression(const json& j, const std::string& path) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!j.is_string()) {
    if (j.is_number()) return SizeExpression::constant(whole(j, path, 0, kMost));
    refuse(path, phrase("is {}; it must be an integer, or an expression in quotes", shown(j)));
    return {};
  }
  auto e = SizeExpression::parse(j.get_ref<const std::string&>());
  if (e) return *std::move(e);
  refuse(path, phrase("is invalid: {}", e.error().message));
  return {};
}

void HeaderFields::read_axes(const json& j, const std::string& path, std::span<SizeExpression> all) {
  if (!j.is_array()) {
    all[0] = expression(j, path);
    return;
  }
  if (j.empty() || j.size() > all.size())
    refuse(path, phrase("has {} elements; it must have 1 to {}", j.size(), all.size()));
  for (std::size_t n = 0; n < std::min(j.size(), all.size()); ++n)
    all[n] = expression(j[n], fmt::format("{}[{}]", path, n));
}

}  // namespace attn::gpu
