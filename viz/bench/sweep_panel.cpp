// The left panel of Bench: which kernels, along what, on which problem; run, cancel, save.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "imgui.h"

#include "imgui_stdlib.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "viz/bench/cache.h"
#include "viz/bench/marks.h"
#include "viz/bench/presets.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

void title(const char* words) {
  ImGui::PushFont(style().fonts.bold, style().px(13));
  ImGui::TextUnformatted(words);
  ImGui::PopFont();
}

void dim_text(const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
  ImGui::PushFont(style().fonts.text, style().px(12));
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::PopStyleColor();
}

// Why this sweep's dtype or place keeps the kernel from running; empty = nothing does.
std::string refusal(const KernelRow& row, const SweepSpec& sweep) {
  if (std::find(row.dtypes.begin(), row.dtypes.end(), sweep.base.dtype) != row.dtypes.end()) return {};
  std::string names;
  for (const DType t : row.dtypes) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(t));
  return fmt::format("{} only", names);
}

void kernel_line(const KernelRow& row, const SweepSpec& sweep, Commands& commands) {
  const Style& s = style();
  const auto& chosen = sweep.kernels;
  bool on = std::find(chosen.begin(), chosen.end(), row.id) != chosen.end();
  const std::string why_not = refusal(row, sweep);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(1), s.px(1)));
  const float side = ImGui::GetFrameHeight();
  if (ImGui::Checkbox(fmt::format("##kernel_{}", row.id).c_str(), &on))
    commands.push_back(SetSweep{with_kernel(sweep, row.id, on)});
  ImGui::PopStyleVar();
  // The rest of the line is as good a place to click as the box.
  const float left = at.x + side + s.px(7), name_at = left + s.px(31);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorScreenPos({left, at.y});
  const float width = std::max(s.px(8), ImGui::GetContentRegionAvail().x);
  if (ImGui::InvisibleButton(fmt::format("name_{}", row.id).c_str(), {width, side}))
    commands.push_back(SetSweep{with_kernel(sweep, row.id, !on)});
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) && ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(s.px(320));
    ImGui::TextUnformatted(fmt::format("{}. {}", row.title, row.what).c_str());
    if (!row.teaches.empty()) ImGui::TextUnformatted(std::string(row.teaches).c_str());
    if (!why_not.empty()) ImGui::TextUnformatted(fmt::format("It takes {}.", why_not).c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float middle = at.y + side / 2;
  draw_swatch(list, {left, middle}, s.px(24), row.id, row.processor == Processor::cpu, !on);
  const ImU32 ink = colour(s.theme, on && why_not.empty() ? Token::text : Token::dim);
  const Box name{{name_at, at.y}, {left + width, at.y + side}};
  draw_text_in(&list, name, Align::left, Face::text, 13, ink, row.id);
  if (!why_not.empty()) draw_text_in(&list, name, Align::right, Face::text, 11, colour(s.theme, Token::dim), why_not);
}

void kernel_list(const SweepSpec& sweep, Commands& commands) {
  const auto rows = ladder();
  for (const Processor processor : {Processor::gpu, Processor::cpu}) {
    title(processor == Processor::gpu ? "Kernels on a GPU" : "Kernels on the CPU");
    for (const bool baseline : {true, false}) {
      for (const KernelRow* row : rows) {
        if (row->processor == processor && (row->id == baseline_of(processor)) == baseline)
          kernel_line(*row, sweep, commands);
      }
    }
    ImGui::Spacing();
  }
}

// Label on the left, the widget on the right half.
void begin_line(const std::string& label) {
  const Style& s = style();
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, Token::dim));
  ImGui::TextUnformatted(label.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine(s.px(84));
  ImGui::SetNextItemWidth(-FLT_MIN);
}

