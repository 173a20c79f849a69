// Timelines as JSON objects, their tables as entries of the container: docs/attn.md, version 3.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"
#include "kernels/recording/file/entries.h"
#include "kernels/recording/timeline.h"

namespace attn {

// The timeline as an object; its tables are entries of `c` whose names begin with `prefix`.
Result<nlohmann::json> timeline_to_json(const Timeline& t, const std::string& prefix, Container& c);
Result<Timeline> timeline_from_json(const nlohmann::json& j, const std::string& where, Entries& entries);

}  // namespace attn
