#include "viz/bench/panel/sweep_draw.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cfloat>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "imgui.h"
#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/panel/runs_draw.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/sweep/sweep_pass.h"
#include "viz/bench/sweep/sweep_presets.h"
#include "viz/bench/tiles/tile_map.h"
#include "viz/draw/canvas.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

// Where rows are shown a tick asks for the kernel as well: the strip then speaks of it, or says where it is. Untick,
// and what had no answer is asked no longer.
void tick(const KernelRow& row, bool on, const State& state, const Model& model, const BenchCache& cache,
          Commands& commands) {
  commands.push_back(SetSweep{with_kernel(state.document.sweep, row.id, on)});
  const std::string id(row.id);
  if (on && !shown_runs(state.document.runs, model).empty()) commands.push_back(ChooseBenchKernel{id});
  if (!on && state.view.bench.kernel == id && cache.scene.verdict.kernel != id) commands.push_back(ChooseBenchKernel{});
}

// "Measured in h100-ladder, h100-hopper."
std::string measured_words(const std::string& kernel, const State& state, const Model& model, BenchCache& cache) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> runs;
  std::size_t more = 0;
  for (const ListedRun& r : model.runs) {
    if (state.document.runs.removed.contains(r.run.id) || !held(r, cache).timed.contains(kernel)) continue;
    if (runs.size() < kMost)
      runs.push_back(words_of(state.document.runs, r.run));
    else
      ++more;
  }
  if (runs.empty()) return tr("Not measured in any listed run.");
  const std::string all = fmt::format("{}", fmt::join(runs, ", "));
  return more == 0 ? phrase("Measured in {}.", all)
                   : plural(more, "Measured in {1} and {0} more run.", "Measured in {1} and {0} more runs.", all);
}

void kernel_line(const KernelRow& row, const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const SweepSpec& sweep = state.document.sweep;
  const auto& chosen = sweep.kernels;
  bool on = std::find(chosen.begin(), chosen.end(), row.id) != chosen.end();
  const std::string why_not = refusal(row, sweep);
  ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(1), s.px(1)));
  const float side = ImGui::GetFrameHeight(), beyond = s.px(beyond_edge(side / s.scale));
  at.y += beyond;
  ImGui::SetCursorScreenPos(at);
  if (ImGui::Checkbox(fmt::format("##kernel_{}", row.id).c_str(), &on)) tick(row, on, state, model, cache, commands);
  ImGui::PopStyleVar();
  // The rest of the line is as good a place to click as the box.
  const float left = at.x + side + s.px(7), name_at = left + s.px(31);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorScreenPos({left, at.y - beyond});
  const float width = std::max(s.px(8), ImGui::GetContentRegionAvail().x);
  if (ImGui::InvisibleButton(fmt::format("name_{}", row.id).c_str(), {width, side + 2 * beyond}))
    tick(row, !on, state, model, cache, commands);
  std::string help = fmt::format("{}: {}. {}", row.id, tr_of(row.title), tr_of(row.what));
  if (!row.teaches.empty()) help += "\n" + std::string(tr_of(row.teaches));
  if (!why_not.empty()) help += phrase("\nIt takes {}.", why_not);
  if (ImGui::IsItemHovered()) help += "\n" + measured_words(std::string(row.id), state, model, cache);
  tooltip(help);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float middle = at.y + side / 2;
  draw_swatch(list, {left, middle}, s.px(24), row.id,
              {is_device_baseline(row.id), row.processor == Processor::cpu, !on});
  const ImU32 ink = colour(s.theme, on && why_not.empty() ? Token::text : Token::dim);
  const Box name{{name_at, at.y}, {left + width, at.y + side}};
  draw_text_in(&list, name, Align::left, Face::text, 13, ink, fitted_text(Face::text, 13, row.id, name.width()));
  if (why_not.empty()) return;
  // Behind a long name there is room for the first type alone; the tooltip has them all.
  constexpr float kInset = 3;  // of the scroll bar
  const float room = width - (name_at - left) - text_width(Face::text, 13, row.id) - s.px(5 + kInset);
  const bool of_type = std::ranges::find(row.dtypes, sweep.base.dtype) == row.dtypes.end();
  const bool narrow = std::all_of(row.dtypes.begin(), row.dtypes.end(), [](DType t) { return size_of(t) == 2; });
  const bool of_layout = !of_type && std::ranges::find(row.layouts, sweep.base.layout) == row.layouts.end();
  const bool of_output = !of_type && std::ranges::find(row.outputs, sweep.base.output) == row.outputs.end();
  const std::string first = of_layout   ? tr("layout")
                            : of_output ? tr("no f32 O")
                            : !of_type  ? tr("no pages")
                            : narrow
                                ? "16-bit"
                                : fmt::format("{}{}", name_of(row.dtypes.front()), row.dtypes.size() > 1 ? " …" : "");
  for (const std::string& words : {why_not, first}) {
    if (text_width(Face::text, 11, words) > room) continue;
    draw_text_in(&list, name, Align::right, Face::text, 11, colour(s.theme, Token::dim), words, kInset);
    return;
  }
}