void tooltip(const std::string& words) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) || !ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(style().px(320));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void text_field(const SweepFieldText& field, const SweepSpec& sweep, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  FieldDraft& draft = cache.drafts[field.field];
  if (!draft.kept) draft = {field.text, "", false};
  begin_line(field.label);
  const std::string id = fmt::format("##field_{}", static_cast<int>(field.field));
  if (!draft.error.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Border, colour(s.theme, Token::text));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, s.px(1.5F));
  }
  const bool marked = !draft.error.empty();
  ImGui::PushFont(s.fonts.mono, s.px(13));
  ImGui::InputText(id.c_str(), &draft.text, ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopFont();
  if (marked) {
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  if (ImGui::IsItemActivated()) draft.kept = true;
  if (ImGui::IsItemDeactivatedAfterEdit()) {
    auto changed = with_field(sweep, field.field, draft.text);
    draft.error = changed ? "" : changed.error().message;
    draft.kept = !changed;
    if (changed) commands.push_back(SetSweep{std::move(*changed)});
  } else if (ImGui::IsItemDeactivated() && draft.error.empty()) {
    draft.kept = false;
  }
  tooltip(field.help);
  if (!draft.error.empty()) dim_text(draft.error);
}

// A choice whose text never changes the width of the panel.
template <class Draw>
void combo(const char* id, const std::string& label, const std::string& shown, const Draw& draw) {
  begin_line(label);
  if (ImGui::BeginCombo(id, shown.c_str())) {
    draw();
    ImGui::EndCombo();
  }
}

void axis_choice(const SweepSpec& sweep, Commands& commands) {
  combo("##axis", "Vary", std::string(axis_title(sweep.axis)), [&] {
    for (const Axis a : {Axis::L, Axis::B, Axis::H, Axis::D, Axis::br, Axis::bc, Axis::threads}) {
      if (ImGui::Selectable(std::string(axis_title(a)).c_str(), a == sweep.axis))
        commands.push_back(SetSweep{with_axis(sweep, a)});
    }
  });
}

void dtype_choice(const SweepSpec& sweep, Commands& commands) {
  combo("##dtype", "Type", std::string(name_of(sweep.base.dtype)), [&] {
    for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
      if (!ImGui::Selectable(std::string(name_of(t)).c_str(), t == sweep.base.dtype)) continue;
      SweepSpec changed = sweep;
      changed.base.dtype = t;
      commands.push_back(SetSweep{std::move(changed)});
    }
  });
}

void mask_choice(const SweepSpec& sweep, Commands& commands) {
  struct Choice {
    const char* name;
    Mask mask;
  };
  Mask causal, window;
  causal.causal = true;
  window.window_left = 255;
  window.window_right = 0;
  const std::array<Choice, 3> choices{{{"none", {}}, {"causal", causal}, {"window 256", window}}};
  const auto now =
      std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.mask == sweep.base.mask; });
  combo("##mask", "Mask", now == choices.end() ? "your own" : now->name, [&] {
    for (const Choice& c : choices) {
      if (!ImGui::Selectable(c.name, c.mask == sweep.base.mask)) continue;
      SweepSpec changed = sweep;
      changed.base.mask = c.mask;
      commands.push_back(SetSweep{std::move(changed)});
    }
  });
}

void inputs_choice(const SweepSpec& sweep, Commands& commands) {
  combo("##inputs", "Inputs", std::string(name_of(sweep.generator)), [&] {
    for (const Generator g : all_generators()) {
      if (!ImGui::Selectable(std::string(name_of(g)).c_str(), g == sweep.generator)) continue;
      SweepSpec changed = sweep;
      changed.generator = g;
      commands.push_back(SetSweep{std::move(changed)});
    }
  });
  tooltip("Random normal numbers are the fair choice: zeros run faster and would lie.");
}

void check_choice(const SweepSpec& sweep, Commands& commands) {
  struct Choice {
    const char* name;
    bool verify, full;
  };
  constexpr std::array<Choice, 3> kChoices{
      {{"sampled", true, false}, {"every row", true, true}, {"off", false, false}}};
  const char* now = !sweep.verify ? "off" : sweep.verify_full ? "every row" : "sampled";
  combo("##check", "Check", now, [&] {
    for (const Choice& c : kChoices) {
      if (!ImGui::Selectable(c.name, c.name == std::string_view(now))) continue;
      SweepSpec changed = sweep;
      changed.verify = c.verify;
      changed.verify_full = c.full;
      commands.push_back(SetSweep{std::move(changed)});
    }
  });
  tooltip("Which rows of each answer are held against the fp64 reference.");
}

void preset_choice(const SweepSpec& sweep, Commands& commands) {
  const BenchPreset* now = preset_of(sweep);
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::BeginCombo("##preset", now == nullptr ? "a sweep of your own" : std::string(now->title).c_str())) {
    for (const BenchPreset& p : bench_presets()) {
      if (ImGui::Selectable(std::string(p.title).c_str(), &p == now)) {
        commands.push_back(SetSweep{with_preset(p, sweep)});
        commands.push_back(ChooseBenchMetric{std::string(p.metric)});
      }
      tooltip(std::string(p.what));
    }
    ImGui::EndCombo();
  }
  tooltip("Ready-made sweeps");
}

