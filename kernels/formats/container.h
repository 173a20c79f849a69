// The .attn container: a zip of session.json and .npy tensors, shared by recordings (this room) and sessions
// (room profiling). Limits are checked against the zip's directory before anything is decompressed.
//
//   session.json        {"format": "attnscope", "version": 2, "recordings": [...], "runs": [...], ...}
//   r0/q.npy ...        tensors, named by the JSON
//
// JSON has no -inf and NaN: non-finite numbers are the strings "inf", "-inf", "nan" (number_to_json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/files.h"
#include "kernels/base/result.h"

namespace attn {

constexpr int kAttnVersion = 3;  // the newest that is read; docs/formats.md says what each holds

struct ContainerLimits {
  std::uint64_t max_file_bytes = 1ULL << 30;     // the zip itself
  std::uint64_t max_entry_bytes = 512ULL << 20;  // one decompressed entry
  std::uint64_t max_total_bytes = 1ULL << 30;    // all of them
  std::uint32_t max_entries = 4096;
  std::uint64_t max_json_bytes = 16ULL << 20;
  int max_json_depth = 64;
};

// Entry names are relative, ASCII, with no "..". session.json is stored first, the rest in name order, with a fixed
// date: same content, same bytes.
struct Container {
  std::string session_json;                             // UTF-8 text of a JSON object with format and version
  std::map<std::string, std::vector<std::byte>> files;  // without session.json
  std::shared_ptr<nlohmann::json> session = {};         // what session_json was parsed to, where it was read
};

constexpr const char* kSessionEntry = "session.json";
// Whether an entry may be called so: a plain relative path.
bool is_entry_name(std::string_view name);

// What is read is refused unless it is whole: a zip within the limits whose checksums hold, its session.json an
// object of this format in a version that this program reads.
Result<Container> read_container(const std::filesystem::path& file, const ContainerLimits& limits = {});
Result<Container> parse_container(std::span<const std::byte> bytes, const std::string& name,
                                  const ContainerLimits& limits = {});
Result<std::vector<std::byte>> container_bytes(const Container& c);

// The text of session.json: format and version, then the members of the object `session`. A writer names the lowest
// version that holds what it writes.
std::string session_text(const nlohmann::json& session, int version = 1);
// The object that a container's session.json holds, parsed where that has not been done. `name` is for messages.
Result<std::shared_ptr<nlohmann::json>> session_object(const Container& c, const std::string& name);
// Whether it is the object of a session.json, in a version that this program reads.
Result<void> check_session_object(const nlohmann::json& session, const std::string& name);

// JSON text of at most `max_depth` nested arrays and objects; `name` is for messages.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& name, int max_depth);

nlohmann::json number_to_json(double x);
Result<double> number_from_json(const nlohmann::json& j, const std::string& where);

}  // namespace attn
