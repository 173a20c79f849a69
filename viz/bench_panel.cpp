// The left panel of Bench: which kernels, along what, on which problem; run, cancel, save.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "imgui.h"

#include "imgui_stdlib.h"
#include "kernels/kernel.h"
#include "viz/bench_cache.h"
#include "viz/bench_marks.h"
#include "viz/canvas.h"
#include "viz/theme.h"

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
  draw_swatch(list, {left, middle}, s.px(24), row.id, row.place == Place::cpu, !on);
  const ImU32 ink = colour(s.theme, on && why_not.empty() ? Token::text : Token::dim);
  const Box name{{name_at, at.y}, {left + width, at.y + side}};
  draw_text_in(&list, name, Align::left, Face::text, 13, ink, row.id);
  if (!why_not.empty()) draw_text_in(&list, name, Align::right, Face::text, 11, colour(s.theme, Token::dim), why_not);
}

void kernel_list(const SweepSpec& sweep, Commands& commands) {
  for (const Place place : {Place::gpu, Place::cpu}) {
    const auto table = kernel_table();
    if (std::none_of(table.begin(), table.end(), [&](const auto& row) { return row.place == place; })) continue;
    const char* where = place == Place::gpu ? "GPU" : "CPU";
    for (const bool baseline : {true, false}) {
      title(fmt::format("{}, {}", baseline ? "Baseline" : "Ladder", where).c_str());
      for (const KernelRow& row : table) {
        if (row.place == place && (row.id == baseline_of(place)) == baseline) kernel_line(row, sweep, commands);
      }
      ImGui::Spacing();
    }
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

void sweep_set_up(const SweepSpec& sweep, BenchCache& cache, Commands& commands) {
  if (const std::string key = sweep_key(sweep); key != cache.drafts_for) {
    cache.drafts_for = key;
    for (auto& [field, draft] : cache.drafts)
      if (!draft.error.empty()) draft = {};
  }
  title("Sweep");
  axis_choice(sweep, commands);
  for (const SweepFieldText& field : sweep_fields(sweep)) {
    if (field.field == SweepField::tile) {
      dtype_choice(sweep, commands);
      mask_choice(sweep, commands);
    }
    text_field(field, sweep, cache, commands);
  }
  inputs_choice(sweep, commands);
  check_choice(sweep, commands);
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

void run_and_save(const Model& model, const BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const float width = ImGui::GetContentRegionAvail().x, height = s.px(30);
  if (model.task.running) {
    progress(model.task);
    if (ImGui::Button("Cancel the run###run", {width, height})) commands.push_back(CancelTask{});
  } else {
    dim_text(cache.estimate.words);
    if (main_button("Run###run", {width, height}, cache.valid)) commands.push_back(RunSweep{});
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
    sweep_set_up(state.document.sweep, cache, commands);
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
  const float top = ImGui::GetCursorPosY();
  run_and_save(model, cache, commands);
  cache.foot_height = ImGui::GetCursorPosY() - top - ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace attn
