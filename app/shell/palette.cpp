#include "app/shell/palette.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/shell/palette_list.h"
#include "app/shell/shortcuts.h"
#include "kernels/base/text.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"
#include "kernels/model/input_spec.h"
#include "kernels/museum/museum.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/fields.h"
#include "viz/bench/presets.h"
#include "viz/bench/sweep_choices.h"
#include "viz/learn/desk.h"
#include "viz/state/run_words.h"
#include "viz/step/chart_card.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/problem_fields.h"
#include "viz/step/timeline/transport.h"
#include "viz/step/wrong_run.h"

namespace attn {
namespace {

// Two changes of one choice are one entry of undo.
constexpr int kOneChoice = 0x7ffffffe;

std::string capital(std::string_view words) {
  std::string text(words);
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

using Entries = PaletteList;

// ---- commands

// Of the keys: each row is a command. Those without words say by another chord what a row before them said, or choose a
// workspace.
void add_keys(Entries& e) {
  for (const KeyRow& row : key_table()) {
    Commands commands;
    if (row.act != nullptr) row.act(e.state(), commands);
    const auto* workspace = commands.empty() ? nullptr : command_as<ChooseWorkspace>(commands.front());
    if (workspace != nullptr && commands.size() == 1) {
      PaletteEntry& entry = e.add("Workspace", std::string(title_of(workspace->workspace)), "", commands);
      entry.chord = row.chord;
      entry.on = e.state().view.workspace == workspace->workspace;
      continue;
    }
    if (row.what.empty()) continue;
    PaletteEntry& entry = row.step_only && row.act != nullptr
                              ? e.add_in(Workspace::step, std::string(row.group), capital(row.what), "", commands)
                              : e.add(std::string(row.group), capital(row.what), "", commands);
    entry.chord = row.chord;
    if (row.act == nullptr) entry.why_not = tr("by its key alone");
  }
}

// What has a button and no key.
void add_buttons(Entries& e) {
  e.add("Bench", "Measure this problem in Bench", "Takes problem, tile and kernel over", {MeasureInBench{}});
  e.add("Step", "Step through the kernel and problem of Bench", "At a size that Step can show",
        {step_through_of(e.state())});
  e.add_in(Workspace::bench, "Bench", "Measure every point anew", "A new run", {RunSweep{true}});
  e.add("Bench", "Charts and table of the sweep", "", {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{}});
  e.add("Bench", "Ladder: what changed from rung to rung", "Time, share of the best peer, and why",
        {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::ladder}});
  e.add("Bench", "Sources of two rungs side by side", "The chosen kernel and the rung before it",
        {ChooseWorkspace{Workspace::bench}, CompareSources{}})
      .also = tr("diff, compare two kernels, what changed");
  e.add("Bench", "Tiles: which fit, and how fast each is", "Of the chosen kernel, as a map",
        {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::tiles}})
      .also = tr("tile size, Br x Bc, block size, occupancy by tile");
  e.add("Bench", "Tune the tiles of the chosen kernel", "Tries them and keeps the fastest",
        {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::tiles}, TuneTiles{}});
  e.add("Profile", "Source of the kernel, by line and phase", "With its machine code; it needs no GPU",
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::source}})
      .also =
      "slowest line, hottest line, hot spots, stall, stalls, why warps wait, throttle, MIO, bank conflicts, samples";
  e.add("Profile", "Lab: change the kernel's text and see", "Built, checked and measured beside the original",
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::lab}});
  for (const Experiment* x : experiments())
    e.add(
        "Lab", std::string(x->title), std::string(x->question),
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::lab}, OpenExperiment{std::string(x->id)}});
  e.add_in(Workspace::profile, "Lab", "Build, check and measure the text of the lab", "Ctrl Enter there", {BuildLab{}});
  e.add_in(Workspace::profile, "Lab", "Put the original text back", "", {RevertLab{}});
  e.add_in(Workspace::profile, "Lab", "Keep the edit as a kernel in Bench", "With its name and hash", {KeepLab{}});
  e.add_in(Workspace::profile, "Lab", "Save the edit as a .cu file", "It opens as this kernel", {SaveLab{}});
  e.add("Profile", "Heartbeat of the kernel, over the time of a run", "Pipes and memories, launches marked",
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::heartbeat}})
      .also = tr("timeline, over time, what an SM does");
  for (const gpu::CodePhase phase : gpu::all_code_phases()) {
    if (!why_no_step(phase).empty()) continue;
    StepThrough there = step_through_of(e.state());
    there.phase = phase;
    e.add("Step", phrase("{} in Step: {}", gpu::name_of(phase), gpu::words_of(phase)),
          "The first step of this phase, in the order of Profile's kernel", {there});
    e.add("Profile", phrase("{} in Profile: {}", gpu::name_of(phase), gpu::words_of(phase)),
          "The lines of a kernel on a GPU that do it", {ShowPhase{phase}});
  }
  e.add_in(Workspace::profile, "Profile", "Roofline by level", "DRAM, L2 and shared memory",
           {ShowRoofLevels{!e.state().view.profile.roof_levels}})
      .on = e.state().view.profile.roof_levels;
  e.add_in(Workspace::profile, "Profile", "The whole run in the heartbeat", "", {ChooseBeatSpan{}});
  e.add_in(Workspace::profile, "Profile", "The source's line with the most instructions", "", {ChooseSourceLine{}});
  e.add_in(Workspace::profile, "Profile", "Changes over the usual measurement", "", {ChooseAgainst{}});
  e.add_in(Workspace::profile, "Profile", "SASS beside the source", "", {ChooseCode{CodeKind::sass}});
  e.add_in(Workspace::profile, "Profile", "PTX beside the source", "", {ChooseCode{CodeKind::ptx}});
  e.add("Edit and files", "Export the measurements as JSON", "With every repeat", {ExportJson{}});
  e.add("Edit and files", "Export the sweep's timeline", "For Perfetto or chrome://tracing", {ExportTrace{}});
  e.add_in(Workspace::step, "Step", "Take all bookmarks away", "", {ClearBookmarks{}});
}

