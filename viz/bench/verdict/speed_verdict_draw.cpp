// The verdict, in a strip over the charts: first what is faster than what, then why.
#include "viz/bench/verdict/speed_verdict_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "viz/bench/panel/sweep_draw.h"
#include "viz/bench/scene/absent_kernel.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

constexpr int kStripLines = 3, kAllLines = 1000;
constexpr float kChips = 26, kOffer = 18, kLeft = 20;  // the chips' own line, a button's, where words begin: logical

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
// program, those with the most kernels first; the others are in the list of runs.
std::vector<const ListedRun*> offered(const State& state, const Model& model, BenchCache& cache) {
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
  std::ranges::stable_sort(runs, [&](const ListedRun* a, const ListedRun* b) {
    return opens_before(*a, held(*a, cache).kernels, *b, held(*b, cache).kernels);
  });
  if (runs.size() > kMost) runs.resize(kMost);
  return runs;
}

// A button under the words: what can be looked at or set up.
struct Offer {
  std::string words, id, help;
  Commands commands;
};

// The run whose rows are of another sweep than the one that is set up, where it can be set up.
const ListedRun* other_sweep(const Model& model, const BenchSlice& slice) {
  if (slice.of_this_sweep || slice.planned) return nullptr;
  const ListedRun* run = find_run(model, slice.run);
  return run == nullptr || run->run.spec.empty() ? nullptr : run;
}

// To a kernel that was asked for and has no row here.
Offer offer_of(const WayToKernel& way) {
  Offer offer{way.words, "kernel", way.help, {}};
  if (way.all_rows) offer.commands.push_back(FilterRows{""});
  if (!way.run.empty()) offer.commands.push_back(ShowRun{way.run, true});
  if (way.sweep) offer.commands.push_back(SetSweep{*way.sweep});
  if (way.value) offer.commands.push_back(ChooseBenchValue{*way.value});
  return offer;
}

std::vector<Offer> offers(const State& state, const Model& model, BenchCache& cache) {
  const bool charts = state.view.bench.page == BenchPage::charts;
  std::vector<Offer> all;
  if (!charts && !cache.scene.slice.planned) return all;
  if (charts && !cache.scene.way.words.empty()) all.push_back(offer_of(cache.scene.way));
  for (const ListedRun* r : offered(state, model, cache)) {
    const std::string run = words_of(state.document.runs, r->run);
    const std::size_t n = held(*r, cache).kernels;
    all.push_back({r->from == RunFrom::bundled
                       ? plural(n, "Open the bundled run {1}, {0} kernel", "Open the bundled run {1}, {0} kernels", run)
                   : r->from == RunFrom::here
                       ? plural(n, "Open the last run of {1}, {0} kernel", "Open the last run of {1}, {0} kernels", run)
                       : plural(n, "Open the run of {1}, {0} kernel", "Open the run of {1}, {0} kernels", run),
                   r->run.id,
                   tr("Shows this run's rows and sweep"),
                   {TakeSweepOf{r->run.id}}});
  }
  if (const ListedRun* other = charts ? other_sweep(model, cache.scene.slice) : nullptr; other != nullptr)
    all.push_back({tr("Set up the sweep that these rows came from"),
                   other->run.id,
                   tr("Kernels, axis and problem of this run, on the left"),
                   {TakeSweepOf{other->run.id}}});
  return all;
}

// Side by side in rows of this width: `place(offer, width, x, row)`, pixels. How many rows they take.
template <class Place>
int flow(const std::vector<Offer>& offers, float width, const Place& place) {
  const Style& s = style();
  float x = 0;
  int row = 0;
  for (const Offer& o : offers) {
    const float own = std::min(width, text_width(Face::text, 12, o.words) + s.px(12));
    if (x > 0 && x + own > width) x = 0, ++row;
    place(o, own, x, row);
    x += own + s.px(8);
  }
  return offers.empty() ? 0 : row + 1;
}

void draw_offers(const std::vector<Offer>& offers, ImVec2 at, float width, int rows, Commands& commands) {
  const Style& s = style();
  flow(offers, width, [&](const Offer& o, float own, float x, int row) {
    if (row >= rows) return;
    ImGui::SetCursorPos({at.x + x, at.y + s.px(kOffer) * static_cast<float>(row)});
    // Where its own width is there it is whole, whatever rounding says.
    const std::string words = own < width ? o.words : fitted_text(Face::text, 12, o.words, own - s.px(12));
    if (toggle((words + "##offer_" + o.id).c_str(), true, o.help.c_str()))
      commands.insert(commands.end(), o.commands.begin(), o.commands.end());
  });
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
  const char* by_key = nullptr;
};
constexpr std::array kPages{
    Page{BenchPage::charts, marked("Charts"), marked("Four charts along the axis, and the table"), "F7"},
    Page{BenchPage::ladder, marked("Ladder"),
         marked("The rungs on one problem: what changed from rung to rung, and why"), "F7"},
    Page{BenchPage::sources, marked("Sources"), marked("Source code of two kernels side by side, with what changed")},
    Page{BenchPage::tiles, marked("Tiles"),
         marked("Every tile of the chosen kernel: which tiles fit, and how fast each is")},
    Page{BenchPage::ranks, marked("Ranks"), marked("When each rank of a ring computed, waited and sent")},
};