void kernel_list(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const SweepSpec& sweep = state.document.sweep;
  for (const Processor processor : {Processor::gpu, Processor::cpu}) {
    heading(processor == Processor::gpu ? tr("Next run: on a GPU") : tr("Next run: on the CPU"));
    for (const KernelRow* row : kernels_on(processor, sweep.base.pass))
      kernel_line(*row, state, model, cache, commands);
    ImGui::Spacing();
  }
  if (sweep.own.empty()) return;
  heading(tr("Your own"));
  for (const auto& kernel : sweep.own) kernel_line(*kernel, state, model, cache, commands);
  ImGui::Spacing();
}

void text_field(const SweepFieldText& field, const SweepSpec& sweep, BenchCache& cache, Commands& commands) {
  FieldDraft& draft = cache.drafts[{field.field, field.option}];
  begin_line(field.label);
  const std::string id = field.option.empty() ? fmt::format("##field_{}", static_cast<int>(field.field))
                                              : fmt::format("##field_{}", field.option);
  if (const auto entered = draft_field(id.c_str(), draft, field.text)) {
    auto changed = with_field(sweep, field.field, *entered, field.option);
    settle(draft, changed ? "" : changed.error().message);
    if (changed) commands.push_back(SetSweep{std::move(*changed)});
  }
  constexpr std::size_t kFits = 10;  // characters that the field shows
  tooltip(field.text.size() > kFits ? field.text + "\n" + field.help : field.help);
  if (!draft.error.empty()) dim_text(draft.error);
}

// A choice whose text never changes the width of the panel: what does not fit ends in dots, and the tooltip has it all.
template <class Draw>
void combo(const char* id, const std::string& label, const std::string& shown, const std::string& help,
           const Draw& draw) {
  if (label.empty())
    ImGui::SetNextItemWidth(-FLT_MIN);
  else
    begin_line(label);
  const float room = ImGui::CalcItemWidth() - ImGui::GetFrameHeight() - ImGui::GetStyle().FramePadding.x;
  const std::string fitted = fitted_text(Face::text, ImGui::GetFontSize() / style().scale, shown, room);
  if (begin_list(id, fitted.c_str())) {
    draw();
    end_list();
  }
  const bool cut = fitted != shown;
  if (cut || !help.empty()) tooltip(cut ? shown + (help.empty() ? "" : "\n" + help) : help);
}

void draw_menu(const SweepMenu& menu, Commands& commands, const std::function<void()>& opened = {}) {
  combo(menu.id, menu.label, menu.shown, menu.help, [&] {
    if (opened) opened();
    for (const SweepChoice& choice : menu.choices) {
      if (ImGui::Selectable(choice.words.c_str(), choice.on)) commands.push_back(SetSweep{choice.changed});
      if (choice.on) ImGui::SetItemDefaultFocus();
    }
  });
}

void preset_choice(const SweepSpec& sweep, Commands& commands) {
  const BenchPreset* now = preset_of(sweep);
  const std::string shown = now == nullptr ? tr("your own sweep") : std::string(tr_of(now->title));
  combo("##preset", "", shown, tr("Ready-made sweeps"), [&] {
    for (const BenchPreset& p : bench_presets()) {
      if (ImGui::Selectable(std::string(tr_of(p.title)).c_str(), &p == now)) {
        commands.push_back(SetSweep{with_preset(p, sweep)});
        commands.push_back(ChooseBenchMetric{std::string(p.metric)});
      }
      tooltip(std::string(tr_of(p.what)));
    }
  });
}

