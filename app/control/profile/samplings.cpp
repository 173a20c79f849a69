#include "app/control/profile/samplings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "app/worker/collect.h"
#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/samples.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

constexpr double kUsual = 6;  // seconds, where no sampling was seen: a new worker, a compilation, the machine code

const Measurement* row_of(const ListedRun& run, const SampleRow& wanted) {
  const auto at = std::ranges::find_if(run.run.rows, [&](const Measurement& m) {
    return m.key.kernel == wanted.kernel && m.key.problem == wanted.problem && m.key.options == wanted.options;
  });
  return at == run.run.rows.end() ? nullptr : &*at;
}

double seconds_of(const Measurement& m, RowDetail what) {
  switch (what) {
    case RowDetail::heartbeat:
      return m.heartbeat == nullptr ? 0 : m.heartbeat->seconds;
    case RowDetail::counts:
      return m.counts == nullptr ? 0 : m.counts->seconds;
    case RowDetail::samples:
      break;
  }
  return m.samples == nullptr ? 0 : m.samples->seconds;
}

// Why the row has not what was taken of it; nothing: it has it.
Result<void> taken(const Measurement& m, RowDetail what) {
  const auto there = [](bool has, const std::string& why) { return has ? ok() : fail(ErrorKind::cannot_run, why); };
  switch (what) {
    case RowDetail::heartbeat:
      return there(m.heartbeat != nullptr, m.no_heartbeat);
    case RowDetail::counts:
      return there(m.counts != nullptr, m.no_counts);
    case RowDetail::samples:
      break;
  }
  return there(m.samples != nullptr, m.no_samples);
}

// "Sampling naive"; and what is said when it is done.
struct Said {
  std::string doing;
  const char* done;
};
Said said_of(RowDetail what, const std::string& kernel) {
  switch (what) {
    case RowDetail::heartbeat:
      return {phrase("Reading the heartbeat of {}", kernel), tr("The kernel's heartbeat has been read.")};
    case RowDetail::counts:
      return {phrase("Counting the instructions of {}", kernel), tr("The kernel's instructions have been counted.")};
    case RowDetail::samples:
      break;
  }
  return {phrase("Sampling {}", kernel), tr("The kernel has been sampled.")};
}

// How long it took last time, by this kernel where it was done.
double expected_seconds(const Model& model, const SampleRow& wanted) {
  double any = 0;
  for (const ListedRun& r : model.runs)
    for (const Measurement& m : r.run.rows) {
      const double took = seconds_of(m, wanted.what);
      if (!r.local || took <= 0) continue;
      if (m.key.kernel == wanted.kernel) return took;
      any = took;
    }
  return any > 0 ? any : kUsual;
}

}  // namespace

void Samplings::sample(const SampleRow& wanted) {
  if (context_.tasks.running(task_))
    return context_.log.warn(tr("Sampling is already running; cancel it before starting again."));
  const ListedRun* run = find_run(context_.model, wanted.run);
  const Measurement* found = run == nullptr ? nullptr : row_of(*run, wanted);
  if (found == nullptr)
    return context_.log.warn(tr("Only a measured row can be sampled; run the sweep in Bench first."));
  if (!run->local || run->growing)
    return context_.log.warn(
        run->growing
            ? tr("This run is still being measured; sample the kernel when the run is done.")
            : tr("This row was measured on another machine; to sample it here, run the sweep in Bench first."));
  if (gpu_ == nullptr) return context_.log.warn(tr("This version does not use GPUs, so it cannot sample kernels."));
  const auto work = [this, row = *found, id = run->run.id, kept = run->from == RunFrom::here, gpu = gpu_,
                     expected = expected_seconds(context_.model, wanted), what = wanted.what,
                     own = context_.state.document.sweep.own](TaskHandle& task) -> Result<void> {
    Measurement sampled = row;
    gpu->meet(own);
    const double begin = steady_seconds();
    const auto progress = [&](const std::string& now) {
      const double gone = steady_seconds() - begin;
      task.progress(std::min(0.95, gone / expected), now, std::max(0.0, expected - gone));
    };
    if (what == RowDetail::heartbeat)
      gpu->beat(sampled, progress, task.stop());
    else if (what == RowDetail::counts)
      gpu->count(sampled, progress, task.stop());
    else
      gpu->sample(sampled, progress, task.stop());
    if (task.stop().stop_requested()) return fail(ErrorKind::cancelled, tr("Sampling was cancelled."));
    Result<void> written = ok();
    if (kept && runs_.store().keeps()) {
      const auto listing = runs_.store().list();
      const auto stored = std::ranges::find(listing.runs, id, [](const StoredRun& s) { return s.run.id; });
      if (stored != listing.runs.end()) {
        auto writer = runs_.store().write(stored->run);
        written = writer ? (*writer)->add(sampled) : Result<void>(tl::unexpected(writer.error()));
      }
    }
    task.deliver([this, id, sampled, written] {
      runs_.add_row(id, sampled);
      if (!written)
        context_.log.warn(phrase("The samples were not saved in the run's file: {}", written.error().message));
    });
    return taken(sampled, what);
  };
  const Said said = said_of(wanted.what, wanted.kernel);
  task_ = context_.tasks.start(said.doing, work, [this, said](const Result<void>& result) {
    if (result) return context_.log.note(said.done);
    result.error().kind == ErrorKind::cancelled ? context_.log.note(result.error().message)
                                                : context_.log.error(result.error().message);
  });
}

}  // namespace attn
