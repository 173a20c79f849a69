// What is collected of one row beside its figures: where its warps wait and what its instructions do, down to lines and
// phases; and what the GPU did over the time of one run.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/worker/client.h"
#include "app/worker/listing_ahead.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

// Samples the row's kernel on its problem and sets the samples beside its source. What refused is the row's
// `no_samples`; where only lines and phases could not be had, the samples' `no_lines`. `arch`: of the GPU. `begun`:
// its machine code, where that is being read already.
void sample_row(GpuClient& client, const Point& p, const std::string& arch, const Deadline& deadline,
                const GpuClient::Progress& progress, Measurement& row, std::unique_ptr<ListingAhead> begun = nullptr);

// Reads counters over the time of one run of the row's kernel. What refused is the row's `no_heartbeat`.
void beat_row(GpuClient& client, const Point& p, const Deadline& deadline, const GpuClient::Progress& progress,
              Measurement& row);

// Counts what the instructions of the row's kernel do in one run and sets it beside its source. What refused is the
// row's `no_counts`; where only lines and phases could not be had, the counts' `no_lines`. `arch`: of the GPU.
void count_row(GpuClient& client, const Point& p, const std::string& arch, const Deadline& deadline,
               const GpuClient::Progress& progress, Measurement& row);

}  // namespace attn
