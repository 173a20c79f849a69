#include "app/shell/palette/palette.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/shell/keys/shortcuts.h"
#include "app/shell/palette/palette_list.h"
#include "kernels/base/text.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/museum/museum.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/sweep/sweep_presets.h"
#include "viz/draw/hands.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/state/run_words.h"
#include "viz/state/view_step.h"
#include "viz/step/bars/wrong_run.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/facts/code_phase.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

// Two changes of one choice are one entry of undo.
constexpr int kOneChoice = 0x7ffffffe;

std::string capital(std::string_view words) {
  std::string text(words);
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

using EntryList = PaletteList;

// ---- commands

// Of the keys: each row is a command. Those without words say by another chord what a row before them said, or choose a
// workspace.
void add_keys(EntryList& e) {
  for (const KeyRow& row : key_table()) {
    Commands commands;
    if (row.act != nullptr) row.act(e.state(), commands);
    const auto* workspace = commands.empty() ? nullptr : command_as<ChooseWorkspace>(commands.front());
    if (workspace != nullptr && commands.size() == 1) {
      PaletteEntry& entry = e.add(tr("Workspace"), std::string(title_of(workspace->workspace)), "", commands);
      entry.chord = row.chord;
      entry.on = e.state().view.workspace == workspace->workspace;
      continue;
    }
    if (row.what.empty()) continue;
    PaletteEntry& entry =
        row.step_only && row.act != nullptr
            ? e.add_in(Workspace::step, std::string(tr_of(row.group)), capital(tr_of(row.what)), "", commands)
            : e.add(std::string(tr_of(row.group)), capital(tr_of(row.what)), "", commands);
    entry.chord = row.chord;
    if (row.act == nullptr) entry.why_not = tr("only by its key");
  }
}

// What has a button and no key.
void add_buttons(EntryList& e) {
  e.add(tr("Bench"), tr("Measure this problem in Bench"), tr("With the same problem, tile and kernel"),
        {MeasureInBench{}});
  e.add(tr("Step"), tr("Step through Bench's kernel and problem"), tr("At a size that Step can show"),
        {step_through_of(e.state())});
  e.add_in(Workspace::bench, tr("Bench"), tr("Measure every point again"), tr("As a new run"), {RunSweep{true}});
  e.add(tr("Bench"), tr("Charts and table of the sweep"), "", {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{}});
  e.add(tr("Bench"), tr("Ladder: what changed from rung to rung"), tr("Time, speed relative to the best peer, and why"),
        {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::ladder}});
  e.add(tr("Bench"), tr("Sources of two rungs side by side"), tr("The chosen kernel and the previous rung"),
        {ChooseWorkspace{Workspace::bench}, CompareSources{}})
      .also = tr("diff, compare two kernels, what changed");
  e.add(tr("Bench"), tr("Tiles: which fit, and how fast each one is"), tr("Tile map of the chosen kernel"),
        {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::tiles}})
      .also = tr("tile size, Br x Bc, block size, occupancy by tile");
  e.add(tr("Bench"), tr("Tune the tiles of the chosen kernel"), tr("Tries all tiles and keeps the fastest"),
        {ChooseWorkspace{Workspace::bench}, ChooseBenchPage{BenchPage::tiles}, TuneTiles{}});
  e.add(tr("Profile"), tr("Source of the kernel, by line and phase"), tr("With its machine code; needs no GPU"),
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::source}})
      .also = tr(
      "slowest line, hottest line, hot spots, stall, stalls, why warps wait, throttle, MIO, bank conflicts, samples");
  e.add(tr("Profile"), tr("Lab: edit the kernel's source"), tr("Build, check and measure it next to the original"),
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::lab}});
  for (const Experiment* x : experiments())
    e.add(
        tr("Lab"), std::string(tr_of(x->title)), std::string(tr_of(x->question)),
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::lab}, OpenExperiment{std::string(x->id)}});
  e.add_in(Workspace::profile, tr("Lab"), tr("Build, check and measure the source in the lab"),
           tr("Ctrl+Enter in the lab"), {BuildLab{}});
  e.add_in(Workspace::profile, tr("Lab"), tr("Restore the original source"), "", {RevertLab{}});
  e.add_in(Workspace::profile, tr("Lab"), tr("Keep the edit as a kernel in Bench"), tr("With its name and hash"),
           {KeepLab{}});
  e.add_in(Workspace::profile, tr("Lab"), tr("Save the edit as a .cu file"),
           tr("Opening the file restores exactly this kernel"), {SaveLab{}});
  e.add(tr("Profile"), tr("Heartbeat: how busy the GPU is during a run"),
        tr("Pipe and memory utilisation, with launches marked"),
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::heartbeat}})
      .also = tr("what an SM does over time");
  e.add(tr("Profile"), tr("Timeline: who waits for whom in one launch"),
        tr("A block's lanes, its ring, and all blocks"),
        {ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::timeline}});
  const bool path = e.state().view.profile.time_path, sms = e.state().view.profile.time_sms;
  e.add_in(Workspace::profile, tr("Profile"), tr("Critical path in the timeline"), "", {ShowTimePath{!path}}).on = path;
  e.add_in(Workspace::profile, tr("Profile"), tr("All SMs in the timeline"), "", {ShowAllSms{!sms}}).on = sms;
  e.add_in(Workspace::profile, tr("Profile"), tr("Single timeline"), "", {CompareTimeline{}});
  e.add_in(Workspace::profile, tr("Profile"), tr("First recorded block in the timeline"), "", {ChooseTimeBlock{}});
  e.add_in(Workspace::profile, tr("Profile"), tr("Zoom in on a few key tiles in the timeline"), "", {ChooseTimeSpan{}});
  e.add_in(Workspace::profile, tr("Profile"), tr("Show all key tiles in the timeline"), "", {FollowKeyTile{}});
  for (const gpu::CodePhase phase : gpu::all_code_phases()) {
    if (!why_no_step(phase).empty()) continue;
    StepThrough there = step_through_of(e.state());
    there.phase = phase;
    e.add(tr("Step"), phrase("{} in Step: {}", gpu::name_of(phase), gpu::words_of(phase)),
          tr("The first step of this phase, in the order of Profile's kernel"), {there});
    e.add(tr("Profile"), phrase("{} in Profile: {}", gpu::name_of(phase), gpu::words_of(phase)),
          tr("The lines of a GPU kernel that perform this step"), {ShowPhase{phase}});
  }
  e.add_in(Workspace::profile, tr("Profile"), tr("Roofline by memory level"), tr("DRAM, L2 and shared memory"),
           {ShowRoofLevels{!e.state().view.profile.roof_levels}})
      .on = e.state().view.profile.roof_levels;
  e.add_in(Workspace::profile, tr("Profile"), tr("Whole run in the heartbeat"), "", {ChooseBeatSpan{}});
  e.add_in(Workspace::profile, tr("Profile"), tr("Source line with the most instructions"), "", {ChooseSourceLine{}});
  e.add_in(Workspace::profile, tr("Profile"), tr("Compare with the baseline"), "", {ChooseAgainst{}});
  e.add_in(Workspace::profile, tr("Profile"), tr("SASS next to the source"), "", {ChooseCode{CodeKind::sass}});
  e.add_in(Workspace::profile, tr("Profile"), tr("PTX next to the source"), "", {ChooseCode{CodeKind::ptx}});
  e.add_in(Workspace::profile, tr("Profile"), tr("SASS diff next to the source"),
           tr("Compare the machine code with the other measurement's"), {ChooseCode{CodeKind::diff}});
  e.add(tr("Edit and files"), tr("Export the measurements as JSON"), tr("With every repeat"), {ExportJson{}});
  e.add(tr("Edit and files"), tr("Export the sweep's timeline"), tr("For Perfetto or chrome://tracing"),
        {ExportTrace{}});
  e.add_in(Workspace::step, tr("Step"), tr("Remove all bookmarks"), "", {ClearBookmarks{}});
  e.add_in(Workspace::step, tr("Step"), tr("Type your own numbers into Q, K and V"),
           for_hands(tr("Or double-click a cell; Enter accepts the number and reruns the kernel"),
                     tr("Or double-tap a cell; the kernel reruns with the number")),
           {TypeNumbers{}})
      .also = tr("edit a cell, change a value, own inputs, enter numbers");
}

