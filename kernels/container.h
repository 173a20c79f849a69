// The .attn container: a zip of session.json and .npy tensors, shared by recordings (this room) and sessions
// (room profiling). Limits are checked against the zip's directory before anything is decompressed.
//
//   session.json        {"format": "attnscope", "version": 1, "recordings": [...], "measurements": [...], ...}
//   r0/q.npy ...        tensors, named by the JSON
//
// JSON has no -inf and NaN: non-finite numbers are the strings "inf", "-inf", "nan" (number_to_json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/files.h"
#include "kernels/result.h"

namespace attn {

constexpr int kAttnVersion = 1;

struct ContainerLimits {
  std::uint64_t max_file_bytes = 1ULL << 30;     // the zip itself
  std::uint64_t max_entry_bytes = 512ULL << 20;  // one decompressed entry
  std::uint64_t max_total_bytes = 1ULL << 30;    // all of them
  std::uint32_t max_entries = 4096;
  std::uint64_t max_json_bytes = 64ULL << 20;
  int max_json_depth = 64;
};

// Entry names are relative, ASCII, with no "..". Entries are stored in name order: same content, same bytes.
struct Container {
  std::string session_json;                             // UTF-8 text, already parsed once for validity
  std::map<std::string, std::vector<std::byte>> files;  // without session.json
};

Result<Container> read_container(const std::filesystem::path& file, const ContainerLimits& limits = {});
Result<Container> parse_container(std::span<const std::byte> bytes, const std::string& name,
                                  const ContainerLimits& limits = {});
Result<std::vector<std::byte>> container_bytes(const Container& c);

nlohmann::json number_to_json(double x);
Result<double> number_from_json(const nlohmann::json& j, const std::string& where);

}  // namespace attn
