// A session: measurements and recordings with the machine they were taken on; its .attn, CSV and JSON files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/formats/container.h"
#include "kernels/recording/recording.h"
#include "profiling/figures/measurement.h"

namespace attn {

struct Session {
  Provenance provenance;
  std::vector<Measurement> measurements;
  std::vector<Recording> recordings;
  std::string state;               // the view that it was saved from, as a state string; empty = none
  std::vector<std::string> notes;  // what reading left out, in words ("3 metrics of a newer version: ...")
};

// This machine, this program, now.
Provenance provenance_here();

// Tidy CSV: one row a kernel and problem, units in the header, empty cell = not available, with a `<metric>_source`
// column beside each metric (measured, derived, compiled, data sheet, or the reason it is not available).
// No comment lines. Numbers in the shortest form that reads back the same.
std::string to_csv(const Session& s);
// The same plus the samples; non-finite numbers as strings.
std::string to_json(const Session& s);

// The .attn file: measurements and recordings in one container.
Result<void> write_session(const std::filesystem::path& file, const Session& s);
// Trusts nothing. Metrics that this version does not know are left out with a note; those that the file lacks are
// "not in this file". provenance.loaded is true.
Result<Session> read_session(const std::filesystem::path& file);

}  // namespace attn
