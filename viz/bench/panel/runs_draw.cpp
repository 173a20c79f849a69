// A tick shows a run on the charts; its menu names, compares, exports and removes it.
#include "viz/bench/panel/runs_draw.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "imgui.h"

#include "imgui_stdlib.h"
#include "kernels/base/text.h"
#include "profiling/session/run.h"
#include "viz/bench/scene/answers.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/marks.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

// Runs of the list before it opens; where the window is as high as that, each says below its name what it holds.
constexpr std::size_t kShort = 5, kShortOfHeld = 4;
constexpr float kHigh = 800;  // logical pixels
constexpr float kEntryText = 13, kSmall = 12, kHeld = 11;
constexpr float kHeldLine = 13;  // logical pixels below a name

// Sets a name, Enter takes it. The text begins as what it is called now.
void name_field(const BenchRuns& list, const ListedRun& r, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  if (ImGui::IsWindowAppearing()) {
    const auto given = list.names.find(r.run.id);
    cache.run_name = given == list.names.end() ? r.run.name : given->second;
  }
  ImGui::SetNextItemWidth(s.px(220));
  const bool entered = ImGui::InputTextWithHint("##name", run_words(r.run).c_str(), &cache.run_name,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  tooltip(for_hands(tr("Your own name for this run. Press Enter to save the name."), tr("Your own name for this run")));
  if (!entered) return;
  commands.push_back(RenameRun{r.run.id, cache.run_name});
  ImGui::CloseCurrentPopup();
}

void run_menu(const BenchRuns& list, const ListedRun& r, BenchCache& cache, Commands& commands) {
  if (!ImGui::BeginPopup("run_menu")) return;
  begin_menu_rows();
  name_field(list, r, cache, commands);
  ImGui::Separator();
  const bool reference = list.reference == r.run.id;
  if (ImGui::Selectable(reference ? tr("Stop comparing with it") : tr("Compare the other runs with this one")))
    commands.push_back(CompareWithRun{reference ? "" : r.run.id});
  if (!r.run.spec.empty() && ImGui::Selectable(tr("Set up its sweep"))) commands.push_back(TakeSweepOf{r.run.id});
  if (ImGui::Selectable(tr("Export its rows as CSV"))) commands.push_back(ExportCsv{r.run.id});
  if (ImGui::Selectable(tr("Export its rows as JSON"))) commands.push_back(ExportJson{r.run.id});
  if (ImGui::Selectable(tr("Export its timeline for Perfetto"))) commands.push_back(ExportTrace{r.run.id});
  tooltip(tr("The start and duration of every stage, point by point"));
  if (r.from != RunFrom::bundled && !r.growing) {
    ImGui::Separator();
    if (ImGui::Selectable(tr("Remove"))) commands.push_back(RemoveRun{r.run.id});
    if (r.from == RunFrom::here)
      tooltip(for_hands(tr("Ctrl+Z restores the run until the window closes, when its file is deleted."),
                        tr("Its file is deleted when the window closes")));
  }
  end_menu();
}

std::string details_of(const BenchRuns& list, const ListedRun& r, const std::vector<std::string>& holds) {
  const Provenance& p = r.run.provenance;
  std::string words =
      words_of(list, r.run) + "\n" + (holds.empty() ? "" : holds.front() + "\n") +
      plural(r.run.rows.size(), "{} row of {}", "{} rows of {}", p.device.empty() ? tr("no device") : p.device);
  if (!r.run.date.empty())
    words += phrase(
        "\n"
        "Started {} {} UTC",
        r.run.date.substr(0, 10), r.run.date.substr(11, 5));
  if (const std::string versions = versions_words(p); !versions.empty()) words += "\n" + versions;
  if (r.growing) words += tr("\nIt is being measured.");
  if (r.from == RunFrom::bundled)
    words +=
        tr("\n"
           "Bundled with AttnScope.");
  if (r.from == RunFrom::file) words += phrase("\nFrom {}", p.file);
  return words;
}

// Logical pixels. A pattern follows the thickness: at this one each of eight shows whole.
constexpr float kSwatch = 25, kSwatchThick = 1.25F, kName = kSwatch + 5;

// A dotted line for a prediction, the pattern of its lines for a run.
void swatch(ImDrawList& list, ImVec2 left, float width, bool predicted, std::size_t order, ImU32 ink) {
  const std::array<ImVec2, 2> ends{left, ImVec2(left.x + width, left.y)};
  if (predicted) return draw_dotted(list, ends, ink, style().px(2));
  draw_patterned(list, ends, ink, style().px(kSwatchThick), order);
}

// The name, with the letter that its lines carry; as much of it as there is room for.
// `choices`: the longest first; the last is cut where none fits.
void draw_name(ImDrawList& list, const Box& box, const std::vector<std::string>& choices, const std::string& letter,
               bool on) {
  const Style& s = style();
  float x = box.min.x;
  if (!letter.empty()) {
    draw_text_in(&list, {{x, box.min.y}, {x + s.px(14), box.max.y}}, Align::left, Face::bold, kEntryText,
                 colour(s.theme, Token::text), letter);
    x += s.px(15);
  }
  const Box rest{{x, box.min.y}, box.max};
  const auto fits = [&](const std::string& words) { return text_width(Face::text, kEntryText, words) <= rest.width(); };
  const auto words = std::ranges::find_if(choices, fits);
  draw_text_in(&list, rest, Align::left, Face::text, kEntryText, colour(s.theme, on ? Token::text : Token::dim),
               words != choices.end() ? *words : fitted_text(Face::text, kEntryText, choices.back(), rest.width()));
}

struct RunLine {
  std::string id;
  std::vector<std::string> words, holds;  // the longest first
  std::string letter, tip;
  bool on = false, reference = false;
  std::size_t order = 0;
  const ListedRun* run = nullptr;  // none: what is predicted
};

void run_line(const BenchRuns& list, const RunLine& line, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  ImGui::PushID(line.id.c_str());
  ImVec2 at = ImGui::GetCursorScreenPos();
  bool on = line.on;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(1), s.px(1)));
  const float side = ImGui::GetFrameHeight();
  const float height = line.holds.empty() ? side : side + s.px(kHeldLine);
  const float beyond = s.px(beyond_edge(height / s.scale));
  at.y += beyond;
  ImGui::SetCursorScreenPos(at);
  if (ImGui::Checkbox("##show", &on)) commands.push_back(ShowRun{line.id, on});
  ImGui::PopStyleVar();
  const float left = at.x + side + s.px(7), more = line.run != nullptr ? s.px(18) : 0;
  ImGui::SameLine(0, 0);
  ImGui::SetCursorScreenPos({left, at.y - beyond});
  const float width = std::max(s.px(8), ImGui::GetContentRegionAvail().x - more);
  if (ImGui::InvisibleButton("name", {width, height + 2 * beyond})) commands.push_back(ShowRun{line.id, !line.on});
  const bool menu = line.run != nullptr && ImGui::IsItemClicked(ImGuiMouseButton_Right);
  tooltip(line.tip);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float middle = at.y + side / 2;
  const ImU32 ink = colour(s.theme, line.on ? Token::text : Token::faint);
  swatch(draw, {left, middle}, s.px(kSwatch), line.run == nullptr, line.order, ink);
  draw_name(draw, {{left + s.px(kName), at.y}, {left + width, at.y + side}}, line.words, line.letter, line.on);
  if (!line.holds.empty()) {
    const Box held{{left, at.y + side - s.px(1)}, {left + width + more, at.y + height}};
    const auto fits = [&](const std::string& w) { return text_width(Face::text, kHeld, w) <= held.width(); };
    const auto words = std::ranges::find_if(line.holds, fits);
    draw_text_in(&draw, held, Align::left, Face::text, kHeld, colour(s.theme, Token::dim),
                 words != line.holds.end() ? *words : fitted_text(Face::text, kHeld, line.holds.back(), held.width()));
  }
  if (line.reference)
    draw.AddLine({left + s.px(kName), at.y + side - s.px(1)}, {left + width, at.y + side - s.px(1)},
                 colour(s.theme, Token::text), s.px(1));
  if (line.run != nullptr) {
    ImGui::SameLine(0, 0);
    ImGui::SetCursorScreenPos({left + width, at.y});
    const bool pressed = ImGui::InvisibleButton("more", {more, height}, ImGuiButtonFlags_EnableNav);
    const ImU32 dots = colour(s.theme, ImGui::IsItemHovered() ? Token::text : Token::dim);
    for (int i = -1; i <= 1; ++i)
      draw.AddCircleFilled({left + width + more / 2 + static_cast<float>(i) * s.px(4.5F), middle}, s.px(1.3F), dots, 8);
    tooltip(tr("Name, compare, export, remove"));
    if (pressed || menu) ImGui::OpenPopup("run_menu");
    run_menu(list, *line.run, cache, commands);
  }
  ImGui::PopID();
}