bool on_gpu(const SweepSpec& sweep) {
  return std::any_of(sweep.kernels.begin(), sweep.kernels.end(), [](const std::string& id) {
    const auto row = find_kernel(id);
    return row && (*row)->processor == Processor::gpu;
  });
}

// One choice of a short list; `set` puts it into the sweep.
template <class Value, class Set>
void pick(const SweepSpec& sweep, const char* name, bool chosen, const Value& value, const Set& set,
          Commands& commands) {
  if (!ImGui::Selectable(name, chosen)) return;
  SweepSpec changed = sweep;
  set(changed) = value;
  commands.push_back(SetSweep{std::move(changed)});
}

// Where GPU kernels run: one of the GPUs, or nowhere, and then what they are compiled for.
void device_choice(const SweepSpec& sweep, const GpuView& gpus, Commands& commands) {
  const auto index = [](SweepSpec& s) -> std::int32_t& { return s.gpu; };
  const auto arch = [](SweepSpec& s) -> std::string& { return s.arch; };
  if (!gpus.gpus.empty()) {
    const auto now =
        std::find_if(gpus.gpus.begin(), gpus.gpus.end(), [&](const auto& g) { return g.index == sweep.gpu; });
    const std::string shown = now == gpus.gpus.end() ? fmt::format("GPU {}: not here", sweep.gpu) : now->name;
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::BeginCombo("##gpu", shown.c_str())) {
      for (const GpuChoice& g : gpus.gpus) {
        const std::string name = fmt::format("GPU {}: {}, {}", g.index, g.name, g.arch);
        pick(sweep, name.c_str(), g.index == sweep.gpu, g.index, index, commands);
      }
      ImGui::EndCombo();
    }
    tooltip("Which GPU the kernels run on");
  } else {
    combo("##arch", "Compile for", sweep.arch, [&] {
      for (const std::string_view each : gpu::gpu_kernel_table().front().architectures)
        pick(sweep, std::string(each).c_str(), each == sweep.arch, std::string(each), arch, commands);
    });
    tooltip("Registers, shared memory and occupancy come from the compiler, with no GPU in the machine.");
    if (gpus.looked) dim_text("No GPU: " + gpus.why_none);
  }
}

void gpu_set_up(const SweepSpec& sweep, const GpuView& gpus, Commands& commands) {
  if (!on_gpu(sweep)) return;
  device_choice(sweep, gpus, commands);
  combo("##l2", "L2 cache", std::string(name_of(sweep.l2)), [&] {
    const auto l2 = [](SweepSpec& s) -> L2State& { return s.l2; };
    for (const L2State state : {L2State::cold, L2State::warm})
      pick(sweep, std::string(name_of(state)).c_str(), state == sweep.l2, state, l2, commands);
  });
  tooltip("Cold: other data is read through the GPU's L2 cache before each repeat. Counters see the same.");
  combo("##counters", "Counters", sweep.counters ? "on" : "off", [&] {
    const auto counters = [](SweepSpec& s) -> bool& { return s.counters; };
    pick(sweep, "on", sweep.counters, true, counters, commands);
    pick(sweep, "off", !sweep.counters, false, counters, commands);
  });
  tooltip("DRAM bytes, occupancy and the like through CUPTI; off leaves the GPU to another profiler.");
}

// What speed-ups are over. Each device keeps its usual baseline where another one's kernel is chosen.
void baseline_choice(const State& state, Commands& commands) {
  const std::string& now = state.view.bench.baseline;
  combo("##baseline", "Baseline", now.empty() ? "usual" : now, [&] {
    if (ImGui::Selectable("usual", now.empty())) commands.push_back(ChooseBenchBaseline{""});
    for (const std::string& id : state.document.sweep.kernels)
      if (ImGui::Selectable(id.c_str(), id == now)) commands.push_back(ChooseBenchBaseline{id});
  });
  tooltip(fmt::format("What speed-ups are over; usual: {} on a GPU, {} on the CPU.", baseline_of(Processor::gpu),
                      baseline_of(Processor::cpu)));
}

