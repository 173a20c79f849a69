// The sampled part of `attnscope profile`: taken on the GPU, told as text, JSON and columns of CSV. What is taken over
// the time of a run is told by app/cli/profile/profile_heartbeat.h, what was counted by
// app/cli/profile/profile_counts.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/cli/arguments/stopper.h"
#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/ladder.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/samples.h"
#include "profiling/spec/sweep_spec.h"

namespace attn::cli {

struct SampleRequest {
  std::int32_t gpu = 0;
  double seconds = 0.5;  // of the repeats that time it
  bool samples = false, heartbeat = false, counts = false;
  bool any() const { return samples || heartbeat || counts; }
  std::string save;  // a session that the row is added to; empty: none
};

// A row that was measured and sampled, and where.
struct SampledRow {
  Measurement row;
  Provenance provenance;
};
// Measures the subject's kernel on a GPU and takes what is asked for besides; `arch` empty: the GPU's. What refused
// that is the row's `no_samples`, `no_heartbeat` and `no_counts`; an error is a machine without a GPU, or a kernel that
// did not run.
// `own`: the user's kernels, where the subject is one of them.
Result<SampledRow> take_samples(const gpu::ListingSubject& subject, const gpu::OwnKernels& own,
                                const SampleRequest& request, Stopper& stopper);
// The session gets the row in place of the same one, or behind the others of this device.
Result<void> save_row(const std::string& file, const SampledRow& sampled);

// `samples` null: `why` says why there are none.
std::string samples_text(const KernelSamples* samples, const std::string& why, const gpu::KernelListing& listing,
                         std::int64_t lines);
nlohmann::json samples_figures(const KernelSamples* samples, const std::string& why);
// ",samples,samples_not_issued" and state_columns().
std::string sample_columns();
// The same of a phase or a line; empty cells where there are no samples.
std::string sample_cells(const SampleCounts* counts);

}  // namespace attn::cli
