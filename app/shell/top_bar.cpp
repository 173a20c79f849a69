// The bar on top: name, workspaces, kernel, what runs, where the numbers come from, log and `?`.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/shell/bar_menu.h"
#include "app/shell/doors.h"
#include "app/shell/shell.h"
#include "app/shell/widgets/kernel_menus.h"
#include "app/shell/widgets/origin.h"
#include "app/shell/widgets/submenu.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/options.h"
#include "kernels/museum/museum.h"
#include "kernels/orders/hopper/derived.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/widgets.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/run_words.h"
#include "viz/step/bars/wrong_run.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

constexpr float kTextSize = 15.5F;
constexpr float kNameSize = 19, kSmallSize = 14;
constexpr float kWideEnough = 1120;  // logical pixels: below, the origin chip keeps its mark alone
constexpr float kNarrow = 760;       // below, the name goes
constexpr float kTabs = 560;         // below, the tabs are a menu
constexpr float kKernelLeast = 72;   // with less than this for it the kernel goes: the palette has it

// A piece of the bar as wide as `width` pixels and as high as the bar; whether it was pressed.
bool bar_button(const char* id, float x, float width) {
  ImGui::SetCursorScreenPos(ImVec2(x, ImGui::GetWindowPos().y));
  const bool pressed = ImGui::InvisibleButton(id, ImVec2(width, ImGui::GetWindowHeight()), ImGuiButtonFlags_EnableNav);
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  return pressed;
}

Box last_item() {
  return {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
}

constexpr Workspace kWorkspaces[] = {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn};

float draw_tabs(const State& state, float x, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const Workspace workspace : kWorkspaces) {
    const std::string title(title_of(workspace));
    const bool active = state.view.workspace == workspace;
    const Face face = active ? Face::bold : Face::text;
    // As wide as its bold text: a tab does not move its neighbours when it is chosen.
    const float text = text_width(Face::bold, kTextSize, title), width = text + s.px(34);
    if (bar_button(title.c_str(), x, width)) commands.emplace_back(ChooseWorkspace{workspace});
    const Box box = last_item();
    const Token ink = active || ImGui::IsItemHovered() ? Token::text : Token::dim;
    draw_text_in(list, box, Align::centre, face, kTextSize, colour(s.theme, ink), title);
    if (active) {
      const float left = box.centre().x - text / 2 - s.px(4);
      list->AddRectFilled({left, box.max.y - s.px(3)}, {left + text + s.px(8), box.max.y}, colour(s.theme, Token::text),
                          s.px(1.5F));
    }
    x += width;
  }
  return x;
}

// A chip that opens a menu below it; whether the menu is open, to be ended with EndPopup().
bool begin_chip(const char* id, const std::string& title, Face face, float x, float width) {
  const Style& s = style();
  const float drawn = by_touch() ? 34 : 28, height = s.px(for_finger(drawn));
  ImGui::SetCursorScreenPos({x, ImGui::GetWindowPos().y + (ImGui::GetWindowHeight() - height) / 2});
  const bool pressed = ImGui::InvisibleButton(id, ImVec2(width, height), ImGuiButtonFlags_EnableNav);
  Box frame = last_item();
  frame.min.y += s.px(beyond_edge(drawn)), frame.max.y -= s.px(beyond_edge(drawn));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Token fill = ImGui::IsItemHovered() ? Token::line : Token::field;
  list->AddRectFilled(frame.min, frame.max, colour(s.theme, fill), s.px(6));
  draw_text_in(list, frame, Align::left, face, kSmallSize, colour(s.theme, Token::text),
               fitted_text(face, kSmallSize, title, width - s.px(40)), 12);
  draw_arrow(list, {frame.max.x - s.px(16), frame.centre().y}, 8, Arrow::down, colour(s.theme, Token::dim));
  const std::string menu = std::string(id) + " menu";
  if (pressed) ImGui::OpenPopup(menu.c_str());
  ImGui::SetNextWindowPos({frame.min.x, frame.max.y + s.px(4)});
  keep_menu_within(frame.max.y + s.px(4), width);
  return ImGui::BeginPopup(menu.c_str());
}