// ---- Learn

void add_learn(Entries& e) {
  e.add("Learn", "Begin the first lesson", "8 minutes: what attention computes", {StartLesson{"weighted-average", ""}});
  const LearnDesk* desk = e.facts().model.learn.get();
  const bool open = desk != nullptr && desk->card.has_value();
  if (desk != nullptr)
    for (const ChapterScene& c : desk->chapters) e.add("Lesson", c.title, c.goal, {StartLesson{c.id, ""}});
  const std::tuple<const char*, const char*, Command> steps[] = {
      {"Next beat", "", GoToBeat{1}},
      {"Previous beat", "", GoToBeat{-1}},
      {"Hint", "Of the question that is open", ShowHint{}},
      {"Show me the answer", "It counts as seen, not as known", ShowAnswer{}},
      {"The same with other numbers", "", AskAgain{}},
      {"Back to the lesson", "From where you wandered", BackToLesson{}},
      {"Leave the lesson", "Your own problem comes back", LeaveLesson{}},
  };
  for (const auto& [words, more, command] : steps) {
    PaletteEntry& entry = e.add("Learn", words, more, {command});
    if (!open) entry.why_not = tr("no lesson is open");
  }
  PaletteEntry& vote = e.add("Learn", "Take back the last hand", "Of a class that votes", {TakeBackVote{}});
  if (!open || !desk->card->teach || desk->card->votes == 0) vote.why_not = tr("no class votes here");
  e.add("Learn", "Forget my answers", "Of all lessons", {ForgetLessons{}});
  e.add("Learn", "Close the line for newcomers", "", {CloseGreeting{}});
  e.add("Setting", "Lesson card on the left", "", {DockCard{false}}).on = !e.state().preferences.card_right;
  e.add("Setting", "Lesson card on the right", "", {DockCard{true}}).on = e.state().preferences.card_right;
  const std::vector<std::string> languages = desk == nullptr ? std::vector<std::string>{"en"} : desk->languages;
  for (const std::string& language : languages)
    e.add("Setting", "Lessons in: " + language, "Language", {ChooseLanguage{language}}).on =
        e.state().preferences.language == language;
}

void add_settings(Entries& e) {
  const Preferences& p = e.state().preferences;
  for (const auto& [theme, words] : {std::pair{Theme::dark, "Dark"}, {Theme::light, "Light"}})
    e.add("Setting", words, "Theme", {SetTheme{theme}}).on = p.theme == theme;
  for (const int percent : {100, 125, 150, 175, 200, 250, 300}) {
    const float scale = static_cast<float>(percent) / 100;
    e.add("Setting", phrase("Text and tiles at {} %", percent), "Scale", {SetScale{scale}}).on = p.scale == scale;
  }
  e.add("Setting", "No motion", "What a step makes stands at once", {SetReducedMotion{true}}).on = p.reduced_motion;
  e.add("Setting", "Motion", "What a step makes comes in", {SetReducedMotion{false}}).on = !p.reduced_motion;
  e.add("Setting", "Panels where they were at first", "Reset the layout", {ResetLayout{}});
}

