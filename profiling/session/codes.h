// Machine code of a session's rows in its file: each text once, an entry of its own, which rows name by number.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"
#include "kernels/gpu/compile/listing/machine_code.h"
#include "profiling/session/session_data.h"

namespace attn {

// What a file keeps: of more kernels the first alone, in the order of the rows.
class WrittenCodes {
 public:
  explicit WrittenCodes(const Session& s);
  bool empty() const { return codes_.empty(); }
  // The number that the row names; nothing: it has none.
  std::optional<std::size_t> number_of(const Measurement& m) const;
  // Adds the list "codes" to session.json's object, and an entry for each.
  void add_to(nlohmann::json& session, Container& c) const;

 private:
  struct Code {
    const gpu::MachineCode* code;
    std::string text;
  };
  std::optional<std::size_t> find(const gpu::MachineCode& code) const;
  std::vector<Code> codes_;
};

using Codes = std::vector<std::shared_ptr<const gpu::MachineCode>>;
// Reads the next code of a file that somebody wrote; older ones have none. Whether all are read.
Result<bool> more_codes(const nlohmann::json& session, const Container& c, const std::string& name, Codes& codes);
// What the row `j` names, for the measurement that was read of it; `where` is for messages.
Result<void> take_code(const nlohmann::json& j, const Codes& codes, const std::string& where, Measurement& m);

}  // namespace attn
