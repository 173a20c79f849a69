// A timeline alone as the bytes of a container: how it travels between processes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/recording/timeline.h"

namespace attn {

Result<std::vector<std::byte>> timeline_bytes(const Timeline& t);
// Checked as a file's is; refused where the container does not hold one and no more. `name` is for messages.
Result<Timeline> timeline_from(std::span<const std::byte> bytes, const std::string& name);

}  // namespace attn
