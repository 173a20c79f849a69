// The lab around its editor: options and figures at the left, what became of the edit above, tries and experiments
// beside it.
#include "viz/profile/lab/lab_draw.h"

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "imgui_stdlib.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/lab/lab_editor_draw.h"
#include "viz/profile/strip/page_chips_draw.h"
#include "viz/profile/strip/panel_draw.h"

namespace attn {
namespace {

constexpr float kGutter = 12, kPanelWidth = 280, kSide = 352, kStacked = 1000;  // logical pixels
constexpr float kStackedEditor = 420, kTryRow = 20, kTryGap = 4, kLeastEditor = 240, kAction = 26;

// "Br", "Threads".
std::string label_of(const Option& option) {
  std::string label(tr_of(option.title));
  if (label.front() >= 'a' && label.front() <= 'z') label.front() = static_cast<char>(label.front() - 'a' + 'A');
  return label;
}

// A number that is taken over when the field is left; empty, and 0, is no choice: then `unchosen` stands there, dimmed.
// Whether it was taken over.
bool number_field(const std::string& label, const char* id, const std::string& unchosen, std::int32_t& value,
                  float column) {
  begin_line(label, column);
  ImGui::SetNextItemWidth(-FLT_MIN);
  std::string text = value == 0 ? std::string() : fmt::format("{}", value);
  if (ImGui::InputTextWithHint(id, unchosen.c_str(), &text,
                               ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_AutoSelectAll)) {
    std::int32_t typed = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), typed);
    value = code == std::errc::result_out_of_range ? std::numeric_limits<std::int32_t>::max() : typed;
  }
  return ImGui::IsItemDeactivatedAfterEdit();
}

// Wide enough for each of their labels.
float label_column(const LabView& lab) {
  float widest = std::max(ImGui::CalcTextSize(tr("Registers")).x, ImGui::CalcTextSize(tr("Fast math")).x);
  for (const OptionSpec& spec : lab.options)
    if (!spec.option->is_choice()) widest = std::max(widest, ImGui::CalcTextSize(label_of(*spec.option).c_str()).x);
  return std::max(kLabelColumn, (widest + ImGui::GetCursorPosX()) / style().scale + 10);
}

void draw_options(const LabScene& scene, const LabView& lab, LabUiState& ui, Commands& commands) {
  LabChange change = lab.now;
  bool changed = false;
  const float column = label_column(lab);
  for (const OptionSpec& spec : lab.options) {
    const Option& option = *spec.option;
    if (option.is_choice()) continue;
    const std::string id = fmt::format("##lab_{}", option.name);
    const auto ships = chosen(scene.shipped, option);
    const std::string unchosen = ships ? fmt::format("{}", *ships) : std::string(tr("as shipped"));
    auto value = static_cast<std::int32_t>(chosen(ui.options, option).value_or(0));
    changed |= number_field(label_of(option), id.c_str(), unchosen, value, column);
    choose(ui.options, option, value == 0 ? std::nullopt : std::optional<std::int64_t>(value));
    tooltip(phrase("{}; empty or 0: the default.", range_words(spec)));
  }
  changed |= number_field(tr("Registers"), "##lab_registers", tr("the compiler's"), ui.max_registers, column);
  tooltip(
      tr("-maxrregcount: limit on registers per thread, 16 to 255. Empty or 0: the compiler chooses. __launch_bounds__ "
         "in the source takes precedence. Part of the kernel's hash."));
  change.options = ui.options;
  change.build.max_registers = ui.max_registers;
  begin_line(tr("Fast math"), column);
  if (ImGui::Checkbox("##lab_fast", &change.build.fast_math)) changed = true;
  tooltip(
      tr("-use_fast_math: approximate exponentials and divisions, with subnormal numbers flushed to 0. Part of the "
         "kernel's hash."));
  if (changed) commands.push_back(EditLab{std::move(change), lab.kernel});
}

void draw_panel(const LabScene& scene, const LabView& lab, LabUiState& ui, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("lab_panel", size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(4)));
    heading(lab.kernel.c_str());
    dim_text(scene.problem);
    if (!scene.name.empty() && scene.changed) dim_text(phrase("Built as {}", scene.name));
    ImGui::Dummy({0, s.px(4)});
    if (scene.empty.empty()) draw_options(scene, lab, ui, commands);
    ImGui::Dummy({0, s.px(4)});
    if (scene.groups.empty()) {
      dim_text(tr("Results appear after the first build."));
    } else if (lab.before != nullptr && lab.built() != nullptr) {
      dim_text(
          tr("Compared with the original: a filled triangle means better, a hollow one worse, and a dim one within "
             "the noise."));
    }
    ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
    if (ImGui::BeginChild("lab_figures", {0, 0})) draw_figure_groups(scene.groups);
    ImGui::EndChild();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

