#include "kernels/gpu/compile/hooks.h"

#include <algorithm>
#include <iterator>

#include "kernels/base/letters.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kTrace = "ATTN_TRACE(", kStamp = "ATTN_STAMP(", kLane = "ATTN_LANE(";

bool is_call(std::string_view line, std::string_view macro) {
  line = trimmed(line);
  return line.starts_with(macro) && line.ends_with(");");
}

// What hooks are made of.
bool is_hook_header(std::string_view source_name) {
  constexpr std::string_view kHeaders[] = {"kernels/gpu/trace.cuh", "kernels/gpu/hopper_trace.cuh",
                                           "kernels/gpu/stamps.cuh"};
  return std::ranges::find(kHeaders, source_name) != std::end(kHeaders);
}

// Calls `each` with every line, and with what ends it.
template <class F>
void for_lines(std::string_view text, F each) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), text.find('\n'));
    const std::string_view line = text.substr(0, size), end = text.substr(size, 1);
    text.remove_prefix(line.size() + end.size());
    each(line, end);
  }
}

bool has_call(std::string_view text, std::string_view macro) {
  bool found = false;
  for_lines(text, [&](std::string_view line, std::string_view) { found = found || is_call(line, macro); });
  return found;
}

}  // namespace

bool is_hook_line(std::string_view line) {
  if (is_call(line, kTrace) || is_call(line, kStamp)) return true;
  constexpr std::string_view kInclude = "#include \"";
  line = trimmed(line);
  return line.starts_with(kInclude) && line.ends_with('"') &&
         is_hook_header(line.substr(kInclude.size(), line.size() - kInclude.size() - 1));
}

std::string without_hook_lines(std::string_view text) {
  std::string rest;
  rest.reserve(text.size());
  for_lines(text, [&](std::string_view line, std::string_view end) {
    if (is_hook_line(line)) return;
    rest += line;
    rest += end;
  });
  return rest;
}

bool has_hooks(std::string_view text) {
  return has_call(text, kTrace);
}

bool has_stamps(std::string_view text) {
  return has_call(text, kStamp) || has_call(text, kLane);
}

bool is_recorder(std::string_view source_name) {
  return is_hook_header(source_name) || source_name == "kernels/gpu/trace_layout.h" ||
         source_name == "kernels/gpu/stamps_layout.h";
}

}  // namespace attn::gpu
