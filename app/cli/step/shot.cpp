// attnscope shot: any view as a PNG, and several steps as a GIF, a film or a folder of PNGs, with no display.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/control/bench/run_list.h"
#include "app/control/files/own_timeline.h"
#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "app/state/inputs/first_sight.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_hands.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "app/system/child_process.h"
#include "app/window/pictures.h"
#include "kernels/base/text.h"
#include "kernels/recording/replay/replay.h"
#include "profiling/session/session.h"
#include "viz/profile/figures/profile_scene.h"

namespace attn::cli {
namespace {

struct ShotArguments {
  DocumentArguments document;
  std::string view, size = "1440x900", theme, session, out, chart, panel, answer;
  std::string step;  // "N" or "A..B"
  double seconds_per_step = 1;
  bool report = false, no_motion = false, touch = false;
  float scale = 1;
};

Result<Workspace> workspace_of(const std::string& name) {
  for (const Workspace w : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    if (name == name_of(w)) return w;
  }
  return bad_input(phrase("Unknown --view {}; use step, bench, profile or learn.", name));
}

Result<StepChart> chart_of(const std::string& name) {
  for (const StepChart c : kStepCharts) {
    if (name == name_of(c)) return c;
  }
  return bad_input(
      phrase("Unknown --chart {}; use row, hindsight, passes, error, attention, fragments, sentence or pages.", name));
}

Result<void> set_view(const ShotArguments& a, State& state) {
  if (!a.view.empty()) {
    const auto workspace = workspace_of(a.view);
    if (!workspace) return tl::unexpected(workspace.error());
    state.view.workspace = *workspace;
  }
  if (!a.theme.empty()) {
    if (a.theme != "dark" && a.theme != "light") {
      return bad_input(phrase("Unknown --theme {}; use dark or light.", a.theme));
    }
    state.preferences.theme = a.theme == "dark" ? Theme::dark : Theme::light;
  }
  if (!a.chart.empty()) {
    const auto chart = chart_of(a.chart);
    if (!chart) return tl::unexpected(chart.error());
    state.view.step.chart = *chart;
  }
  if (!a.panel.empty() && !panel_named(a.panel)) {
    return bad_input(phrase("Unknown --panel {}; use run, tiles, chart, traffic or timeline.", a.panel));
  }
  if (!a.panel.empty() && state.view.workspace != Workspace::step) return bad_input(tr("--panel needs --view step."));
  if (!(a.scale >= 1 && a.scale <= 3)) return bad_input(phrase("Invalid --scale {}; use 1 to 3.", a.scale));
  state.preferences.scale = a.scale;
  state.preferences.reduced_motion = a.no_motion;
  return ok();
}

// Steps from 1, as the window counts them.
struct Steps {
  std::int64_t first = 1, last = 1;
  bool several = false;
};

Result<Steps> steps_of(const std::string& text) {
  const auto refused = [&] {
    return bad_input(phrase("Invalid --step {}; use 1 or more, or a range such as 1..30.", text));
  };
  Steps steps;
  const std::size_t dots = text.find("..");
  steps.several = dots != std::string::npos;
  const std::string first = text.substr(0, dots), last = steps.several ? text.substr(dots + 2) : first;
  for (const auto& [part, number] : {std::pair{&first, &steps.first}, std::pair{&last, &steps.last}}) {
    const auto [end, code] = std::from_chars(part->data(), part->data() + part->size(), *number);
    if (code != std::errc() || end != part->data() + part->size() || *number < 1) return refused();
  }
  if (steps.first > steps.last) return refused();
  return steps;
}

// The step's number is checked against the recording, so that a wrong one is not a picture of another step.
Result<void> set_recording(const std::optional<Steps>& steps, const std::stop_token& stop, PictureSpec& picture) {
  if (!steps) return ok();
  if (picture.state.view.workspace != Workspace::step) return bad_input(tr("--step needs --view step."));
  if (picture.recording == nullptr) {
    auto rec = record_document(picture.state.document, stop);
    if (!rec) return tl::unexpected(rec.error());
    picture.recording = std::make_shared<const Recording>(*std::move(rec));
  }
  const auto max = static_cast<std::int64_t>(picture.recording->events.size());
  if (steps->last > max) {
    return bad_input(phrase("Invalid --step {}: this run has steps 1 to {}.", steps->last, max));
  }
  picture.state.view.step.cursor = static_cast<EventIndex>(steps->first - 1);
  return ok();
}

// The session's own recording, at the step where it was saved. It is drawn as the file has it, and what of it does not
// hold together is said.
void show_recording(const ShotArguments& a, Session& session, PictureSpec& picture) {
  auto recording = std::make_shared<const Recording>(std::move(session.recordings.front()));
  restore_step(session.state, picture.state);
  take_recording(*recording, a.session, picture.state.document);
  restore_inputs(session.state, *recording, picture.state.document);
  if (const auto difference = replay(*recording))
    say(phrase("attnscope: {}: the replay differs: {}.", a.session, difference->words));
  picture.recording = std::move(recording);
}

Result<void> set_session(const ShotArguments& a, PictureSpec& picture) {
  if (a.session.empty()) return ok();
  auto session = read_session(a.session);
  if (!session) return bad_input(session.error().message);
  for (const std::string& note : session->notes) say(phrase("attnscope: {}: {}.", a.session, note));
  const bool chosen = !a.document.state.empty() || !(picture.state.document == initial_state().document);
  // Bench stands as it stood when the session was saved, unless the command line says otherwise.
  if (a.document.state.empty()) restore_bench(session->state, picture.state);
  for (SweepRun& run : session->runs) picture.runs.push_back({std::move(run), RunFrom::file, false, false});
  ProfileView& profile = picture.state.view.profile;
  if (std::string own = timeline_opened(*session); !own.empty() && profile.timeline.empty()) {
    profile.timeline = std::move(own);
    if (a.document.state.empty()) profile.page = ProfilePage::timeline;
  }
  picture.timelines = std::move(session->timelines);
  if (session->recordings.empty()) return ok();
  if (!chosen) {
    show_recording(a, *session, picture);
  } else if (picture.state.view.workspace == Workspace::step) {
    return bad_input(phrase(
        "{} already contains a recording; omit --preset, --state and similar options, or omit --session.", a.session));
  }
  return ok();
}

// A lesson or a beat that there is none of is not a picture of another one.
Result<void> check_lesson(const State& state) {
  if (state.view.learn.lesson.empty()) return ok();
  const auto assets = find_assets();
  if (!assets) return tl::unexpected(assets.error());
  return check_lesson_place(*assets / "lessons", state.view.learn);
}

// The commands of the card, as a learner's hands give them.
Result<void> set_answer(const ShotArguments& a, PictureSpec& picture) {
  if (a.answer.empty()) return ok();
  const LearnView& at = picture.state.view.learn;
  if (!shows_step(picture.state.view) || at.lesson.empty())
    return bad_input(tr("--answer needs --state attn1,workspace=learn,lesson=ID,beat=ID."));
  const auto assets = find_assets();
  if (!assets) return tl::unexpected(assets.error());
  const FoundLessons found = read_lessons(*assets / "lessons");
  const auto lesson = std::ranges::find(found.lessons, at.lesson, &Lesson::id);
  const Beat* beat = lesson == found.lessons.end() ? nullptr : lesson->find(at.beat);
  if (beat == nullptr) return bad_input(tr("--answer needs --state attn1,workspace=learn,lesson=ID,beat=ID."));
  auto commands = lesson_hands(*lesson, *beat, a.answer, at.exercise_seed);
  if (!commands) return tl::unexpected(commands.error());
  picture.commands = *std::move(commands);
  return ok();
}

// Those of a session that is open come first, then those of this machine; what is nowhere is said.
void add_named_runs(const BenchRuns& named, std::vector<ListedRun>& runs) {
  FoundRuns found = find_runs(run_folders(), named);
  const auto has = [](const std::vector<ListedRun>& in, const std::string& id) {
    return std::any_of(in.begin(), in.end(), [&](const ListedRun& r) { return r.run.id == id; });
  };
  for (const std::string& id : named.shown)
    if (id != kPredictedRun && !has(runs, id) && !has(found.runs, id))
      say(phrase("attnscope: run {} is not on this machine; drawing the other runs.", id));
  for (ListedRun& r : found.runs)
    if (!has(runs, r.run.id)) runs.push_back(std::move(r));
}

std::vector<ListedRun> bundled_runs() {
  RunFolders folders;
  folders.bundled = run_folders().bundled;
  return find_runs(folders, {}).runs;
}

// As the window's first visit of Profile does.
void add_stand_in(PictureSpec& picture) {
  Model model;
  model.runs = bundled_runs();
  const ListedRun* run = profile_stand_in(picture.state, model);
  if (run != nullptr) picture.runs.push_back(*run);
}

Result<PictureSpec> picture_of(const ShotArguments& a) {
  const auto size = parse_extents("--size", a.size, tr("size such as 1440x900"));
  if (!size) return tl::unexpected(size.error());
  if (size->first < 320 || size->second < 240 || std::max(size->first, size->second) > 8192) {
    return bad_input(phrase("--size {} is out of range; use 320x240 to 8192x8192.", a.size));
  }
  auto state = a.document.state_of(a.view.empty() || a.view == name_of(Workspace::step));
  if (!state) return tl::unexpected(state.error());
  PictureSpec picture;
  picture.state = *std::move(state);
  picture.width = static_cast<int>(size->first);
  picture.height = static_cast<int>(size->second);
  picture.touch = a.touch;
  picture.panel = panel_named(a.panel);
  if (auto r = set_view(a, picture.state); !r) return tl::unexpected(r.error());
  if (auto r = check_distinct(input_files_of(picture.state), {{"-o", a.out}}); !r) return tl::unexpected(r.error());
  if (auto r = set_session(a, picture); !r) return tl::unexpected(r.error());
  if (auto r = check_lesson(picture.state); !r) return tl::unexpected(r.error());
  if (auto r = set_answer(a, picture); !r) return tl::unexpected(r.error());
  // A state that names runs is drawn with those that this machine has.
  const BenchRuns& named = picture.state.document.runs;
  if (!named.shown.empty()) add_named_runs(named, picture.runs);
  if (picture.state.view.workspace == Workspace::profile && picture.runs.empty()) add_stand_in(picture);
  // Listed, as in a window in which nothing was measured.
  if (picture.state.view.workspace == Workspace::bench && picture.runs.empty()) picture.only_listed = bundled_runs();
  return picture;
}

// How far the pictures are: to the window that asked for them, which listens on the socket, or to stderr.
class Reporter {
 public:
  Reporter(bool to_window, std::int64_t total) : total_(total) {
    if (to_window) socket_.emplace(kChildSocket);
  }
  void done(std::int64_t ready) {
    if (socket_) {
      // A window that is gone ends this process; a report that is lost costs nothing else.
      (void)socket_->send(fmt::format("{} {}", ready, total_), {}, {1, {}});
    } else if (ready % 10 == 0 && ready < total_) {
      say(phrase("{} of {} pictures", ready, total_));
    }
  }
  void finished() {
    if (socket_) (void)socket_->send("done", {}, {1, {}});
  }
  void failed(const Error& e) {
    if (socket_) (void)socket_->send("error " + e.message, {}, {1, {}});
  }

