// The entries of a container that JSON objects name: each is read once, under the limits of its kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/base/result.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/npy_table.h"

namespace attn {

class Entries {
 public:
  explicit Entries(const Container& c) : c_(&c) {}

  // The bytes of the entry that member `key` names. Refused where the file lacks it, or another member has had it:
  // without that a small file could name one entry many times over.
  Result<std::span<const std::byte>> entry(JsonFields& fields, const char* key);

  template <class T>
  Result<std::vector<T>> table(JsonFields& fields, const char* key, std::size_t columns, std::uint64_t max_rows) {
    const auto bytes = entry(fields, key);
    if (!bytes) return tl::unexpected(bytes.error());
    return parse_npy_table<T>(*bytes, columns, max_rows, fields.where() + "." + key);
  }

  Result<Array> tensor(JsonFields& fields, const char* key, DType dtype, std::uint64_t max_bytes);

 private:
  const Container* c_;
  std::set<std::string> taken_;
};

}  // namespace attn
