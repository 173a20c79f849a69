// A tuning as files: every tile, tried or not, with what is known of it.
#pragma once

#include <string>

#include "profiling/tune/tune.h"

namespace attn {

// One line a tile. docs/tune.md has the columns.
std::string tiles_to_csv(const TuneResult& r);
// The same with the decision. Ends in a line end.
std::string tiles_to_json_text(const TuneResult& r);

}  // namespace attn