// The way to the other pages; to those of rows where there are some.
std::vector<Chip> lab_chips(bool rows) {
  std::vector<Chip> chips = page_chips(ProfilePage::lab);
  if (!rows) chips.erase(chips.begin() + 1, chips.end() - 1);  // figures and the lab stay
  return chips;
}

// The buttons, one behind the other, in as many lines as `room` pixels need. Returns their height; `draw` false
// measures.
float draw_actions(const LabScene& scene, const LabView& lab, ImVec2 at, float room, bool draw, Commands& commands) {
  const Style& s = style();
  struct Action {
    const char *label, *help;
    bool enabled;
    Command command;
  };
  const bool there = scene.empty.empty();
  std::vector<Action> actions{
      {tr("Revert"),
       for_hands(tr("Restores the original source and options. Ctrl+Z in the source undoes one edit at a time."),
                 tr("Restores the original source and options.")),
       scene.changed, RevertLab{}},
      {tr("Keep in Bench"),
       tr("Keeps the edit as your own kernel, with its own name and hash. Sessions contain the source."), scene.changed,
       KeepLab{}},
      {tr("Save as .cu"), tr("Saves a file that opens as exactly this kernel"), there, SaveLab{}}};
  if (lab.draft) {
    actions.push_back({tr("Restore draft"), tr("Restores what you previously typed here"), true, AnswerDraft{true}});
    actions.push_back({tr("Discard"), tr("Deletes the draft and keeps the original"), true, AnswerDraft{false}});
  }
  const float gap = s.px(8), height = s.px(kAction), main = s.px(176);
  if (draw) {
    ImGui::SetCursorPos(at);
    if (main_button(tr("Build, check, measure"), {main, height}, there && !scene.building))
      commands.push_back(BuildLab{});
    tooltip(for_hands(
        tr("Ctrl+Enter builds the kernel in a separate process, checks it against fp64, and times it. Esc cancels."),
        tr("Builds the kernel in a separate process, checks it against fp64, and times it.")));
  }
  float x = main + gap, y = 0;
  for (const Action& action : actions) {
    const float width = text_width(Face::text, 13, action.label) + s.px(20);
    if (x + width > room) {
      x = 0;
      y += height + gap;
    }
    if (draw) {
      ImGui::SetCursorPos({at.x + x, at.y + y});
      ImGui::BeginDisabled(!action.enabled);
      if (ImGui::Button(action.label, {width, height})) commands.push_back(action.command);
      ImGui::EndDisabled();
      tooltip(action.help);
    }
    x += width + gap;
  }
  return y + height;
}

// Returns its height, pixels.
float draw_strip(const LabScene& scene, const LabView& lab, bool rows, float width, Commands& commands) {
  const Style& s = style();
  const std::string& line = scene.empty.empty() ? scene.headline : scene.empty;
  const TextRuns headline{{line, Face::bold, Token::text, 0, false}};
  std::vector<TextRuns> words;
  for (const std::string& each : scene.words)
    if (!each.empty()) words.push_back({{each, Face::text, Token::dim, 0, false}});
  if (!scene.question.empty()) words.push_back({{scene.question, Face::text, Token::text, 0, false}});
  if (!scene.draft.empty()) words.push_back({{scene.draft, Face::text, Token::text, 0, false}});
  constexpr int kLines = 6;
  const float left = s.px(20), pad = s.px(12), gap = s.px(4);
  const std::vector<Chip> chips = lab_chips(rows);
  const float chips_wide = draw_chips(chips, {}, width, false, commands).width, pages = chips_wide + s.px(40);
  const bool over = width - left - pages < s.px(260);
  const float whole = width - left - s.px(16), beside = over ? whole : width - left - pages;
  const float first = pad + (over ? s.px(28) : 0),
              top = draw_paragraph(nullptr, {}, beside, 17, headline, kLines, false);
  const float buttons = draw_actions(scene, lab, {}, whole, false, commands);
  float height = first + top + 2 * gap + buttons + pad;
  for (const TextRuns& w : words) height += gap + draw_paragraph(nullptr, {}, whole, 13, w, kLines, false);
  if (begin_card("lab_strip", {width, height})) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    draw_card_edge(list, {at, {at.x + width, at.y + height}}, kernel_colour(s.theme, lab.kernel));
    draw_paragraph(list, {at.x + left, at.y + first}, beside, 17, headline, kLines);
    float y = at.y + first + top;
    for (const TextRuns& w : words) y += gap + draw_paragraph(list, {at.x + left, y + gap}, whole, 13, w, kLines);
    const ImVec2 from(std::max(left - s.px(6), width - s.px(16) - chips_wide), over ? s.px(8) : pad);
    draw_chips(chips, from, width, true, commands);
    draw_actions(scene, lab, {left, height - pad - buttons}, whole, true, commands);
  }
  ImGui::EndChild();
  return height;
}

