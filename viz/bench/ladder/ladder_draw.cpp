#include "viz/bench/ladder/ladder_draw.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/base/text.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// Logical pixels.
constexpr float kHead = 22, kLine = 34, kPad = 9, kName = 174, kTime = 78, kShare = 46, kFigure = 100, kGap = 16;
constexpr float kIndent = 22, kMinBar = 60, kMaxBar = 320, kWords = 12.5F;

// Where columns begin, from the row's left edge, pixels; `figures` of them fit.
struct Columns {
  float time = 0, bar = 0, share = 0, first = 0;
  std::size_t figures = 0;
  float figure(std::size_t n) const { return first + style().px(kFigure) * static_cast<float>(n); }
};

Columns columns_of(const LadderScene& scene, float width) {
  const Style& s = style();
  Columns c;
  c.time = s.px(kName);
  c.bar = c.time + s.px(kTime + kGap);
  const float fixed = c.bar + s.px(kShare + kGap), room = width - fixed - s.px(kMinBar);
  c.figures = std::min(scene.columns.size(), static_cast<std::size_t>(std::max(0.0F, room / s.px(kFigure))));
  const float figures = s.px(kFigure) * static_cast<float>(c.figures);
  c.share = c.bar + std::clamp(width - fixed - figures, s.px(20), s.px(kMaxBar));
  c.first = width - figures;
  return c;
}

void draw_head(ImDrawList* list, const LadderScene& scene, const Box& box, const Columns& c) {
  const Style& s = style();
  const ImU32 dim = colour(s.theme, Token::dim);
  const auto put = [&](float from, float to, Align align, const std::string& words) {
    draw_text_in(list, {{box.min.x + from, box.min.y}, {box.min.x + to, box.max.y}}, align, Face::text, 12, dim,
                 elided_text(Face::text, 12, words, to - from));
  };
  put(s.px(kIndent), c.time, Align::left, "rung");
  put(c.time, c.time + s.px(kTime), Align::right, tr("time"));
  put(c.bar, std::max(c.share + s.px(kShare), c.bar), Align::left, scene.share_title);
  for (std::size_t n = 0; n < c.figures; ++n) {
    put(c.figure(n), c.figure(n) + s.px(kFigure), Align::right, scene.columns[n].title);
    const Box head{{box.min.x + c.figure(n), box.min.y}, {box.min.x + c.figure(n) + s.px(kFigure), box.max.y}};
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(head.min, head.max))
      show_tooltip(scene.columns[n].tip, 320);
  }
  const float under = std::floor(box.max.y) + 0.5F;
  list->AddLine({box.min.x, under}, {box.max.x, under}, colour(s.theme, Token::line), std::max(1.0F, s.px(1)));
}

// A filled triangle is better, a hollow one worse; it points where the figure went.
void draw_direction(ImDrawList* list, ImVec2 centre, const LadderFigure& f, ImU32 ink) {
  if (!f.better && !f.worse) return;
  const Style& s = style();
  const float r = s.px(3), tip = f.up ? -r : r;
  const ImVec2 a{centre.x - r, centre.y - tip}, b{centre.x + r, centre.y - tip}, c{centre.x, centre.y + tip};
  f.better ? list->AddTriangleFilled(a, b, c, ink) : list->AddTriangle(a, b, c, ink, s.px(1));
}

void draw_figure(ImDrawList* list, const Box& box, const LadderFigure& f) {
  const Style& s = style();
  const float middle = box.centre().y;
  const ImU32 text = colour(s.theme, Token::text), dim = colour(s.theme, Token::dim);
  const bool alone = f.change.empty();
  draw_text_in(list, {box.min, {box.max.x, alone ? box.max.y : middle + s.px(1)}}, Align::right, Face::mono, 13,
               f.text == LadderFigure().text ? dim : text, f.text);
  if (!alone) {
    const Box low{{box.min.x, middle}, box.max};
    draw_text_in(list, low, Align::right, Face::mono, 11, dim, f.change);
    draw_direction(list, {low.max.x - text_width(Face::mono, 11, f.change) - s.px(7), low.centre().y}, f, dim);
  }
  if (ImGui::IsMouseHoveringRect(box.min, box.max) && ImGui::IsItemHovered()) show_tooltip(f.tip, 320);
}

