#include "app/cli/profile/profile_subject.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "app/cli/arguments/console_text.h"
#include "app/worker/bench.h"
#include "app/worker/disassemble.h"
#include "app/worker/tuner.h"
#include "app/worker/user_compiler.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/problem/validate.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/session/session.h"

namespace attn::cli {
namespace {

constexpr std::int64_t kLength = 4096;  // of the problem that is compiled for, where none is named
constexpr const char* kNeedsGpu = marked(
    "not available: times and counters need an NVIDIA GPU; use --session FILE.attn to read the measurements of a saved "
    "session");

// A row of the session that was timed, and where.
struct Candidate {
  const Measurement* row;
  const SweepRun* run;
};

// The session's row of the problem that was named; where none was, that of the longest.
Result<void> take_row(const ProfileArguments& a, const Problem& named, bool any_named, Profiled& p) {
  p.why_no_row = tr_of(kNeedsGpu);
  if (a.session.empty()) return ok();
  auto session = read_session(a.session);
  if (!session) return bad_input(session.error().message);
  std::vector<Candidate> rows;
  for (const SweepRun& run : session->runs)
    for (const Measurement& m : run.rows)
      if (m.key.kernel == p.kernel().id && m.state == RowState::done) rows.push_back({&m, &run});
  if (rows.empty()) return bad_input(phrase("{} has no measured row for {}.", a.session, p.kernel().id));
  const auto longer = [](const Candidate& x, const Candidate& y) {
    return x.row->key.problem.Lk < y.row->key.problem.Lk;
  };
  auto found = std::ranges::max_element(rows, longer);
  if (any_named) {
    found = std::ranges::find_if(rows, [&](const Candidate& c) { return c.row->key.problem == named; });
    if (found == rows.end())
      return bad_input(phrase("{} has no row for {} on {}, but it has rows for {}.", a.session, p.kernel().id,
                              describe(named), describe(rows.back().row->key.problem)));
  }
  p.row = *found->row;
  p.row_device = found->run->provenance.device;
  p.subject.problem = p.row->key.problem;
  p.subject.options = p.row->key.options;
  if (a.arch.empty()) p.subject.arch = found->run->provenance.device_arch;
  for (SweepRun& run : session->runs) p.runs.push_back({std::move(run), RunFrom::file, false, false});
  return ok();
}

// The row of the GPU of this machine, measured now with what is asked for besides.
Result<void> take_here(const ProfileArguments& a, Profiled& p, Stopper& stopper) {
  auto sampled = take_samples(p.subject, p.named.own, a.request, stopper);
  if (!sampled) return tl::unexpected(sampled.error());
  p.row_device = sampled->provenance.device;
  p.subject.arch = sampled->provenance.device_arch;
  p.subject.options = sampled->row.key.options;
  if (!a.request.save.empty())
    if (auto saved = save_row(a.request.save, *sampled); !saved) return saved;
  SweepRun run = new_run("");
  run.provenance = sampled->provenance;
  run.rows = {sampled->row};
  p.runs.push_back({std::move(run), RunFrom::here, false, false});
  p.row = std::move(sampled->row);
  return ok();
}

// The tile that tuning kept for the GPU that is here.
Result<void> take_tuned(const ProfileArguments& a, const KernelRow& row, Options& options, const Problem& problem,
                        Stopper& stopper) {
  if (!a.options.tuned()) return ok();
  if (!a.request.any())
    return bad_input(tr("--tile tuned refers to this machine's GPU; use it with --sample, --heartbeat or --counts."));
  GpuBench gpu;
  Tuner tuner(&gpu);
  const auto on = tuner.place(row, a.request.gpu, stopper.token());
  if (!on) return tl::unexpected(on.error());
  const auto with = tuner.options(a.request.gpu)(row, problem, options, on->device);
  if (!with) return tl::unexpected(with.error());
  options = *with;
  return ok();
}

Result<void> take_subject(const ProfileArguments& a, Profiled& p, Stopper& stopper) {
  auto named = kernel_named(a.kernel);
  if (!named) return tl::unexpected(named.error());
  p.named = *std::move(named);
  const KernelRow* const row = &p.kernel();
  if (row->processor != Processor::gpu)
    return bad_input(phrase("{} runs on the CPU: it has no GPU machine code.", a.kernel));
  if (!row->parts.empty())
    return bad_input(
        phrase("{} is {} followed by {}; profile one of the two. `attnscope bench --pass training` measures both "
               "passes together.",
               row->id, row->parts.front()->id, row->parts.back()->id));
  if (!p.named.own.empty() && a.picture.asked()) return bad_input(kLadderAlone);
  p.subject.kernel = row->id;
  p.subject.arch = a.arch.empty() ? std::string(gpu::kArchRunOn) : a.arch;
  Problem& problem = p.subject.problem;
  problem.Lq = problem.Lk = kLength;
  problem.D = problem.Dv = 64;
  problem.dtype = row->dtypes.front();
  const Problem before = problem;
  if (auto r = a.problem.apply_to(problem); !r) return r;
  if (auto r = validate(problem); !r) return r;
  const KernelRow* const rows[] = {row};
  if (auto r = a.options.check_read_by(rows); !r) return r;
  if (auto r = a.options.apply_to(p.subject.options); !r) return r;
  if (auto r = take_tuned(a, *row, p.subject.options, problem, stopper); !r) return r;
  const bool here = a.request.any();
  if (auto r = here ? take_here(a, p, stopper) : take_row(a, problem, !(problem == before), p); !r) return r;
  if (p.row && !p.row->no_samples.empty()) p.why_no_samples = p.row->no_samples;
  if (p.row && !p.row->no_heartbeat.empty()) p.why_no_heartbeat = p.row->no_heartbeat;
  if (p.row && !p.row->no_counts.empty()) p.why_no_counts = p.row->no_counts;
  const auto device = gpu::device_for(p.subject.arch);
  if (!device) return tl::unexpected(device.error());
  if (auto takes = row->supports(*row, problem, p.subject.options, *device); !takes) return takes;
  const auto plan = row->plan(*row, p.subject.problem, p.subject.options, *device);
  if (!plan) return tl::unexpected(plan.error());
  p.subject.options = plan->options;
  const auto compiler = compilers_here()();
  if (!compiler) {
    p.why_no_entries = compiler.error().message;
    return ok();
  }
  (*compiler)->heed(stopper.token());
  gpu::CompileService service(**compiler, gpu::cubin_cache_folder());
  const auto report = gpu::inspect(service, *plan, *device, gpu::edited_kernels_folder());
  if (!report) return tl::unexpected(report.error());
  p.entries = report->entries;
  return ok();
}

}  // namespace

Result<Profiled> profile(const ProfileArguments& a, Stopper& stopper) {
  Profiled p;
  if (auto r = take_subject(a, p, stopper); !r) return tl::unexpected(r.error());
  say_progress(phrase("{} for {}", a.kernel, p.subject.arch));
  auto listing = list_row_here(p.kernel(), p.subject, stopper.token());
  say_progress("");
  if (!listing) return tl::unexpected(listing.error());
  p.listing = *std::move(listing);
  if (p.row && p.row->samples != nullptr)
    p.row->samples = std::make_shared<const KernelSamples>(with_machine_code(*p.row->samples, p.listing));
  const ListingView view{key_of(p.subject), false, std::make_shared<const gpu::KernelListing>(p.listing), ""};
  p.source = source_scene(view, view.of, {});
  return p;
}

}  // namespace attn::cli
