// The members of a header, read one by one: the first thing that is wrong is kept, with its field and line, and later
// answers are defaults. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/base/text.h"
#include "kernels/gpu/own_kernel/json_lines.h"
#include "kernels/gpu/own_kernel/size_expression.h"

namespace attn::gpu {

constexpr const char* kOwnExample = marked("attnscope list --template prints one to copy");

class HeaderFields {
 public:
  // `name`: the file's, for messages; `first`: the line at which the header begins.
  HeaderFields(std::string_view name, std::int32_t first, JsonLines lines)
      : name_(name), first_(first), lines_(std::move(lines)) {}
  const std::optional<Error>& error() const { return error_; }

  // `path`: a member's way from the root, "entries[1].grid"; `what` ends the sentence that begins with it.
  void refuse(const std::string& path, const std::string& what);
  // The object has these keys and no other.
  void check_keys(const nlohmann::json& object, const std::string& path, std::span<const std::string_view> known);
  // A member that must be there; null: it is not, which is refused.
  const nlohmann::json* member(const nlohmann::json& object, const std::string& path, const std::string& key);
  std::int64_t whole(const nlohmann::json& j, const std::string& path, std::int64_t min, std::int64_t max);
  // The texts of a list, each one of `known`, none twice, by their places there.
  std::vector<std::size_t> choices(const nlohmann::json& j, const std::string& path,
                                   std::span<const std::string_view> known);
  // One of them.
  std::size_t choice(const nlohmann::json& j, const std::string& path, std::span<const std::string_view> known);
  bool flag(const nlohmann::json& object, const std::string& path, const std::string& key);
  // What a C++ function or variable may be called; empty: it is refused as not the name of `what`.
  std::string identifier(const nlohmann::json& j, const std::string& path, std::string_view what);
  SizeExpression expression(const nlohmann::json& j, const std::string& path);
  // One expression, or a list of 1 to N; those that are not there are 1.
  template <std::size_t N>
  std::array<SizeExpression, N> axes(const nlohmann::json& j, const std::string& path) {
    std::array<SizeExpression, N> all;
    all.fill(SizeExpression::constant(1));
    read_axes(j, path, all);
    return all;
  }
  static std::string shown(const nlohmann::json& j);

 private:
  void read_axes(const nlohmann::json& j, const std::string& path, std::span<SizeExpression> all);

  std::string_view name_;
  std::int32_t first_;
  JsonLines lines_;
  std::optional<Error> error_;
};

}  // namespace attn::gpu