// ---- Step

void add_step_views(Entries& e) {
  const StepView& view = e.state().view.step;
  for (const ChartTab& tab : chart_tabs(e.document().selection.row))
    e.add_in(Workspace::step, "Chart", tab.words, std::string(tab.what), {ChooseStepChart{tab.chart}}).on =
        view.chart == tab.chart;
  for (const FragmentRung rung : kFragmentRungs) {
    for (const FragmentTile tile : kFragmentTiles) {
      std::string words(name_of(tile));
      words.front() = static_cast<char>(words.front() - 32);
      e.add_in(Workspace::step, "Chart", phrase("Fragments of {} in {}", words, name_of(rung)),
               "Lanes, registers and banks", {ChooseStepChart{StepChart::fragments}, ChooseFragment{rung, tile}})
          .on = view.chart == StepChart::fragments && view.fragment_rung == rung && view.fragment_tile == tile;
    }
  }
  e.add_in(Workspace::step, "Setting", "Numbers as the kernel holds them", "A GPU's run: base 2, parts of ℓ by lane",
           {ShowRaw{true}})
      .on = view.raw;
  e.add_in(Workspace::step, "Setting", "Numbers as the formulas have them", "A GPU's run: scaled, base e, whole ℓ",
           {ShowRaw{false}})
      .on = !view.raw;
  for (const float speed : kSpeeds)
    e.add_in(Workspace::step, "Setting", phrase("Play {:.3g} steps a second", speed), "Speed", {SetPlaySpeed{speed}})
        .on = view.play_steps_per_second == speed;
}

void add_presets(Entries& e) {
  for (const Preset& p : presets())
    e.add_in(Workspace::step, "Preset", std::string(p.title), std::string(p.what), {ChoosePreset{std::string(p.id)}})
        .on = e.document().preset == p.id;
}

Commands changes(const Document& now, const Document& then) {
  Commands commands;
  if (then.problem != now.problem) commands.emplace_back(SetProblem{then.problem, kOneChoice});
  if (then.options != now.options) commands.emplace_back(SetOptions{then.options, kOneChoice});
  if (then.inputs != now.inputs) commands.emplace_back(SetInputs{then.inputs, kOneChoice});
  return commands;
}

void add_problem(Entries& e) {
  const Document& now = e.document();
  const std::pair<const char*, std::vector<ProblemChoice>> menus[] = {{"Stored as", dtype_choices(now)},
                                                                      {"Mask", mask_choices(now)},
                                                                      {"Bias", bias_choices(now)},
                                                                      {"Inputs", generator_choices(now)},
                                                                      {"What if", what_if_choices(now)}};
  for (const auto& [label, choices] : menus) {
    for (const ProblemChoice& choice : choices) {
      PaletteEntry& entry = e.add_in(Workspace::step, "Problem", fmt::format("{}: {}", label, choice.words),
                                     choice.help, changes(now, choice.changed));
      entry.on = choice.on;
      if (const auto why = why_not_recordable(choice.changed)) entry.why_not = *why;
    }
  }
}

void add_kernels(Entries& e) {
  const bool step = e.state().view.workspace == Workspace::step;
  const KernelRow* own = step ? gpu_run_of(e.state(), e.facts().model) : nullptr;  // a GPU kernel's own run
  std::string now = own != nullptr ? std::string(own->id) : step ? e.document().kernel : bench_kernel(e.state());
  if (keeps_name_back(e.state(), lesson_asks(e.state(), e.facts().model))) now.clear();
  for (const KernelRow* row : ladder()) {
    const std::string id(row->id);
    PaletteEntry& entry =
        e.add("Kernel", std::string(row->title), fmt::format("{}: {}", id, row->what), {ChooseKernel{id}});
    entry.on = id == now;
    if (!step || has_gpu_run(*row, e.document(), e.facts().model)) continue;
    Document changed = e.document();
    changed.kernel = id;
    if (row->record == nullptr)
      entry.why_not = tr("no GPU here records it on this problem, and no such run came along: choose it in Bench");
    else if (const auto why = why_not_recordable(changed))
      entry.why_not = *why;
  }
  for (const auto& kernel : e.document().sweep.own) {
    const std::string id(kernel->id);
    PaletteEntry& entry = e.add("Kernel", id, "Of your own", {ChooseKernel{id}});
    entry.on = id == now;
    if (step) entry.why_not = tr("a kernel of your own is not recorded: choose it in Bench or Profile");
    e.add_in(Workspace::bench, "Kernel", "Take out " + id, "Of the list; its rows stay", {DropOwnKernel{id}});
  }
}

