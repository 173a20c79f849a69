// The lines of a kernel's text at which it can record itself:
//
//   ATTN_TRACE(...);                        the numbers of each step (kernels/gpu/rungs/trace/trace.cuh)
//   ATTN_STAMP(...);                        who did what when (kernels/gpu/rungs/stamps/stamps.cuh)
//   #include "kernels/gpu/trace.cuh"        or "kernels/gpu/hopper_trace.cuh", or "kernels/gpu/stamps.cuh"
//
// each alone on a line. They change no instruction of the shipped code, so a kernel's hash is made without them. A
// kernel of the user's own has ATTN_LANE(...); and its like (docs/own_kernel.md): no hooks, but part of its text.
#pragma once

#include <string>
#include <string_view>

namespace attn::gpu {

// What a compilation defines so that the hooks are code.
constexpr std::string_view kTracedDefine = "ATTN_TRACED=1", kStampedDefine = "ATTN_STAMPED=1";

bool is_hook_line(std::string_view line);
// The text without those lines.
std::string without_hook_lines(std::string_view text);
// Whether it has a hook that writes numbers, or moments.
bool has_hooks(std::string_view text);
bool has_stamps(std::string_view text);
// Whether a header is a recorder's own: "kernels/gpu/trace.cuh" and the like, and what they write where.
bool is_recorder(std::string_view source_name);

}  // namespace attn::gpu