// Lanes have a place where some ring that is shown has them.
bool has_place(const Page& p, const State& state, const BenchCache& cache) {
  return p.page != BenchPage::ranks || cache.has_ranks || state.view.bench.page == p.page;
}

float chip_width(std::string_view words) {
  return words.empty() ? 0 : text_width(Face::text, 12, words) + style().px(20);
}

// Pixels, the gaps between them included.
float pages_width(const State& state, const BenchCache& cache) {
  float width = -style().px(4);
  for (const Page& p : kPages)
    if (has_place(p, state, cache)) width += text_width(Face::text, 12, tr_of(p.label)) + style().px(16);
  return width;
}

// Their tooltips stand above: the words below stay in sight.
void pages(const State& state, const BenchCache& cache, Commands& commands) {
  for (const Page& p : kPages) {
    if (!has_place(p, state, cache)) continue;
    if (&p != kPages.data()) ImGui::SameLine(0, style().px(4));
    const std::string help = p.by_key == nullptr ? tr_of(p.help) : with_key(tr_of(p.help), p.by_key);
    if (toggle(tr_of(p.label), state.view.bench.page == p.page, help.c_str(), true))
      commands.push_back(ChooseBenchPage{p.page});
  }
}

// What the strip holds and how its rows are shared out: three in all, the chips' own among them, four where a kernel
// was asked for, and the rest behind "more".
struct Strip {
  BenchVerdict verdict;
  TextRuns headline;
  std::vector<Offer> offers;
  std::string hidden;  // "2 hidden": brings them back
  bool low = false;    // little height: the figures come first
  bool over = false;   // the chips stand over the headline, not beside it
  bool can_fold = false;
  float size = 17;                      // of the headline, logical
  float width = 0, wide = 0, room = 0;  // of the card, of its words, of the headline: pixels
  float chips = 0;                      // their width
  bool has_labels = false;              // the chip of names at the ends of lines
  int headline_rows = 1, reason_rows = 0, offer_rows = 0;
  float headline_height = 0, reason_height = 0, height = 0;
};

constexpr float kNarrow = 480;  // logical

void share_rows(Strip& strip, bool open) {
  const bool answers = strip.verdict.answers;
  const int rows = kStripLines + (answers ? 1 : 0) - (strip.over ? 1 : 0) - (strip.offers.empty() ? 0 : 1);
  const int headline = lines_of(strip.headline, strip.room, strip.size);
  // Between a phone's edges it is whole: nothing else says what to press.
  const bool narrow = ImGui::GetMainViewport()->WorkSize.x < style().px(kNarrow);
  const int most = narrow ? headline : std::max(1, std::min(headline, rows));
  int reason_rows = strip.low ? 0 : std::max(0, rows - headline);
  // No tip has the rest of its first line for a finger.
  const std::string_view first = std::string_view(strip.verdict.reason).substr(0, strip.verdict.reason.find('\n'));
  if (answers || (by_touch() && reason_rows > 0))
    reason_rows = std::max(reason_rows, lines_of(line_runs(first), strip.wide, 13));
  const int offer_rows = flow(strip.offers, strip.wide, [](const Offer&, float, float, int) {});
  strip.can_fold = headline > most || offer_rows > 1 ||
                   !draw_reason(nullptr, {}, strip.wide, strip.verdict.reason, reason_rows, false).whole;
  const bool all = open || !strip.can_fold;
  strip.headline_rows = all ? kAllLines : most;
  strip.reason_rows = all ? kAllLines : reason_rows;
  strip.offer_rows = all ? offer_rows : std::min(offer_rows, 1);
  strip.headline_height =
      draw_paragraph(nullptr, {}, strip.room, strip.size, strip.headline, strip.headline_rows, false);
  const float reason = draw_reason(nullptr, {}, strip.wide, strip.verdict.reason, strip.reason_rows, false).height;
  strip.reason_height = reason > 0 ? style().px(4) + reason : 0;
}