// What is predicted hangs on no GPU that is here. Whoever asks wants to see the answer beside what is shown.
void compile_choice(const State& state, const Model& model, Commands& commands) {
  const SweepSpec& sweep = state.document.sweep;
  const BenchRuns& runs = state.document.runs;
  const bool beside = !shown_runs(runs, model).empty() && !is_shown(runs, kPredictedRun);
  const SweepMenu menu = arch_menu(sweep);
  combo(menu.id, menu.label, menu.shown, menu.help, [&] {
    for (const SweepChoice& choice : menu.choices) {
      if (!ImGui::Selectable(choice.words.c_str(), choice.on)) continue;
      commands.push_back(SetSweep{choice.changed});
      if (beside) commands.push_back(ShowRun{std::string(kPredictedRun), true});
    }
  });
  if (const std::string words = compile_words(sweep, model); !words.empty()) dim_text(words);
}

void gpu_set_up(const State& state, const Model& model, Commands& commands) {
  const SweepSpec& sweep = state.document.sweep;
  if (!runs_on_gpu(sweep)) return;
  const GpuView& gpus = model.gpu;
  if (!gpus.gpus.empty()) draw_menu(device_menu(sweep, gpus), commands);
  compile_choice(state, model, commands);
  if (gpus.gpus.empty() && gpus.looked) dim_text(phrase("No GPU: {}", gpus.why_none));
  draw_menu(l2_menu(sweep), commands);
  draw_menu(counters_menu(sweep), commands);
}

// What speed-ups are over. Each device keeps its usual baseline where another one's kernel is chosen.
void baseline_choice(const State& state, Commands& commands) {
  const std::string& now = state.view.bench.baseline;
  const std::string help = phrase("The baseline for speed-ups; default: {} on a GPU, {} on the CPU.",
                                  baseline_of(Processor::gpu, state.document.sweep.base.pass),
                                  baseline_of(Processor::cpu, state.document.sweep.base.pass));
  combo("##baseline", tr("Baseline"), now.empty() ? "usual" : now, help, [&] {
    if (ImGui::Selectable(tr("usual"), now.empty())) commands.push_back(ChooseBenchBaseline{""});
    for (const std::string& id : state.document.sweep.kernels)
      if (ImGui::Selectable(id.c_str(), id == now)) commands.push_back(ChooseBenchBaseline{id});
  });
}

// Beside the tile; what is tuned is the kernel that is chosen. The page that fills as it goes is shown.
void tune_button(const State& state, const Model& model, const std::string& kernel, Commands& commands) {
  const auto spec = tune_of(state, kernel);
  begin_line("");
  ImGui::BeginDisabled(!spec || model.task.running);
  if (ImGui::Button(tr("Tune ...###tune_tile"), {-FLT_MIN, 0})) {
    commands.push_back(ChooseBenchPage{BenchPage::tiles});
    commands.push_back(TuneTiles{});
  }
  ImGui::EndDisabled();
  tooltip(
      spec ? phrase("Tries tiles, threads and stages of {} on {} for about {:.0f} s. The Tiles page shows the results.",
                    spec->kernel, describe(spec->problem), spec->budget_s)
           : spec.error().message);
}

void sweep_set_up(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const SweepSpec& sweep = state.document.sweep;
  if (const std::string key = sweep_key(sweep); key != cache.drafts_for) {
    cache.drafts_for = key;
    for (auto& [field, draft] : cache.drafts)
      if (!draft.error.empty()) draft = {};
  }
  heading(tr("Sweep"));
  preset_choice(sweep, commands);
  draw_menu(axis_menu(sweep), commands);
  for (const SweepFieldText& field : sweep_fields(sweep)) {
    if (field.field == SweepField::tile) {
      draw_menu(pass_menu(sweep), commands);
      draw_menu(dtype_menu(sweep), commands);
      draw_menu(output_menu(sweep), commands);
      draw_menu(layout_menu(sweep), commands);
      draw_menu(mask_menu(sweep), commands);
      draw_menu(lengths_menu(sweep), commands);
    }
    text_field(field, sweep, cache, commands);
    if (field.field == SweepField::tile) tune_button(state, model, cache.tiles_kernel, commands);
  }
  gpu_set_up(state, model, commands);
  draw_menu(inputs_menu(sweep), commands);
  draw_menu(check_menu(sweep), commands);
  draw_menu(peers_menu(sweep, model.peers), commands, [&] {
    if (!model.peers.looked) commands.push_back(LookForPeers{});
  });
  baseline_choice(state, commands);
}

