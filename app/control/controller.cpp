#include "app/control/controller.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/state/apply.h"
#include "kernels/model/fits.h"
#include "kernels/model/kernel.h"
#include "profiling/session/session.h"
#include "viz/bench/to_step.h"

namespace attn {
namespace {

// A recording of this size is made within a frame (under 2 ms), so that an edit shows in the next one; a larger one
// is made by a task.
constexpr std::uint64_t kAtOnceBytes = 1ULL << 20;

// Commands of one gesture are one entry of the history. Walking from cell to cell is one gesture.
constexpr int kSelecting = 0x7fffffff;

int gesture_of(const StateCommand& command) {
  return visit_command(command, [](const auto& c) {
    if constexpr (std::is_same_v<std::decay_t<decltype(c)>, Select>) return kSelecting;
    if constexpr (requires { c.gesture; }) return c.gesture;
    return 0;
  });
}

// What is known before a recording is made.
struct RecordingPlan {
  const KernelRow* row = nullptr;
  std::uint64_t bytes = 0;
};

Result<RecordingPlan> plan_recording(const std::string& kernel, const Problem& p, const Options& o) {
  const auto row = find_kernel(kernel);
  if (!row) return tl::unexpected(row.error());
  if ((*row)->record == nullptr) {
    return fail(ErrorKind::cannot_run, std::string((*row)->title) + " cannot be recorded step by step.");
  }
  if (auto valid = validate(p); !valid) return tl::unexpected(valid.error());
  static const Device cpu = cpu_device();
  if (auto can = (*row)->supports(p, o, cpu); !can) return tl::unexpected(can.error());
  const auto resolved = resolve(**row, o, cpu);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto fits = check_recordable((*row)->order, p, *resolved); !fits) return tl::unexpected(fits.error());
  return RecordingPlan{*row, recording_bytes((*row)->order, p, *resolved)};
}

Result<std::shared_ptr<const Recording>> make_recording(const KernelRow& row, const Problem& p, const Options& o,
                                                        const InputSpec& spec, const OpenedRecordings& opened,
                                                        std::stop_token stop) {
  auto inputs = document_inputs(p, spec, opened);
  if (!inputs) return tl::unexpected(inputs.error());
  auto recording = row.record(row, p, o, *inputs, std::move(stop));
  if (!recording) return tl::unexpected(recording.error());
  return std::make_shared<const Recording>(*std::move(recording));
}

}  // namespace

// One overload an effect: without one for each of them this does not compile.
struct Controller::RunEffect {
  Controller& c;

  void operator()(const SetInputFiles& e) const { c.set_input_files(e.paths); }
  void operator()(const SaveSteps& e) const { c.save_steps(e); }

  void operator()(const RunSweep& e) const { c.run_sweep_task(e.restart); }
  void operator()(const ExportCsv&) const { c.export_rows(".csv"); }
  void operator()(const ExportJson&) const { c.export_rows(".json"); }

  void operator()(const Ask&) const {}  // the shell's own: it opens the popup in the frame that asks
  void operator()(const Undo&) const { c.travel(false); }
  void operator()(const Redo&) const { c.travel(true); }
  void operator()(const CancelTask&) const { c.cancel_task(); }
  void operator()(const SavePicture&) const { c.effects_.picture = c.new_file(".png"); }
  void operator()(const SaveSession&) const { c.save_session(); }
  void operator()(const SaveSessionAs& e) const { c.save_session_as(e.path); }
  void operator()(const OpenFile& e) const { c.open_file(e.path); }
  void operator()(const CopyState&) const { c.copy_state(); }
  void operator()(const CopyText& e) const {
    c.effects_.clipboard = e.text;
    c.log_.note("Copied " + e.text);
  }
  void operator()(const Quit&) const { c.effects_.quit = true; }
};

Controller::Controller(ControllerOptions options)
    : options_(std::move(options)), state_(options_.state), tasks_(options_.wake) {
  model_.provenance = provenance_here();
  wanted_cursor_ = state_.view.step.cursor;
  record(wanted(), false);
}

Controller::RecordingKey Controller::wanted() const {
  const Document& d = state_.document;
  return {d.problem, d.inputs, d.kernel, d.options};
}

void Controller::update(const Commands& commands) {
  tasks_.drain();
  for (const Command& command : commands) obey(command);
  refresh_task_view();
}

void Controller::obey(const Command& command) {
  if (const auto* effect = std::get_if<Effect>(&command)) {
    visit_command(*effect, RunEffect{*this});
  } else {
    change(std::get<StateCommand>(command));
  }
}

void Controller::change(const StateCommand& command) {
  auto next = apply(state_, command, model_.recording.get());
  if (!next) {
    log_.warn(next.error().message);
    return;
  }
  const bool document_changed = !(next->document == state_.document);
  if (document_changed) history_.changed(state_.document, gesture_of(command));
  state_ = *std::move(next);
  if (command_as<Play>(command) != nullptr) play_debt_ = 0;
  const auto* through = command_as<StepThrough>(command);
  if (through != nullptr) {
    const auto example = step_example(through->kernel, through->problem, through->options);
    if (example && !example->words.empty()) log_.note(example->words);
  }
  follow_document(through != nullptr || command_as<ChoosePreset>(command) != nullptr);
}