void sweep_set_up(const State& state, const GpuView& gpus, BenchCache& cache, Commands& commands) {
  const SweepSpec& sweep = state.document.sweep;
  if (const std::string key = sweep_key(sweep); key != cache.drafts_for) {
    cache.drafts_for = key;
    for (auto& [field, draft] : cache.drafts)
      if (!draft.error.empty()) draft = {};
  }
  title("Sweep");
  preset_choice(sweep, commands);
  axis_choice(sweep, commands);
  for (const SweepFieldText& field : sweep_fields(sweep)) {
    if (field.field == SweepField::tile) {
      dtype_choice(sweep, commands);
      mask_choice(sweep, commands);
    }
    text_field(field, sweep, cache, commands);
  }
  gpu_set_up(sweep, gpus, commands);
  inputs_choice(sweep, commands);
  check_choice(sweep, commands);
  baseline_choice(state, commands);
}

std::string left_words(double seconds) {
  if (seconds < 0) return {};
  if (seconds < 90) return fmt::format("about {:.0f} s left", std::max(1.0, std::ceil(seconds)));
  return fmt::format("about {:.0f} min left", std::ceil(seconds / 60));
}

void progress(const TaskView& task) {
  const Style& s = style();
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted((task.now.empty() ? task.title : task.now).c_str());
  ImGui::PopTextWrapPos();
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

// The one thing to press next: filled with the accent.
bool main_button(const char* label, ImVec2 size, bool enabled) {
  const Style& s = style();
  ImGui::PushStyleColor(ImGuiCol_Button, colour(s.theme, Token::text));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, colour(s.theme, Token::dim));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, colour(s.theme, Token::dim));
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, Token::card));
  ImGui::PushFont(s.fonts.bold, s.px(13));
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::Button(label, size);
  ImGui::EndDisabled();
  ImGui::PopFont();
  ImGui::PopStyleColor(4);
  return pressed;
}

// Where some points are finished, going on comes first and all anew second.
void run_buttons(const BenchCache& cache, float width, float height, Commands& commands) {
  const SweepCount& c = cache.count;
  if (c.finished == 0 || c.finished == c.points) {
    if (main_button("Run###run", {width, height}, cache.valid)) commands.push_back(RunSweep{true});
    return;
  }
  const float gap = style().px(6), restart = style().px(58);
  const std::string words = fmt::format("Go on, {} left###run", c.points - c.finished);
  if (main_button(words.c_str(), {width - restart - gap, height}, cache.valid)) commands.push_back(RunSweep{});
  tooltip(fmt::format("{} of {} points are finished and not measured again.", c.finished, c.points));
  ImGui::SameLine(0, gap);
  if (ImGui::Button("Anew", {restart, height})) commands.push_back(RunSweep{true});
  tooltip("Measure every point again.");
}

void run_and_save(const Model& model, const BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const float width = ImGui::GetContentRegionAvail().x, height = s.px(30);
  if (model.task.running) {
    progress(model.task);
    if (ImGui::Button("Cancel the run###run", {width, height})) commands.push_back(CancelTask{});
  } else {
    dim_text(cache.estimate.words);
    run_buttons(cache, width, height, commands);
  }
  const float gap = s.px(6), third = (width - 2 * gap) / 3;
  ImGui::BeginDisabled(model.measurements.empty());
  if (ImGui::Button("CSV", {third, s.px(28)})) commands.push_back(ExportCsv{});
  tooltip("One row a kernel and problem, units in the header.");
  ImGui::SameLine(0, gap);
  if (ImGui::Button("JSON", {third, s.px(28)})) commands.push_back(ExportJson{});
  tooltip("The same with every repeat.");
  ImGui::EndDisabled();
  ImGui::SameLine(0, gap);
  if (ImGui::Button("PNG", {third, s.px(28)})) commands.push_back(SavePicture{});
  tooltip("This view as a picture.");
}

}  // namespace

void draw_sweep_panel(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const float bottom = cache.foot_height > 0 ? cache.foot_height : s.px(110);
  const float height = std::max(s.px(80), ImGui::GetContentRegionAvail().y - bottom - s.px(8));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("setup", ImVec2(0, height));
  ImGui::PopStyleVar();
  if (open) {
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(8), s.px(3)));
    kernel_list(state.document.sweep, commands);
    ImGui::Separator();
    sweep_set_up(state, model.gpu, cache, commands);
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
  const float top = ImGui::GetCursorPosY();
  run_and_save(model, cache, commands);
  cache.foot_height = ImGui::GetCursorPosY() - top - ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace attn
