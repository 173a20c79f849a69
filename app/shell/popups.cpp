// The shell's small windows: go to a step, all bookmarks. Those that ask for files are in popups_files.cpp.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/shell/palette/palette_draw.h"
#include "app/shell/shell.h"
#include "app/shell/widgets/popup.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "viz/draw/finger_field.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/widgets.h"
#include "viz/step/facts/landmarks.h"

namespace attn {
namespace {

constexpr const char* kGoTo = marked("Go to step");
constexpr const char* kBookmarks = marked("Bookmarks");
constexpr const char* kOffer = marked("Kernels of a session");

void draw_go_to(const Model& model, ShellUiState& ui, Commands& commands) {
  if (!begin_popup(kGoTo)) return;
  const Style& s = style();
  const int steps = model.recording == nullptr ? 0 : static_cast<int>(model.recording->events.size());
  popup_heading(tr_of(kGoTo));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(s.px(120));
  const bool entered = ImGui::InputInt("##number", &ui.go_to, 0, 0,
                                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  ImGui::SameLine();
  ImGui::TextDisabled("of %d", steps);
  ImGui::SameLine(0, s.px(16));
  if ((ImGui::Button(tr("Go"), {s.px(56), 0}) || entered) && steps > 0) {
    commands.emplace_back(GoToEvent{static_cast<EventIndex>(std::clamp(ui.go_to, 1, steps) - 1)});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

// A line a bookmark: press it to go there, its cross to take it away.
void draw_bookmark_lines(const Recording& rec, const StepView& view, Commands& commands) {
  const Style& s = style();
  const ImGuiStyle& g = ImGui::GetStyle();
  const float remove = ImGui::CalcTextSize(tr("Remove")).x + 2 * g.FramePadding.x + g.ItemSpacing.x;
  const float width = std::min(s.px(300), popup_width(400) - remove);
  for (const EventIndex e : bookmarked_steps(rec, view.bookmarks)) {
    ImGui::PushID(static_cast<int>(e));
    const std::string words = fitted_text(Face::text, 14, phrase("Step {}: {}", e + 1, step_words(rec, e)), width);
    if (ImGui::Selectable(words.c_str(), e == view.cursor, ImGuiSelectableFlags_NoAutoClosePopups,
                          {width, s.px(for_finger(22))})) {
      commands.emplace_back(GoToEvent{e});
      ImGui::CloseCurrentPopup();
    }
    ImGui::SameLine();
    if (by_touch() ? ImGui::Button(tr("Remove")) : ImGui::SmallButton(tr("Remove")))
      commands.emplace_back(ToggleBookmark{e});
    ImGui::PopID();
  }
}

void draw_bookmarks(const Controller& controller, Commands& commands) {
  if (!begin_popup(kBookmarks)) return;
  const StepView& view = controller.state().view.step;
  popup_heading(tr_of(kBookmarks));
  const auto& rec = controller.model().recording;
  const std::size_t here = rec == nullptr ? 0 : bookmarked_steps(*rec, view.bookmarks).size();
  if (here > 0) draw_bookmark_lines(*rec, view, commands);
  if (view.bookmarks.empty())
    ImGui::TextDisabled("%s", for_hands(tr("There are no bookmarks yet; press B to mark the current step."),
                                        tr("There are no bookmarks yet.")));
  if (const std::size_t waiting = view.bookmarks.size() - here; waiting > 0) {
    ImGui::TextDisabled("%s", plural(waiting, "{} more bookmark does not apply to this run.",
                                     "{} more bookmarks do not apply to this run.")
                                  .c_str());
  }
  ImGui::Dummy({1, style().px(4)});
  if (popup_buttons(tr("Remove all"), !view.bookmarks.empty())) commands.emplace_back(ClearBookmarks{});
  ImGui::EndPopup();
}

// Asked once for a session: a kernel is a program, and it came from somebody else's file.
void draw_offer(const Model& model, Commands& commands) {
  if (!model.offered.kernels.empty() && !ImGui::IsPopupOpen(kOffer)) ImGui::OpenPopup(kOffer);
  if (!begin_popup(kOffer)) return;
  const Style& s = style();
  const std::size_t count = model.offered.kernels.size();
  popup_heading(count == 1 ? tr("This session contains a kernel") : tr("This session contains kernels"));
  for (const auto& kernel : model.offered.kernels) {
    const gpu::OwnKernel& own = *gpu::own_kernel(*kernel);
    const auto lines = std::count(own.cu.text.begin(), own.cu.text.end(), '\n');
    const std::string edits = own.edits == nullptr ? "" : phrase(", an edit of {}", own.edits->id);
    ImGui::BulletText("%s", phrase("{}, {} lines{}", own.name, lines, edits).c_str());
  }
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  wrapped_text(
      plural(count,
             "{1}\nIf you allow the kernel, it is compiled and run on your GPU when you measure it. Allow "
             "kernels only from authors you trust. The session's measurements are shown in any case.",
             "{1}\nIf you allow the kernels, they are compiled and run on your GPU when you measure them. Allow "
             "kernels only from authors you trust. The session's measurements are shown in any case.",
             model.offered.file),
      popup_width(460));
  ImGui::PopStyleColor();
  ImGui::Dummy({1, s.px(4)});
  const bool allow = ImGui::Button(tr("Allow"), {s.px(104), 0});
  ImGui::SameLine();
  const bool refuse = ImGui::Button(tr("Omit"), {s.px(104), 0}) || ImGui::IsKeyPressed(ImGuiKey_Escape);
  if (allow || refuse) {
    commands.emplace_back(AnswerOffer{allow});
    ImGui::CloseCurrentPopup();
  }
  if (count == 0) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace

void draw_popups(Controller& controller, ShellUiState& ui, Commands& commands) {
  // Who asks for it has the controller read which lessons there are, once: the palette opens a frame later.
  const bool waits = ui.open_next == Popup::palette && controller.model().learn == nullptr;
  if (ui.open_next == Popup::go_to) {
    ui.go_to = static_cast<int>(controller.state().view.step.cursor) + 1;
    ImGui::OpenPopup(kGoTo);
  } else if (ui.open_next == Popup::bookmarks) {
    ImGui::OpenPopup(kBookmarks);
  } else if (ui.open_next == Popup::palette) {
    if (!waits) open_palette(controller, ui.palette);
  } else if (ui.open_next != Popup::none) {
    open_file_popup(ui.open_next, controller, ui);
  }
  ui.open_next = waits ? Popup::palette : Popup::none;
  const ImGuiStyle& g = ImGui::GetStyle();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(g.FramePadding.x, finger_padding(g.FramePadding.y)));
  ImGui::PushStyleVar(ImGuiStyleVar_SelectableTextAlign, ImVec2(0, by_touch() ? 0.5F : g.SelectableTextAlign.y));
  draw_go_to(controller.model(), ui, commands);
  draw_bookmarks(controller, commands);
  draw_offer(controller.model(), commands);
  draw_file_popups(controller, ui, commands);
  ImGui::PopStyleVar(2);
  draw_palette(ui.palette, commands);
  draw_answer(ui.palette, commands);
  ui.popup_open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

}  // namespace attn
