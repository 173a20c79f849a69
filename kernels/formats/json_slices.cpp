#include "kernels/formats/json_slices.h"

#include <algorithm>
#include <utility>

#include "kernels/formats/container.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kPiece = 16 << 10;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Walks text outside of strings, and says how deep in brackets it is.
class Brackets {
 public:
  // Whether `c` closes a bracket that was opened before the walk.
  bool take(char c) {
    if (in_string_) {
      if (std::exchange(escaped_, false)) return false;
      escaped_ = c == '\\';
      in_string_ = c != '"';
      return false;
    }
    if (c == '"') in_string_ = true;
    if (c == '[' || c == '{') deepest_ = std::max(deepest_, ++depth_);
    if (c != ']' && c != '}') return false;
    if (depth_ == 0) return true;
    --depth_;
    return false;
  }
  bool between() const { return depth_ == 0 && !in_string_; }
  std::size_t deepest() const { return deepest_; }

 private:
  std::size_t depth_ = 0, deepest_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace

// A zero ends nlohmann's text, so a piece that has one could pass where the whole does not.
JsonSlices::JsonSlices(std::string_view text, std::string name, int max_depth)
    : text_(text),
      name_(std::move(name)),
      max_depth_(static_cast<std::size_t>(max_depth)),
      plain_(text.find('\0') != std::string_view::npos) {}

Result<bool> JsonSlices::step() {
  if (!plain_ && piece()) return open_.empty() && begun_ && at_ == text_.size();
  // The whole text says what is wrong with it.
  open_.clear();
  auto whole = parse_json(text_, name_, static_cast<int>(max_depth_));
  if (!whole) return tl::unexpected(whole.error());
  root_ = *std::move(whole);
  return true;
}

bool JsonSlices::piece() {
  skip_space();
  if (!std::exchange(begun_, true)) {
    const bool good = value(root_);
    skip_space();
    return good;
  }
  if (open_.empty()) return false;  // something follows
  Open& now = open_.back();
  json& to = *now.value;
  if (here() == (to.is_array() ? ']' : '}')) {
    ++at_;
    open_.pop_back();
    skip_space();
    return true;
  }
  if (!std::exchange(now.empty, false)) {
    if (here() != ',') return false;
    ++at_;
    skip_space();
  }
  return to.is_array() ? elements(to) : member(to);
}

// As many elements as fit in a piece, or the beginning of one that does not.
bool JsonSlices::elements(json& list) {
  const Cut cut = elements_end();
  if (cut.end == at_) {
    if (here() == '[' || here() == '{') return open(list.emplace_back());
    return value(list.emplace_back());
  }
  if (open_.size() + cut.depth > max_depth_) return false;
  std::string text = "[";
  text.append(text_, at_, cut.end - at_);
  text += ']';
  json some = json::parse(text, nullptr, false);
  if (!some.is_array() || some.empty()) return false;
  for (json& each : some) list.push_back(std::move(each));
  at_ = cut.end;
  return true;
}

bool JsonSlices::member(json& object) {
  if (here() != '"') return false;
  json key;
  if (!parse(string_end(), key) || !key.is_string()) return false;
  skip_space();
  if (here() != ':') return false;
  ++at_;
  skip_space();
  return value(object[key.get_ref<const std::string&>()]);
}

bool JsonSlices::value(json& to) {
  const auto cut = value_end();
  if (!cut) return open(to);
  return open_.size() + cut->depth <= max_depth_ && parse(cut->end, to);
}

bool JsonSlices::open(json& to) {
  if (open_.size() >= max_depth_) return false;
  to = here() == '[' ? json::array() : json::object();
  ++at_;
  open_.push_back({&to});
  return true;
}

bool JsonSlices::parse(std::size_t end, json& to) {
  // A byte order mark would pass.
  if (end <= at_ || static_cast<unsigned char>(here()) >= 0x80) return false;
  to = json::parse(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(end),
                   nullptr, false);
  at_ = end;
  return !to.is_discarded();
}

// Of the value that begins here; nothing: it is an array or object longer than a piece.
std::optional<JsonSlices::Cut> JsonSlices::value_end() const {
  if (here() == '"') return Cut{string_end()};
  Brackets brackets;
  if (here() != '[' && here() != '{') {
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != ',' && text_[end] != ']' && text_[end] != '}' && !is_space(text_[end]))
      ++end;
    return Cut{end};
  }
  const std::size_t last = std::min(text_.size(), at_ + kPiece);
  for (std::size_t i = at_; i < last; ++i) {
    brackets.take(text_[i]);
    if (brackets.between() && (text_[i] == ']' || text_[i] == '}')) return Cut{i + 1, brackets.deepest()};
  }
  return std::nullopt;
}

// Of the elements that begin here and end within a piece; here: the first is longer.
JsonSlices::Cut JsonSlices::elements_end() const {
  Brackets brackets;
  Cut cut{at_, 0};
  const std::size_t last = std::min(text_.size(), at_ + kPiece);
  for (std::size_t i = at_; i < last; ++i) {
    if (brackets.take(text_[i])) return {i, brackets.deepest()};
    if (text_[i] == ',' && brackets.between()) cut = {i, brackets.deepest()};
  }
  return cut;
}

// Behind the closing quote of the string that begins here; at the end of the text: it has none.
std::size_t JsonSlices::string_end() const {
  for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == '"') {
      return i + 1;
    }
  }
  return text_.size();
}

void JsonSlices::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

}  // namespace attn
