// The heartbeat of `attnscope profile`: what the GPU did over the time of one run, as text, JSON and CSV.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profiling/figures/heartbeat.h"

namespace attn::cli {

// `h` null: `why` says why there is none. `timed_us`: the median of the row's repeats; 0 = it has none.
// `tiles`: its beat is that of key tiles (has_beat_of_tiles()), whose borders are looked for.
std::string heartbeat_text(const Heartbeat* h, const std::string& why, double timed_us, bool tiles);
nlohmann::json heartbeat_figures(const Heartbeat* h, const std::string& why, bool tiles);
// A row a sample, a column a counter; the heads alone where there is none.
std::string heartbeat_csv(const std::string& kernel, const Heartbeat* h);

}  // namespace attn::cli
