// Recordings in .attn files. Format 1: one JSON object a recording under "recordings" (problem, options, kernel,
// device, order, rules, events and versions as columns) and its inputs, outputs and arena as .npy entries.
// A reader trusts nothing: every index, extent and offset is checked against the arena and the problem.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/container.h"
#include "kernels/recording.h"
#include "kernels/result.h"

namespace attn {

nlohmann::json problem_to_json(const Problem& p);
Result<Problem> problem_from_json(const nlohmann::json& j, const std::string& where);
nlohmann::json options_to_json(const Options& o);
Result<Options> options_from_json(const nlohmann::json& j, const std::string& where);

// Adds recording `index` to the container's JSON object `session` and its tensors to `c.files`.
Result<void> add_recording(const Recording& rec, std::size_t index, nlohmann::json& session, Container& c);
// All recordings of a container.
Result<std::vector<Recording>> recordings_of(const Container& c, const std::string& name);

Result<void> write_recording(const std::filesystem::path& file, const Recording& rec);
Result<Recording> read_recording(const std::filesystem::path& file);

}  // namespace attn
