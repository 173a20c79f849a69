// What `attnscope profile` speaks of: the kernel on its problem with its machine code, and the row that was measured of
// it, which a session has or the GPU here gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/picture_arguments.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/cli/arguments/stopper.h"
#include "app/cli/profile/profile_samples.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/listing/listing_subject.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "viz/profile/source/source.h"
#include "viz/state/bench_runs.h"

namespace attn::cli {

inline constexpr const char* kNotSampled =
    marked("--sample needs an NVIDIA GPU; use --session FILE.attn to read the samples of a saved session");
inline constexpr const char* kNotCounted =
    marked("--counts needs an NVIDIA GPU; use --session FILE.attn to read the counts of a saved session");
inline constexpr const char* kNoHeartbeat = marked(
    "--heartbeat needs an NVIDIA GPU; use --session FILE.attn to read the heartbeat of a saved "
    "session");

struct ProfileArguments {
  std::string kernel, arch, json_file, csv_file, beats_file, session;
  PictureArguments picture;
  std::int64_t lines = 12;
  SampleRequest request;
  ProblemArguments problem;
  OptionArguments options;
};

// All that is said, in whatever form.
struct Profiled {
  NamedKernels named;
  const KernelRow& kernel() const { return *named.rows.front(); }
  gpu::ListingSubject subject;
  gpu::KernelListing listing;
  SourceScene source;
  std::vector<gpu::EntryReport> entries;  // empty: `why_no_entries`
  std::string why_no_entries;
  std::optional<Measurement> row;  // of the session; nothing: `why_no_row`
  std::string why_no_row, row_device;
  std::string why_no_samples = tr_of(kNotSampled), why_no_heartbeat = tr_of(kNoHeartbeat),
              why_no_counts = tr_of(kNotCounted);
  const KernelSamples* samples() const { return row ? row->samples.get() : nullptr; }
  const KernelCounts* counts() const { return row ? row->counts.get() : nullptr; }
  const Heartbeat* heartbeat() const { return row ? row->heartbeat.get() : nullptr; }
  std::vector<ListedRun> runs;  // the session's, for the picture
};

Result<Profiled> profile(const ProfileArguments& a, Stopper& stopper);

}  // namespace attn::cli
