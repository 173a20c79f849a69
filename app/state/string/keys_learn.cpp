// What a state string says of Learn.
#include <algorithm>

#include "app/state/string/key_makers.h"

#include "kernels/base/text.h"

namespace attn {
namespace {

// A name as lessons and beats have it, or "none".
Result<void> read_name(std::string& field, std::string_view text) {
  field.clear();
  if (text == "none") return ok();
  const bool good = !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!good) return bad_input(phrase("'{}' is not a valid name; use lower-case letters, digits, - and _", text));
  field = text;
  return ok();
}

std::string name_or_none(const std::string& name) {
  return name.empty() ? std::string("none") : name;
}

}  // namespace

void add_learn_view_keys(std::vector<StateKey>& keys) {
  keys.push_back({"lesson", [](const State& s) { return name_or_none(s.view.learn.lesson); },
                  [](State& s, std::string_view text) { return read_name(s.view.learn.lesson, text); }});
  keys.push_back({"beat", [](const State& s) { return name_or_none(s.view.learn.beat); },
                  [](State& s, std::string_view text) { return read_name(s.view.learn.beat, text); }});
  keys.push_back(flag_key(
      "teach", [](auto& s) -> auto& { return s.view.learn.teach; }));
  keys.push_back(number_key(
      "exercise_seed", 0, kMax, [](auto& s) -> auto& { return s.view.learn.exercise_seed; }));
}

}  // namespace attn
