#include "kernels/recording/file/entries.h"

#include "kernels/base/text.h"
#include "kernels/formats/npy.h"

namespace attn {

Result<std::span<const std::byte>> Entries::entry(JsonFields& fields, const char* key) {
  const std::string name = fields.text(key);
  if (auto r = fields.result(); !r) return tl::unexpected(r.error());
  const auto found = c_->files.find(name);
  if (found == c_->files.end()) {
    return bad_input(phrase("{}: \"{}\" names {}, which is not in the file.", fields.where(), key, name));
  }
  if (!taken_.insert(name).second) {
    return bad_input(phrase("{}: \"{}\" names {}, which has been used already.", fields.where(), key, name));
  }
  return std::span<const std::byte>(found->second);
}

Result<Array> Entries::tensor(JsonFields& fields, const char* key, DType dtype, std::uint64_t max_bytes) {
  const auto bytes = entry(fields, key);
  if (!bytes) return tl::unexpected(bytes.error());
  return parse_npy(*bytes, fields.where() + "." + key, max_bytes, dtype);
}

}  // namespace attn