void add_settings(EntryList& e) {
  const Preferences& p = e.state().preferences;
  for (const auto& [theme, words] : {std::pair{Theme::dark, tr("Dark")}, {Theme::light, tr("Light")}})
    e.add(tr("Setting"), words, tr("Theme"), {SetTheme{theme}}).on = p.theme == theme;
  for (const int percent : {100, 125, 150, 175, 200, 250, 300}) {
    const float scale = static_cast<float>(percent) / 100;
    e.add(tr("Setting"), phrase("Text and tiles at {} %", percent), tr("Scale"), {SetScale{scale}}).on =
        p.scale == scale;
  }
  e.add(tr("Setting"), tr("Reduce motion"), tr("Results of a step appear immediately"), {SetReducedMotion{true}}).on =
      p.reduced_motion;
  e.add(tr("Setting"), tr("Motion"), tr("Results of a step are animated"), {SetReducedMotion{false}}).on =
      !p.reduced_motion;
  e.add(tr("Setting"), tr("Put all panels back in their original places"), tr("Reset the layout"), {ResetLayout{}});
}

// ---- Step

void add_step_views(EntryList& e) {
  const StepView& view = e.state().view.step;
  for (const ChartTab& tab : chart_tabs(e.document().selection.row))
    e.add_in(Workspace::step, tr("Chart"), tab.words, std::string(tr_of(tab.what)), {ChooseStepChart{tab.chart}}).on =
        view.chart == tab.chart;
  for (const KernelRow* row : kernels_with_fragments()) {
    for (const FragmentTile tile : kFragmentTiles) {
      std::string words(name_of(tile));
      words.front() = static_cast<char>(words.front() - 32);
      e.add_in(Workspace::step, tr("Chart"), phrase("Fragments of {} in {}", words, row->id),
               tr("Lanes, registers and banks"),
               {ChooseStepChart{StepChart::fragments}, ChooseFragment{std::string(row->id), tile}})
          .on = view.chart == StepChart::fragments && view.fragment_kernel == row->id && view.fragment_tile == tile;
    }
  }
  e.add_in(Workspace::step, tr("Setting"), tr("Numbers as the kernel holds them"),
           tr("GPU run: base 2, ℓ as per-lane partial sums"), {ShowRaw{true}})
      .on = view.raw;
  e.add_in(Workspace::step, tr("Setting"), tr("Numbers as in the formulas"), tr("GPU run: scaled, base e, whole ℓ"),
           {ShowRaw{false}})
      .on = !view.raw;
  for (const float speed : kSpeeds)
    e.add_in(Workspace::step, tr("Setting"), phrase("Play {:.3g} steps per second", speed), tr("Speed"),
             {SetPlaySpeed{speed}})
        .on = view.play_steps_per_second == speed;
}