Strip strip_of(const State& state, const Model& model, BenchCache& cache, bool folded) {
  const Style& s = style();
  const bool charts = state.view.bench.page == BenchPage::charts;
  Strip strip;
  strip.verdict = strip_words(state, cache);
  strip.headline = {{strip_headline(strip.verdict, folded), Face::bold, Token::text, 0, false}};
  strip.offers = offers(state, model, cache);
  if (!cache.hidden.empty() && charts) strip.hidden = phrase("{} hidden", cache.hidden.size());
  strip.low = ImGui::GetMainViewport()->WorkSize.y < s.px(520);
  strip.size = strip.low ? 14.0F : 17.0F;
  strip.width = ImGui::GetContentRegionAvail().x;
  strip.wide = std::max(s.px(120), strip.width - s.px(kLeft + 24));
  // The headline keeps clear of the fold's chip whether or not it is there.
  const bool may_fold = !strip.verdict.reason.empty() || !strip.offers.empty();
  strip.chips = (charts ? chip_width(tr("labels")) : 0) + pages_width(state, cache) + chip_width(strip.hidden) +
                (folded ? chip_width(tr("sweep ...")) : 0) +
                (may_fold ? chip_width(cache.reason_open ? tr("less") : tr("more")) : 0);
  strip.has_labels = charts;
  // Between a phone's edges the pages come first.
  if (charts && s.px(kLeft) + strip.chips > strip.width) {
    strip.has_labels = false;
    strip.chips -= chip_width(tr("labels"));
  }
  // Beside the headline where it keeps most of the line, else over it.
  const float beside = strip.width - s.px(kLeft) - strip.chips - s.px(24);
  strip.over = beside < strip.width * 0.45F;
  strip.room = strip.over ? strip.width - s.px(kLeft + 24) : beside;
  share_rows(strip, cache.reason_open);
  if (may_fold && !strip.can_fold) strip.chips -= chip_width(cache.reason_open ? tr("less") : tr("more"));
  const float pad = s.px(strip.low ? 11 : 12);
  strip.height = 2 * pad + (strip.over ? s.px(kChips) : 0) + strip.headline_height + strip.reason_height +
                 s.px(kOffer) * static_cast<float>(strip.offer_rows);
  return strip;
}

void draw_chips(const Strip& strip, const State& state, const Model& model, BenchCache& cache, bool folded,
                Commands& commands) {
  const Style& s = style();
  if (!strip.hidden.empty()) {
    if (toggle((strip.hidden + "###hidden").c_str(), true,
               for_hands(tr("Click to show all lines"), tr("Tap to show all lines")), true))
      cache.hidden.clear();
    ImGui::SameLine(0, s.px(8));
  }
  if (folded) {
    folded_panel(state, model, cache, commands);
    ImGui::SameLine(0, s.px(8));
  }
  if (strip.can_fold) {
    const std::string words = std::string(cache.reason_open ? tr("less") : tr("more")) + "###reason";
    if (toggle(words.c_str(), cache.reason_open, tr("Why, in a few lines"), true))
      cache.reason_open = !cache.reason_open;
    ImGui::SameLine(0, s.px(8));
  }
  if (strip.has_labels) {
    if (toggle(tr("labels"), cache.labels, tr("Names at the ends of the lines"), true)) cache.labels = !cache.labels;
    ImGui::SameLine(0, s.px(8));
  }
  pages(state, cache, commands);
}

}  // namespace

void draw_bench_strip(const State& state, const Model& model, BenchCache& cache, bool folded, Commands& commands) {
  const Style& s = style();
  const Strip strip = strip_of(state, model, cache, folded);
  if (begin_card("strip", ImVec2(strip.width, strip.height))) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetWindowPos();
    const float left = s.px(kLeft), pad = s.px(strip.low ? 11 : 12), first = pad + (strip.over ? s.px(kChips) : 0);
    const std::string& kernel = strip.verdict.kernel;
    const ImU32 bar = kernel.empty() ? colour(s.theme, Token::faint) : kernel_colour(s.theme, kernel);
    list->AddRectFilled(at, {at.x + s.px(5), at.y + strip.height}, bar, s.px(8), ImDrawFlags_RoundCornersLeft);
    draw_paragraph(list, {at.x + left, at.y + first}, strip.room, strip.size, strip.headline, strip.headline_rows);
    if (strip.reason_height > 0)
      draw_reason(list, {at.x + left, at.y + first + strip.headline_height + s.px(4)}, strip.wide, strip.verdict.reason,
                  strip.reason_rows, true);
    draw_offers(strip.offers, {left - s.px(6), first + strip.headline_height + strip.reason_height + s.px(4)},
                strip.wide, strip.offer_rows, commands);
    const float chips = strip.width - strip.chips - s.px(12);
    ImGui::SetCursorPos({strip.over ? left - s.px(6) : chips, strip.over ? s.px(8) : pad});
    draw_chips(strip, state, model, cache, folded, commands);
  }
  ImGui::EndChild();
}

}  // namespace attn
