// The controller's sweeps: which GPUs there are, rows that grow and are autosaved, sessions that fill Bench.
#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/control/controller.h"
#include "app/control/row_keeper.h"
#include "app/state/apply.h"
#include "app/state/string.h"
#include "profiling/session/session.h"
#include "viz/bench/scene.h"

namespace attn {
namespace {

std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

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
  if (!session || session->measurements.empty()) return;
  offers.push_back({file.string(),
                    fmt::format("{} of {}, {}, {}", what, session->provenance.device,
                                counted(session->measurements.size(), "row"), session->provenance.date.substr(0, 10))});
}

}  // namespace

void Controller::look_around() {
  if (options_.gpu != nullptr) {
    const bool counters = state_.document.sweep.counters;
    tasks_.start("Looking for GPUs", [this, gpu = options_.gpu, counters](TaskHandle& task) -> Result<void> {
      const auto hello = gpu->look(task.stop(), counters);
      task.deliver([this, view = view_of(hello)] { model_.gpu = view; });
      return ok();
    });
  }
  if (options_.bundled_sessions.empty() && options_.autosave_file.empty()) return;
  const auto work = [this, bundled = options_.bundled_sessions,
                     autosaved = options_.autosave_file](TaskHandle& task) -> Result<void> {
    std::vector<SessionOffer> offers;
    std::error_code error;
    if (!autosaved.empty() && std::filesystem::exists(autosaved, error)) add_offer(autosaved, "the last run", offers);
    std::vector<std::filesystem::path> files;
    if (!bundled.empty())
      for (const auto& entry : std::filesystem::directory_iterator(bundled, error))
        if (entry.path().extension() == ".attn") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) add_offer(file, "the bundled session", offers);
    task.deliver([this, offers] { model_.offers = offers; });
    return ok();
  };
  tasks_.start("Looking for sessions", work);
}

std::string Controller::state_text() const {
  State state = state_;
  state.document.inputs = {};  // Step's files are no part of a sweep, and are not read for it
  const auto text = state_string(state);
  return text ? *text : std::string();  // too long for a string: the file then restores rows and recording alone
}

void Controller::run_sweep_task(bool restart) {
  if (tasks_.running(sweep_task_)) return log_.warn("A sweep is running: cancel it before another is started.");
  const SweepSpec spec = state_.document.sweep;
  if (auto valid = validate(spec); !valid) return log_.warn(valid.error().message);
  std::vector<Measurement> kept;
  if (!restart && model_.rows_from_here) {
    const SweepCount count = count_finished(spec, model_.measurements, gpu_device(spec, model_.gpu));
    if (count.finished < count.points) kept = model_.measurements;
    if (count.finished > 0 && !kept.empty())
      log_.note(fmt::format("Going on: {} of {} are finished.", count.finished, counted(count.points, "point")));
  }
  model_.measurements.clear();
  model_.provenance = provenance_here();
  model_.rows_from_here = true;
  const auto work = [this, spec, kept = std::move(kept), gpu = options_.gpu,
                     keeper = std::make_shared<RowKeeper>(options_.autosave_file, state_text())](TaskHandle& task) {
    return sweep_in_task(task, spec, kept, gpu.get(), *keeper);
  };
  sweep_task_ = tasks_.start("Sweep", work, [this](const Result<void>& result) {
    if (result) return log_.note(fmt::format("The sweep is done: {}.", counted(model_.measurements.size(), "point")));
    result.error().kind == ErrorKind::cancelled ? log_.note(result.error().message)
                                                : log_.error(result.error().message);
  });
}

// In the sweep's thread: what it finds goes to the window through task.deliver().
Result<void> Controller::sweep_in_task(TaskHandle& task, const SweepSpec& spec, const std::vector<Measurement>& kept,
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
  task.deliver([this, provenance] { model_.provenance = provenance; });
  callbacks.progress = [&](const SweepProgress& p) {
    task.progress(p.total == 0 ? 0 : static_cast<double>(p.done) / static_cast<double>(p.total), p.now, p.seconds_left);
  };
  const auto keep = [&](const Result<void>& written) {
    if (!written) task.deliver([this, e = written.error()] { log_.warn("Rows are not autosaved: " + e.message); });
  };
  callbacks.row = [&](const Measurement& m) {
    task.deliver([this, m] { model_.measurements.push_back(m); });
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

// Rows of a file in place of those there are, with the sweep that they came from.
void Controller::show_rows(Session& session) {
  if (tasks_.running(sweep_task_)) tasks_.cancel(sweep_task_);
  model_.measurements = std::move(session.measurements);
  model_.provenance = session.provenance;
  model_.rows_from_here = session.provenance.host == provenance_here().host;
  if (session.recordings.empty()) state_.view.workspace = Workspace::bench;
  state_.view.bench.value.reset();
  const Document before = state_.document;
  if (restore_bench(session.state, state_)) history_.changed(before, 0);
}

}  // namespace attn