// ---- the museum

void add_museum(Entries& e) {
  const Model& model = e.facts().model;
  const bool veiled = lesson_asks(e.state(), model);
  const bool unnamed = keeps_name_back(e.state(), veiled);
  e.add("Museum", "Random exhibit", "A kernel that is wrong on purpose, or the healthy patient: find out",
        {ShowRandomPiece{}});
  PaletteEntry& reveal = e.add("Museum", "Reveal the exhibit", "Its name, its verdict and its patch", {RevealPiece{}});
  if (!unnamed || veiled) reveal.why_not = veiled ? "the lesson asks for it" : "no exhibit is kept back";
  for (const Piece& p : museum()) {
    PaletteEntry& entry = e.add("Museum", std::string(p.title), phrase("Wrong on purpose: {} {}", p.id, p.symptom),
                                {ShowPiece{std::string(p.id)}});
    entry.on = !unnamed && p.row != nullptr && p.row->id == e.document().kernel;
    if (p.row == nullptr) entry.why_not = tr("it is CUDA: it needs an NVIDIA GPU, and there is no recording");
  }
  const WrongRunScene scene = wrong_run_scene(e.state(), model, veiled);
  const bool wrong = !scene.seek.empty();
  PaletteEntry& seek = e.add_in(Workspace::step, "Museum", "Find the first wrong step",
                                "Of the run that is shown, with the likely cause", {SeekFirstWrong{true}});
  seek.on = e.state().view.step.seek_first_wrong;
  if (!wrong && !seek.on) seek.why_not = tr("the run that is shown is not known to be wrong");
  PaletteEntry& go = e.add_in(Workspace::step, "Museum", "Go to the first wrong step", "", scene.go_there);
  if (scene.go_there.empty()) go.why_not = tr("none was found");
  PaletteEntry& leave = e.add("Museum", "Leave the museum", "The same problem by the right kernel", scene.leave);
  if (scene.leave.empty()) leave.why_not = tr("no exhibit is shown");
}

// ---- Bench

void add_sweeps(Entries& e) {
  const SweepSpec& now = e.document().sweep;
  const BenchPreset* preset = preset_of(now);
  for (const BenchPreset& p : bench_presets())
    e.add_in(Workspace::bench, "Sweep", std::string(p.title), std::string(p.what),
             {SetSweep{with_preset(p, now)}, ChooseBenchMetric{std::string(p.metric)}})
        .on = preset == &p;
  for (const KernelRow* row : ladder()) {
    const bool on = std::find(now.kernels.begin(), now.kernels.end(), row->id) != now.kernels.end();
    e.add_in(Workspace::bench, "Sweep", fmt::format("{} {}", on ? "Leave out" : "Measure", row->id),
             std::string(row->title), {SetSweep{with_kernel(now, row->id, !on)}});
  }
  for (const auto& kernel : now.own) {
    const bool on = std::find(now.kernels.begin(), now.kernels.end(), kernel->id) != now.kernels.end();
    e.add_in(Workspace::bench, "Sweep", fmt::format("{} {}", on ? "Leave out" : "Measure", kernel->id), "Of your own",
             {SetSweep{with_kernel(now, kernel->id, !on)}});
  }
}

void add_sweep_menus(Entries& e) {
  const SweepSpec& now = e.document().sweep;
  std::vector<SweepMenu> menus{axis_menu(now), dtype_menu(now), mask_menu(now), inputs_menu(now), check_menu(now)};
  if (runs_on_gpu(now)) {
    for (SweepMenu& menu :
         std::array{device_menu(now, e.facts().model.gpu), arch_menu(now), l2_menu(now), counters_menu(now)})
      menus.push_back(std::move(menu));
  }
  for (const SweepMenu& menu : menus) {
    for (const SweepChoice& choice : menu.choices) {
      const std::string label = *menu.label == '\0' ? "" : std::string(menu.label) + ": ";
      e.add_in(Workspace::bench, "Sweep", label + choice.words, menu.help, {SetSweep{choice.changed}}).on = choice.on;
    }
  }
}