float draw_workspace_menu(const State& state, float x, Commands& commands) {
  const std::string now(title_of(state.view.workspace));
  const float width = text_width(Face::bold, kSmallSize, tr("Profile")) + style().px(44);
  const FingerSized fingers;
  if (begin_chip("Workspace", now, Face::bold, x, width)) {
    for (const Workspace workspace : kWorkspaces) {
      const bool chosen = workspace == state.view.workspace;
      if (ImGui::Selectable(std::string(title_of(workspace)).c_str(), chosen))
        commands.emplace_back(ChooseWorkspace{workspace});
      if (chosen) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndPopup();
  }
  return x + width;
}

// Whether the runs that Bench and Profile show have this kernel: else they speak of the fastest that is there.
bool is_shown_kernel(const State& state, const Model& model, const std::string& kernel) {
  const std::vector<const ListedRun*> runs = shown_runs(state.document.runs, model);
  return runs.empty() || std::any_of(runs.begin(), runs.end(), [&](const ListedRun* r) {
           return std::any_of(r->run.rows.begin(), r->run.rows.end(),
                              [&](const Measurement& m) { return m.key.kernel == kernel; });
         });
}

// Whose run is on screen, where that is another kernel's than the chosen one's: its pipeline in Step, its timeline in
// Profile. Empty: it is the chosen one's.
std::string kernel_on_screen(const State& state, const Model& model) {
  const ProfileView& profile = state.view.profile;
  if (const Options& o = state.document.options; shows_step(state.view))
    return follows_pipeline(o) ? phrase("{}, its pipeline", orders::hopper::followed_block(o).kernel) : std::string();
  if (state.view.workspace != Workspace::profile || profile.page != ProfilePage::timeline || profile.timeline.empty())
    return {};
  const auto& all = model.timelines.all;
  const auto at = std::ranges::find_if(all, [&](const auto& t) { return is_named(id_of(*t), profile.timeline); });
  return at == all.end() ? std::string() : phrase("{}, its timeline", (*at)->kernel);
}

// As wide as its words, or as what is left up to `right`.
float draw_kernel_combo(const State& state, const Model& model, float x, float right, Commands& commands) {
  const Style& s = style();
  const bool step = shows_step(state.view);
  const KernelRow* own = step ? gpu_run_of(state, model) : nullptr;  // a GPU kernel's own run
  std::string now = own != nullptr ? std::string(own->id) : step ? state.document.kernel : bench_kernel(state);
  const auto row = find_kernel_or_piece(now);
  std::string title = row ? std::string(tr_of((*row)->title)) : now;
  if (!step && (now.empty() || !is_shown_kernel(state, model, now))) title = tr("the fastest shown");
  if (std::string shown = kernel_on_screen(state, model); !shown.empty()) title = std::move(shown);
  // Nor is it marked in the list.
  if (step && keeps_name_back(state, lesson_asks(state, model))) {
    title = tr_of(kUnnamedExhibit);
    now.clear();
  }
  const auto choose = [step](std::string_view id) {
    return step ? Command(ChooseKernel{std::string(id)}) : Command(ChooseBenchKernel{std::string(id)});
  };
  const auto wide = [&] { return text_width(Face::text, kSmallSize, title) + s.px(44); };
  if (wide() > right - x) title.resize(std::min(title.find(','), title.size()));  // its name alone
  const float width = std::min(wide(), right - x);
  if (right - x < s.px(kKernelLeast)) return x;
  const FingerSized fingers;
  if (begin_chip("Kernel", title, Face::text, x, width)) {
    for (const KernelRow* each : ladder_of(step ? state.document.problem.pass : state.document.sweep.base.pass)) {
      const KernelRow& kernel = *each;
      const bool by_gpu = has_gpu_run(kernel, state.document, model);
      if (step && kernel.record == nullptr && !by_gpu) continue;  // Step shows recordings
      const bool chosen = kernel.id == now;
      Document changed = state.document;
      changed.kernel = std::string(kernel.id);
      // Step could not show it: said here, and nothing that is open is lost.
      const auto why = !step || chosen || by_gpu ? std::nullopt : why_not_recordable(changed);
      ImGui::BeginDisabled(why.has_value());
      if (ImGui::Selectable(std::string(tr_of(kernel.title)).c_str(), chosen)) {
        commands.push_back(choose(kernel.id));
      }
      if (chosen) ImGui::SetItemDefaultFocus();
      ImGui::EndDisabled();
      if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        show_tooltip(why ? *why : fmt::format("{}: {}", kernel.id, tr_of(kernel.what)));
    }
    if (step && state.document.problem.pass == Pass::forward) draw_recorded_menu(now, commands);
    if (step) draw_museum_menu(now, commands);
    if (!step && !state.document.sweep.own.empty()) ImGui::Separator();
    for (const auto& kernel : state.document.sweep.own) {
      if (step) break;
      const std::string id(kernel->id);
      if (ImGui::Selectable(id.c_str(), id == now)) commands.push_back(choose(id));
      tooltip(tr("Your own kernel"));
    }
    ImGui::EndPopup();
  }
  return x + width;
}

// From Step to Bench with this problem, and from Bench to Step with the chosen kernel at a size that Step can show.
// For who is new here: one quiet line that begins the first chapter, until it is closed.
float draw_greeting(const State& state, float x, float right, Commands& commands) {
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  if (!state.preferences.greet || state.view.workspace != Workspace::step) return x;
  if (doors_have_room(state, window.x, window.y)) return x;
  const Style& s = style();
  constexpr std::string_view kWords = marked("New here? Start with a 2-minute chapter");
  const float width = text_width(Face::text, kSmallSize, kWords) + s.px(20), cross = s.px(22);
  if (x + width + cross > right) return x;
  if (bar_button(tr("New here"), x, width)) {
    commands.emplace_back(CloseGreeting{});
    commands.emplace_back(StartLesson{"wall", ""});
  }
  const Token ink = ImGui::IsItemHovered() ? Token::text : Token::dim;
  draw_text_in(ImGui::GetWindowDrawList(), last_item(), Align::centre, Face::text, kSmallSize, colour(s.theme, ink),
               kWords);
  tooltip(tr("Starts chapter 0, \"The wall\": what does not fit on the chip, and how far away memory is"));
  if (bar_button(tr("Close this line"), x + width, cross)) commands.emplace_back(CloseGreeting{});
  const ImVec2 c = last_item().centre();
  const ImU32 line = colour(s.theme, ImGui::IsItemHovered() ? Token::text : Token::dim);
  const float arm = s.px(3.5F);
  ImGui::GetWindowDrawList()->AddLine({c.x - arm, c.y - arm}, {c.x + arm, c.y + arm}, line, s.px(1.5F));
  ImGui::GetWindowDrawList()->AddLine({c.x - arm, c.y + arm}, {c.x + arm, c.y - arm}, line, s.px(1.5F));
  tooltip(tr("Hides this line permanently; Learn stays available"));
  return x + width + cross;
}

float draw_crossing(const State& state, float x, Commands& commands) {
  const bool bench = state.view.workspace == Workspace::bench;
  if (!bench && state.view.workspace != Workspace::step) return x;
  const Style& s = style();
  const char* words = bench ? tr("Step through it") : tr("Measure it");
  const float width = text_width(Face::text, kSmallSize, words) + s.px(20);
  if (bar_button("Crossing", x, width)) {
    if (bench)
      commands.emplace_back(step_through_of(state));
    else
      commands.emplace_back(MeasureInBench{});
  }
  const Token ink = ImGui::IsItemHovered() ? Token::text : Token::dim;
  draw_text_in(ImGui::GetWindowDrawList(), last_item(), Align::centre, Face::text, kSmallSize, colour(s.theme, ink),
               words);
  tooltip(bench ? tr("Opens the chosen kernel and problem in Step, at a size that Step can show")
                : tr("Opens this problem, tile and kernel in Bench"));
  return x + width;
}

// Right to left; returns the left edge of what it drew.
float draw_origin(const State& state, const Model& model, float right, bool wide) {
  const Style& s = style();
  const OriginWords origin = origin_of(state, model);
  const float text = wide ? text_width(Face::text, kSmallSize, origin.words) + s.px(10) : 0;
  const float width = text + s.px(24), x = right - width;
  ImGui::SetCursorScreenPos({x, ImGui::GetWindowPos().y});
  ImGui::InvisibleButton("Origin", ImVec2(width, ImGui::GetWindowHeight()));
  const Box box = last_item();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 dot(box.min.x + s.px(12), box.centre().y);
  const ImU32 ink = origin.doubt ? colour(s.theme, TensorColour::m) : colour(s.theme, Token::dim);
  origin.here ? list->AddCircleFilled(dot, s.px(4), ink)
              : list->AddCircle(dot, s.px(4), ink, 0, std::max(1.0F, s.px(1.5F)));
  if (wide)
    draw_text_in(list, {{dot.x + s.px(10), box.min.y}, box.max}, Align::left, Face::text, kSmallSize, ink,
                 origin.words);
  tooltip(wide ? origin.more : origin.words + "\n" + origin.more);
  return x;
}

float draw_sheet_button(const State& state, float right, Commands& commands) {
  const Style& s = style();
  const float width = s.px(for_finger(36));
  if (bar_button("Keys", right - width, width)) commands.emplace_back(ShowKeys{!state.view.keys_sheet});
  const Token ink = ImGui::IsItemHovered() || state.view.keys_sheet ? Token::text : Token::dim;
  draw_text_in(ImGui::GetWindowDrawList(), last_item(), Align::centre, Face::bold, kTextSize, colour(s.theme, ink),
               "?");
  tooltip(tr("All shortcuts, the theme and the scale"));
  return right - width;
}

float draw_menu_button(const State& state, float right, Commands& commands) {
  const Style& s = style();
  const float width = s.px(for_finger(36));
  if (bar_button("Menu", right - width, width)) ImGui::OpenPopup("bar menu");
  const Box box = last_item();
  const bool lit = ImGui::IsItemHovered() || ImGui::IsPopupOpen("bar menu");
  const ImU32 ink = colour(s.theme, lit ? Token::text : Token::dim);
  const float lengths[] = {14, 10, 12};
  for (int line = 0; line < 3; ++line) {
    const float y = std::round(box.centre().y + s.px(static_cast<float>(line - 1) * 5));
    const float x = box.centre().x - s.px(7);
    ImGui::GetWindowDrawList()->AddRectFilled({x, y - s.px(0.75F)}, {x + s.px(lengths[line]), y + s.px(0.75F)}, ink,
                                              s.px(0.75F));
  }
  if (!ImGui::IsPopupOpen("bar menu")) tooltip(tr("Open, save and export, plus settings and the log"));
  ImGui::SetNextWindowPos({box.max.x, box.max.y}, ImGuiCond_Always, {1, 0});
  keep_menu_within(box.max.y, 0);
  const FingerSized fingers;
  if (ImGui::BeginPopup("bar menu")) {
    draw_bar_menu(state, commands);
    ImGui::EndPopup();
  }
  return right - width;
}

std::string time_words(double seconds) {
  if (seconds < 0) return "";
  if (seconds < 90) return phrase(", {:.0f} s left", seconds);
  return phrase(", {:.0f} min left", seconds / 60);
}

// Of a task that runs: what and how far, or how far alone.
std::string task_words(const TaskView& task, bool short_words) {
  if (short_words) return fmt::format("{:.0f} %", task.fraction * 100);
  return fmt::format("{}: {:.0f} %{}", task.title, task.fraction * 100, time_words(task.seconds_left));
}

float task_width(const TaskView& task, bool short_words) {
  if (!task.running) return 0;
  // As wide for every number: the bar stands still.
  const std::string words = short_words ? "100 %" : task_words(task, false);
  return text_width(Face::text, kSmallSize, words) + style().px(52);
}

// What runs, and the way to end it; returns where that ends.
float draw_task(const TaskView& task, float x, float right, Commands& commands) {
  if (!task.running) return x;
  const Style& s = style();
  const bool short_words = x + task_width(task, false) > right;
  const std::string words = task_words(task, short_words);
  const float width = task_width(task, short_words), height = s.px(28);
  if (x + width > right) return x;
  ImGui::SetCursorScreenPos({x, ImGui::GetWindowPos().y + (ImGui::GetWindowHeight() - height) / 2});
  if (ImGui::InvisibleButton(tr("Cancel the task"), ImVec2(width, height), ImGuiButtonFlags_EnableNav))
    commands.emplace_back(CancelTask{});
  const Box box = last_item();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered();
  list->AddRect(box.min, box.max, colour(s.theme, hovered ? Token::faint : Token::line), s.px(6), 0,
                std::max(1.0F, s.px(1)));
  draw_text_in(list, box, Align::left, Face::text, kSmallSize, colour(s.theme, Token::dim), words, 12);
  const float y = box.max.y - s.px(3), left = box.min.x + s.px(12), full = box.width() - s.px(24);
  list->AddRectFilled({left, y}, {left + full * static_cast<float>(task.fraction), y + s.px(2)},
                      colour(s.theme, Token::text));
  const ImVec2 cross(box.max.x - s.px(16), box.centre().y);
  const float arm = s.px(4);
  const ImU32 ink = colour(s.theme, hovered ? Token::text : Token::dim);
  list->AddLine({cross.x - arm, cross.y - arm}, {cross.x + arm, cross.y + arm}, ink, s.px(1.5F));
  list->AddLine({cross.x - arm, cross.y + arm}, {cross.x + arm, cross.y - arm}, ink, s.px(1.5F));
  tooltip(by_touch() ? phrase("{}\n"
                              "{}\n"
                              "Tap to cancel",
                              task.title, task.now)
                     : phrase("{}\n"
                              "{}\n"
                              "Click to cancel",
                              task.title, task.now));
  return x + width;
}

}  // namespace

