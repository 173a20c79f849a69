#include "app/control/step/recordings.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/control/step/document_recording.h"
#include "app/state/inputs/first_sight.h"
#include "app/system/assets.h"
#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/model/fits.h"
#include "kernels/model/kernel.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/validate.h"
#include "kernels/museum/museum.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/place/place.h"

namespace attn {
namespace {

// A recording of this size is made within a frame (under 2 ms), so that an edit shows in the next one; a larger one
// is made by a task.
constexpr std::uint64_t kAtOnceBytes = 1ULL << 20;

// Where nobody may wait for all of it a slice takes so long, and what cannot be left in the middle.
constexpr std::chrono::milliseconds kSlice{1};

// What is known before a recording is made.
struct RecordingPlan {
  const KernelRow* row = nullptr;
  std::uint64_t bytes = 0;
};

Result<RecordingPlan> plan_recording(const std::string& kernel, const Problem& p, const Options& o) {
  const auto row = find_kernel_or_piece(kernel);
  if (!row) return tl::unexpected(row.error());
  if ((*row)->record == nullptr) {
    return fail(ErrorKind::cannot_run,
                phrase("{} cannot be recorded step by step.", std::string(tr_of((*row)->title))));
  }
  if (auto valid = validate(p); !valid) return tl::unexpected(valid.error());
  static const Device cpu = cpu_device();
  if (auto can = (*row)->supports(**row, p, o, cpu); !can) return tl::unexpected(can.error());
  const auto resolved = resolve(**row, o, cpu);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto fits = check_recordable((*row)->order, p, *resolved); !fits) return tl::unexpected(fits.error());
  return RecordingPlan{*row, recording_bytes((*row)->order, p, *resolved)};
}

}  // namespace

Recordings::Key Recordings::wanted() const {
  const Document& d = context_.state.document;
  if (const KernelRow* own = gpu_run_of(context_.state, context_.model)) {
    Key key{d.problem, d.inputs, std::string(own->id), gpu::smallest_tile(*own)};
    if (without_gpu_run_ != key) return key;
  }
  return {d.problem, d.inputs, d.kernel, d.options};
}

void Recordings::follow_document(bool to_start) {
  const Key key = wanted();
  const bool running = context_.tasks.running(task_);
  if (running ? pending_ == key : shown_ == key) return;
  record(key, to_start);
}

void Recordings::travel_to(EventIndex cursor) {
  const Key key = wanted();
  const bool running = context_.tasks.running(task_);
  const bool known = running ? pending_ == key : shown_ == key;
  const auto& shown = context_.model.recording;
  if (known && !running && shown != nullptr && !shown->events.empty()) {
    context_.state.view.step.cursor = std::min(cursor, static_cast<EventIndex>(shown->events.size() - 1));
    return;
  }
  wanted_cursor_ = cursor;
  if (!known) record(key, false);
}

void Recordings::seek(gpu::CodePhase phase) {
  const bool there = context_.model.recording != nullptr && !context_.tasks.running(task_) && shown_ == wanted();
  if (there) return go_to_phase(phase);
  wanted_phase_ = phase;
}

void Recordings::go_to_phase(gpu::CodePhase phase) {
  const auto step = step_of(*context_.model.recording, phase);
  if (!step) return context_.log.note(step.error().message);
  context_.state.view.step.cursor = *step;
  context_.state.view.step.playing = false;
}

void Recordings::add_opened(const std::string& file, std::shared_ptr<const Recording> recording) {
  opened_[file] = std::move(recording);
}

void Recordings::record(const Key& key, bool to_start) {
  context_.tasks.cancel(task_);
  ++generation_;
  // An .attn's own recording is shown as it was made, not made again; that of a GPU needs no GPU.
  if (const auto opened = opened_as(key)) {
    shown_ = key;
    return install(opened, to_start);
  }
  if (key.kernel != context_.state.document.kernel) return record_by_gpu(key, to_start);
  const auto plan = plan_recording(key.kernel, key.problem, key.options);
  if (!plan) {
    shown_ = key;
    return refuse(plan.error().message);
  }
  if (plan->bytes > kAtOnceBytes) return record_in_task(*plan->row, key, plan->bytes, to_start);
  shown_ = key;
  DocumentRecording run(*plan->row, {key.problem, key.options, key.inputs}, opened_, {});
  const auto whole = run.go_on({});
  whole ? install(run.take(), to_start) : refuse(whole.error().message);
}

std::shared_ptr<const Recording> Recordings::opened_as(const Key& key) const {
  const auto it = opened_.find(key.inputs.q_file);
  if (it == opened_.end() || !key.inputs.edits.empty()) return nullptr;
  const Recording& r = *it->second;
  const bool same = r.problem == key.problem && r.kernel == key.kernel && r.options == key.options;
  return same ? it->second : nullptr;
}

void Recordings::no_gpu_run(const Key& key, const std::string& why, bool to_start) {
  without_gpu_run_ = key;
  context_.log.warn(phrase("{} was not recorded: {}", key.kernel, why));
  follow_document(to_start);
}

