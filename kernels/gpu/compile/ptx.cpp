#include "kernels/gpu/compile/ptx.h"

#include <algorithm>
#include <string_view>

#include "kernels/gpu/compile/cubin.h"

namespace attn::gpu {

std::vector<std::string> ptx_of(std::span<const std::byte> cubin) {
  std::vector<std::string> lines;
  const std::span<const std::byte> section = section_of(cubin, ".nv_debug_ptx_txt");
  std::string_view text(reinterpret_cast<const char*>(section.data()), section.size());
  while (!text.empty()) {  // a line ends with a zero
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace attn::gpu
