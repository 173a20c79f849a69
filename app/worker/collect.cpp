#include "app/worker/collect.h"

#include <future>
#include <memory>
#include <utility>

#include "app/worker/disassemble.h"
#include "kernels/own_kernels.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/figures/samples.h"

namespace attn {
namespace {

void say(const GpuClient::Progress& progress, const std::string& now) {
  if (progress) progress(now);
}

using Listing = Result<gpu::KernelListing>;

// The machine code is read while the worker takes what stands beside it: nvdisasm takes about as long.
std::future<Listing> begin_listing(const GpuClient& client, const Point& p, const std::string& arch,
                                   const Deadline& deadline) {
  const auto kernel = find_kernel(p.kernel, client.own());
  return std::async(std::launch::async, [kernel, p, arch, stop = deadline.stop]() -> Listing {
    if (!kernel) return tl::unexpected(kernel.error());
    return list_row_here(**kernel, {p.kernel, p.problem, p.options, arch}, stop);
  });
}

// Lines and phases for what was taken by address; what refused is its `no_lines`.
template <class Taken>
void put_lines_on(Taken& taken, std::future<Listing> begun, const std::string& kernel,
                  const GpuClient::Progress& progress) {
  say(progress, "reading the machine code of " + kernel);
  const Listing listing = begun.get();
  if (!listing)
    taken.no_lines = listing.error().message;
  else if (auto put = put_lines(taken, *listing); !put)
    taken.no_lines = put.error().message;
}

}  // namespace

void sample_row(GpuClient& client, const Point& p, const std::string& arch, const Deadline& deadline,
                const GpuClient::Progress& progress, Measurement& row) {
  row.samples.reset();
  row.no_samples.clear();
  if (row.state != RowState::done) {
    row.no_samples = "it did not run: " + row.reason;
    return;
  }
  Point resolved = p;
  resolved.options = row.key.options;
  if (auto started = client.start(); !started) {
    row.no_samples = started.error().message;
    return;
  }
  auto listing = begin_listing(client, resolved, arch, deadline);
  auto samples = client.sample(resolved, deadline, progress);
  if (!samples) {
    row.no_samples = samples.error().message;
    return;
  }
  put_lines_on(*samples, std::move(listing), p.kernel, progress);
  row.samples = std::make_shared<const KernelSamples>(*std::move(samples));
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
  row.counts.reset();
  row.no_counts.clear();
  if (row.state != RowState::done) {
    row.no_counts = "it did not run: " + row.reason;
    return;
  }
  Point resolved = p;
  resolved.options = row.key.options;
  if (auto started = client.start(); !started) {
    row.no_counts = started.error().message;
    return;
  }
  auto listing = begin_listing(client, resolved, arch, deadline);
  auto counts = client.count_instructions(resolved, deadline, progress);
  if (!counts) {
    row.no_counts = counts.error().message;
    return;
  }
  put_lines_on(*counts, std::move(listing), p.kernel, progress);
  row.counts = std::make_shared<const KernelCounts>(*std::move(counts));
}

}  // namespace attn
