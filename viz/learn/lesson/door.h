// What opens where a lesson ends: an input preset in Step, or "timeline:ID", a recording in Profile's timeline.
#pragma once

#include <optional>
#include <string_view>

namespace attn {

// The recording whose timeline the door opens; empty where it opens a preset.
constexpr std::optional<std::string_view> timeline_of_door(std::string_view door) {
  constexpr std::string_view kTimeline = "timeline:";
  if (!door.starts_with(kTimeline)) return std::nullopt;
  return door.substr(kTimeline.size());
}

}  // namespace attn
