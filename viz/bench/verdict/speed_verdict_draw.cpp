// The verdict, in a strip over the charts: first what is faster than what, then why.
#include "viz/bench/verdict/speed_verdict_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "viz/bench/panel/sweep_draw.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

constexpr int kStripLines = 3, kAllLines = 1000;
constexpr float kHeadlineShare = 0.5F;     // of the width, beside the chips
constexpr float kChips = 26, kOffer = 18;  // the chips' own line, a run that is offered, logical pixels

// Opens the sweep panel where it has no room of its own.
void folded_panel(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  if (toggle(tr("sweep ..."), true, tr("The kernels, the axis, the problem and Run"))) ImGui::OpenPopup("sweep_panel");
  const ImVec2 room = ImGui::GetMainViewport()->WorkSize;
  ImGui::SetNextWindowSize({s.px(236), std::min(s.px(560), room.y - s.px(24))});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(16), s.px(12)));
  const bool open = ImGui::BeginPopup("sweep_panel");
  ImGui::PopStyleVar();
  if (!open) return;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(6)));
  draw_sweep_panel(state, model, cache, commands);
  ImGui::PopStyleVar();
  ImGui::EndPopup();
}

// What can be looked at while nothing is shown: the newest run of this machine and the largest that came with the
// program; the others are in the list of runs.
std::vector<const ListedRun*> offered(const State& state, const Model& model) {
  std::vector<const ListedRun*> runs;
  if (model.task.running || !shown_runs(state.document.runs, model).empty()) return runs;
  bool own = false;
  for (const ListedRun& r : model.runs) {
    const bool is_own = r.from == RunFrom::here;
    if (state.document.runs.removed.contains(r.run.id) || r.run.rows.empty() || (is_own && own)) continue;
    own |= is_own;
    runs.push_back(&r);
  }
  constexpr std::size_t kMost = 3;
  const auto rank = [](const ListedRun* r) { return std::pair(r->from == RunFrom::bundled, -std::ssize(r->run.rows)); };
  std::ranges::stable_sort(runs, {}, rank);
  if (runs.size() > kMost) runs.resize(kMost);
  return runs;
}

void offers(const State& state, const std::vector<const ListedRun*>& runs, Commands& commands) {
  for (const ListedRun* r : runs) {
    const std::string run = words_of(state.document.runs, r->run);
    const std::size_t rows = r->run.rows.size();
    const std::string words =
        r->from == RunFrom::bundled
            ? plural(rows, "Open the bundled run {1}, {0} row", "Open the bundled run {1}, {0} rows", run)
        : r->from == RunFrom::here
            ? plural(rows, "Open the last run of {1}, {0} row", "Open the last run of {1}, {0} rows", run)
            : plural(rows, "Open the run of {1}, {0} row", "Open the run of {1}, {0} rows", run);
    if (toggle((words + "##offer_" + r->run.id).c_str(), true, tr("Shows this run's rows and sweep")))
      commands.push_back(TakeSweepOf{r->run.id});
  }
}

// The run whose rows are of another sweep than the one that is set up, where it can be set up.
const ListedRun* other_sweep(const Model& model, const BenchSlice& slice) {
  if (slice.of_this_sweep || slice.planned) return nullptr;
  const ListedRun* run = find_run(model, slice.run);
  return run == nullptr || run->run.spec.empty() ? nullptr : run;
}

// A line of the reason: its lead, up to the first colon, stands out.
TextRuns line_runs(std::string_view line) {
  const std::size_t colon = line.find(": ");
  constexpr std::size_t kLongest = 18;  // leads are short
  if (colon == std::string_view::npos || colon > kLongest)
    return {{std::string(line), Face::text, Token::dim, 0, false}};
  return {{std::string(line.substr(0, colon)) + " ", Face::bold, Token::text, 0, false},
          {std::string(line.substr(colon + 2)), Face::text, Token::dim, 0, false}};
}