void add_presets(EntryList& e) {
  for (const Preset& p : presets())
    e.add_in(Workspace::step, tr("Preset"), std::string(tr_of(p.title)), std::string(tr_of(p.what)),
             {ChoosePreset{std::string(p.id)}})
        .on = e.document().preset == p.id;
}

Commands changes(const Document& now, const Document& then) {
  Commands commands;
  if (then.problem != now.problem) commands.emplace_back(SetProblem{then.problem, kOneChoice});
  if (then.options != now.options) commands.emplace_back(SetOptions{then.options, kOneChoice});
  if (then.inputs != now.inputs) commands.emplace_back(SetInputs{then.inputs, kOneChoice});
  return commands;
}

void add_problem(EntryList& e) {
  const Document& now = e.document();
  const std::pair<const char*, std::vector<ProblemChoice>> menus[] = {
      {tr("Data type"), dtype_choices(now)}, {tr("Mask"), mask_choices(now)},
      {tr("Bias"), bias_choices(now)},       {tr("Inputs"), generator_choices(now)},
      {tr("What if"), what_if_choices(now)}, {tr("Outer loop"), loop_choices(now)},
      {tr("Keys"), split_choices(now)},      {tr("Keys"), page_choices(now)},
      {tr("Ring"), ring_choices(now)},       {tr("Dealt"), deal_choices(now)},
      {tr("Steps"), pipeline_choices(now)}};
  for (const auto& [label, choices] : menus) {
    for (const ProblemChoice& choice : choices) {
      PaletteEntry& entry = e.add_in(Workspace::step, tr("Problem"), fmt::format("{}: {}", label, choice.words),
                                     choice.help, changes(now, choice.changed));
      entry.on = choice.on;
      if (const auto why = why_not_recordable(choice.changed)) entry.why_not = *why;
    }
  }
}