void Recordings::record_by_gpu(const Key& key, bool to_start) {
  if (context_.model.gpu.gpus.empty() || gpu_ == nullptr) {
    const auto file = find_asset(recorded_asset(key.kernel));
    auto recording = file ? read_recording(*file) : Result<Recording>(tl::unexpected(file.error()));
    if (!recording) return no_gpu_run(key, recording.error().message, to_start);
    shown_ = key;
    return install(std::make_shared<const Recording>(*std::move(recording)), to_start);
  }
  pending_ = key;
  // Always a task: the worker may have to be started, and the kernel compiled.
  const auto work = [this, key, to_start, generation = generation_,
                     opened = opened_](TaskHandle& task) -> Result<void> {
    task.progress(0, phrase("Recording {}", key.kernel));
    const auto made = [&]() -> Result<GpuRecorded> {
      const auto inputs = document_inputs(key.problem, key.inputs, opened);
      if (!inputs) return tl::unexpected(inputs.error());
      GpuRunRequest request;
      request.kernel = key.kernel;
      request.problem = key.problem;
      request.options = key.options;
      request.inputs = &*inputs;
      auto recorded = gpu_->record(
          request, [&task](const std::string& now) { task.progress(0, now); }, task.stop());
      if (recorded) recorded->recording.labels = labels_of(key.problem, key.inputs, opened);
      if (!recorded || recorded->same_bits) return recorded;
      return fail(ErrorKind::failed, tr("the recorded run and the plain run gave different bits"));
    }();
    const auto shared = made ? std::make_shared<const Recording>(made->recording) : nullptr;
    task.deliver([this, key, generation, to_start, shared, why = made ? "" : made.error().message] {
      if (generation != generation_) return;  // the user went on
      if (shared == nullptr) return no_gpu_run(key, why, to_start);
      shown_ = key;
      install(shared, to_start);
    });
    return ok();
  };
  task_ = context_.tasks.start(tr("Recording on the GPU"), work);
}

void Recordings::record_in_task(const KernelRow& row, const Key& key, std::uint64_t bytes, bool to_start) {
  pending_ = key;
  const bool sliced = context_.tasks.between_frames();
  const auto work = [this, &row, key, bytes, to_start, generation = generation_, opened = opened_, sliced,
                     run = std::shared_ptr<DocumentRecording>()](TaskHandle& task) mutable -> Result<bool> {
    if (run == nullptr) {
      task.progress(0, "recording " + format_bytes(bytes));
      const DocumentRecording::What what{key.problem, key.options, key.inputs};
      run = std::make_shared<DocumentRecording>(row, what, std::move(opened), task.stop());
    }
    const Pause pause = [until = std::chrono::steady_clock::now() + kSlice] {
      return std::chrono::steady_clock::now() >= until;
    };
    const auto whole = run->go_on(sliced ? pause : Pause());
    if (whole && !*whole) return false;
    const auto made = whole ? run->take() : nullptr;
    run = nullptr;
    task.deliver([this, key, generation, to_start, made, why = whole ? "" : whole.error().message] {
      if (generation != generation_) return;  // the user went on
      shown_ = key;
      made != nullptr ? install(made, to_start) : refuse(why);
    });
    return true;
  };
  task_ = context_.tasks.start_sliced(tr("Recording"), work);
}

void Recordings::install(std::shared_ptr<const Recording> recording, bool to_start) {
  const auto old = std::exchange(context_.model.recording, std::move(recording));
  context_.model.recording_error.clear();
  const Recording& now = *context_.model.recording;
  EventIndex& cursor = context_.state.view.step.cursor;
  if (const auto wanted = std::exchange(wanted_cursor_, std::nullopt)) {
    cursor = *wanted;
  } else if (to_start) {
    cursor = first_sight(now, context_.state.document.selection);
  } else if (old != nullptr && cursor < old->events.size()) {
    cursor = nearest_event(*old, cursor, now);
  }
  cursor = std::min(cursor, static_cast<EventIndex>(now.events.size() - 1));
  const auto phase = std::exchange(wanted_phase_, gpu::CodePhase::none);
  if (phase != gpu::CodePhase::none) go_to_phase(phase);
}

void Recordings::refuse(std::string words) {
  // The place is kept for when the problem can be recorded again.
  if (!wanted_cursor_) wanted_cursor_ = context_.state.view.step.cursor;
  wanted_phase_ = gpu::CodePhase::none;
  context_.model.recording = nullptr;
  context_.state.view.step.playing = false;
  context_.log.warn(words);
  context_.model.recording_error = std::move(words);
}

void Recordings::replay_opened(const std::string& file, std::shared_ptr<const Recording> recording) {
  context_.tasks.cancel(replay_task_);
  context_.model.replay = {recording, true, ""};
  const auto work = [this, file, recording](TaskHandle& task) -> Result<void> {
    const auto difference = replay(*recording, task.stop());
    if (task.stop().stop_requested()) return ok();
    task.deliver([this, file, recording, words = difference ? difference->words : ""] {
      if (context_.model.replay.of != recording) return;  // another was opened meanwhile
      context_.model.replay = {recording, false, words};
      if (!words.empty()) context_.log.warn(phrase("{}: the replay differs: {}.", file, words));
    });
    return ok();
  };
  replay_task_ = context_.tasks.start(tr("Replaying the recording"), work);
}

void Recordings::show(std::shared_ptr<const Recording> recording) {
  context_.tasks.cancel(task_);
  ++generation_;
  shown_ = wanted();
  wanted_cursor_ = context_.state.view.step.cursor;
  install(std::move(recording), false);
}

}  // namespace attn
