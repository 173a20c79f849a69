#include "app/shell/keys/shortcuts.h"

#include <array>
#include <cstddef>

#include "kernels/base/text.h"
#include "viz/state/view_step.h"

namespace attn {
namespace {

void step(Commands& e, StepUnit unit, int direction) {
  e.emplace_back(StepBy{unit, direction});
}

template <Workspace w>
void choose(const State&, Commands& e) {
  e.emplace_back(ChooseWorkspace{w});
}

template <class Effect>
void send(const State&, Commands& e) {
  e.emplace_back(Effect{});
}

template <Popup popup>
void ask(const State&, Commands& e) {
  e.emplace_back(Ask{popup});
}

constexpr float kScaleStep = 0.1F;

void scale_by(const State& s, Commands& e, float change) {
  e.emplace_back(SetScale{s.preferences.scale + change});
}

using S = const State&;
using E = Commands&;

constexpr ImGuiKeyChord kShift = ImGuiMod_Shift, kCtrl = ImGuiMod_Ctrl;

constexpr std::array kKeys{
    KeyRow{"Step", marked("next phase"), ImGuiKey_RightArrow, ImGuiKey_Space, true, true, true,
           [](S, E e) { step(e, StepUnit::phase, 1); }},
    KeyRow{"Step", marked("previous phase"), ImGuiKey_LeftArrow, 0, true, true, true,
           [](S, E e) { step(e, StepUnit::phase, -1); }},
    KeyRow{"Step", marked("next key tile"), kShift | ImGuiKey_RightArrow, 0, true, true, false,
           [](S, E e) { step(e, StepUnit::key_tile, 1); }},
    KeyRow{"Step", marked("previous key tile"), kShift | ImGuiKey_LeftArrow, 0, true, true, false,
           [](S, E e) { step(e, StepUnit::key_tile, -1); }},
    KeyRow{"Step", marked("next query tile"), kCtrl | ImGuiKey_RightArrow, 0, true, true, false,
           [](S, E e) { step(e, StepUnit::query_tile, 1); }},
    KeyRow{"Step", marked("previous query tile"), kCtrl | ImGuiKey_LeftArrow, 0, true, true, false,
           [](S, E e) { step(e, StepUnit::query_tile, -1); }},
    KeyRow{"Step", marked("first step"), ImGuiKey_Home, 0, true, false, false,
           [](S, E e) { e.emplace_back(GoToEnd{false}); }},
    KeyRow{"Step", marked("last step"), ImGuiKey_End, 0, true, false, false,
           [](S, E e) { e.emplace_back(GoToEnd{true}); }},
    KeyRow{"Step", marked("play, pause"), ImGuiKey_P, 0, true, false, false,
           [](S s, E e) { e.emplace_back(Play{!s.view.step.playing}); }},
    KeyRow{"Step", marked("play faster"), ImGuiKey_RightBracket, 0, true, true, false,
           [](S s, E e) { e.emplace_back(SetPlaySpeed{next_speed(s.view.step.play_steps_per_second, 1)}); }},
    KeyRow{"Step", marked("play slower"), ImGuiKey_LeftBracket, 0, true, true, false,
           [](S s, E e) { e.emplace_back(SetPlaySpeed{next_speed(s.view.step.play_steps_per_second, -1)}); }},
    KeyRow{"Step", marked("next step in which the row's m changes"), ImGuiKey_M, 0, true, false, false,
           [](S, E e) { e.emplace_back(GoToLandmark{Landmark::m_change, 1}); }},
    KeyRow{"Step", marked("previous step in which the row's m changes"), kShift | ImGuiKey_M, 0, true, false, false,
           [](S, E e) { e.emplace_back(GoToLandmark{Landmark::m_change, -1}); }},
    KeyRow{"Step", marked("set or remove a bookmark at this step"), ImGuiKey_B, 0, true, false, false,
           send<ToggleBookmark>},
    KeyRow{"Step", marked("next bookmark"), ImGuiKey_N, 0, true, false, false,
           [](S, E e) { e.emplace_back(GoToLandmark{Landmark::bookmark, 1}); }},
    KeyRow{"Step", marked("previous bookmark"), kShift | ImGuiKey_N, 0, true, false, false,
           [](S, E e) { e.emplace_back(GoToLandmark{Landmark::bookmark, -1}); }},
    KeyRow{"Step", marked("all bookmarks"), kCtrl | ImGuiKey_B, 0, true, false, false, ask<Popup::bookmarks>},
    KeyRow{"Step", marked("go to a step by its number"), ImGuiKey_G, 0, true, false, false,
           ask<Popup::go_to>},
    KeyRow{"Step", marked("show O as a running sum, or divided by ℓ"), ImGuiKey_O, 0, true, false, false,
           [](S s, E e) {
             const bool summed = s.view.step.reading == OutputReading::as_summed;
             e.emplace_back(SetReading{summed ? OutputReading::divided : OutputReading::as_summed});
           }},
    KeyRow{"Step", marked("next chart"), ImGuiKey_C, 0, true, false, false,
           [](S s, E e) {
             const InputSpec& in = s.document.inputs;
             const bool words = in.generator == Generator::words || !in.q_file.empty();
             const bool paged = s.document.problem.storage.kind() == Storage::paged;
             const auto absent = [&](StepChart c) {
               return (c == StepChart::sentence && !words) || (c == StepChart::pages && !paged);
             };
             std::size_t next = static_cast<std::size_t>(s.view.step.chart);
             do {
               next = (next + 1) % kStepCharts.size();
             } while (absent(kStepCharts[next]));
             e.emplace_back(ChooseStepChart{kStepCharts[next]});
           }},
    KeyRow{"Step", marked("focus the tiles or a map, then the controls"), ImGuiKey_Tab, 0, true},
    KeyRow{"Step", marked("leave the tiles, or unpin the cell"), ImGuiKey_Escape, 0, true},
    KeyRow{"Learn", marked("check the answer, or continue"), ImGuiKey_Enter},
    KeyRow{"Learn", marked("choose this option"), ImGuiKey_1},
    KeyRow{"Learn", marked("show a hint (Alt+H while typing a number)"), ImGuiKey_H},
    KeyRow{"Learn", marked("show the answer (Alt+W while typing)"), ImGuiKey_W},
    KeyRow{"Learn", marked("repeat with other numbers"), ImGuiKey_R},
    KeyRow{"Learn", marked("previous or next beat (in a class: reveal)"), ImGuiKey_PageUp, ImGuiKey_PageDown},
    KeyRow{"Learn", marked("back to the lesson"), ImGuiKey_Backspace},
    KeyRow{"Learn", marked("switch between card and run (small window)"), ImGuiKey_V},
    KeyRow{"Learn", marked("turn projector mode on or off (for a class)"), ImGuiKey_F11, 0, false, false, false,
           [](S s, E e) { e.emplace_back(Teach{!teaches(s.view)}); }},
    KeyRow{"Learn", marked("undo the last vote of a class"), ImGuiKey_Minus},
    KeyRow{"Window", marked("Step, Bench, Profile, Learn"), kCtrl | ImGuiKey_1, 0, false, false, false,
           choose<Workspace::step>},
    KeyRow{"", "", kCtrl | ImGuiKey_2, 0, false, false, false, choose<Workspace::bench>},
    KeyRow{"", "", kCtrl | ImGuiKey_3, 0, false, false, false, choose<Workspace::profile>},
    KeyRow{"", "", kCtrl | ImGuiKey_4, 0, false, false, false, choose<Workspace::learn>},
    KeyRow{"Window", marked("find a command, preset, metric or setting"), kCtrl | ImGuiKey_P, 0, false, false, false,
           ask<Popup::palette>},
    KeyRow{"Window", marked("larger text and tiles"),
           kCtrl | ImGuiKey_Equal, kCtrl | ImGuiKey_KeypadAdd, false, true, false,
           [](S s, E e) { scale_by(s, e, kScaleStep); }},
    KeyRow{"", "", kCtrl | kShift | ImGuiKey_Equal, 0, false, true, false,
           [](S s, E e) { scale_by(s, e, kScaleStep); }},
    KeyRow{"Window", marked("smaller text and tiles"),
           kCtrl | ImGuiKey_Minus, kCtrl | ImGuiKey_KeypadSubtract, false, true,
           false,
           [](S s, E e) { scale_by(s, e, -kScaleStep); }},
    KeyRow{"Window", marked("text and tiles at 100 %"),
           kCtrl | ImGuiKey_0, kCtrl | ImGuiKey_Keypad0, false, false, false,
           [](S, E e) { e.emplace_back(SetScale{1}); }},
    KeyRow{"Window", marked("light or dark"), kCtrl | ImGuiKey_T, 0, false, false, false,
           [](S s, E e) {
             const bool dark = s.preferences.theme == Theme::dark;
             e.emplace_back(SetTheme{dark ? Theme::light : Theme::dark});
           }},
    KeyRow{"Window", marked("the log"), kCtrl | ImGuiKey_L, 0, false, false, false,
           [](S s, E e) { e.emplace_back(ShowLog{!s.view.log_panel}); }},
    KeyRow{"Window", marked("all keys"), ImGuiKey_F1, 0, false, false, false,
           [](S s, E e) { e.emplace_back(ShowKeys{!s.view.keys_sheet}); }},
    KeyRow{"Window", marked("quit"), kCtrl | ImGuiKey_Q, 0, false, false, false, send<Quit>},
    KeyRow{"Edit and files", marked("undo"), kCtrl | ImGuiKey_Z, 0, false, true, false, send<Undo>},
    KeyRow{"Edit and files", marked("redo"),
           kCtrl | ImGuiKey_Y, kCtrl | kShift | ImGuiKey_Z, false, true, false, send<Redo>},
    KeyRow{"Edit and files", marked("copy the hovered or pinned number"), kCtrl | ImGuiKey_C},
    KeyRow{"Edit and files", marked("copy this view as a state string"), kCtrl | ImGuiKey_K, 0, false, false, false,
           send<CopyState>},
    KeyRow{"Edit and files", marked("open a file"), kCtrl | ImGuiKey_O, 0, false, false, false,
           ask<Popup::open_file>},
    KeyRow{"Edit and files", marked("open your own Q, K, V and bias (.npy)"),
           kCtrl | ImGuiKey_I, 0, false, false, false,
           ask<Popup::input_files>},
    KeyRow{"Edit and files", marked("save the session"), kCtrl | ImGuiKey_S, 0, false, false, false, send<SaveSession>},
    KeyRow{"Edit and files", marked("save the session under another name"),
           kCtrl | kShift | ImGuiKey_S, 0, false, false, false,
           ask<Popup::save_as>},
    KeyRow{"Edit and files", marked("export the measurements as CSV"), kCtrl | ImGuiKey_E, 0, false, false, false,
           send<ExportCsv>},
    KeyRow{"Edit and files", marked("picture of the window"), ImGuiKey_F12, 0, false, false, false, send<SavePicture>},
    KeyRow{"Edit and files", marked("save several steps as a GIF or PNGs"),
           kShift | ImGuiKey_F12, 0, true, false, false,
           ask<Popup::save_steps>},
    KeyRow{"Bench", marked("run the sweep"), kCtrl | ImGuiKey_R, 0, false, false, false,
           [](S, E e) {
             e.emplace_back(ChooseWorkspace{Workspace::bench});
             e.emplace_back(RunSweep{});
           }},
    KeyRow{"Bench", marked("cancel the task"), kCtrl | ImGuiKey_Period, 0, false, false, false, send<CancelTask>},
    KeyRow{"Bench", marked("ladder or charts"), ImGuiKey_F7, 0, false, false, false,
           [](S s, E e) {
             const bool there = s.view.workspace == Workspace::bench && s.view.bench.page == BenchPage::ladder;
             e.emplace_back(ChooseWorkspace{Workspace::bench});
             e.emplace_back(ChooseBenchPage{there ? BenchPage::charts : BenchPage::ladder});
           }},
    KeyRow{"Profile", marked("next-largest line or difference (Shift: back)"), ImGuiKey_F8},
    KeyRow{"Profile", marked("find in the source (F3: next match)"), kCtrl | ImGuiKey_F},
};

std::string cap_of(ImGuiKey key) {
  switch (key) {
    case ImGuiKey_LeftArrow:
      return "left";
    case ImGuiKey_RightArrow:
      return "right";
    case ImGuiKey_Equal:
      return "+";
    case ImGuiKey_Minus:
      return "-";
    case ImGuiKey_Period:
      return ".";
    case ImGuiKey_Escape:
      return "Esc";
    case ImGuiKey_F1:
      return "?";
    case ImGuiKey_PageUp:
      return "PgUp";
    case ImGuiKey_PageDown:
      return "PgDn";
    case ImGuiKey_LeftBracket:
      return "[";
    case ImGuiKey_RightBracket:
      return "]";
    default:
      return ImGui::GetKeyName(key);
  }
}

// Keys that no text takes: with Ctrl, or those of functions.
bool types_nothing(ImGuiKeyChord chord) {
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  return (chord & ImGuiMod_Ctrl) != 0 || (key >= ImGuiKey_F1 && key <= ImGuiKey_F12);
}

bool question_mark_typed() {
  // By character: where '?' lies differs from keyboard to keyboard.
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) {
    if (c == '?') return true;
  }
  return false;
}

}  // namespace

