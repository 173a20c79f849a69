#include "kernels/formats/json_fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"

namespace attn {
namespace {

using nlohmann::json;

// nlohmann::json converts what does not fit; this does not.
std::optional<std::int64_t> integer_of(const json& j) {
  if (j.is_number_unsigned()) {
    const auto value = j.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  if (j.is_number_integer()) return j.get<std::int64_t>();
  return std::nullopt;
}

// What stands for a member that is not there.
const json& nothing(json::value_t type) {
  static const json null, object = json::object(), array = json::array();
  return type == json::value_t::object ? object : type == json::value_t::array ? array : null;
}

}  // namespace

JsonFields::JsonFields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) error_ = Error{ErrorKind::bad_input, phrase("{} must be a JSON object.", where_)};
}

const json& JsonFields::member(const char* key) const {
  if (object_.is_object()) {
    const auto found = object_.find(key);
    if (found != object_.end()) return *found;
  }
  return nothing(json::value_t::null);
}

bool JsonFields::has(const char* key) const {
  return !member(key).is_null();
}

void JsonFields::refuse(const char* key, const std::string& what) {
  if (!error_) error_ = Error{ErrorKind::bad_input, fmt::format("{}: \"{}\" {}.", where_, key, what)};
}

Result<void> JsonFields::result() const {
  if (error_) return tl::unexpected(*error_);
  return ok();
}

std::int64_t JsonFields::integer(const char* key, std::int64_t min, std::int64_t max) {
  const auto value = integer_of(member(key));
  if (value && *value >= min && *value <= max) return *value;
  refuse(key, phrase("must be an integer from {} to {}", min, max));
  return min;
}

double JsonFields::number(const char* key) {
  const auto value = number_from_json(member(key), where_);
  if (value) return *value;
  refuse(key, R"(must be a number, "inf", "-inf" or "nan")");
  return 0;
}

bool JsonFields::boolean(const char* key) {
  const json& j = member(key);
  if (j.is_boolean()) return j.get<bool>();
  refuse(key, tr("must be true or false"));
  return false;
}

std::string JsonFields::text(const char* key, std::size_t longest) {
  const json& j = member(key);
  if (j.is_string() && j.get_ref<const std::string&>().size() <= longest) return j.get<std::string>();
  refuse(key, phrase("must be a string of at most {} bytes", longest));
  return {};
}

std::vector<std::int64_t> JsonFields::integers(const char* key, std::size_t max_elements) {
  const json& j = array(key);
  std::vector<std::int64_t> values;
  if (j.size() > max_elements) refuse(key, phrase("must have at most {} elements", max_elements));
  for (std::size_t i = 0; i < std::min(j.size(), max_elements); ++i) {
    const auto value = integer_of(j[i]);
    if (!value) refuse(key, phrase("must contain integers (element {})", i));
    values.push_back(value.value_or(0));
  }
  return values;
}

std::vector<std::string> JsonFields::texts(const char* key, std::size_t max_elements) {
  const json& j = array(key);
  std::vector<std::string> values;
  if (j.size() > max_elements) refuse(key, phrase("must have at most {} elements", max_elements));
  for (std::size_t i = 0; i < std::min(j.size(), max_elements); ++i) {
    if (!j[i].is_string()) refuse(key, phrase("must contain strings (element {})", i));
    values.push_back(j[i].is_string() ? j[i].get<std::string>() : std::string());
  }
  return values;
}

const json& JsonFields::object(const char* key) {
  const json& j = member(key);
  if (j.is_object()) return j;
  refuse(key, tr("must be an object"));
  return nothing(json::value_t::object);
}

const json& JsonFields::array(const char* key) {
  const json& j = member(key);
  if (j.is_array()) return j;
  refuse(key, tr("must be an array"));
  return nothing(json::value_t::array);
}

std::size_t JsonFields::choice(const char* key, const std::vector<std::string>& names) {
  const json& j = member(key);
  if (j.is_string()) {
    const auto found = std::ranges::find(names, j.get_ref<const std::string&>());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  refuse(key, phrase("must be one of {}", fmt::join(names, ", ")));
  return 0;
}

}  // namespace attn
