#include "app/control/bench/sweeps.h"

#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/state/string/state_string.h"
#include "app/worker/tuner.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "profiling/figures/peers.h"
#include "profiling/session/run.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/tune/candidates.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/planned.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

GpuView view_of(const Result<GpuHello>& hello) {
  GpuView view;
  view.looked = true;
  if (!hello) {
    view.why_none = hello.error().message;
    return view;
  }
  for (const gpu::GpuProperties& g : hello->gpus)
    view.gpus.push_back({g.index, g.name, g.arch(), g.memory_bytes, g.sms});
  view.compiler = hello->compiler;
  return view;
}

std::vector<KeptTile> kept_tiles(const SweepSpec& sweep, const TunedOptions& tuned) {
  std::vector<KeptTile> tiles;
  if (!validate(sweep)) return tiles;
  for (const std::int64_t value : sweep.values) {
    for (const std::string& id : sweep.kernels) {
      const auto row = find_kernel(id, sweep.own);
      if (!row || !has_tiles(**row)) continue;
      const Point p = point_at(sweep, **row, value);
      tiles.push_back({id, value, tuned(**row, p.problem, p.options, cpu_device())});
    }
  }
  return tiles;
}

}  // namespace

void Sweeps::look_around() {
  if (sources_.gpu != nullptr) look_for_gpus();
  asked_for_runs_ = true;
  runs_.look();
}

void Sweeps::look_for_gpus() {
  const auto work = [this, gpu = sources_.gpu,
                     counters = context_.state.document.sweep.counters](TaskHandle& task) -> Result<void> {
    const auto hello = gpu->look(task.stop(), counters);
    task.deliver([this, view = view_of(hello)] { context_.model.gpu = view; });
    return ok();
  };
  context_.tasks.start(tr("Looking for GPUs"), work);
}

void Sweeps::look_for_peers() {
  if (!sources_.peers || std::exchange(asked_for_peers_, true)) return;
  const auto work = [this, setup = *sources_.peers](TaskHandle& task) -> Result<void> {
    const auto python = look_for_python(setup.python, task.stop());
    PeersView view;
    view.looked = true;
    view.why_none = why_no_torch(python);
    if (view.why_none.empty()) view.words = words_of(*python);
    for (const PeerRow& row : peer_table()) {
      if (!python || row.package.empty()) continue;
      view.packages.emplace(row.id, why_missing(python, row));
    }
    task.deliver([this, view] { context_.model.peers = view; });
    return ok();
  };
  context_.tasks.start(tr("Looking for peers"), work);
}

void Sweeps::run(bool restart) {
  if (context_.tasks.running(task_))
    return context_.log.warn(tr("A sweep is running; cancel it before starting another sweep."));
  const SweepSpec spec = context_.state.document.sweep;
  const Model& model = context_.model;
  if (const std::string why = why_nothing_runs(spec, model.gpu, planned_rows(spec, model.kept), model.kept);
      !why.empty())
    return context_.log.warn(validate(spec) ? phrase("Nothing can run here. {}", sentence(why)) : why);
  const HistoryEntry before = entry_of(context_.state);
  const RunList::Begun begun = runs_.begin(spec, restart);
  context_.history.changed(before, context_.state.document, 0);
  const auto work = [this, spec, begun, gpu = sources_.gpu](TaskHandle& task) {
    return measure(task, spec, begun, gpu.get());
  };
  task_ = context_.tasks.start(tr("Sweep"), work, [this, id = begun.run.id](const Result<void>& result) {
    runs_.ended(id);
    const ListedRun* run = find_run(context_.model, id);
    const std::size_t rows = run != nullptr ? run->run.rows.size() : 0;
    if (result) return context_.log.note(plural(rows, "Sweep done: {} point.", "Sweep done: {} points."));
    result.error().kind == ErrorKind::cancelled ? context_.log.note(result.error().message)
                                                : context_.log.error(result.error().message);
  });
}

