// The shell's small windows that ask for files: open, save as, inputs from .npy, pictures of several steps.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/graphics/film_name.h"
#include "app/print/chapter_print.h"
#include "app/shell/shell.h"
#include "app/shell/widgets/path_field.h"
#include "app/shell/widgets/popup.h"
#include "app/system/with_extension.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "misc/cpp/imgui_stdlib.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/widgets.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/chapter_map.h"

namespace attn {
namespace {

constexpr const char* kOpenFile = marked("Open a file");
constexpr const char* kSaveAs = marked("Save the session as");
constexpr const char* kInputFiles = marked("Your own inputs");
constexpr const char* kPrintChapter = marked("Print a chapter");
constexpr const char* kSaveSteps = marked("Pictures of several steps");
constexpr float kFieldWidth = 560;  // logical, of a path field

void dim_words(const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  wrapped_text(words, popup_width(kFieldWidth));
  ImGui::PopStyleColor();
}

void error_words(const std::string& words) {
  if (words.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, colour_of(TensorColour::m));
  wrapped_text(words, popup_width(kFieldWidth));
  ImGui::PopStyleColor();
}

bool path_field(ShellUiState& ui, const char* id, const char* hint, const char* extension, FileDialog::Kind kind,
                std::string& path) {
  const std::string_view path_like = hint;
  const std::string_view shown = ui.in_page ? path_like.substr(path_like.rfind('/') + 1) : path_like;
  const PathField field{id, std::string(shown), extension, kind, ui.has_dialogs, popup_width(kFieldWidth)};
  return draw_path_field(field, path, ui.dialog, ui.browsing);
}

// Files that were opened or saved lately, and what came with the program: a press opens one.
void known_files(const std::vector<KnownFile>& files, Commands& commands) {
  for (const bool bundled : {false, true}) {
    const auto is = [bundled](const KnownFile& f) { return f.bundled == bundled; };
    if (std::none_of(files.begin(), files.end(), is)) continue;
    ImGui::Dummy({1, style().px(4)});
    ImGui::TextDisabled("%s", bundled ? tr("Bundled") : tr("Recent"));
    for (const KnownFile& f : files) {
      if (!is(f)) continue;
      const std::filesystem::path path(f.path);
      const std::string words = bundled
                                    ? fmt::format("{}  {}", path.stem().string(), f.words)
                                    : fmt::format("{}  in {}", path.filename().string(), path.parent_path().string());
      const float width = popup_width(kFieldWidth);
      std::string shown = fitted_text(Face::text, 14, words, width);
      // In two lines where one is too short: what it holds, and of where and when that is.
      if (const std::size_t of = words.rfind(": "); shown != words && of != std::string::npos)
        shown = fitted_text(Face::text, 14, words.substr(0, of + 1), width) + "\n" +
                fitted_text(Face::text, 14, "    " + words.substr(of + 2), width);
      const float height = by_touch() ? style().px(kFinger) : 0;
      if (!ImGui::Selectable(fmt::format("{}##{}", shown, f.path).c_str(), false, 0, {width, height})) continue;
      commands.emplace_back(OpenFile{f.path});
      ImGui::CloseCurrentPopup();
    }
  }
}

void draw_open_file(const Controller& controller, ShellUiState& ui, Commands& commands) {
  if (!begin_popup(kOpenFile)) return;
  popup_heading(tr_of(kOpenFile));
  dim_words(
      tr("A session (.attn), your own kernel (.cu), or a q.npy with k.npy and v.npy next to it. You can also drop a "
         "file onto the window."));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  const bool entered = path_field(ui, "open", "/path/to/session.attn", "", FileDialog::Kind::open, ui.path);
  known_files(controller.model().files, commands);
  ImGui::Dummy({1, style().px(4)});
  if ((popup_buttons(tr("Open"), !ui.path.empty()) || entered) && !ui.path.empty()) {
    commands.emplace_back(OpenFile{ui.path});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

// What is there already goes only when its button says so: the button under a path field, `verb` or "Replace". `files`:
// what would be written, the one to name last. Whether to write them.
bool write_button(const std::vector<std::filesystem::path>& files, const char* verb, bool named, bool entered) {
  std::filesystem::path there;
  std::error_code error;
  for (const std::filesystem::path& file : files)
    if (named && std::filesystem::exists(file, error)) there = file;
  if (!there.empty())
    error_words(phrase("{} already exists. Replace the file, or choose another name.", there.string()));
  ImGui::Dummy({1, style().px(4)});
  const bool pressed = popup_buttons(there.empty() ? verb : tr("Replace"), named);
  return named && (pressed || (entered && there.empty()));
}

void draw_save_as(ShellUiState& ui, Commands& commands) {
  if (!begin_popup(kSaveAs)) return;
  popup_heading(tr_of(kSaveAs));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  const bool entered = path_field(ui, "save", "/path/to/session.attn", ".attn", FileDialog::Kind::save, ui.path);
  if (write_button({with_extension(ui.path, ".attn")}, tr("Save"), !ui.path.empty(), entered)) {
    commands.emplace_back(SaveSessionAs{ui.path});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

// Stays open until the files were read: what will not do is said where it can be changed.
void draw_input_files(const Controller& controller, ShellUiState& ui, Commands& commands) {
  if (!begin_popup(kInputFiles)) return;
  constexpr std::array<const char*, 4> kIds{"Q", "K", "V", "bias"};
  popup_heading(tr_of(kInputFiles));
  if (ui.in_page)
    dim_words(tr(
        "Choose .npy files here. To use text, close this dialog and paste Q, K and V onto the page, one row per line "
        "with an empty line between matrices, or drop q.csv, k.csv and v.csv together."));
  dim_words(
      tr("NumPy arrays of type f2, f4 or f8, shaped [B,H,L,D], [H,L,D] or [L,D]. The bias is broadcast to [B,H,Lq,Lk]. "
         "The arrays determine the problem's shape. Q, K or V is generated if its field is empty. If the bias field is "
         "empty, there is no bias."));
  bool entered = ImGui::IsWindowAppearing();  // Enter goes to the next field; in the last one it uses them
  for (std::size_t n = 0; n < kIds.size(); ++n) {
    ImGui::TextUnformatted(kIds[n]);
    if (entered) ImGui::SetKeyboardFocusHere();
    const std::string hint = n == 3 ? "/path/to/bias.npy" : fmt::format("/path/to/{}.npy", "qkv"[n]);
    entered = path_field(ui, kIds[n], hint.c_str(), ".npy", FileDialog::Kind::open, ui.input_paths[n]);
  }
  const InputFilesAnswer& answer = controller.input_files_answer();
  const bool answered = ui.input_asked != 0 && answer.number >= ui.input_asked;
  if (answered && answer.error.empty()) {
    ui.input_asked = 0;
    ImGui::CloseCurrentPopup();
  }
  if (answered) error_words(answer.error);
  ImGui::Dummy({1, style().px(4)});
  if (popup_buttons(tr("Use them"), true) || entered) {
    ui.input_asked = answer.number + 1;
    commands.emplace_back(SetInputFiles{ui.input_paths});
  }
  ImGui::EndPopup();
}

std::string chapter_words(const ChapterScene& c) {
  return c.number.empty() ? c.title : fmt::format("{}  {}", c.number, c.title);
}

// Which chapter: the file is named for it, in the folder that is typed already.
void choose_chapter(const LearnScene* learn, ShellUiState& ui) {
  if (learn == nullptr) return;
  const auto now = std::ranges::find(learn->chapters, ui.print_lesson, &ChapterScene::id);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Chapter"));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(popup_width(kFieldWidth) - (ImGui::GetCursorPosX() - ImGui::GetCursorStartPos().x));
  const std::string shown = now == learn->chapters.end() ? std::string() : chapter_words(*now);
  if (!begin_list("##print_lesson", shown.c_str(), ImGuiComboFlags_HeightLarge)) return;
  for (const ChapterScene& c : learn->chapters) {
    if (c.exercises == 0) continue;
    if (ImGui::Selectable(fmt::format("{}##{}", chapter_words(c), c.id).c_str(), c.id == ui.print_lesson)) {
      const std::filesystem::path typed(ui.path);
      if (typed.stem() == ui.print_lesson) ui.path = (typed.parent_path() / (c.id + ".pdf")).string();
      ui.print_lesson = c.id;
    }
    if (c.id == ui.print_lesson) ImGui::SetItemDefaultFocus();
  }
  end_list();
}

// The one that is open, or where the learner is; with exercises.
std::string chapter_to_print(const State& state, const LearnScene* learn) {
  if (learn == nullptr) return state.view.learn.lesson;
  const auto prints = [](const ChapterScene& c) { return c.exercises > 0; };
  const auto open = std::ranges::find(learn->chapters, state.view.learn.lesson, &ChapterScene::id);
  if (open != learn->chapters.end() && prints(*open)) return open->id;
  const auto next = next_chapter(*learn);
  if (next && prints(learn->chapters[*next])) return learn->chapters[*next].id;
  const auto any = std::ranges::find_if(learn->chapters, prints);
  return any == learn->chapters.end() ? std::string() : any->id;
}

// The page and, beside it, the answers.
void draw_print_chapter(const Controller& controller, ShellUiState& ui, Commands& commands) {
  if (!begin_popup(kPrintChapter)) return;
  popup_heading(tr_of(kPrintChapter));
  dim_words(
      tr("A PDF for the learner: the question, a figure and the exercises with these numbers. The answers go to a "
         "second PDF in the same folder."));
  choose_chapter(controller.model().learn.get(), ui);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  const bool entered = path_field(ui, "print", "/path/to/chapter.pdf", ".pdf", FileDialog::Kind::save, ui.path);
  const std::filesystem::path file = with_extension(ui.path, ".pdf");
  if (write_button({answers_beside(file), file}, tr("Print"), !ui.path.empty() && !ui.print_lesson.empty(), entered)) {
    commands.emplace_back(PrintChapter{ui.path, ui.print_lesson});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

// What would be written over: the file, or the first picture that is there already in the folder.
std::vector<std::filesystem::path> files_of_steps(const ShellUiState& ui) {
  const std::filesystem::path path(ui.path);
  std::error_code error;
  if (ui.path.empty() || !std::filesystem::is_directory(path, error)) return {path};
  for (int step = ui.first_step; step <= ui.last_step; ++step)
    if (std::filesystem::path file = path / picture_of_step(static_cast<std::size_t>(step));
        std::filesystem::exists(file, error))
      return {file};
  return {};
}

void draw_save_steps(const Controller& controller, ShellUiState& ui, Commands& commands) {
  if (!begin_popup(kSaveSteps)) return;
  const Style& s = style();
  const int steps =
      controller.model().recording == nullptr ? 0 : static_cast<int>(controller.model().recording->events.size());
  popup_heading(tr_of(kSaveSteps));
  dim_words(
      tr("A name ending in .gif creates an animation. A name ending in .mp4 or .webm creates a video (made by ffmpeg). "
         "Any other name creates a folder with one PNG per step."));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  const bool entered = path_field(ui, "steps", "/path/to/steps.gif", "", FileDialog::Kind::save, ui.path);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Steps"));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(s.px(64));
  ImGui::InputInt("##first", &ui.first_step, 0, 0);
  ImGui::SameLine();
  ImGui::TextUnformatted(tr("to"));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(s.px(64));
  ImGui::InputInt("##last", &ui.last_step, 0, 0);
  ImGui::SameLine();
  ImGui::TextDisabled("of %d", steps);
  constexpr float kOneLine = 420;  // logical
  if (popup_width(kFieldWidth) >= s.px(kOneLine)) ImGui::SameLine(0, s.px(20));
  ImGui::SetNextItemWidth(s.px(64));
  ImGui::InputFloat(tr("seconds per step"), &ui.seconds_per_step, 0, 0, "%.2g");
  const bool good = ui.first_step >= 1 && ui.last_step <= steps && ui.first_step <= ui.last_step;
  if (!good)
    error_words(phrase("Invalid steps {} to {}; use 1 to {}, in ascending order.", ui.first_step, ui.last_step, steps));
  if (write_button(files_of_steps(ui), tr("Create"), good && !ui.path.empty(), entered)) {
    commands.emplace_back(SaveSteps{ui.path, static_cast<EventIndex>(ui.first_step - 1),
                                    static_cast<EventIndex>(ui.last_step - 1), ui.seconds_per_step});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace

void open_file_popup(Popup popup, const Controller& controller, ShellUiState& ui) {
  ui.has_dialogs = FileDialog::available();
  ui.browsing.clear();
  const auto new_name = [&](const char* name) { return (controller.save_folder() / name).string(); };
  if (popup == Popup::open_file) {
    ui.path.clear();
    ImGui::OpenPopup(kOpenFile);
  } else if (popup == Popup::save_as) {
    ui.path = new_name("session.attn");
    ImGui::OpenPopup(kSaveAs);
  } else if (popup == Popup::print_chapter) {
    ui.print_lesson = chapter_to_print(controller.state(), controller.model().learn.get());
    ui.path = new_name(((ui.print_lesson.empty() ? "chapter" : ui.print_lesson) + ".pdf").c_str());
    ImGui::OpenPopup(kPrintChapter);
  } else if (popup == Popup::input_files) {
    const InputSpec& now = controller.state().document.inputs;
    // What was refused stays to be mended.
    const InputFilesAnswer& answer = controller.input_files_answer();
    if (ui.input_asked != 0 && answer.number >= ui.input_asked && answer.error.empty()) ui.input_asked = 0;
    if (ui.input_asked == 0) ui.input_paths = {now.q_file, now.k_file, now.v_file, now.bias_file};
    ImGui::OpenPopup(kInputFiles);
  } else if (popup == Popup::save_steps) {
    ui.path = new_name("steps.gif");
    const auto& rec = controller.model().recording;
    ui.first_step = 1;
    ui.last_step = rec == nullptr ? 0 : static_cast<int>(std::min<std::size_t>(rec->events.size(), 100));
    ImGui::OpenPopup(kSaveSteps);
  }
}

void draw_file_popups(const Controller& controller, ShellUiState& ui, Commands& commands) {
  draw_open_file(controller, ui, commands);
  draw_save_as(ui, commands);
  draw_print_chapter(controller, ui, commands);
  draw_input_files(controller, ui, commands);
  draw_save_steps(controller, ui, commands);
}

}  // namespace attn
