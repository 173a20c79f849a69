#include "app/shell/widgets/path_field.h"

#include <filesystem>
#include <system_error>

#include "imgui.h"
#include "kernels/base/folders.h"
#include "kernels/base/letters.h"
#include "kernels/base/text.h"
#include "misc/cpp/imgui_stdlib.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

std::string with_home(const std::string& path) {
  if (path.rfind("~/", 0) != 0) return path;
  const auto home = environment("HOME");
  return home ? *home + path.substr(1) : path;
}

// Names in the path's folder that begin like the path's last part; folders end in '/'.
std::vector<std::string> names_like(const std::filesystem::path& folder, const std::string& begin,
                                    std::string_view extension) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.rfind(begin, 0) != 0 || (begin.empty() && name.front() == '.')) continue;
    std::error_code unreadable;
    const bool is_folder = it->is_directory(unreadable);
    if (!is_folder && !extension.empty() && it->path().extension() != extension) continue;
    names.push_back(is_folder ? name + "/" : name);
  }
  return names;
}

}  // namespace

std::string completed_path(const std::string& path, std::string_view extension) {
  const std::string full = with_home(path);
  const std::size_t slash = full.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : full.substr(0, slash + 1);
  const std::vector<std::string> names = names_like(folder, full.substr(folder.size()), extension);
  if (names.empty()) return path;
  return folder + common_start(names);
}

bool draw_path_field(const PathField& field, std::string& path, FileDialog& dialog, std::string& browsing) {
  const Style& s = style();
  const float browse = s.px(84);
  ImGui::PushID(field.id);
  ImGui::SetNextItemWidth(field.width - browse - ImGui::GetStyle().ItemSpacing.x);
  Completion completed = [&](std::string_view typed) { return completed_path(std::string(typed), field.extension); };
  const bool entered = ImGui::InputTextWithHint(
      "##path", field.hint.c_str(), &path,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion | ImGuiInputTextFlags_ElideLeft,
      complete_before_caret, &completed);
  ImGui::SameLine();
  ImGui::BeginDisabled(!field.can_browse);
  const bool pressed = ImGui::Button(tr("Browse"), {browse, 0});
  ImGui::EndDisabled();
  if (!field.can_browse && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
    show_tooltip(
        tr("This desktop has no file dialog; install zenity or kdialog. Press Tab in the field to complete the path."));
  }
  if (pressed) {
    const std::string filter = field.extension.empty() ? "" : "*" + field.extension;
    dialog.open(field.kind, field.hint, path, filter);
    browsing = field.id;
  }
  if (browsing == field.id) {
    if (const auto chosen = dialog.poll()) {
      if (!chosen->empty()) path = *chosen;
      browsing.clear();
    }
  }
  ImGui::PopID();
  return entered;
}

}  // namespace attn
