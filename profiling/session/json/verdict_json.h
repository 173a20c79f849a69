// A verdict as the member "verdict" of a measurement: docs/formats.md, and docs/attn.md for version 3.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/judge/verdict.h"

namespace attn {

// It has an output that versions 1 and 2 have no word for: they know O and LSE.
bool judges_others(const Verdict& v);

nlohmann::json verdict_to_json(const Verdict& v);
// `where` is for messages.
Result<Verdict> verdict_from_json(const nlohmann::json& j, const std::string& where);

}  // namespace attn
