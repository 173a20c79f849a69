#include "app/worker/collect.h"

#include <memory>
#include <utility>

#include "kernels/gpu/compile/listing/machine_code.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/figures/samples.h"

namespace attn {
namespace {

void say(const GpuClient::Progress& progress, const std::string& now) {
  if (progress) progress(now);
}

// Lines and phases for what was taken by address; what refused is its `no_lines`.
template <class Taken>
void put_lines_on(Taken& taken, ListingAhead& begun, Measurement& row, const GpuClient::Progress& progress) {
  say(progress, "reading the machine code of " + row.key.kernel);
  const Result<gpu::KernelListing> listing = begun.get();
  if (!listing) {
    taken.no_lines = listing.error().message;
    return;
  }
  if (auto put = put_lines(taken, *listing); !put) taken.no_lines = put.error().message;
  if (row.code != nullptr || listing->source_hash != row.key.source_hash) return;
  if (auto code = gpu::machine_code_of(listing->sass, listing->arch))
    row.code = std::make_shared<const gpu::MachineCode>(*std::move(code));
}

// What is taken by address of a row that ran: `ask` takes it, `taken` keeps it, or `why_not` says what refused.
template <class Taken>
void take_row(GpuClient& client, const Point& p, const std::string& arch, const Deadline& deadline,
              const GpuClient::Progress& progress, Measurement& row,
              Result<Taken> (GpuClient::*ask)(const Point&, const Deadline&, const GpuClient::Progress&),
              std::shared_ptr<const Taken> Measurement::*taken, std::string Measurement::*why_not,
              std::unique_ptr<ListingAhead> listing = nullptr) {
  (row.*taken).reset();
  (row.*why_not).clear();
  if (row.state != RowState::done) {
    row.*why_not = "it did not run: " + row.reason;
    return;
  }
  Point resolved = p;
  resolved.options = row.key.options;
  if (auto started = client.start(); !started) {
    row.*why_not = started.error().message;
    return;
  }
  if (!listing)
    listing = std::make_unique<ListingAhead>(gpu::ListingSubject{p.kernel, p.problem, resolved.options, arch},
                                             client.own(), deadline.stop);
  auto answer = (client.*ask)(resolved, deadline, progress);
  if (!answer) {
    row.*why_not = answer.error().message;
    return;
  }
  put_lines_on(*answer, *listing, row, progress);
  row.*taken = std::make_shared<const Taken>(*std::move(answer));
}

}  // namespace

void sample_row(GpuClient& client, const Point& p, const std::string& arch, const Deadline& deadline,
                const GpuClient::Progress& progress, Measurement& row, std::unique_ptr<ListingAhead> begun) {
  take_row(client, p, arch, deadline, progress, row, &GpuClient::sample, &Measurement::samples,
           &Measurement::no_samples, std::move(begun));
}

void beat_row(GpuClient& client, const Point& p, const Deadline& deadline, const GpuClient::Progress& progress,
              Measurement& row) {
  row.heartbeat.reset();
  row.no_heartbeat.clear();
  if (row.state != RowState::done) {
    row.no_heartbeat = "it did not run: " + row.reason;
    return;
  }
  Point resolved = p;
  resolved.options = row.key.options;
  auto beat = client.heartbeat(resolved, deadline, progress);
  if (beat)
    row.heartbeat = std::make_shared<const Heartbeat>(*std::move(beat));
  else
    row.no_heartbeat = beat.error().message;
}

void count_row(GpuClient& client, const Point& p, const std::string& arch, const Deadline& deadline,
               const GpuClient::Progress& progress, Measurement& row) {
  take_row(client, p, arch, deadline, progress, row, &GpuClient::count_instructions, &Measurement::counts,
           &Measurement::no_counts);
}

}  // namespace attn
