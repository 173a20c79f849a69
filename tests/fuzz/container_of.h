// What the fuzz targets of .attn files read their bytes as.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"

namespace attn::fuzz {

// A zip's checksums keep most mutations from what lies inside. So an input that is no zip is taken as entries laid out
// plainly: name length, size (2 bytes), name, bytes; the first entry is session.json.
inline Container plain_entries(std::span<const std::byte> bytes) {
  const auto text = [](std::span<const std::byte> part) {
    return std::string(reinterpret_cast<const char*>(part.data()), part.size());
  };
  Container c;
  for (bool first = true; bytes.size() >= 3; first = false) {
    const auto name_size = std::to_integer<std::size_t>(bytes[0]);
    const auto size = std::to_integer<std::size_t>(bytes[1]) + 256 * std::to_integer<std::size_t>(bytes[2]);
    bytes = bytes.subspan(3);
    const auto name = bytes.first(std::min(name_size, bytes.size()));
    bytes = bytes.subspan(name.size());
    const auto content = bytes.first(std::min(size, bytes.size()));
    bytes = bytes.subspan(content.size());
    if (first) {
      c.session_json = text(content);
    } else {
      c.files[text(name)] = {content.begin(), content.end()};
    }
  }
  return c;
}

inline Result<Container> container_of(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes[0] != std::byte{'P'}) return plain_entries(bytes);
  ContainerLimits limits;
  limits.max_entry_bytes = limits.max_json_bytes = 1 << 20;
  limits.max_total_bytes = 4 << 20;
  return parse_container(bytes, "fuzz.attn", limits);
}

}  // namespace attn::fuzz