RunLine line_of(const BenchRuns& list, const Model& model, const ListedRun& r,
                const std::vector<const ListedRun*>& shown, bool high, BenchCache& cache) {
  RunLine line;
  line.id = r.run.id;
  line.words = listed_choices(list, r.run, model.runs);
  const std::vector<std::string>& holds = held(r, cache).words;
  if (high) line.holds = holds;
  line.tip = details_of(list, r, holds);
  line.run = &r;
  line.reference = list.reference == r.run.id;
  const auto at = std::find(shown.begin(), shown.end(), &r);
  line.on = at != shown.end();
  if (line.on && shown.size() > 1) {
    line.order = static_cast<std::size_t>(at - shown.begin());
    line.letter = std::string(1, static_cast<char>('A' + line.order));
  }
  return line;
}

std::vector<const ListedRun*> listed_runs(const BenchRuns& list, const Model& model,
                                          const std::vector<const ListedRun*>& shown) {
  std::vector<const ListedRun*> listed = shown;
  // What came with the program is offered however many runs there are.
  for (const bool bundled : {true, false})
    for (const ListedRun& r : model.runs)
      if ((r.from == RunFrom::bundled) == bundled && !list.removed.contains(r.run.id) &&
          std::find(shown.begin(), shown.end(), &r) == shown.end())
        listed.push_back(&r);
  return listed;
}

