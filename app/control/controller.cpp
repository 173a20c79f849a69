#include "app/control/controller.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/control/tasks/log.h"
#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "profiling/session/session.h"
#include "viz/bench/sweep/to_step.h"

namespace attn {
namespace {

// Commands of one gesture are one entry of the history. Walking from cell to cell is one gesture.
constexpr int kSelecting = 0x7fffffff;

int gesture_of(const StateCommand& command) {
  return visit_command(command, [](const auto& c) {
    if constexpr (std::is_same_v<std::decay_t<decltype(c)>, Select>) return kSelecting;
    if constexpr (requires { c.gesture; }) return c.gesture;
    return 0;
  });
}

}  // namespace

// One overload an effect: without one for each of them this does not compile.
struct Controller::RunEffect {
  Controller& c;

  void operator()(const SetInputFiles& e) const { c.files_.set_inputs(e.paths); }
  void operator()(const SaveSteps& e) const { c.exports_.save_steps(e); }

  void operator()(const RunSweep& e) const { c.sweeps_.run(e.restart); }
  void operator()(const ExportCsv& e) const { c.exports_.write_csv(e.run); }
  void operator()(const ExportJson& e) const { c.exports_.write_json(e.run); }
  void operator()(const ExportTrace& e) const { c.exports_.write_trace(e.run); }
  void operator()(const TuneTiles&) const { c.tunings_.tune(); }
  void operator()(const LookForPeers&) const { c.sweeps_.look_for_peers(); }
  void operator()(const AnswerOffer& e) const { c.files_.answer_offer(e.take); }
  void operator()(const TakeSweepOf& e) const { c.runs_.take_sweep_of(e.id); }

  void operator()(const ListKernel& e) const { (e.against ? c.listings_against_ : c.listings_).list(e.subject); }
  void operator()(const FindTimelines&) const { c.timelines_.find(); }
  void operator()(const ExportTimeline& e) const { c.exports_.write_timeline(e); }
  void operator()(const EditLab& e) const { c.labs_.edit(e); }
  void operator()(const BuildLab&) const { c.labs_.build(); }
  void operator()(const RevertLab&) const { c.labs_.revert(); }
  void operator()(const OpenExperiment& e) const { c.labs_.open_experiment(e.id); }
  void operator()(const LimitRegisters& e) const { c.labs_.limit_registers(e); }
  void operator()(const TakeTry& e) const { c.labs_.take_try(e.number); }
  void operator()(const AnswerDraft& e) const { c.labs_.answer_draft(e.take); }
  void operator()(const KeepLab&) const { c.labs_.keep(); }
  void operator()(const SaveLab&) const { c.labs_.save(); }
  void operator()(const SampleRow& e) const { c.samplings_.sample(e); }
  void operator()(const StartLesson& e) const { c.lessons_.start(e.lesson, e.beat); }
  void operator()(const GoToBeat& e) const { c.lessons_.go(e.direction); }
  void operator()(const ChooseAnswer& e) const { c.lessons_.choose(e.index); }
  void operator()(const CheckAnswer& e) const { c.lessons_.check(e.typed); }
  void operator()(const ShowHint&) const { c.lessons_.show_hint(); }
  void operator()(const ShowAnswer& e) const { c.lessons_.show_answer(e.typed); }
  void operator()(const AskAgain&) const { c.lessons_.again(); }
  void operator()(const BackToLesson&) const { c.lessons_.back(); }
  void operator()(const LeaveLesson&) const { c.lessons_.leave(); }
  void operator()(const ForgetLessons&) const { c.lessons_.forget(); }
  void operator()(const PrintChapter& e) const { c.lessons_.print(e.path, e.lesson); }
  void operator()(const Teach& e) const { c.lessons_.teach(e.on); }
  void operator()(const TakeBackVote&) const { c.lessons_.take_back_vote(); }