// How many lines on screen a paragraph takes.
int lines_of(const TextRuns& runs, float width, float size) {
  const float one = draw_paragraph(nullptr, {}, width, size, {{"x", Face::text, Token::dim, 0, false}}, 1, false);
  constexpr int kMost = 12;
  return static_cast<int>(std::lround(draw_paragraph(nullptr, {}, width, size, runs, kMost, false) / one));
}

struct DrawnReason {
  float height = 0;   // pixels
  bool whole = true;  // false: there is more than was drawn
};

// Line by line, those that are whole within `room` lines on screen.
DrawnReason draw_reason(ImDrawList* list, ImVec2 at, float width, std::string_view reason, int room, bool draw) {
  constexpr int kLines = 12;  // more than any line takes, at 300 % of a small window too
  constexpr float kSize = 13;
  DrawnReason drawn;
  while (!reason.empty()) {
    const std::size_t end = reason.find('\n');
    const TextRuns runs = line_runs(reason.substr(0, end));
    const int lines = lines_of(runs, width, kSize);
    // The first line matters most: where even that has no room it is cut, and the rest of it is a click away.
    if (lines > room) {
      if (drawn.height == 0 && room > 0) drawn.height = draw_paragraph(list, at, width, kSize, runs, room, draw);
      return {drawn.height, false};
    }
    room -= lines;
    drawn.height += draw_paragraph(list, {at.x, at.y + drawn.height}, width, kSize, runs, kLines, draw);
    reason = end == std::string_view::npos ? std::string_view() : reason.substr(end + 1);
  }
  return drawn;
}

struct Page {
  BenchPage page;
  const char *label, *help;
};
constexpr std::array kPages{
    Page{BenchPage::charts, marked("Charts"), marked("Four charts along the axis, and the table (F7)")},
    Page{BenchPage::ladder, marked("Ladder"),
         marked("The rungs on one problem: what changed from rung to rung, and why (F7)")},
    Page{BenchPage::sources, marked("Sources"), marked("The sources of two rungs side by side")},
    Page{BenchPage::tiles, marked("Tiles"),
         marked("Every tile of the chosen kernel: which tiles fit, and how fast each is")},
    Page{BenchPage::ranks, marked("Ranks"), marked("When each rank of a ring computed, waited and sent")},
};

// Lanes have a place where some ring that is shown has them.
bool has_place(const Page& p, const State& state, const BenchCache& cache) {
  return p.page != BenchPage::ranks || cache.has_ranks || state.view.bench.page == p.page;
}

// Pixels, the gaps between them included.
float pages_width(const State& state, const BenchCache& cache) {
  float width = -style().px(4);
  for (const Page& p : kPages)
    if (has_place(p, state, cache)) width += text_width(Face::text, 12, tr_of(p.label)) + style().px(16);
  return width;
}

void pages(const State& state, const BenchCache& cache, Commands& commands) {
  for (const Page& p : kPages) {
    if (!has_place(p, state, cache)) continue;
    if (&p != kPages.data()) ImGui::SameLine(0, style().px(4));
    if (toggle(tr_of(p.label), state.view.bench.page == p.page, tr_of(p.help)))
      commands.push_back(ChooseBenchPage{p.page});
  }
}

}  // namespace

