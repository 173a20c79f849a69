// JSON text parsed in pieces of some ten kilobytes, for where a long text must not hold up a frame. What comes of it,
// errors included, is what parse_json() gives.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/base/result.h"

namespace attn {

class JsonSlices {
 public:
  // `text` must outlive this; `name` is for messages.
  JsonSlices(std::string_view text, std::string name, int max_depth);
  JsonSlices(const JsonSlices&) = delete;
  JsonSlices& operator=(const JsonSlices&) = delete;

  // Parses the next piece. Whether all is parsed.
  Result<bool> step();
  nlohmann::json take() { return std::move(root_); }

 private:
  // An array or object that is longer than a piece.
  struct Open {
    nlohmann::json* value;
    bool empty = true;
  };
  // Where elements or one value end, and how deep brackets are nested in them.
  struct Cut {
    std::size_t end = 0;
    std::size_t depth = 0;
  };
  // Each of these answers whether the text was as expected.
  bool piece();
  bool elements(nlohmann::json& list);
  bool member(nlohmann::json& object);
  bool value(nlohmann::json& to);
  bool open(nlohmann::json& to);
  bool parse(std::size_t end, nlohmann::json& to);

  std::optional<Cut> value_end() const;
  Cut elements_end() const;
  std::size_t string_end() const;
  void skip_space();
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::string name_;
  std::size_t max_depth_, at_ = 0;
  bool plain_ = false, begun_ = false;
  nlohmann::json root_;
  std::vector<Open> open_;  // the outermost first; pointers hold, for only the last array grows
};

}  // namespace attn
