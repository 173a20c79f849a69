// The JSON of a lesson, an object at a time: each member is asked for, an unknown one is refused with its place. For
// viz/learn/lesson/lesson_parse.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/result.h"
#include "kernels/base/text.h"

namespace attn {

// Ids of lessons, beats and exercises.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// One object of the file; the first fault is kept, with its place.
class LessonObject {
 public:
  static constexpr std::size_t kMaxList = 64, kMaxExpression = 400;

  LessonObject(const nlohmann::json& j, std::string where) : j_(j), where_(std::move(where)) {
    if (!j.is_object()) refuse("", tr("expected an object"));
  }

  void only(std::initializer_list<const char*> known) {
    if (!j_.is_object()) return;
    for (const auto& [key, value] : j_.items()) {
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const char* k) { return key == k; });
      if (!is_known) refuse(key, phrase("unknown field; use {}", fmt::join(known, ", ")));
    }
  }
  bool has(const char* key) const { return j_.is_object() && j_.contains(key); }
  std::string text(const char* key, std::size_t longest, bool must) {
    if (!has(key)) {
      if (must) refuse(key, tr("it is missing"));
      return {};
    }
    const nlohmann::json& value = j_[key];
    if (!value.is_string()) return refuse(key, tr("expected a string")), std::string();
    auto words = value.get<std::string>();
    if (words.empty() && must) refuse(key, tr("it is empty"));
    if (words.size() > longest) refuse(key, phrase("the text is longer than {} bytes", longest));
    return words;
  }
  std::string expression(const char* key, bool must) { return text(key, kMaxExpression, must); }
  std::int32_t whole(const char* key, std::int32_t min, std::int32_t max, bool must) {
    if (!has(key)) {
      if (must) refuse(key, tr("it is missing"));
      return min;
    }
    const nlohmann::json& value = j_[key];
    const bool good = value.is_number_integer() && value.get<double>() >= min && value.get<double>() <= max;
    if (!good) return refuse(key, phrase("expected an integer from {} to {}", min, max)), min;
    return value.get<std::int32_t>();
  }
  double number(const char* key) {
    const bool good = has(key) && j_[key].is_number() && std::isfinite(j_[key].get<double>());
    if (!good) return refuse(key, has(key) ? tr("expected a number") : tr("it is missing")), 0;
    return j_[key].get<double>();
  }
  bool flag(const char* key) {
    if (!has(key)) return false;
    if (!j_[key].is_boolean()) return refuse(key, tr("expected true or false")), false;
    return j_[key].get<bool>();
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> all;
    for (const nlohmann::json& item : list(key, kMaxList)) {
      if (!item.is_string() || item.get_ref<const std::string&>().empty() ||
          item.get_ref<const std::string&>().size() > kMaxExpression) {
        return refuse(key, tr("expected a list of strings")), all;
      }
      all.push_back(item.get<std::string>());
    }
    return all;
  }
  const nlohmann::json& list(const char* key, std::size_t most) {
    static const nlohmann::json kEmpty = nlohmann::json::array();
    if (!has(key)) return kEmpty;
    if (!j_[key].is_array()) return refuse(key, tr("expected a list")), kEmpty;
    if (j_[key].size() > most) return refuse(key, phrase("expected at most {}", most)), kEmpty;
    return j_[key];
  }
  const nlohmann::json& object(const char* key) {
    static const nlohmann::json kEmpty = nlohmann::json::object();
    if (!has(key)) return kEmpty;
    if (!j_[key].is_object()) return refuse(key, tr("expected an object")), kEmpty;
    return j_[key];
  }
  template <class Value>
  Value choice(const char* key, std::initializer_list<std::pair<const char*, Value>> values, bool must) {
    const std::string name = text(key, 64, must);
    std::vector<std::string> names;
    for (const auto& [known, value] : values) {
      names.emplace_back(known);
      if (name == known) return value;
    }
    if (!name.empty()) refuse(key, phrase("unknown value '{}'; use {}", name, fmt::join(names, ", ")));
    return values.begin()->second;
  }

  void refuse(const std::string& key, const std::string& why) {
    if (!error_.empty()) return;
    error_ = where_;
    if (!key.empty()) error_ += phrase(", field '{}'", key);
    error_ += ": " + why;
  }
  // Takes over what a part of this object was refused for.
  void follow(const LessonObject& part) {
    if (error_.empty()) error_ = part.error_;
  }
  const std::string& where() const { return where_; }
  Result<void> result() const { return error_.empty() ? ok() : bad_input(error_); }

 private:
  const nlohmann::json& j_;
  std::string where_, error_;
};

}  // namespace attn