void add_kernels(EntryList& e) {
  const bool step = e.state().view.workspace == Workspace::step;
  const KernelRow* own = step ? gpu_run_of(e.state(), e.facts().model) : nullptr;  // a GPU kernel's own run
  std::string now = own != nullptr ? std::string(own->id) : step ? e.document().kernel : bench_kernel(e.state());
  if (keeps_name_back(e.state(), lesson_asks(e.state(), e.facts().model))) now.clear();
  const bool measured = !shows_step(e.state().view) && e.state().view.workspace != Workspace::learn;
  const auto choose = [measured](const std::string& id) {
    return measured ? Command(ChooseBenchKernel{id}) : Command(ChooseKernel{id});
  };
  for (const KernelRow* row : ladder_of(step ? e.document().problem.pass : e.document().sweep.base.pass)) {
    const std::string id(row->id);
    PaletteEntry& entry =
        e.add(tr("Kernel"), std::string(tr_of(row->title)), fmt::format("{}: {}", id, tr_of(row->what)), {choose(id)});
    entry.on = id == now;
    if (!step || has_gpu_run(*row, e.document(), e.facts().model)) continue;
    Document changed = e.document();
    changed.kernel = id;
    if (row->record == nullptr)
      entry.why_not = tr("not bundled, and no GPU here can record it on this problem; choose it in Bench");
    else if (const auto why = why_not_recordable(changed))
      entry.why_not = *why;
  }
  for (const auto& kernel : e.document().sweep.own) {
    const std::string id(kernel->id);
    PaletteEntry& entry = e.add(tr("Kernel"), id, tr("Your own"), {choose(id)});
    entry.on = id == now;
    if (step) entry.why_not = tr("your own kernels are not recorded; choose them in Bench or Profile");
    e.add_in(Workspace::bench, tr("Kernel"), phrase("Remove {}", id), tr("Keeps its measured rows"),
             {DropOwnKernel{id}});
  }
}

// ---- the museum

void add_museum(EntryList& e) {
  const Model& model = e.facts().model;
  const bool answer_hidden = lesson_asks(e.state(), model);
  const bool unnamed = keeps_name_back(e.state(), answer_hidden);
  e.add(tr("Museum"), tr("Random exhibit"), tr("A deliberately wrong kernel or a correct one: find out which"),
        {ShowRandomPiece{}});
  PaletteEntry& reveal = e.add(tr("Museum"), tr("Reveal the exhibit"), tr("Name, verdict and patch"), {RevealPiece{}});
  if (!unnamed || answer_hidden)
    reveal.why_not = answer_hidden ? tr("the lesson asks about this exhibit") : tr("no exhibit is hidden");
  for (const Piece& p : museum()) {
    PaletteEntry& entry =
        e.add(tr("Museum"), std::string(tr_of(p.title)), phrase("Deliberately wrong: {} {}", p.id, tr_of(p.symptom)),
              {ShowPiece{std::string(p.id)}});
    entry.on = !unnamed && p.row != nullptr && p.row->id == e.document().kernel;
    if (p.row == nullptr) entry.why_not = tr("a CUDA kernel: it needs an NVIDIA GPU and has no recording");
  }
  const WrongRunScene scene = wrong_run_scene(e.state(), model, answer_hidden);
  const bool wrong = !scene.seek.empty();
  PaletteEntry& seek = e.add_in(Workspace::step, tr("Museum"), tr("Find the first wrong step"),
                                tr("In the run on screen, with its likely cause"), {SeekFirstWrong{true}});
  seek.on = e.state().view.step.seek_first_wrong;
  if (!wrong && !seek.on) seek.why_not = tr("the run on screen is not known to be wrong");
  PaletteEntry& go = e.add_in(Workspace::step, tr("Museum"), tr("Go to the first wrong step"), "", scene.go_there);
  if (scene.go_there.empty()) go.why_not = tr("no wrong step was found");
  PaletteEntry& leave = e.add(tr("Museum"), tr("Leave the museum"), tr("Same problem, correct kernel"), scene.leave);
  if (scene.leave.empty()) leave.why_not = tr("no exhibit is shown");
}

// ---- Bench

void add_sweeps(EntryList& e) {
  const SweepSpec& now = e.document().sweep;
  const BenchPreset* preset = preset_of(now);
  for (const BenchPreset& p : bench_presets())
    e.add_in(Workspace::bench, tr("Sweep"), std::string(tr_of(p.title)), std::string(tr_of(p.what)),
             {SetSweep{with_preset(p, now)}, ChooseBenchMetric{std::string(p.metric)}})
        .on = preset == &p;
  for (const KernelRow* row : ladder_of(now.base.pass)) {
    const bool on = std::find(now.kernels.begin(), now.kernels.end(), row->id) != now.kernels.end();
    e.add_in(Workspace::bench, tr("Sweep"), fmt::format("{} {}", on ? tr("Omit") : tr("Measure"), row->id),
             std::string(tr_of(row->title)), {SetSweep{with_kernel(now, row->id, !on)}});
  }
  for (const auto& kernel : now.own) {
    const bool on = std::find(now.kernels.begin(), now.kernels.end(), kernel->id) != now.kernels.end();
    e.add_in(Workspace::bench, tr("Sweep"), fmt::format("{} {}", on ? tr("Omit") : tr("Measure"), kernel->id),
             tr("Your own"), {SetSweep{with_kernel(now, kernel->id, !on)}});
  }
}

