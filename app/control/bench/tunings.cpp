#include "app/control/bench/tunings.h"

#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "viz/bench/tiles/tile_map.h"

namespace attn {

Tunings::Tunings(const JobContext& context, std::shared_ptr<GpuBench> gpu, std::filesystem::path folder)
    : context_(context), gpu_(std::move(gpu)), tuner_(std::make_shared<Tuner>(gpu_.get(), std::move(folder))) {}

void Tunings::tune() {
  if (context_.tasks.running(task_))
    return context_.log.warn(tr("Tuning is already running; cancel it before starting again."));
  const auto spec = tune_of(context_.state, tiles_kernel(context_.state, context_.model));
  if (!spec) return context_.log.warn(spec.error().message);
  const std::string key = tuning_key(*spec);
  TuningView& view = context_.model.tuning;
  view = {key, nullptr, "", true};
  const auto work = [this, key, spec = *spec, tuner = tuner_, gpu = gpu_](TaskHandle& task) -> Result<void> {
    Tuner::Said said;
    said.progress = [&](const TuneProgress& p) { task.progress(p.fraction, p.now, p.seconds_left); };
    said.changed = [&](const TuneResult& so_far) {
      task.deliver([this, key, result = std::make_shared<const TuneResult>(so_far)] {
        if (context_.model.tuning.of == key) context_.model.tuning.result = result;
      });
    };
    auto result = tuner->tune(spec, said, task.stop());
    if (!result) return tl::unexpected(result.error());
    task.deliver([this, key, result = std::make_shared<const TuneResult>(*result)] {
      if (context_.model.tuning.of == key) context_.model.tuning.result = result;
      context_.model.kept.of.clear();  // a sweep of tuned tiles may take another now
      result->decision ? context_.log.note(result->words) : context_.log.warn(result->words);
    });
    if (task.stop().stop_requested())
      return fail(ErrorKind::cancelled, phrase("Cancelled after {} tiles.", result->tried()));
    return ok();
  };
  task_ = context_.tasks.start(phrase("Tuning {}", spec->kernel), work, [this, key](const Result<void>& result) {
    if (context_.model.tuning.of == key) context_.model.tuning.running = false;
    if (result || result.error().kind == ErrorKind::cancelled) return;
    if (context_.model.tuning.of == key) context_.model.tuning.none = result.error().message;
    context_.log.error(result.error().message);
  });
}

void Tunings::follow() {
  TuningView& view = context_.model.tuning;
  if (view.running || context_.tasks.running(look_task_)) return;
  const auto spec = tune_of(context_.state, tiles_kernel(context_.state, context_.model));
  const std::string key = spec ? tuning_key(*spec) : std::string();
  if (key == view.of) return;
  view = {key, nullptr, "", false};
  if (!spec) return;
  const auto row = find_kernel(spec->kernel);
  if (!row || ((*row)->processor == Processor::gpu && gpu_ == nullptr)) return;
  const auto work = [this, key, row = *row, problem = spec->problem, at = spec->gpu, tuner = tuner_,
                     gpu = gpu_](TaskHandle& task) -> Result<void> {
    const auto on = tuner->place(*row, at, task.stop());
    if (!on) return ok();  // no GPU: the page shows what is planned
    auto kept = tuner->kept(*row, problem, *on);
    task.deliver([this, key, kept = std::move(kept)] {
      TuningView& now = context_.model.tuning;
      if (now.of != key || now.running) return;
      if (kept)
        now.result = std::make_shared<const TuneResult>(*kept);
      else if (kept.error().kind != ErrorKind::cannot_run)
        now.none = kept.error().message;
    });
    return ok();
  };
  look_task_ = context_.tasks.start(tr("Looking for tuned tiles"), work);
}

}  // namespace attn
