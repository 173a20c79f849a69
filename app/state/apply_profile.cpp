#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/state/apply_lists.h"

namespace attn {
namespace {

constexpr std::size_t kMaxName = 256;

struct ApplyProfile {
  State s;

  Result<State> operator()(const ChooseProfilePage& c) {
    s.view.profile.page = c.page;
    return std::move(s);
  }
  Result<State> operator()(const ChooseSourceLine& c) {
    if (c.line < 0 || c.file.size() > kMaxName)
      return bad_input(fmt::format("Line {} of {} is none of a source.", c.line, c.file));
    s.view.profile.file = c.file;
    s.view.profile.line = c.line;
    return std::move(s);
  }
  Result<State> operator()(const ChooseAgainst& c) {
    if (c.id.size() > kMaxName) return bad_input("The name of a measurement has at most 256 bytes.");
    s.view.profile.against = c.id;
    return std::move(s);
  }
  Result<State> operator()(const ChooseBeatSpan& c) {
    const bool all = c.from_us == 0 && c.to_us == 0;
    if (!all && (c.from_us < 0 || c.to_us <= c.from_us))
      return bad_input(fmt::format("{} to {} us is no part of a run.", c.from_us, c.to_us));
    s.view.profile.beat_from_us = c.from_us;
    s.view.profile.beat_to_us = c.to_us;
    return std::move(s);
  }
  Result<State> operator()(const ChooseCode& c) {
    s.view.profile.code = c.code;
    return std::move(s);
  }
};

}  // namespace

Result<State> apply_profile(State state, const ProfileCommand& command) {
  return std::visit(ApplyProfile{std::move(state)}, command);
}

}  // namespace attn