 private:
  std::int64_t total_;
  std::optional<Socket> socket_;
};

Result<int> shoot_steps(const ShotArguments& a, const Steps& steps, const PictureSpec& picture, Stopper& stopper) {
  if (!(a.seconds_per_step >= 0.02 && a.seconds_per_step <= 60)) {
    return bad_input(phrase("Invalid --seconds {}; use 0.02 to 60.", a.seconds_per_step));
  }
  const StepSeries series{static_cast<EventIndex>(steps.first - 1), static_cast<EventIndex>(steps.last - 1),
                          a.seconds_per_step};
  Reporter reporter(a.report, steps.last - steps.first + 1);
  const auto done = [&](EventIndex ready) { reporter.done(ready); };
  if (auto r = take_pictures(picture, series, a.out, stopper.token(), done); !r) return tl::unexpected(r.error());
  reporter.finished();
  say(phrase("Wrote {} ({} pictures of {} x {} pixels).", a.out, steps.last - steps.first + 1, picture.width,
             picture.height));
  return 0;
}

Result<int> shoot(const ShotArguments& a, Stopper& stopper) {
  if (a.out == "-") return bad_input(tr("-o -: cannot write pictures to stdout; name a file."));
  if (auto r = check_distinct({{"--session", a.session}}, {{"-o", a.out}}); !r) return tl::unexpected(r.error());
  std::optional<Steps> steps;
  if (!a.step.empty()) {
    const auto parsed = steps_of(a.step);
    if (!parsed) return tl::unexpected(parsed.error());
    steps = *parsed;
  }
  const bool several = steps && steps->several;
  if (!several) {
    if (auto r = check_is_png("-o", a.out); !r) return tl::unexpected(r.error());
  }
  if (!several || std::filesystem::path(a.out).has_extension()) {
    if (auto r = check_writable("-o", a.out); !r) return tl::unexpected(r.error());
  }
  auto picture = picture_of(a);
  if (!picture) return tl::unexpected(picture.error());
  if (auto r = set_recording(steps, stopper.token(), *picture); !r) return tl::unexpected(r.error());
  // As the menu opens it.
  if (!steps && (!a.document.preset.empty() || a.document.sentence))
    picture->state.view.step.cursor = first_sight(picture->state.document);
  if (several) return shoot_steps(a, *steps, *picture, stopper);
  if (auto r = take_picture(*picture, a.out); !r) return tl::unexpected(r.error());
  say(phrase("Wrote {} ({} x {} pixels).", a.out, picture->width, picture->height));
  return 0;
}

// What failed is also told to the window that asked.
Result<int> shoot_and_tell(const ShotArguments& a, Stopper& stopper) {
  auto result = shoot(a, stopper);
  if (!result && a.report) Reporter(true, 0).failed(result.error());
  return result;
}

}  // namespace

Command add_shot(Parser program) {
  auto a = std::make_shared<ShotArguments>();
  Parser parser = program.add_subcommand("shot", tr("Draw a picture of any view; no display needed"));
  parser.add_option("--view", a->view, tr("step, bench, profile or learn; default: the view in --state, or step"))
      ->type_name("NAME");
  parser
      .add_option("--step", a->step, tr("Step to draw, counted from 1 as in the window; A..B: every step from A to B"))
      ->type_name("N|A..B");
  parser.add_option("--seconds", a->seconds_per_step, tr("Seconds per step in a GIF or video; default: 1"))
      ->type_name("S");
  parser.add_flag("--no-motion", a->no_motion, tr("Show each step of a GIF or video without animation"));
  parser.add_flag("--touch", a->touch, tr("As on a touch screen: targets of a finger's size, no words about keys"));
  parser.add_flag("--report", a->report, tr("Internal: report progress on the window's socket"))->group("");
  parser
      .add_option("--chart", a->chart,
                  tr("Chart in Step: row, hindsight, passes, error, attention, fragments, sentence or pages; default: "
                     "row"))
      ->type_name("NAME");
  parser
      .add_option(
          "--panel", a->panel,
          tr("Panel of Step to draw alone: run (sentence, tiles and timeline), tiles, chart, traffic or timeline"))
      ->type_name("NAME");
  parser.add_option("--answer", a->answer, tr("State of a lesson's question: right, wrong, hint or shown"))
      ->type_name("NAME");
  parser
      .add_option("--session", a->session,
                  tr("Show the rows and the recording of a saved session; --step refers to that recording"))
      ->type_name("FILE.attn");
  parser.add_option("--size", a->size, tr("Size in pixels; default: 1440x900"))->type_name("WxH");
  parser
      .add_option("--scale", a->scale,
                  tr("Size of text and tiles, 1 to 3; for the scale factor of QK^T, use --qk-scale"))
      ->type_name("X");
  parser.add_option("--theme", a->theme, tr("dark or light; default: dark"))->type_name("NAME");
  parser
      .add_option("-o,--out", a->out,
                  tr("Output file; for several steps, a GIF, a video (made by ffmpeg) or a folder of PNGs"))
      ->required()
      ->type_name("FILE.png|FILE.gif|FILE.mp4|FILE.webm|FOLDER");
  a->document.add_to(parser, "--qk-scale");
  parser.footer(
      tr("Examples:\n  attnscope shot --view step --preset late_outlier --step 50 -o step.png\n  attnscope shot "
         "--preset causal --step 1..20 --seconds 0.8 -o causal.gif\n  attnscope shot --preset causal --step 1..20 -o "
         "causal.mp4\n  attnscope shot --view bench --session sweep.attn "
         "--theme light --size 1920x1080 -o bench.png"));
  return {parser, [a](Stopper& stopper) { return shoot_and_tell(*a, stopper); }};
}

}  // namespace attn::cli