Box draw_top_bar(Controller& controller, Commands& commands) {
  const Style& s = style();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize({viewport->Size.x, s.px(kTopBarHeight)});
  ImGui::SetNextWindowViewport(viewport->ID);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0F);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, colour(s.theme, Token::card));
  ImGui::Begin("Bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  list->AddRectFilled({at.x, at.y + size.y - std::max(1.0F, s.px(1))}, {at.x + size.x, at.y + size.y},
                      colour(s.theme, Token::line));
  const State& state = controller.state();
  const TaskView& task = controller.model().task;
  const float logical = size.x / s.scale;
  // From the right what is always there, from the left what shrinks.
  float right = draw_sheet_button(state, at.x + size.x - s.px(8), commands);
  right = draw_menu_button(state, right, commands);
  right -= s.px(4);
  // Under what a lesson says of its figure stands whose it is.
  const bool figure = state.view.workspace == Workspace::learn && state.view.learn.figure;
  if (!figure) right = draw_origin(state, controller.model(), right, logical >= kWideEnough);
  float x = at.x + s.px(20);
  if (logical >= kNarrow) {
    draw_text_in(list, {{x, at.y}, {x + s.px(200), at.y + size.y}}, Align::left, Face::bold, kNameSize,
                 colour(s.theme, Token::text), "AttnScope");
    x += text_width(Face::bold, kNameSize, "AttnScope") + s.px(14);
  }
  x = logical >= kTabs ? draw_tabs(state, x, commands) : draw_workspace_menu(state, x - s.px(8), commands);
  const float for_task = task.running ? task_width(task, true) + s.px(12) : 0;
  const bool chapters = state.view.workspace == Workspace::learn && !shows_step(state.view);
  if (!chapters) {  // they are of no kernel
    x = draw_kernel_combo(state, controller.model(), x + s.px(logical >= kNarrow ? 36 : 8), right - s.px(8) - for_task,
                          commands);
  }
  if (logical >= kWideEnough) x = draw_crossing(state, x + s.px(8), commands);
  x = draw_greeting(state, x + s.px(8), right - s.px(8), commands);
  x = draw_task(task, x + s.px(12), right, commands);
  ImGui::End();
  return {{x, at.y}, {right, at.y + size.y}};
}

}  // namespace attn