  // The shell's own: it opens the popup in the frame that asks.
  void operator()(const Ask& e) const {
    if (e.popup == Popup::palette || e.popup == Popup::print_chapter) c.lessons_.look();
  }
  void operator()(const ResetLayout&) const {}  // likewise
  void operator()(const TypeNumbers&) const {}  // Step's tiles have the field
  void operator()(const Undo&) const { c.undo(false); }
  void operator()(const Redo&) const { c.undo(true); }
  void operator()(const CancelTask&) const { c.cancel_task(); }
  void operator()(const SavePicture&) const { c.exports_.ask_for_picture(); }
  void operator()(const SaveSession&) const { c.files_.save_session(); }
  void operator()(const SaveSessionAs& e) const { c.files_.save_session_as(e.path); }
  void operator()(const OpenFile& e) const { c.files_.open(e.path); }
  void operator()(const OpenFiles& e) const { c.files_.open_all(e.paths); }
  void operator()(const CopyState&) const { c.exports_.copy_state(); }
  void operator()(const CopyText& e) const {
    c.requests_.clipboard = e.text;
    const auto lines = static_cast<std::size_t>(std::count(e.text.begin(), e.text.end(), '\n'));
    c.log_.note(lines == 0 ? phrase("Copied {}", e.text) : plural(lines, "Copied {} line.", "Copied {} lines."));
  }
  void operator()(const Quit&) const { c.requests_.quit = true; }
};

Controller::Controller(ControllerOptions options)
    : state_(std::move(options.state)),
      file_task_(context(), std::move(options.save_folder)),
      recordings_(context(), options.sweeps.gpu),
      examinations_(context()),
      playback_(context()),
      runs_(context(), std::move(options.runs)),
      sweeps_(context(), options.sweeps, runs_),
      listings_(context(), options.lister),
      listings_against_(context(), std::move(options.lister), &Model::listing_against),
      timelines_(context()),
      samplings_(context(), options.sweeps.gpu, runs_),
      labs_(context(), file_task_, options.sweeps.gpu, std::move(options.drafts)),
      tunings_(context(), std::move(options.sweeps.gpu), std::move(options.sweeps.tiles)),
      exports_(context(), file_task_, std::move(options.program)),
      lessons_(context(), std::move(options.lessons), recordings_),
      files_(context(), file_task_, recordings_, sweeps_, runs_, lessons_, timelines_),
      tasks_(std::move(options.wake), options.tasks) {
  model_.here = provenance_here();
  model_.caches = cpu_caches();
  recordings_.start_at(state_.view.step.cursor);
  recordings_.follow_document(false);
  lessons_.follow();
}

bool Controller::advance(double seconds) {
  const bool moved = playback_.advance(seconds);
  if (moved) lessons_.hold_back();
  return moved;
}

JobContext Controller::context() {
  return {state_, model_, history_, tasks_, log_, requests_};
}

bool Controller::update(const Commands& commands) {
  const std::uint64_t said = said_;
  const TaskView task = model_.task;
  const bool delivered = tasks_.drain();
  for (const Command& command : commands) {
    obey(command);
    lessons_.follow();
  }
  const bool examines = examinations_.follow();
  if (state_.view.workspace == Workspace::bench || state_.view.workspace == Workspace::profile) {
    runs_.look_again();
    sweeps_.look_ahead();
  }
  labs_.follow();
  const BenchPage page = state_.view.bench.page;
  if (state_.view.workspace == Workspace::bench && page == BenchPage::tiles) tunings_.follow();
  refresh_task_view();
  said_ = log_.last_number();
  return delivered || examines || !commands.empty() || said_ != said || model_.task != task;
}

void Controller::obey(const Command& command) {
  if (const auto* effect = std::get_if<Effect>(&command)) {
    visit_command(*effect, RunEffect{*this});
    return;
  }
  const auto* drawn = command_as<ShowRandomPiece>(command);
  if (drawn != nullptr && drawn->seed == 0) return change(ShowRandomPiece{1 + std::random_device()()});
  change(std::get<StateCommand>(command));
}

void Controller::change(const StateCommand& command) {
  runs_.prepare(command);
  auto next = apply(state_, command, model_.recording.get());
  if (!next) {
    log_.warn(next.error().message);
    return;
  }
  const bool document_changed = !(next->document == state_.document);
  // A page that goes because something else was asked for is not lost either.
  const auto* metric = command_as<ChooseBenchMetric>(command);
  const bool page_goes = metric != nullptr && metric->show && state_.view.bench.page != next->view.bench.page;
  if (document_changed) history_.changed(entry_of(state_), next->document, gesture_of(command));
  if (page_goes && !differ(state_.document, next->document, DocumentPart::bench))
    history_.seen(entry_of(state_), DocumentPart::bench, gesture_of(command));
  const BenchRuns runs_before = state_.document.runs;
  state_ = *std::move(next);
  runs_.follow(runs_before);
  if (command_as<Play>(command) != nullptr) playback_.restart();
  const auto* through = command_as<StepThrough>(command);
  if (through != nullptr && (through->phase == gpu::CodePhase::none || document_changed)) {
    const auto example = step_example(through->kernel, through->problem, through->options);
    if (example && !example->words.empty()) log_.note(example->words);
  }
  recordings_.follow_document(through != nullptr || command_as<ChoosePreset>(command) != nullptr);
  if (through != nullptr && through->phase != gpu::CodePhase::none) recordings_.seek(through->phase);
}

void Controller::travel(bool forward) {
  const HistoryEntry now = entry_of(state_);
  const DocumentPart part = part_of(state_.view.workspace);
  const auto then = forward ? history_.redo(now, part) : history_.undo(now, part);
  if (!then) {
    log_.note(forward ? tr("Nothing to redo.") : tr("Nothing to undo."));
    return;
  }
  const BenchRuns runs_before = state_.document.runs;
  go_to(*then, part, state_);
  runs_.follow(runs_before);
  if (part == DocumentPart::step) recordings_.travel_to(then->sight.cursor);
}

std::array<TaskId, 6> Controller::tasks_shown() const {
  return {sweeps_.task(), labs_.task(), tunings_.task(), samplings_.task(), file_task_.task(), recordings_.task()};
}

// In the lab it is the lab's text that goes back: a draft is no document.
void Controller::undo(bool forward) {
  if (state_.view.workspace == Workspace::learn && lessons_.on_map()) {
    if (!forward) lessons_.undo_on_map();
    return;
  }
  const bool lab = state_.view.workspace == Workspace::profile && state_.view.profile.page == ProfilePage::lab;
  lab ? labs_.travel(forward) : travel(forward);
}

void Controller::cancel_task() {
  for (const TaskId id : tasks_shown()) {
    if (tasks_.running(id)) return tasks_.cancel(id);
  }
}

void Controller::refresh_task_view() {
  // What runs; else how the sweep ended.
  for (const TaskId id : tasks_shown()) {
    model_.task = tasks_.view(id);
    if (model_.task.running) return;
  }
  model_.task = tasks_.view(sweeps_.task());
}

WindowRequests Controller::take_requests() {
  return std::exchange(requests_, {});
}

void Controller::show(std::vector<ListedRun> runs, std::shared_ptr<const Recording> recording) {
  model_.runs = std::move(runs);
  BenchRuns& list = state_.document.runs;
  if (list.shown.empty())
    for (const ListedRun& r : model_.runs) show_run(list, r.run.id);
  if (recording == nullptr || recording->events.empty()) return;
  recordings_.show(recording);
  const std::string& file = state_.document.inputs.q_file;
  if (is_attn_file(file)) recordings_.replay_opened(file, std::move(recording));
}

void Controller::list(const std::vector<ListedRun>& runs) {
  model_.runs.insert(model_.runs.end(), runs.begin(), runs.end());
}

void Controller::show(const std::vector<Timeline>& timelines) {
  timelines_.show(shared_timelines(timelines));
}

void Controller::save_picture(const std::filesystem::path& file, Image image) {
  exports_.save_picture(file, std::move(image));
}

void Controller::wait() {
  do {
    tasks_.wait();
  } while (examinations_.follow());
  refresh_task_view();
}

}  // namespace attn
