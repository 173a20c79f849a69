// Problems and options as JSON: the same in recordings, sessions and the program's own files.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// Readers name `where` in what they refuse.
nlohmann::json problem_to_json(const Problem& p);
// The lowest version of a file that says this problem: 1, 2 (softcap, ALiBi) or 3 (pass, storage, layout).
int attn_version_of(const Problem& p);
Result<Problem> problem_from_json(const nlohmann::json& j, const std::string& where);
nlohmann::json options_to_json(const Options& o);
// 1, or 3 where a declared option is set: an older reader would take the row for another point.
int attn_version_of(const Options& o);
Result<Options> options_from_json(const nlohmann::json& j, const std::string& where);

}  // namespace attn
