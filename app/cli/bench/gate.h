// `attnscope bench --against SESSION`: new rows held against earlier ones.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/cli/arguments/command.h"
#include "kernels/base/result.h"
#include "profiling/session/session_data.h"

namespace attn::cli {

struct GateArguments {
  std::string against;
  std::optional<double> fail_under;

  void add_to(Parser parser);
  // The session to hold against, before time is spent on measuring; none where none was named.
  Result<std::optional<Session>> earlier() const;
  // Says of each row what became of it. An error where one fell, or none could be compared.
  Result<void> judge(std::span<const Measurement> rows, const Provenance& where, const Session& earlier) const;
};

}  // namespace attn::cli
