#include "kernels/gpu/own_kernel/json_lines.h"

#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  Result<JsonLines> lines() {
    value("");
    if (error_) return tl::unexpected(*error_);
    return std::move(lines_);
  }

 private:
  // The next character that is no space; 0 at the end.
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) step();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void step() {
    if (at_ < text_.size() && text_[at_] == '\n') ++line_;
    ++at_;
  }
  // The text between quotes as it is written.
  std::string quoted() {
    step();
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') step();
      step();
    }
    std::string found(text_.substr(begin, at_ - begin));
    step();
    return found;
  }
  void value(const std::string& path) {
    switch (next()) {
      case '{':
        return members(path);
      case '[':
        return elements(path);
      case '"':
        quoted();
        return;
      default:
        while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) step();
    }
  }
  void members(const std::string& path) {
    step();
    while (!error_ && next() == '"') {
      const std::int32_t line = line_;
      const std::string name = quoted();
      const std::string member = path.empty() ? name : fmt::format("{}.{}", path, name);
      if (!lines_.emplace(member, line).second) {
        error_ = Error{ErrorKind::bad_input, phrase("line {}: \"{}\" appears twice", line, member)};
        return;
      }
      if (next() == ':') step();
      value(member);
      if (next() == ',') step();
    }
    step();
  }
  void elements(const std::string& path) {
    step();
    for (int n = 0; !error_ && next() != ']' && next() != '\0'; ++n) {
      const std::string element = fmt::format("{}[{}]", path, n);
      lines_.emplace(element, line_);
      value(element);
      if (next() == ',') step();
    }
    step();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int32_t line_ = 1;
  JsonLines lines_;
  std::optional<Error> error_;
};

}  // namespace

Result<JsonLines> json_lines(std::string_view text) {
  return Walk(text).lines();
}

}  // namespace attn::gpu
