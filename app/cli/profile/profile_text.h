// What `attnscope profile` says, as text, JSON and CSV.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/cli/profile/profile_subject.h"

namespace attn::cli {

// `lines`: how many lines of source it lists.
std::string text_of(const Profiled& p, std::int64_t lines);
nlohmann::json json_of(const Profiled& p);
// A row a phase, then a row a line.
std::string csv_of(const Profiled& p);

}  // namespace attn::cli