// In the sweep's thread: what it finds goes to the window through task.deliver().
Result<void> Sweeps::measure(TaskHandle& task, const SweepSpec& spec, const RunList::Begun& begun, GpuBench* gpu) {
  SweepCallbacks callbacks;
  callbacks.kept = begun.kept;
  SweepRun run = begun.run;
  const std::string id = run.id;
  if (gpu != nullptr) {
    task.progress(0, tr("looking for the GPU"));
    callbacks.gpu = gpu->runner(spec, task.stop());
    run.provenance = gpu->provenance(spec);
  }
  if (sources_.cpu != nullptr) callbacks.cpu = sources_.cpu->runner();
  if (sources_.rings != nullptr) callbacks.cpu = sources_.rings->runner(std::move(callbacks.cpu));
  Tuner tuner(gpu, sources_.tiles);
  callbacks.tuned = tuner.options(spec.gpu);
  std::optional<PeerBench> peers;
  if (sources_.peers && !spec.peers.empty()) {
    peers.emplace(*sources_.peers, gpu, sources_.cpu.get());
    callbacks.peers = peers->source(spec);
  }
  task.deliver([this, id, provenance = run.provenance] { runs_.set_provenance(id, provenance); });
  auto not_kept = [&, said = false](const Error& e) mutable {
    if (!std::exchange(said, true))
      task.deliver([this, e] { context_.log.warn(phrase("The rows of this run are not being saved: {}", e.message)); });
  };
  std::shared_ptr<RunWriter> writer;
  if (runs_.store().keeps()) {
    auto file = runs_.store().write(run);
    if (!file && file.error().kind == ErrorKind::cannot_run) {
      // Another window began to measure it since the list was made. Both keep all of their rows.
      run.id = new_run_id();
      file = runs_.store().write(run);
      task.deliver([this] {
        context_.log.note(
            tr("Another window is measuring this run, so the rows from this window are saved as a separate run."));
      });
    }
    if (file) {
      writer = *std::move(file);
      task.deliver([this, id, writer] { runs_.set_writer(id, writer); });
    } else {
      not_kept(file.error());
    }
  }
  callbacks.progress = [&](const SweepProgress& p) {
    task.progress(p.total == 0 ? 0 : static_cast<double>(p.done) / static_cast<double>(p.total), p.now, p.seconds_left);
  };
  // On disk first: who sees a row in the window may count on it.
  callbacks.row = [&](const Measurement& m) {
    if (writer != nullptr)
      if (const auto kept = writer->add(m); !kept) not_kept(kept.error());
    task.deliver([this, id, m] { runs_.add_row(id, m); });
  };
  const auto rows = run_sweep(spec, callbacks, task.stop());
  if (!rows) return tl::unexpected(rows.error());
  if (task.stop().stop_requested()) {
    return fail(ErrorKind::cancelled, plural(rows->size(), "Cancelled after {} point.", "Cancelled after {} points."));
  }
  return ok();
}

// A tile that was kept since, here or by the command line, counts without another change.
void Sweeps::notice_new_tiles() {
  const auto now = std::chrono::steady_clock::now();
  if (now - tiles_looked_ < std::chrono::seconds(2)) return;
  tiles_looked_ = now;
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(sources_.tiles, error);
  if (error || changed == std::exchange(tiles_seen_, changed)) return;
  context_.model.kept.of.clear();
}

void Sweeps::look_ahead() {
  const SweepSpec& sweep = context_.state.document.sweep;
  Model& model = context_.model;
  if (context_.tasks.running(task_) || context_.tasks.running(ahead_task_)) return;
  if (sweep.tuned) notice_new_tiles();
  const std::string key = sweep_key(sweep);
  const bool looks = sweep.tuned && key != model.kept.of;
  if (!looks && (sources_.gpu == nullptr || key == model.compiled_for)) return;
  model.compiled_for = key;
  model.compiled.clear();
  const auto work = [this, key, looks, sweep, gpu = sources_.gpu, folder = sources_.tiles](TaskHandle& task) {
    Tuner tuner(gpu.get(), folder);
    const TunedOptions tuned = tuner.options(sweep.gpu);
    if (looks) {
      task.deliver([this, key, tiles = kept_tiles(sweep, tuned)] {
        KeptTilesView& kept = context_.model.kept;
        kept = {key, kept.times + 1, tiles};
      });
    }
    if (gpu == nullptr) return ok();
    auto rows = gpu->compiled(sweep, tuned, task.stop());
    task.deliver([this, key, rows = std::move(rows)] {
      if (key == context_.model.compiled_for) context_.model.compiled = rows;
    });
    return ok();
  };
  ahead_task_ =
      context_.tasks.start(looks ? tr("Looking for tuned tiles") : phrase("Compiling for {}", sweep.arch), work);
}

}  // namespace attn