void progress(const TaskView& task) {
  const Style& s = style();
  wrapped_text(task.now.empty() ? task.title : task.now);
  if (const std::string left = left_words(task.seconds_left); !left.empty()) dim_text(left);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const auto done = static_cast<float>(std::clamp(task.fraction, 0.0, 1.0));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + s.px(4)}, colour(s.theme, Token::field), s.px(2));
  if (done > 0)
    list.AddRectFilled(at, {at.x + std::max(s.px(4), done * width), at.y + s.px(4)}, colour(s.theme, Token::text),
                       s.px(2));
  ImGui::Dummy({width, s.px(6)});
}

// Where some points are finished, going on comes first and all anew second.
void run_buttons(const BenchCache& cache, float width, float height, Commands& commands) {
  const SweepCount& c = cache.count;
  if (c.finished == 0 || c.finished == c.points) {
    if (main_button(tr("Run###run"), {width, height}, cache.why_not_run.empty())) commands.push_back(RunSweep{true});
    return;
  }
  const float gap = style().px(6), restart = style().px(58);
  const std::string words = phrase("Resume, {} left###run", c.points - c.finished);
  if (main_button(words.c_str(), {width - restart - gap, height}, cache.why_not_run.empty()))
    commands.push_back(RunSweep{});
  tooltip(phrase("{} of {} points are finished and are not measured again.", c.finished, c.points));
  ImGui::SameLine(0, gap);
  ImGui::BeginDisabled(!cache.why_not_run.empty());
  if (ImGui::Button(tr("Restart"), {restart, height})) commands.push_back(RunSweep{true});
  tooltip(tr("Measure every point again."));
  ImGui::EndDisabled();
}

// `low`: there is little height, and what Run would take stands over it only where it cannot run.
void run_now(const Model& model, const BenchCache& cache, bool low, Commands& commands) {
  const float width = ImGui::GetContentRegionAvail().x, height = style().px(30);
  if (model.task.running) {
    progress(model.task);
    if (ImGui::Button(tr("Cancel the run###run"), {width, height})) commands.push_back(CancelTask{});
    return;
  }
  if (!cache.why_not_run.empty())
    dim_text(phrase("Nothing can run here. {}", sentence(cache.why_not_run)));
  else if (!low)
    dim_text(cache.estimate.words);
  run_buttons(cache, width, height, commands);
}

void save_buttons(const State& state, const Model& model, Commands& commands) {
  const Style& s = style();
  const float width = ImGui::GetContentRegionAvail().x;
  const float gap = s.px(6), third = (width - 2 * gap) / 3;
  ImGui::BeginDisabled(shown_runs(state.document.runs, model).empty());
  if (ImGui::Button("CSV", {third, s.px(28)})) commands.push_back(ExportCsv{});
  tooltip(tr("One row per kernel and problem in the ticked runs, with units in the header."));
  ImGui::SameLine(0, gap);
  if (ImGui::Button("JSON", {third, s.px(28)})) commands.push_back(ExportJson{});
  tooltip(tr("The same rows, with every repeat."));
  ImGui::EndDisabled();
  ImGui::SameLine(0, gap);
  if (ImGui::Button("PNG", {third, s.px(28)})) commands.push_back(SavePicture{});
  tooltip(tr("A picture of this view."));
}

}  // namespace

void draw_sweep_panel(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  // Logical: below, what Run would take scrolls, so that the lists have room; and below the second, all but Run does.
  constexpr float kLow = 560, kLowest = 400;
  const float room = ImGui::GetContentRegionAvail().y;
  const bool low = room < s.px(kLow), lowest = room < s.px(kLowest);
  const float bottom = cache.foot_height > 0 ? cache.foot_height : s.px(110);
  const float height = std::max(s.px(80), room - bottom - s.px(8));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("setup", ImVec2(0, height), ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleVar();
  if (open) {
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(8), s.px(3)));
    draw_run_list(state, model, cache, commands);
    ImGui::Separator();
    kernel_list(state, model, cache, commands);
    ImGui::Separator();
    sweep_set_up(state, model, cache, commands);
    if (low) {
      ImGui::Separator();
      if (!model.task.running) dim_text(cache.estimate.words);
      if (lowest) save_buttons(state, model, commands);
    }
    ImGui::PopStyleVar();
    fade_where_more();
  }
  ImGui::EndChild();
  const float top = ImGui::GetCursorPosY();
  run_now(model, cache, low, commands);
  if (!lowest) save_buttons(state, model, commands);
  cache.foot_height = ImGui::GetCursorPosY() - top - ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace attn