std::span<const KeyRow> key_table() {
  return kKeys;
}

std::vector<std::string> caps_of(ImGuiKeyChord chord) {
  std::vector<std::string> caps;
  if ((chord & ImGuiMod_Ctrl) != 0) caps.emplace_back("Ctrl");
  if ((chord & ImGuiMod_Shift) != 0) caps.emplace_back("Shift");
  if ((chord & ImGuiMod_Alt) != 0) caps.emplace_back("Alt");
  caps.push_back(cap_of(static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_)));
  return caps;
}

Commands read_keys(const State& state, ArrowKeys arrows, bool popup_open) {
  Commands commands;
  // A number is typed in a moment; who types in the lab stays there, and the program's keys with him.
  const bool typing = ImGui::GetIO().WantTextInput;
  const bool lab = state.view.workspace == Workspace::profile && state.view.profile.page == ProfilePage::lab;
  if (popup_open || (typing && !lab)) return commands;
  for (const KeyRow& row : kKeys) {
    if (row.act == nullptr) continue;
    if (row.step_only && !shows_step(state.view)) continue;
    for (const ImGuiKeyChord chord : {row.chord, row.other}) {
      const bool moves = arrows == ArrowKeys::map || (arrows == ArrowKeys::cells && chord != ImGuiKey_Space);
      if (chord == 0 || (row.plain_arrow && moves) || (typing && !types_nothing(chord))) continue;
      const ImGuiInputFlags repeat = row.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None,
                            over = typing ? ImGuiInputFlags_RouteOverActive : ImGuiInputFlags_None;
      if (ImGui::Shortcut(chord, ImGuiInputFlags_RouteGlobal | repeat | over)) row.act(state, commands);
    }
  }
  if (!typing && question_mark_typed()) commands.emplace_back(ShowKeys{!state.view.keys_sheet});
  return commands;
}

}  // namespace attn