void add_sweep_menus(EntryList& e) {
  const SweepSpec& now = e.document().sweep;
  std::vector<SweepMenu> menus{axis_menu(now),    dtype_menu(now),  mask_menu(now),
                               lengths_menu(now), inputs_menu(now), check_menu(now)};
  if (runs_on_gpu(now)) {
    for (SweepMenu& menu :
         std::array{device_menu(now, e.facts().model.gpu), arch_menu(now), l2_menu(now), counters_menu(now)})
      menus.push_back(std::move(menu));
  }
  for (const SweepMenu& menu : menus) {
    for (const SweepChoice& choice : menu.choices) {
      const std::string label = *menu.label == '\0' ? "" : std::string(menu.label) + ": ";
      e.add_in(Workspace::bench, tr("Sweep"), label + choice.words, menu.help, {SetSweep{choice.changed}}).on =
          choice.on;
    }
  }
}

void add_figures(EntryList& e) {
  const BenchView& view = e.state().view.bench;
  for (const MetricRow& m : metric_table())
    e.add_in(Workspace::bench, tr("Metric"), std::string(tr_of(m.label)), fmt::format("{}: {}", m.id, tr_of(m.help)),
             {ChooseBenchMetric{.id = std::string(m.id), .show = true}})
        .on = std::ranges::find(view.charts, m.id) != view.charts.end();
  const SweepSpec& sweep = e.document().sweep;
  for (const std::int64_t value : sweep.values)
    e.add_in(Workspace::bench, tr("Value"), fmt::format("{} = {}", axis_title(sweep.axis), value),
             tr("Shown in the table and the strip"), {ChooseBenchValue{value}})
        .on = view.value == value;
  e.add_in(Workspace::bench, tr("Filter"), tr("All rows"), tr("Of every ticked run"), {FilterRows{}}).on =
      view.filter.empty();
  e.add_in(Workspace::bench, tr("Baseline"), tr("The default for each device"), tr("Reference for speed-ups"),
           {ChooseBenchBaseline{}})
      .on = view.baseline.empty();
  for (const std::string& id : sweep.kernels)
    e.add_in(Workspace::bench, tr("Baseline"), id, tr("Reference for speed-ups"), {ChooseBenchBaseline{id}}).on =
        view.baseline == id;
}

void add_run(EntryList& e, const ListedRun& r) {
  const BenchRuns& list = e.document().runs;
  const std::string words = words_of(list, r.run), id = r.run.id;
  const bool shown = is_shown(list, id), reference = list.reference == id;
  const auto add = [&](std::string what, Command command) -> PaletteEntry& {
    return e.add_in(Workspace::bench, tr("Run"), fmt::format("{} {}", what, words), "", {std::move(command)});
  };
  add(shown ? tr("Hide") : tr("Show"), ShowRun{id, !shown});
  add(reference ? tr("Stop comparing with") : tr("Compare other runs with"), CompareWithRun{reference ? "" : id});
  if (!r.run.spec.empty()) add(tr("Set up the sweep of"), TakeSweepOf{id});
  add(tr("Rows as CSV of"), ExportCsv{id});
  add(tr("Rows as JSON of"), ExportJson{id});
  add(tr("Timeline for Perfetto of"), ExportTrace{id});
  if (r.from == RunFrom::bundled) return;
  PaletteEntry& remove = add(tr("Remove"), RemoveRun{id});
  if (r.growing) remove.why_not = tr("it is being measured");
}

void add_runs(EntryList& e) {
  const BenchRuns& list = e.document().runs;
  const bool predicted = is_shown(list, kPredictedRun);
  e.add_in(Workspace::bench, tr("Run"), predicted ? tr("Hide predictions") : tr("Show predictions"),
           tr("Bytes, memory and registers before the run"), {ShowRun{std::string(kPredictedRun), !predicted}});
  for (const ListedRun& r : e.facts().model.runs)
    if (!list.removed.contains(r.run.id)) add_run(e, r);
}

void add_files(EntryList& e) {
  for (const KnownFile& f : e.facts().model.files) {
    const std::filesystem::path path(f.path);
    e.add(tr("File"), f.words.empty() ? phrase("Open {}", path.filename().string()) : phrase("Open: {}", f.words),
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
  EntryList e(facts);
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
  for (PaletteEntry& letter : palette_letters()) e.add(std::move(letter));
  for (PaletteEntry& term : palette_terms()) e.add(std::move(term));
  add_files(e);
  std::vector<PaletteEntry> entries = e.take();
  find_reasons(facts, entries);
  return entries;
}

}  // namespace attn
