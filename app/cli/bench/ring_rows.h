// Rings in a session, as Bench shows them and CSV lists them: a row for each number of ranks.
#pragma once

#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"
#include "profiling/session/session_data.h"
#include "profiling/spec/sweep_spec.h"

namespace attn::cli {

struct RingFiles {
  std::string attn, rows_csv;
  bool resume = false, force = false;
  bool any() const { return !attn.empty() || !rows_csv.empty(); }
};
// Before anything runs: refused are files that cannot be written, and flags without a session.
Result<void> check_files(const RingFiles& files);
// Adds the rows to the session's run of this machine, and writes it and the CSV.
Result<void> write_rows(const RingFiles& files, const SweepSpec& sweep, const Provenance& where,
                        std::vector<Measurement> rows);

}  // namespace attn::cli