void add_figures(Entries& e) {
  const BenchView& view = e.state().view.bench;
  for (const MetricRow& m : metric_table())
    e.add_in(Workspace::bench, "Metric", std::string(m.label), fmt::format("{}: {}", m.id, m.help),
             {ChooseBenchMetric{.id = std::string(m.id), .show = true}})
        .on = std::ranges::find(view.charts, m.id) != view.charts.end();
  const SweepSpec& sweep = e.document().sweep;
  for (const std::int64_t value : sweep.values)
    e.add_in(Workspace::bench, "Value", fmt::format("{} = {}", axis_title(sweep.axis), value),
             "What table and strip look at", {ChooseBenchValue{value}})
        .on = view.value == value;
  e.add_in(Workspace::bench, "Baseline", "The usual one of each device", "What speed-ups are over",
           {ChooseBenchBaseline{}})
      .on = view.baseline.empty();
  for (const std::string& id : sweep.kernels)
    e.add_in(Workspace::bench, "Baseline", id, "What speed-ups are over", {ChooseBenchBaseline{id}}).on =
        view.baseline == id;
}

void add_run(Entries& e, const ListedRun& r) {
  const BenchRuns& list = e.document().runs;
  const std::string words = words_of(list, r.run), id = r.run.id;
  const bool shown = is_shown(list, id), reference = list.reference == id;
  const auto add = [&](std::string what, Command command) -> PaletteEntry& {
    return e.add_in(Workspace::bench, "Run", fmt::format("{} {}", what, words), "", {std::move(command)});
  };
  add(shown ? "Hide" : "Show", ShowRun{id, !shown});
  add(reference ? "Compare no more with" : "Compare the others with", CompareWithRun{reference ? "" : id});
  if (!r.run.spec.empty()) add("Set up the sweep of", TakeSweepOf{id});
  add("Rows as CSV of", ExportCsv{id});
  add("Rows as JSON of", ExportJson{id});
  add("Timeline for Perfetto of", ExportTrace{id});
  if (r.from == RunFrom::bundled) return;
  PaletteEntry& remove = add("Remove", RemoveRun{id});
  if (r.growing) remove.why_not = tr("it is being measured");
}

void add_runs(Entries& e) {
  const BenchRuns& list = e.document().runs;
  const bool predicted = is_shown(list, kPredictedRun);
  e.add_in(Workspace::bench, "Run", predicted ? "Hide what is predicted" : "Show what is predicted",
           "Bytes, memory, registers before the run", {ShowRun{std::string(kPredictedRun), !predicted}});
  for (const ListedRun& r : e.facts().model.runs)
    if (!list.removed.contains(r.run.id)) add_run(e, r);
}

void add_files(Entries& e) {
  for (const KnownFile& f : e.facts().model.files) {
    const std::filesystem::path path(f.path);
    e.add("File", (f.words.empty() ? "Open " : "Open: ") + (f.words.empty() ? path.filename().string() : f.words),
          f.path, {OpenFile{f.path}});
  }
}

}  // namespace

StepThrough step_through_of(const State& state) {
  const SweepSpec& sweep = state.document.sweep;
  const std::int64_t last = sweep.values.empty() ? 1 : sweep.values.back();
  const std::int64_t value = state.view.bench.value.value_or(last);
  return {bench_kernel(state), problem_at(sweep, value), options_at(sweep, value)};
}

std::vector<PaletteEntry> palette_entries(const PaletteFacts& facts) {
  Entries e(facts);
  add_keys(e);
  add_buttons(e);
  add_presets(e);
  add_kernels(e);
  add_museum(e);
  add_step_views(e);
  add_problem(e);
  add_sweeps(e);
  add_figures(e);
  add_sweep_menus(e);
  add_learn(e);
  add_settings(e);
  add_runs(e);
  for (PaletteEntry& answer : palette_answers(facts)) e.add(std::move(answer));
  add_files(e);
  std::vector<PaletteEntry> entries = e.take();
  find_reasons(facts, entries);
  return entries;
}

}  // namespace attn
