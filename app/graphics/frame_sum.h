// Whether two frames are the same picture, before any of it is drawn.
#pragma once

#include <cstdint>
#include <optional>

struct ImDrawData;

namespace attn {

// Equal for equal pictures. None where the frame brings a texture that is not uploaded yet: it has to be drawn.
std::optional<std::uint64_t> frame_sum(const ImDrawData& data);

}  // namespace attn