void draw_bar(ImDrawList* list, const Box& box, const LadderScene& scene, const LadderRung& rung, const Columns& c) {
  const Style& s = style();
  const float left = box.min.x + c.bar, room = c.share - c.bar, middle = box.centre().y;
  const auto most = static_cast<float>(scene.most);
  if (rung.share > 0) {
    const float length = std::max(s.px(2), room * static_cast<float>(rung.share) / most);
    const Box bar{{left, middle - s.px(6)}, {left + length, middle + s.px(6)}};
    const ImU32 ink = kernel_colour(s.theme, rung.kernel);
    if (rung.peer)
      draw_dashed(list, bar, ink, 3);
    else if (rung.cpu || rung.hollow)
      list->AddRect(bar.min, bar.max, ink, s.px(2), 0, s.px(1.5F));
    else
      list->AddRectFilled(bar.min, bar.max, ink, s.px(2));
  }
  const float one = left + room / most;  // where the reference ends
  if (scene.most > 1)
    list->AddLine({one, middle - s.px(10)}, {one, middle + s.px(10)}, colour(s.theme, Token::faint), s.px(1));
  const Box share{{box.min.x + c.share + s.px(4), box.min.y}, {box.min.x + c.share + s.px(kShare + 4), box.max.y}};
  if (rung.wrong) {
    draw_text_in(list, share, Align::left, Face::bold, 12, colour(s.theme, Token::text), tr("wrong"));
  } else {
    draw_text_in(list, share, Align::left, Face::mono, 13, colour(s.theme, Token::text), rung.share_text);
  }
}

void draw_name(ImDrawList* list, const Box& box, const LadderRung& rung, const Columns& c) {
  const Style& s = style();
  const MarkFill fill = rung.hollow ? MarkFill::hollow : rung.cpu ? MarkFill::open : MarkFill::solid;
  draw_mark(*list, {box.min.x + s.px(8), box.centre().y},
            {look_of(rung.kernel).mark, fill, kernel_colour(s.theme, rung.kernel), colour(s.theme, Token::card),
             s.px(4.5F), s.px(1.5F)});
  draw_text_in(list, {{box.min.x + s.px(kIndent), box.min.y}, {box.min.x + c.time, box.max.y}}, Align::left,
               rung.chosen ? Face::bold : Face::text, 14, colour(s.theme, Token::text),
               fitted_text(rung.chosen ? Face::bold : Face::text, 14, rung.name, c.time - s.px(kIndent + 4)));
  draw_text_in(list, {{box.min.x + c.time, box.min.y}, {box.min.x + c.time + s.px(kTime), box.max.y}}, Align::right,
               Face::mono, 13, colour(s.theme, Token::text), rung.time.empty() ? "–" : rung.time);
}

// What is new against the rung before; why there is no time.
TextRuns idea_of(const LadderRung& rung) {
  std::string words = rung.reason;
  if (!rung.idea.empty()) words += (words.empty() ? "" : " ") + rung.idea;
  return words.empty() ? TextRuns() : TextRuns{{words, Face::text, Token::text, 0, false}};
}

// A sentence a respect, its lead standing out.
TextRuns sentences_of(const LadderRung& rung) {
  TextRuns runs;
  for (const LadderSentence& sentence : rung.sentences) {
    const Token lead = sentence.missing ? Token::dim : Token::text;
    runs.push_back({(runs.empty() ? "" : " ") + sentence.lead + ":", Face::bold, lead, 0, false});
    runs.push_back({" " + sentence.words, Face::text, Token::dim, 0, false});
  }
  return runs;
}