// Each stays where it was listed first, so that nobody clicks what has just moved there: a tick moves none. What is new
// comes first where it is ticked, else last; under the pointer always last.
void keep_order(std::vector<const ListedRun*>& listed, const BenchRuns& list, RunOrder& order) {
  std::ranges::stable_sort(listed, {}, [&](const ListedRun* r) -> std::ptrdiff_t {
    const auto at = std::ranges::find(order.ids, r->run.id);
    const bool first = at == order.ids.end() && !order.held && is_shown(list, r->run.id);
    return first ? -1 : at - order.ids.begin();
  });
  order.ids.clear();
  for (const ListedRun* r : listed) order.ids.push_back(r->run.id);
}

// Those of the short list: all that are ticked, whatever their age, and of the others the first. Under the pointer none
// goes.
std::vector<const ListedRun*> in_sight(const std::vector<const ListedRun*>& listed, const BenchRuns& list,
                                       std::size_t few, RunOrder& order) {
  const auto ticked = [&](const ListedRun* r) { return is_shown(list, r->run.id); };
  const auto on = static_cast<std::size_t>(std::ranges::count_if(listed, ticked));
  std::size_t room = few > on ? few - on : 0;
  std::vector<const ListedRun*> lines;
  for (const ListedRun* r : listed) {
    const bool others = !ticked(r) && room > 0;
    if (others) --room;
    if (others || ticked(r) || (order.held && order.lines.contains(r->run.id))) lines.push_back(r);
  }
  order.lines.clear();
  for (const ListedRun* r : lines) order.lines.insert(r->run.id);
  return lines;
}

}  // namespace

void draw_run_list(const State& state, const Model& model, BenchCache& cache, Commands& commands) {
  const Style& s = style();
  const BenchRuns& list = state.document.runs;
  const std::vector<const ListedRun*> shown = shown_runs(list, model);
  std::vector<const ListedRun*> listed = listed_runs(list, model, shown);
  ImGui::PushFont(s.fonts.bold, s.px(kEntryText));
  ImGui::TextUnformatted(tr("Runs"));
  ImGui::PopFont();
  const bool high = ImGui::GetIO().DisplaySize.y >= s.px(kHigh);
  const std::size_t few = high ? kShortOfHeld : kShort;
  if (listed.size() > few) {
    const std::string words = cache.all_runs ? tr("fewer") : phrase("all {}", listed.size());
    ImGui::SameLine(ImGui::GetContentRegionMax().x - text_width(Face::text, kSmall, words) - s.px(14));
    if (toggle((words + "###all_runs").c_str(), cache.all_runs,
               tr("All runs: measured here, opened from files, or bundled"))) {
      cache.all_runs = !cache.all_runs;
      cache.run_order.held = false;
    }
  }
  RunLine predicted;
  predicted.id = kPredictedRun;
  predicted.words = {tr("Predicted, next run")};
  predicted.tip =
      tr("What is known about the planned sweep before it runs: bytes, memory, and the registers and shared memory "
         "that the compiler reports. Dotted lines next to measured lines belong to the measured run and stay visible.");
  predicted.on = is_shown(list, kPredictedRun) || shown.empty();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(3)));
  run_line(list, predicted, cache, commands);
  RunOrder& order = cache.run_order;
  keep_order(listed, list, order);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  for (const ListedRun* r : in_sight(listed, list, cache.all_runs ? listed.size() + shown.size() : few, order))
    run_line(list, line_of(list, model, *r, shown, high, cache), cache, commands);
  order.held =
      ImGui::IsMouseHoveringRect(from, {from.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y});
  ImGui::PopStyleVar();
  ImGui::Spacing();
}

}  // namespace attn
