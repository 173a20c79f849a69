// Ranks as the member "ranks" of a measurement: docs/attn.md, version 3.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"
#include "profiling/figures/ranks.h"

namespace attn {

nlohmann::json ranks_to_json(const Ranks& ranks);
// Checked: 2 to kMaxRanks devices whose spans do not end before they start; what travels is the problem's, each once.
// `where` is for messages.
Result<Ranks> ranks_from_json(const nlohmann::json& j, const Problem& p, const std::string& where);

}  // namespace attn
