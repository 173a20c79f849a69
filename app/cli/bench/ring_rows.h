// Rings in a session, as Bench shows them and CSV lists them: a row for each number of ranks.
#pragma once

#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/session/session_data.h"
#include "profiling/spec/sweep_spec.h"

namespace attn::cli {

// What was measured of a ring; of one rank `ranks.devices` has one element, and its row is that of a single device.
struct TakenRing {
  const KernelRow* kernel = nullptr;
  Options options;  // resolved
  Problem problem;
  std::string device, clock;
  L2State l2 = L2State::warm;
  std::vector<double> samples_us;  // from the first start of any rank to the last end of any
  Verdict verdict;
  std::string wrong;  // what is wrong besides what the verdict says; empty: nothing
  Ranks ranks;
};
Measurement row_of(const TakenRing& t);

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
