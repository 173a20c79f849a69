#include "app/control/sweeps.h"

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/state/string.h"
#include "viz/bench/scene.h"

namespace attn {
namespace {

GpuView view_of(const Result<GpuHello>& hello) {
  GpuView view;
  view.looked = true;
  if (!hello) {
    view.why_none = hello.error().message;
    return view;
  }
  for (const gpu::GpuProperties& g : hello->gpus) view.gpus.push_back({g.index, g.name, g.arch()});
  return view;
}

// A file that cannot be read is not offered: who opens it by hand is told why.
void add_offer(const std::filesystem::path& file, const char* what, std::vector<SessionOffer>& offers) {
  const auto session = read_session(file);
  if (!session || rows_of(*session) == 0) return;
  const Provenance& p = session->runs.front().provenance;
  offers.push_back({file.string(), fmt::format("{} of {}, {}, {}", what, p.device, counted(rows_of(*session), "row"),
                                               p.date.substr(0, 10))});
}

}  // namespace

void Sweeps::look_around() {
  if (sources_.gpu != nullptr) look_for_gpus();
  if (!sources_.bundled_sessions.empty() || !sources_.autosave_file.empty()) look_for_sessions();
}

void Sweeps::look_for_gpus() {
  const auto work = [this, gpu = sources_.gpu,
                     counters = context_.state.document.sweep.counters](TaskHandle& task) -> Result<void> {
    const auto hello = gpu->look(task.stop(), counters);
    task.deliver([this, view = view_of(hello)] { context_.model.gpu = view; });
    return ok();
  };
  context_.tasks.start("Looking for GPUs", work);
}

void Sweeps::look_for_sessions() {
  const auto work = [this, bundled = sources_.bundled_sessions,
                     autosaved = sources_.autosave_file](TaskHandle& task) -> Result<void> {
    std::vector<SessionOffer> offers;
    std::error_code error;
    if (!autosaved.empty() && std::filesystem::exists(autosaved, error)) add_offer(autosaved, "the last run", offers);
    std::vector<std::filesystem::path> files;
    if (!bundled.empty())
      for (const auto& entry : std::filesystem::directory_iterator(bundled, error))
        if (entry.path().extension() == ".attn") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) add_offer(file, "the bundled session", offers);
    task.deliver([this, offers] { context_.model.offers = offers; });
    return ok();
  };
  context_.tasks.start("Looking for sessions", work);
}

void Sweeps::run(bool restart) {
  if (context_.tasks.running(task_))
    return context_.log.warn("A sweep is running: cancel it before another is started.");
  const SweepSpec spec = context_.state.document.sweep;
  if (auto valid = validate(spec); !valid) return context_.log.warn(valid.error().message);
  std::vector<Measurement> kept;
  if (!restart && context_.model.rows_from_here) {
    const SweepCount count = count_finished(spec, context_.model.measurements, gpu_device(spec, context_.model.gpu));
    if (count.finished < count.points) kept = context_.model.measurements;
    if (count.finished > 0 && !kept.empty())
      context_.log.note(
          fmt::format("Going on: {} of {} are finished.", count.finished, counted(count.points, "point")));
  }
  context_.model.measurements.clear();
  context_.model.provenance = provenance_here();
  context_.model.rows_from_here = true;
  const auto work = [this, spec, kept = std::move(kept), gpu = sources_.gpu,
                     keeper = std::make_shared<RowKeeper>(sources_.autosave_file, session_state(context_.state))](
                        TaskHandle& task) { return measure(task, spec, kept, gpu.get(), *keeper); };
  task_ = context_.tasks.start("Sweep", work, [this](const Result<void>& result) {
    if (result)
      return context_.log.note(
          fmt::format("The sweep is done: {}.", counted(context_.model.measurements.size(), "point")));
    result.error().kind == ErrorKind::cancelled ? context_.log.note(result.error().message)
                                                : context_.log.error(result.error().message);
  });
}

// In the sweep's thread: what it finds goes to the window through task.deliver().
Result<void> Sweeps::measure(TaskHandle& task, const SweepSpec& spec, const std::vector<Measurement>& kept,
                             GpuBench* gpu, RowKeeper& keeper) {
  SweepCallbacks callbacks;
  callbacks.kept = kept;
  Provenance provenance = provenance_here();
  if (gpu != nullptr) {
    task.progress(0, "looking for the GPU");
    callbacks.gpu = gpu->runner(spec, task.stop());
    provenance = gpu->provenance(spec);
  }
  keeper.set_provenance(provenance);
  task.deliver([this, provenance] { context_.model.provenance = provenance; });
  callbacks.progress = [&](const SweepProgress& p) {
    task.progress(p.total == 0 ? 0 : static_cast<double>(p.done) / static_cast<double>(p.total), p.now, p.seconds_left);
  };
  const auto keep = [&](const Result<void>& written) {
    if (!written)
      task.deliver([this, e = written.error()] { context_.log.warn("Rows are not autosaved: " + e.message); });
  };
  callbacks.row = [&](const Measurement& m) {
    task.deliver([this, m] { context_.model.measurements.push_back(m); });
    keep(keeper.row(m));
  };
  const auto rows = run_sweep(spec, callbacks, task.stop());
  keep(keeper.write());
  if (!rows) return tl::unexpected(rows.error());
  if (task.stop().stop_requested()) {
    return fail(ErrorKind::cancelled, fmt::format("Cancelled after {}.", counted(rows->size(), "point")));
  }
  return ok();
}

void Sweeps::show_rows(Session& session) {
  if (context_.tasks.running(task_)) context_.tasks.cancel(task_);
  context_.model.measurements = std::move(session.runs.front().rows);
  context_.model.provenance = session.runs.front().provenance;
  context_.model.rows_from_here = context_.model.provenance.host == provenance_here().host;
  if (session.recordings.empty()) context_.state.view.workspace = Workspace::bench;
  context_.state.view.bench.value.reset();
  const Document before = context_.state.document;
  if (restore_bench(session.state, context_.state)) context_.history.changed(before, 0);
}

}  // namespace attn
