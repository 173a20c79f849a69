// Reads the members of a JSON object that nobody vouches for: the first member that is missing, of the wrong type or
// out of range is kept as the error, and every later answer is a default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"

namespace attn {

class JsonFields {
 public:
  // `where` names the object in messages. `object` must outlive this.
  JsonFields(const nlohmann::json& object, std::string where);

  bool has(const char* key) const;  // there and not null
  std::int64_t integer(const char* key, std::int64_t min, std::int64_t max);
  double number(const char* key);
  bool boolean(const char* key);
  std::string text(const char* key, std::size_t longest = 256);
  std::vector<std::int64_t> integers(const char* key, std::size_t max_elements);
  std::vector<std::string> texts(const char* key, std::size_t max_elements);
  const nlohmann::json& object(const char* key);
  const nlohmann::json& array(const char* key);
  // The index of a text among `names`.
  std::size_t choice(const char* key, const std::vector<std::string>& names);

  void refuse(const char* key, const std::string& what);
  Result<void> result() const;
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json& member(const char* key) const;  // null where there is none

  const nlohmann::json& object_;
  std::string where_;
  std::optional<Error> error_;
};

}  // namespace attn