void draw_bench_strip(const State& state, const Model& model, BenchCache& cache, bool folded, Commands& commands) {
  const Style& s = style();
  const BenchVerdict verdict = strip_words(state, cache);
  const bool charts = state.view.bench.page == BenchPage::charts;
  const float width = ImGui::GetContentRegionAvail().x;
  const bool low = ImGui::GetMainViewport()->WorkSize.y < s.px(520);  // little height: the figures come first
  const float size = low ? 14.0F : 17.0F;
  constexpr int kLines = 12;
  const TextRuns headline{{strip_headline(verdict, folded), Face::bold, Token::text, 0, false}};
  const float left = s.px(20), wide = std::max(s.px(120), width - left - s.px(24));
  // Three lines with the headline; the rest is behind "more", all of it where there is little height. What can be
  // folded has its chip whether or not it is, so that the chips beside the headline stay where they are.
  const int beside = low ? 0 : kStripLines - lines_of(headline, width * kHeadlineShare, size);
  const bool can_fold = !draw_reason(nullptr, {}, wide, verdict.reason, beside, false).whole;
  const int reason_lines = can_fold && !cache.reason_open ? std::max(0, beside) : kAllLines;
  const char* fold_words = cache.reason_open ? tr("less") : tr("more");
  const float labels = (charts ? text_width(Face::text, 12, tr("labels")) + s.px(20) : 0) + pages_width(state, cache) +
                       (can_fold ? text_width(Face::text, 12, fold_words) + s.px(20) : 0);
  const std::string hidden = cache.hidden.empty() || !charts ? "" : phrase("{} hidden", cache.hidden.size());
  const float back = hidden.empty() ? 0 : text_width(Face::text, 12, hidden) + s.px(20);
  const float fold = folded ? text_width(Face::text, 12, tr("sweep ...")) + s.px(20) : 0;
  const float right = labels + fold + back + s.px(24), pad = s.px(low ? 11 : 12);
  // Beside the headline where it keeps most of the line, else over it.
  const bool over = width - left - right < width * 0.45F;
  const float room = over ? width - left - s.px(24) : width - left - right;
  const float headline_height = draw_paragraph(nullptr, {}, room, size, headline, kLines, false);
  // The chips stand beside the headline alone.
  const float reason_room = draw_reason(nullptr, {}, wide, verdict.reason, reason_lines, false).height;
  const float reason_height = reason_room > 0 ? s.px(4) + reason_room : 0;
  const auto runs = charts || cache.scene.slice.planned ? offered(state, model) : std::vector<const ListedRun*>();
  const ListedRun* other = charts ? other_sweep(model, cache.scene.slice) : nullptr;
  const float offer_height = s.px(kOffer) * static_cast<float>(runs.size() + (other != nullptr ? 1 : 0));
  const float first = pad + (over ? s.px(kChips) : 0);
  const float height = first + headline_height + reason_height + offer_height + pad;
  if (begin_card("strip", ImVec2(width, height))) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    const ImU32 bar = verdict.kernel.empty() ? colour(s.theme, Token::faint) : kernel_colour(s.theme, verdict.kernel);
    list->AddRectFilled(at, {at.x + s.px(5), at.y + height}, bar, s.px(8), ImDrawFlags_RoundCornersLeft);
    draw_paragraph(list, {at.x + left, at.y + first}, room, size, headline, kLines);
    if (reason_height > 0)
      draw_reason(list, {at.x + left, at.y + first + headline_height + s.px(4)}, wide, verdict.reason, reason_lines,
                  true);
    if (offer_height > 0) {
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(4), s.px(4)));
      ImGui::SetCursorPos({left - s.px(6), first + headline_height + reason_height + s.px(4)});
      ImGui::BeginGroup();
      offers(state, runs, commands);
      if (other != nullptr && toggle(tr("Set up the sweep that these rows came from"), true,
                                     tr("Kernels, axis and problem of this run, on the left")))
        commands.push_back(TakeSweepOf{other->run.id});
      ImGui::EndGroup();
      ImGui::PopStyleVar();
    }
    ImGui::SetCursorPos({over ? left - s.px(6) : width - labels - fold - back - s.px(12), over ? s.px(8) : pad});
    if (!hidden.empty()) {
      if (toggle((hidden + "###hidden").c_str(), true, tr("Click to show all lines"))) cache.hidden.clear();
      ImGui::SameLine(0, s.px(8));
    }
    if (folded) {
      folded_panel(state, model, cache, commands);
      ImGui::SameLine(0, s.px(8));
    }
    if (can_fold) {
      if (toggle((std::string(fold_words) + "###reason").c_str(), cache.reason_open, tr("Why, in a few lines")))
        cache.reason_open = !cache.reason_open;
      ImGui::SameLine(0, s.px(8));
    }
    if (charts) {
      if (toggle(tr("labels"), cache.labels, tr("Names at the ends of the lines"))) cache.labels = !cache.labels;
      ImGui::SameLine(0, s.px(8));
    }
    pages(state, cache, commands);
  }
  ImGui::EndChild();
}

}  // namespace attn
