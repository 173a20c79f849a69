#include "kernels/gpu/compile/cubin_cache.h"

#include <array>
#include <cstring>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "kernels/base/files.h"
#include "kernels/base/hash.h"
#include "kernels/gpu/compile/cubin.h"

namespace attn::gpu {
namespace {

constexpr std::uint64_t kMaxEntryBytes = 256ULL << 20;
constexpr std::string_view kMagic = "attnscope-cubin";
constexpr int kVersion = 1;
constexpr std::size_t kMaxHeader = 256;

std::string checksum(const std::string& log, std::span<const std::byte> code) {
  return hash_of(hash_of(log) + hash_of(code));
}

}  // namespace

std::optional<Cubin> read_cached(const std::filesystem::path& file, const std::string& key) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  const auto bytes = read_file(file, kMaxEntryBytes);
  if (!bytes) return std::nullopt;
  const std::string head(reinterpret_cast<const char*>(bytes->data()), std::min(bytes->size(), kMaxHeader));
  const std::size_t line = head.find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::istringstream words(head.substr(0, line));
  std::string magic, its_key, sum;
  int version = 0;
  std::uint64_t log_bytes = 0, code_bytes = 0;
  if (!(words >> magic >> version >> its_key >> log_bytes >> code_bytes >> sum)) return std::nullopt;
  if (magic != kMagic || version != kVersion || its_key != key) return std::nullopt;
  const std::uint64_t rest = bytes->size() - line - 1;
  if (log_bytes > rest || code_bytes != rest - log_bytes) return std::nullopt;
  Cubin cubin;
  const auto log_at = bytes->begin() + static_cast<std::ptrdiff_t>(line + 1);
  const auto code_at = log_at + static_cast<std::ptrdiff_t>(log_bytes);
  cubin.log.resize(log_bytes);
  std::memcpy(cubin.log.data(), bytes->data() + line + 1, log_bytes);
  cubin.code.assign(code_at, bytes->end());
  if (checksum(cubin.log, cubin.code) != sum || !is_cubin(cubin.code)) return std::nullopt;
  return cubin;
}

bool keep_cached(const std::filesystem::path& file, const std::string& key, const Cubin& cubin) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::string head = fmt::format("{} {} {} {} {} {}\n", kMagic, kVersion, key, cubin.log.size(),
                                       cubin.code.size(), checksum(cubin.log, cubin.code));
  std::vector<std::byte> all(head.size() + cubin.log.size());
  std::memcpy(all.data(), head.data(), head.size());
  std::memcpy(all.data() + head.size(), cubin.log.data(), cubin.log.size());
  all.insert(all.end(), cubin.code.begin(), cubin.code.end());
  return write_file_atomically(file, all).has_value();
}

}  // namespace attn::gpu