void draw_experiments(const LabScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("lab_experiments", size)) {
    heading(tr("Experiments"));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, s.px(kTryGap)));
    ImGui::PushStyleVar(ImGuiStyleVar_SelectableTextAlign, ImVec2(0, 0.5F));
    for (const LabExperimentRow& e : scene.experiments) {
      const std::string id = fmt::format("{}##experiment_{}", e.title, e.id);
      if (ImGui::Selectable(id.c_str(), e.on, 0, {0, s.px(kTryRow)})) commands.push_back(OpenExperiment{e.id});
      tooltip(e.tip);
    }
    ImGui::PopStyleVar(2);
  }
  ImGui::EndChild();
}

void draw_tries(const LabScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("lab_tries", size)) {
    heading(tr("Tries"));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, s.px(kTryGap)));
    if (scene.tries.empty())
      dim_text(for_hands(tr("One line per build. Click a line to load the source into the editor."),
                         tr("One line per build. Tap a line to load the source into the editor.")));
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (const LabTryRow& t : scene.tries) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x, row = s.px(kTryRow);
      if (ImGui::Selectable(fmt::format("##try_{}", t.number).c_str(), t.on, 0, {width, row}))
        commands.push_back(TakeTry{t.number});
      tooltip(t.tip);
      const Box box{at, {at.x + width, at.y + row}};
      const std::string figures =
          t.time.empty() ? t.outcome : fmt::format("{}  {}{}", t.registers, t.time, t.good ? "" : "  " + t.outcome);
      const float room = width - text_width(Face::mono, 12, figures) - s.px(10);
      draw_text_in(list, box, Align::left, Face::text, 13, colour(s.theme, Token::text),
                   elided_text(Face::text, 13, t.what, room));
      draw_text_in(list, box, Align::right, Face::mono, 12,
                   t.good ? colour(s.theme, Token::text) : colour(s.theme, TensorColour::m), figures);
    }
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace

void draw_lab(const LabScene& scene, const LabView& lab, bool rows, LabUiState& ui, ImVec2 size, Commands& commands) {
  const Style& s = style();
  const float gutter = s.px(kGutter);
  const bool stacked = size.x / s.scale < kStacked;
  // Wherever the keyboard is, the field included: Enter alone is a new line.
  if (ImGui::Shortcut(ImGuiMod_Ctrl | ImGuiKey_Enter, ImGuiInputFlags_RouteGlobal | ImGuiInputFlags_RouteOverActive))
    commands.push_back(BuildLab{});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(gutter, gutter));
  draw_panel(scene, lab, ui, {std::min(s.px(kPanelWidth), std::floor(size.x * 0.4F)), size.y}, commands);
  ImGui::SameLine();
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool open = ImGui::BeginChild("lab_bench", ImVec2(0, size.y), ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (open) {
    const float width = ImGui::GetContentRegionAvail().x;
    const float experiments = s.px(60 + (kTryRow + kTryGap) * static_cast<float>(scene.experiments.size()));
    const float strip = draw_strip(scene, lab, rows, width, commands);
    const float room = std::max(size.y - strip - gutter, s.px(kLeastEditor));
    if (stacked) {
      draw_lab_editor(scene, lab, ui, {width, s.px(kStackedEditor)}, commands);
      draw_experiments(scene, {width, experiments}, commands);
      draw_tries(scene, {width, s.px(kLeastEditor)}, commands);
    } else {
      const float side = s.px(kSide), above = std::min(experiments, std::floor(room * 0.55F));
      draw_lab_editor(scene, lab, ui, {width - side - gutter, room}, commands);
      ImGui::SameLine();
      ImGui::BeginGroup();
      draw_experiments(scene, {side, above}, commands);
      draw_tries(scene, {side, room - above - gutter}, commands);
      ImGui::EndGroup();
    }
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace attn