// The rung's own place is a button; what leads to its source lies on it.
void draw_rung(const LadderScene& scene, const LadderRung& rung, const Columns& c, float width, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const TextRuns idea = idea_of(rung), sentences = sentences_of(rung);
  constexpr int kLines = 14;
  const float button = rung.before.empty() || rung.cpu ? 0 : text_width(Face::text, 12, tr("what differs")) + s.px(28);
  const float wide = std::max(s.px(120), width - s.px(kIndent) - button);
  const float top = idea.empty() ? 0 : draw_paragraph(nullptr, {}, wide, 13, idea, kLines, false) + s.px(2);
  const float text =
      top + (sentences.empty() ? 0 : draw_paragraph(nullptr, {}, wide, kWords, sentences, kLines, false));
  const float height = s.px(kLine + (text > 0 ? kPad : 0)) + text;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box box{at, {at.x + width, at.y + height}}, line{at, {at.x + width, at.y + s.px(kLine)}};
  ImGui::SetNextItemAllowOverlap();
  ImGui::BeginDisabled(rung.peer);
  if (ImGui::InvisibleButton(("rung_" + rung.kernel).c_str(), {width, height}, ImGuiButtonFlags_EnableNav)) {
    commands.push_back(ChooseBenchKernel{rung.kernel});
    if (scene.value > 0) commands.push_back(ChooseBenchValue{scene.value});
    commands.push_back(ChooseWorkspace{Workspace::profile});
  }
  ImGui::EndDisabled();
  if (ImGui::IsItemHovered())
    list->AddRectFilled({box.min.x - s.px(6), box.min.y}, {box.max.x + s.px(6), box.max.y},
                        colour(s.theme, Token::field), s.px(4));
  draw_name(list, line, rung, c);
  draw_bar(list, line, scene, rung, c);
  for (std::size_t n = 0; n < c.figures; ++n)
    draw_figure(list, {{at.x + c.figure(n), at.y}, {at.x + c.figure(n) + s.px(kFigure), line.max.y}}, rung.figures[n]);
  draw_paragraph(list, {at.x + s.px(kIndent), line.max.y}, wide, 13, idea, kLines);
  draw_paragraph(list, {at.x + s.px(kIndent), line.max.y + top}, wide, kWords, sentences, kLines);
  const bool on_name = ImGui::IsMouseHoveringRect({box.min.x, box.min.y}, {box.min.x + c.time, line.max.y});
  if (on_name && rung.peer && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled))
    show_tooltip(rung.name == rung.kernel ? rung.name : phrase("{}: {} in files", rung.name, rung.kernel));
  if (on_name && !rung.peer)
    tooltip(by_touch() ? phrase("Tap: {} in Profile", rung.kernel) : phrase("Click: {} in Profile", rung.kernel));
  if (button > 0) {
    ImGui::SetCursorScreenPos({box.max.x - button + s.px(16), std::max(line.max.y, box.max.y - s.px(30))});
    if (toggle(phrase("what differs##{}", rung.kernel).c_str(), true,
               phrase("The sources of {} and {} side by side", rung.before, rung.kernel).c_str()))
      commands.push_back(CompareSources{{rung.before, rung.kernel}});
  }
  const float under = std::floor(box.max.y) + 0.5F;
  list->AddLine({box.min.x, under}, {box.max.x, under}, colour(s.theme, Token::line), std::max(1.0F, s.px(1)));
  ImGui::SetCursorScreenPos({at.x, box.max.y + s.px(2)});
}

void draw_rungs(const LadderScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inset = s.px(6), width = ImGui::GetContentRegionAvail().x - 2 * inset;
  const Columns c = columns_of(scene, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_head(list, scene, {{at.x + inset, at.y}, {at.x + inset + width, at.y + s.px(kHead)}}, c);
  ImGui::SetCursorScreenPos({at.x + inset, at.y + s.px(kHead + 2)});
  for (const LadderRung& rung : scene.rungs) {
    draw_rung(scene, rung, c, width, commands);
    ImGui::SetCursorScreenPos({at.x + inset, ImGui::GetCursorScreenPos().y});
  }
  ImGui::SetCursorScreenPos({at.x + inset, ImGui::GetCursorScreenPos().y + s.px(4)});
  dim_text(
      phrase("{} A filled triangle means better than the previous rung, and a hollow one means worse.", scene.note));
}

}  // namespace

void draw_ladder(const LadderScene& scene, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("ladder", size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), 0));
    if (!scene.empty.empty()) {
      heading(tr("Ladder"));
      dim_text(scene.empty);
    } else {
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      if (ImGui::BeginChild("rungs", {0, 0}, ImGuiChildFlags_NavFlattened)) draw_rungs(scene, commands);
      fade_where_more();
      ImGui::EndChild();
      ImGui::PopStyleColor();
    }
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
