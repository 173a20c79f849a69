#include "viz/profile/figures/findings_draw.h"

#include <cstddef>
#include <string>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/figures/findings.h"

namespace attn {
namespace {

// "At most 1.77 times as fast: It reaches ... Try: ..."
TextRuns finding_runs(const Finding& f) {
  TextRuns runs;
  if (f.at_most > 0) runs.push_back({phrase("At most {}×:", times_text(f.at_most)), Face::bold, Token::text, 0, false});
  if (f.seen > 0)
    runs.push_back({phrase("{}× in this session:", times_text(f.seen)), Face::bold, Token::text, 0, false});
  runs.push_back({(runs.empty() ? "" : " ") + f.text + " ", Face::text, Token::dim, 0, false});
  runs.push_back({"Try " + f.experiment + ".", Face::text, Token::text, 0, false});
  return runs;
}

// What one click does for a finding.
struct Attempt {
  std::string label;
  const char* help;
  Commands commands;
};
Attempt attempt_of(const Finding& f, const std::string& kernel) {
  const ChooseProfilePage lab{ProfilePage::lab};
  const std::string label = attempt_label(f);
  if (!f.prepared.empty())
    return {label,
            tr("Opens the lab with this prepared experiment, which tests the finding"),
            {lab, OpenExperiment{f.prepared}}};
  if (f.max_registers > 0)
    return {label, tr("Opens the lab with this register limit"), {lab, LimitRegisters{kernel, f.max_registers}}};
  if (!f.other_kernel.empty())
    return {label, tr("Shows the other kernel instead of this one"), {ChooseBenchKernel{f.other_kernel}}};
  return {label, tr("Opens the lab with this kernel's unchanged source"), {ChooseBenchKernel{kernel}, lab}};
}

// At the right end of the finding's first line. Returns its width with what parts it from the words, pixels.
float draw_attempt(const Finding& f, const std::string& kernel, ImVec2 right_top, bool draw, Commands& commands) {
  const Style& s = style();
  const Attempt attempt = attempt_of(f, kernel);
  const float width = text_width(Face::text, 12, attempt.label) + s.px(12);
  if (draw) {
    ImGui::SetCursorPos({right_top.x - width, right_top.y});
    ImGui::PushID(f.rule.data(), f.rule.data() + f.rule.size());
    if (small_button(attempt.label.c_str(), true, attempt.help))
      commands.insert(commands.end(), attempt.commands.begin(), attempt.commands.end());
    ImGui::PopID();
  }
  return width + s.px(12);
}

}  // namespace

float draw_findings(const ProfileScene& scene, ImVec2 from, float width, bool draw, Commands& commands) {
  const Style& s = style();
  constexpr int kLines = 12;
  const ImVec2 window = ImGui::GetWindowPos();
  float y = from.y;
  for (const Finding& f : scene.findings) {
    y += s.px(4);
    const float chip = draw_attempt(f, scene.kernel, {from.x + width, y - s.px(2)}, draw, commands);
    ImDrawList* list = draw ? ImGui::GetWindowDrawList() : nullptr;
    y += draw_paragraph(list, {window.x + from.x, window.y + y}, width - chip, 13, finding_runs(f), kLines, draw);
  }
  return y - from.y;
}

std::string findings_hint(const ProfileScene& scene) {
  const std::size_t n = scene.findings.size();
  return plural(n, "{} finding below", "{} findings below");
}

void draw_findings_hint(const ProfileScene& scene, ImVec2 at, float right, bool& seek) {
  const Style& s = style();
  const std::string label = findings_hint(scene);
  ImGui::SetCursorPos(at);
  seek = small_button(label.c_str(), true, tr("Go to the findings at the end of this page"));
  const float x = at.x + text_width(Face::text, 12, label) + s.px(24);
  std::string worth;  // of as many as have room: no number is cut
  for (const Finding& f : scene.findings) {
    std::string more = worth.empty() ? "" : worth + ", ";
    if (f.seen > 0) more += phrase("{}× in this session", times_text(f.seen));
    if (f.seen <= 0 && f.at_most > 0) more += phrase("at most {}×", times_text(f.at_most));
    if (f.seen <= 0 && f.at_most <= 0) continue;
    if (text_width(Face::text, 12, more) > right - x) break;
    worth = more;
  }
  const ImVec2 window = ImGui::GetWindowPos();
  draw_text(ImGui::GetWindowDrawList(), {window.x + x, window.y + at.y + s.px(1)}, Face::text, 12,
            colour(s.theme, Token::dim), worth);
}

}  // namespace attn
