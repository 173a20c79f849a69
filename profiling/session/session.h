// A session's .attn, CSV and JSON files.
// docs/formats.md says what the files hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/formats/container.h"
#include "profiling/figures/measurement.h"
#include "profiling/session/run.h"
#include "profiling/session/session_data.h"

namespace attn {

// This machine, this program, now.
Provenance provenance_here();

// Tidy CSV: one row a kernel and problem, units in the header, empty cell = not available, with a `<metric>_source`
// column beside each metric (measured, derived, compiled, data sheet, or the reason it is not available).
// No comment lines. Numbers in the shortest form that reads back the same.
std::string to_csv(const Session& s);
// The same plus the samples; non-finite numbers as strings. One run is written as version 1 has it, several as version
// 2.
std::string to_json(const Session& s);

// A session of one run without an id, for rows that go to a file and nowhere else.
Session session_of(Provenance provenance, std::vector<Measurement> rows);
std::size_t rows_of(const Session& s);

// The .attn file: runs and recordings in one container. A run without an id is given one.
Result<void> write_session(const std::filesystem::path& file, const Session& s);
// Trusts nothing. Metrics that this version does not know are left out with a note; those that were measured and that
// the file lacks are "not in this file". What is derived is computed again, and a row whose error is not allowed does
// not pass whatever the file says, with a note where the file said otherwise (profiling/session/contradictions.h). Of
// each run provenance.loaded is true. A file of version 1 with measurements is one run.
Result<Session> read_session(const std::filesystem::path& file);
// The same of a container in memory; `name` is for messages, and of each run provenance.file.
Result<Session> session_of(const Container& container, const std::string& name);

}  // namespace attn
