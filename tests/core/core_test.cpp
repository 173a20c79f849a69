// What attnscope_core does by itself. The program links the core alone: no threads, no dl, no other room's library, and
// no GoogleTest, which brings threads of its own. Arguments: the folder of the program's assets.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "app/state/lessons/lesson_check.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/string/state_string.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "profiling/session/session.h"
#include "viz/learn/figure/figure.h"
#include "viz/step/step_cache.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/timeline/timeline.h"

namespace attn {
namespace {

class Checks {
 public:
  // Returns whether it holds, so that what needs it can be left out.
  bool holds(bool good, const std::string& what) {
    std::printf("%s %s\n", good ? "ok    " : "FAILED", what.c_str());
    failed_ += good ? 0 : 1;
    return good;
  }
  template <class T>
  bool holds(const Result<T>& result, const std::string& what) {
    return holds(result.has_value(), result ? what : what + ": " + result.error().message);
  }
  int failed() const { return failed_; }

 private:
  int failed_ = 0;
};

// A state by the commands of a user: another problem, another kernel, a pinned row.
State chosen_state(Checks& checks) {
  State state = initial_state();
  Selection row;
  row.row = 1;
  const StateCommand commands[] = {StepCommand(ChoosePreset{"late_outlier"}), StepCommand(ChooseKernel{"cpu_flash"}),
                                   StepCommand(Select{row})};
  for (const StateCommand& command : commands) {
    auto next = apply(state, command, nullptr);
    if (checks.holds(next, "a command is applied")) state = *std::move(next);
  }
  const auto said = state_string(state);
  if (!checks.holds(said, "the state is said as a string")) return state;
  const auto read = parse_state_string(*said);
  if (checks.holds(read, "its state string is read back"))
    checks.holds(read->state.document == state.document, "the state string says the whole document");
  return state;
}

// Every scene of Step at every step of the run.
void check_step(Checks& checks, const std::shared_ptr<const Recording>& rec, State state) {
  StepCache cache;
  std::size_t numbers = 0;
  EventIndex walked = 0;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    cache.follow(rec, e);
    TilesScene scene = tiles_scene(*rec, e, state.document.selection, OutputReading::as_summed, cache.scales);
    for (const Column column : scene.columns) {
      TileScene& tile = scene.tiles[static_cast<std::size_t>(column)];
      write_numbers(*rec, scene, tile, 7, cache.bounds());
      for (const auto& cell : tile.cells) numbers += cell.text.empty() ? 0 : 1;
    }
    const auto next = apply(state, StepCommand(StepBy{StepUnit::phase, 1}), rec.get());
    if (!next) continue;
    state = *next;
    ++walked;
  }
  checks.holds(numbers > 0, "Step's tiles have numbers");
  checks.holds(walked + 1 >= rec->events.size(), "every step is reached by the step key");
  const StepPlace at = place_of(*rec, 0, state.document.selection);
  checks.holds(!timeline_scene(*rec, at, scrubber_marks(*rec), {}).chips.empty(), "Step's timeline has steps");
}

void check_kernels(Checks& checks, const Document& document) {
  const auto inputs = make_inputs(document.problem, document.inputs);
  if (!checks.holds(inputs, "the inputs are made")) return;
  for (const KernelRow& row : cpu_kernel_table()) {
    auto rec = row.record(row, document.problem, document.options, *inputs, {});
    checks.holds(rec, std::string(row.id) + " is recorded by one thread");
  }
}

void check_lessons(Checks& checks, const std::filesystem::path& assets) {
  const FoundLessons found = read_lessons(assets / "lessons");
  checks.holds(found.refused.empty(), "every bundled lesson is read");
  checks.holds(!found.lessons.empty(), "there are lessons");
  std::size_t walked = 0, figures = 0;
  for (const Lesson& lesson : found.lessons) {
    for (const Beat& beat : lesson.beats) {
      if (!beat.figure) continue;
      const std::string& name = beat.session.empty() ? lesson.session : beat.session;
      const auto session = read_session(assets / "sessions" / (name + ".attn"));
      if (!checks.holds(session, "the session " + name + " is read")) continue;
      const StageFigure figure = figure_of(*session, *beat.figure);
      checks.holds(figure.empty.empty(), lesson.id + ", " + beat.id + ": its figure has a scene " + figure.empty);
      ++figures;
    }
    if (walked == 1) continue;  // one whole lesson; test_app walks them all
    for (const std::string& fault : check_lesson(lesson)) checks.holds(false, fault);
    ++walked;
  }
  checks.holds(walked == 1, "a lesson is walked from its first beat to its last");
  checks.holds(figures > 0, "lessons show figures of sessions");
}

int run(const std::filesystem::path& assets) {
  Checks checks;
  const State state = chosen_state(checks);
  auto made = record_document(state.document, {});
  if (checks.holds(made, "cpu_flash is recorded"))
    check_step(checks, std::make_shared<const Recording>(*std::move(made)), state);
  check_kernels(checks, state.document);
  check_lessons(checks, assets);
  std::printf("%d failed\n", checks.failed());
  return checks.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace attn

int main(int count, char** arguments) {
  if (count != 2) {
    std::printf("usage: test_core ASSETS\n");
    return 2;
  }
  return attn::run(arguments[1]);
}