void Controller::travel(bool forward) {
  auto document = forward ? history_.redo(state_.document) : history_.undo(state_.document);
  if (!document) {
    log_.note(forward ? "There is nothing to redo." : "There is nothing to undo.");
    return;
  }
  state_.document = *std::move(document);
  follow_document(false);
}

// Records anew where the document asks for another recording than the one shown or being made.
void Controller::follow_document(bool to_start) {
  const RecordingKey key = wanted();
  const bool making = tasks_.running(recording_task_) && pending_ == key;
  if (making || (key == shown_ && !tasks_.running(recording_task_))) return;
  record(key, to_start);
}

void Controller::record(const RecordingKey& key, bool to_start) {
  tasks_.cancel(recording_task_);
  const std::uint64_t generation = ++recording_generation_;
  const auto plan = plan_recording(key.kernel, key.problem, key.options);
  if (!plan) {
    shown_ = key;
    return refuse_recording(plan.error().message);
  }
  // An .attn's own recording is shown as it was made, not made again.
  if (const auto it = opened_.find(key.inputs.q_file); it != opened_.end() && key.inputs.edits.empty()) {
    const Recording& r = *it->second;
    if (r.problem == key.problem && r.kernel == key.kernel && r.options == key.options) {
      shown_ = key;
      return install(it->second, to_start);
    }
  }
  if (plan->bytes <= kAtOnceBytes) {
    shown_ = key;
    auto made = make_recording(*plan->row, key.problem, key.options, key.inputs, opened_, {});
    return made ? install(*std::move(made), to_start) : refuse_recording(made.error().message);
  }
  pending_ = key;
  const auto work = [this, key, plan = *plan, generation, to_start,
                     opened = opened_](TaskHandle& task) -> Result<void> {
    task.progress(0, "recording " + format_bytes(plan.bytes));
    auto made = make_recording(*plan.row, key.problem, key.options, key.inputs, opened, task.stop());
    task.deliver([this, key, generation, to_start, made] {
      if (generation != recording_generation_) return;  // the user went on
      shown_ = key;
      made ? install(*made, to_start) : refuse_recording(made.error().message);
    });
    return ok();
  };
  recording_task_ = tasks_.start("Recording", work);
}

void Controller::install(std::shared_ptr<const Recording> recording, bool to_start) {
  const auto old = std::exchange(model_.recording, std::move(recording));
  model_.recording_error.clear();
  const auto last = static_cast<EventIndex>(model_.recording->events.size() - 1);
  EventIndex& cursor = state_.view.step.cursor;
  if (const auto wanted = std::exchange(wanted_cursor_, std::nullopt)) {
    cursor = *wanted;
  } else if (to_start) {
    cursor = 0;
  } else if (old != nullptr && cursor < old->events.size()) {
    cursor = nearest_event(*old, cursor, *model_.recording);
  }
  cursor = std::min(cursor, last);
}

void Controller::refuse_recording(std::string words) {
  // The place is kept for when the problem can be recorded again.
  if (!wanted_cursor_) wanted_cursor_ = state_.view.step.cursor;
  model_.recording = nullptr;
  state_.view.step.playing = false;
  log_.warn(words);
  model_.recording_error = std::move(words);
}

void Controller::advance(double seconds) {
  if (!state_.view.step.playing || model_.recording == nullptr) return;
  // A long frame does not make play jump: at most a quarter of a second is owed.
  play_debt_ += std::min(seconds, 0.25) * state_.view.step.play_steps_per_second;
  while (play_debt_ >= 1) {
    play_debt_ -= 1;
    state_.view.step.cursor = step_from(*model_.recording, state_.view.step.cursor, StepUnit::phase, 1);
  }
  if (state_.view.step.cursor + 1 >= model_.recording->events.size()) state_.view.step.playing = false;
}

bool Controller::wants_frames() const {
  return state_.view.step.playing || tasks_.any_running();
}

void Controller::refresh_task_view() {
  // The sweep first: it is what the user waits for. Then what still runs, then the last that failed.
  for (const TaskId id : {sweep_task_, file_task_, recording_task_}) {
    model_.task = tasks_.view(id);
    if (model_.task.running) return;
  }
  model_.task = tasks_.view(sweep_task_);
}

Effects Controller::take_effects() {
  return std::exchange(effects_, {});
}

void Controller::show(std::vector<Measurement> rows, Provenance provenance,
                      std::shared_ptr<const Recording> recording) {
  model_.measurements = std::move(rows);
  if (!model_.measurements.empty()) model_.provenance = std::move(provenance);
  model_.rows_from_here = !model_.provenance.loaded;
  if (recording == nullptr || recording->events.empty()) return;
  tasks_.cancel(recording_task_);
  ++recording_generation_;
  shown_ = wanted();
  wanted_cursor_ = state_.view.step.cursor;
  install(std::move(recording), false);
}

void Controller::wait() {
  tasks_.wait();
  refresh_task_view();
}

}  // namespace attn
