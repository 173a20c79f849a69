// The source with what its lines became. The figures stand left of the text and stay when it scrolls.
#include "viz/profile/source/source_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "imgui_stdlib.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/finger_field.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/source/code_draw.h"
#include "viz/profile/source/phase_hue_draw.h"

namespace attn {
namespace {

using gpu::CodePhase;

constexpr float kRow = 18, kCode = 12;  // logical pixels
// What the warps did at a line beside one another; the line with the most fills the box.
void draw_states(ImDrawList* list, const Box& box, const SourceScene& scene, const SourceRow& row) {
  const ImU32 hue = hue_of(row.phase);
  float x = box.min.x;
  for (const WarpState state : all_warp_states()) {
    const double share = share_of(row.samples.of.at(static_cast<std::size_t>(state)), scene.most_samples);
    const float width = box.width() * static_cast<float>(share);
    list->AddRectFilled({x, box.min.y}, {x + width, box.max.y}, faded(hue, tint_of(state)));
    x += width;
  }
}

// Of what was counted, logical pixels: a column; the least card in which a bar stands beside the columns. And how many
// characters of the text are to stay in sight beside them.
constexpr std::size_t kTextInSight = 64;
constexpr float kCounted = 50, kCountsWithBar = 640;
// The least card in which the phases' letters stand left of the lines' numbers; in a smaller one their colours do. In
// one as wide as for bars their words do, too. And the columns' widths.
constexpr float kSignsBeside = 420, kNoSigns = 4, kLetters = 28, kWords = 58, kDigits = 12, kShare = 38;

// Where the columns of the gutter end, from its left edge, pixels.
struct Gutter {
  float sign, number, count, bar, counted, end;
  CountColumns columns;  // of what was counted; none where nothing was, or they are hidden
};

// All of them where they leave the text its room.
CountColumns columns_beside(const SourceScene& scene, const SourceUiState& ui, float from, float width) {
  const Style& s = style();
  const float text = text_width(Face::mono, kCode, "0") * static_cast<float>(kTextInSight) + s.px(12);
  const float fit = std::max(0.0F, (width - from - text) / s.px(kCounted));
  std::array<bool, kCountColumns> holds{};
  for (std::size_t n = 0; n < kCountColumns; ++n) holds.at(n) = !scene.most_counted.at(n).empty();
  return columns_shown(static_cast<std::size_t>(fit), holds, ui.by);
}

Gutter gutter(const SourceScene& scene, const SourceUiState& ui, float width) {
  const Style& s = style();
  Gutter g{};
  const bool counts = scene.counted && !ui.hide_counts;
  g.sign = s.px(width < s.px(kSignsBeside) ? kNoSigns : width < s.px(kCountsWithBar) ? kLetters : kWords);
  g.number = g.sign + text_width(Face::mono, 11, fmt::format("{}", scene.rows.size())) + s.px(kDigits);
  if (scene.instructions == 0 && !scene.sampled) {  // nothing is counted
    g.count = g.bar = g.counted = g.number;
  } else {
    g.count = g.number + s.px(kShare);
    g.bar = g.counted = g.count + s.px(!counts ? 66 : width < s.px(kCountsWithBar) ? 4 : 46);
  }
  if (counts) g.columns = columns_beside(scene, ui, g.bar, width);
  g.counted += s.px(kCounted) * static_cast<float>(g.columns.shown.size());
  g.end = g.counted + s.px(12);
  return g;
}

// Of the n-th column that is shown.
Box count_box(const Gutter& g, std::size_t n, const Box& box) {
  const float each = style().px(kCounted), right = box.min.x + g.bar + each * static_cast<float>(n + 1);
  return {{right - each, box.min.y}, {right, box.max.y}};
}

void draw_counts(ImDrawList* list, const Gutter& g, const SourceRow& row, const Box& box) {
  for (std::size_t n = 0; n < g.columns.shown.size(); ++n) {
    const CountColumn column = g.columns.shown[n];
    draw_text_in(list, count_box(g, n, box), Align::right, Face::mono, 11,
                 colour(style().theme, column == CountColumn::executed ? Token::dim : Token::text),
                 row.counts.text.at(static_cast<std::size_t>(column)));
  }
}

void draw_gutter(ImDrawList* list, const SourceScene& scene, const Gutter& g, const SourceRow& row, std::int32_t line,
                 const Box& box) {
  const Style& s = style();
  const float x = box.min.x, top = box.min.y, bottom = box.max.y;
  if (row.phase != CodePhase::none) {
    list->AddRectFilled({x, top}, {x + s.px(3), bottom}, hue_of(row.phase));
    if (row.names_phase && phase_sign_width(row.phase) <= g.sign)
      draw_phase_sign(list, {{x, top}, {x + g.sign, bottom}}, row.phase);
  }
  const ImU32 dim = colour(s.theme, Token::dim);
  draw_text_in(list, {{x + g.sign, top}, {x + g.number, bottom}}, Align::right, Face::mono, 11, dim,
               fmt::format("{}", line));
  draw_counts(list, g, row, box);
  const Box bar{{std::min(x + g.count + s.px(8), x + g.bar), top + s.px(5)}, {x + g.bar, bottom - s.px(5)}};
  if (scene.sampled) {
    if (row.samples.all == 0) return;
    const double percent = 100 * row.sample_share;
    draw_text_in(list, {{x + g.number, top}, {x + g.count, bottom}}, Align::right, Face::mono, 12,
                 colour(s.theme, percent < 0.1 ? Token::dim : Token::text), share_text(row.sample_share));
    return draw_states(list, bar, scene, row);
  }
  if (row.total == 0) return;
  draw_text_in(list, {{x + g.number, top}, {x + g.count, bottom}}, Align::right, Face::mono, 12,
               colour(s.theme, Token::text), fmt::format("{}", row.total));
  draw_mix(list, bar, row.mix, scene.most, row.phase);
}

ImU32 text_ink(const SourceRow& row) {
  const std::size_t first = row.text.find_first_not_of(' ');
  const bool comment = first != std::string::npos && row.text.compare(first, 2, "//") == 0;
  const bool order = first != std::string::npos && row.text[first] == '#';
  return colour(style().theme, comment || order || row.is_tag ? Token::dim : Token::text);
}

// In pieces: every character of the numbers' face is as wide.
void draw_line(ImDrawList* list, ImVec2 at, const SourceRow& row) {
  const float each = text_width(Face::mono, kCode, "0");
  const std::string_view text = row.text;
  const auto piece = [&](std::size_t from, std::size_t to, ImU32 ink) {
    if (to > from)
      draw_text(list, {at.x + each * static_cast<float>(from), at.y}, Face::mono, kCode, ink,
                text.substr(from, to - from));
  };
  std::size_t done = 0;
  for (const LetterSpan& letter : row.letters) {
    piece(done, letter.from, text_ink(row));
    piece(letter.from, letter.from + letter.size, colour(style().theme, letter.hue));
    done = letter.from + letter.size;
  }
  piece(done, text.size(), text_ink(row));
}

std::string row_tip(const SourceRow& row, std::int32_t line) {
  std::string tip = phrase("Line {}", line);
  if (row.phase != CodePhase::none) tip += fmt::format(", {}: {}", gpu::name_of(row.phase), gpu::words_of(row.phase));
  if (row.total == 0 && row.samples.all == 0) tip += tr("\nThis line has no instructions.");
  if (row.total > 0) tip += phrase("\n{} instructions: {}", row.total, mix_words(row.mix));
  if (const std::string samples = samples_words(row.samples, row.sample_share); !samples.empty()) tip += "\n" + samples;
  if (!row.counts.words.empty()) tip += "\n" + row.counts.words;
  return tip;
}

// The rows that are in sight.
void draw_rows(const SourceScene& scene, const Gutter& g, std::int32_t shown, float width, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float row_height = s.px(kRow), left = ImGui::GetWindowPos().x;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(scene.rows.size()), row_height);
  while (clipper.Step()) {
    for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n) {
      const SourceRow& row = scene.rows[static_cast<std::size_t>(n)];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const Box box{{left, at.y}, {left + width, at.y + row_height}};
      ImGui::PushID(n);
      const bool clicked =
          ImGui::InvisibleButton("line", {std::max(width, ImGui::GetContentRegionAvail().x), row_height});
      const bool hovered = ImGui::IsItemHovered();
      if (clicked) commands.push_back(ChooseSourceLine{scene.files[scene.file].name, n + 1});
      if (n + 1 == shown || hovered)
        list->AddRectFilled(box.min, box.max, colour(s.theme, n + 1 == shown ? Token::band : Token::field));
      list->PushClipRect({left + g.end, box.min.y}, box.max, true);
      draw_line(list, {at.x + g.end, at.y + (row_height - s.px(kCode)) / 2}, row);
      list->PopClipRect();
      draw_gutter(list, scene, g, row, n + 1, box);
      if (hovered && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) show_tooltip(row_tip(row, n + 1), 420);
      ImGui::PopID();
    }
  }
}

float widest_text(const SourceScene& scene) {
  std::size_t most = 0;
  for (const SourceRow& row : scene.rows) most = std::max(most, row.text.size());
  return text_width(Face::mono, kCode, "0") * static_cast<float>(most + 2);
}

void go_to(const SourceScene& scene, std::int32_t line, Commands& commands) {
  commands.push_back(ChooseSourceLine{scene.files[scene.file].name, line});
}

void draw_files(const SourceScene& scene, Commands& commands) {
  if (scene.files.size() < 2) return;
  ImGui::SetNextItemWidth(style().px(ImGui::GetContentRegionAvail().x < style().px(520) ? 112 : 130));
  if (begin_list("##source_file", scene.files[scene.file].shown.c_str())) {
    const FingerSized fingers;
    for (const FileChoice& file : scene.files) {
      const std::string label =
          scene.instructions == 0 ? file.shown : fmt::format("{} ({})", file.shown, file.instructions);
      if (ImGui::Selectable(label.c_str(), file.on)) commands.push_back(ChooseSourceLine{file.name, 0});
    }
    end_list();
  }
  ImGui::SameLine();
}

void draw_search(const SourceScene& scene, std::int32_t shown, SourceUiState& ui, Commands& commands) {
  const Style& s = style();
  if (ImGui::GetContentRegionAvail().x < s.px(64)) ImGui::NewLine();  // a line of its own where the buttons fill theirs
  ImGui::SetNextItemWidth(std::max(s.px(60), ImGui::GetContentRegionAvail().x));
  const bool wide = ImGui::GetContentRegionAvail().x >= s.px(140);
  if (ImGui::Shortcut(ImGuiMod_Ctrl | ImGuiKey_F, ImGuiInputFlags_RouteGlobal)) ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputTextWithHint("##source_search", wide && !by_touch() ? tr("find (Enter: next match)") : tr("find"),
                               &ui.search, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  if (ui.nothing_found != ui.search) ui.nothing_found.clear();
  tooltip(ui.nothing_found.empty() ? for_hands(tr("Ctrl+F. Enter or F3: next line with a match; Shift+F3: previous."),
                                               tr("Goes to the next line with a match"))
                                   : phrase("No line contains '{}'.", ui.nothing_found));
  if (entered) ImGui::SetKeyboardFocusHere(-1);
  const bool back = ImGui::Shortcut(ImGuiMod_Shift | ImGuiKey_F3, ImGuiInputFlags_RouteGlobal);
  const bool on = ImGui::Shortcut(ImGuiKey_F3, ImGuiInputFlags_RouteGlobal);
  if (!entered && !back && !on) return;
  const auto found = find_in(scene, ui.search, shown, back ? -1 : 1);
  if (found) {
    go_to(scene, *found, commands);
  } else {
    ui.nothing_found = ui.search;
  }
}

// Whether what was counted stands beside the lines; or why it cannot.
void draw_counts_toggle(const SourceScene& scene, SourceUiState& ui) {
  if (!scene.counted && scene.why_no_counts.empty()) return;
  ImGui::BeginDisabled(!scene.counted);
  const std::string help = scene.counted ? tr("What the chip counted for each line's instructions in one run")
                                         : phrase("Not available: {}", scene.why_no_counts);
  if (toggle(tr("Counts"), scene.counted && !ui.hide_counts, help.c_str(), false, {0, ImGui::GetFrameHeight()}))
    ui.hide_counts = !ui.hide_counts;
  ImGui::EndDisabled();
  ImGui::SameLine();
}

// The heads of the columns; a click makes F8 go by what the column counts, another by what it went before.
void draw_count_heads(const SourceScene& scene, const Gutter& g, SourceUiState& ui) {
  const Style& s = style();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Box line{at, {at.x + g.end, at.y + s.px(kRow)}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text_in(list, {line.min, {at.x + g.count, line.max.y}}, Align::right, Face::text, 11,
               colour(s.theme, Token::dim), scene.sampled ? tr("% of time") : tr("instructions"));
  for (std::size_t n = 0; n < g.columns.shown.size(); ++n) {
    const CountColumn column = g.columns.shown[n];
    const Box box = count_box(g, n, line);
    const CountHead& head = scene.count_heads.at(static_cast<std::size_t>(column));
    const bool on = ui.by == column;
    const std::string id = g.columns.one_by_one ? "count_next" : "count_" + head.text;
    ImGui::SetCursorScreenPos(box.min);
    if (ImGui::InvisibleButton(id.c_str(), {box.width(), s.px(kRow)})) {
      const std::optional<CountColumn> other = on ? std::optional<CountColumn>() : column;
      ui.by = g.columns.one_by_one ? column_after(ui.by) : other;
    }
    if (ImGui::IsItemHovered()) list->AddRectFilled(box.min, box.max, colour(s.theme, Token::field));
    tooltip(
        head.tip +
        (g.columns.one_by_one
             ? for_hands(
                   tr("\nClick to cycle through executed, conflicts and sectors+. F8 follows the count shown."),
                   tr("\nTap to cycle through executed, conflicts and sectors+. The buttons follow the count shown."))
             : for_hands(tr("\n"
                            "Click to make F8 follow this count."),
                         tr("\n"
                            "Tap to make the buttons follow this count."))));
    draw_text_in(list, box, Align::right, on ? Face::bold : Face::text, 11,
                 colour(s.theme, on ? Token::text : Token::dim), head.text);
  }
  ImGui::SetCursorScreenPos({at.x, line.max.y});
}

// What comes next, a button of these words, stands on a line of its own where the one before leaves too little.
void make_room_for(const char* words) {
  if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(words).x + style().px(12)) ImGui::NewLine();
}

void draw_heads(const SourceScene& scene, std::int32_t shown, SourceUiState& ui, Commands& commands) {
  heading(scene.title.c_str());
  ImGui::PushFont(style().fonts.text, style().px(12));
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding.x, finger_padding(padding.y)});
  const float high = ImGui::GetFrameHeight();  // as what stands beside them
  draw_files(scene, commands);
  if (!scene.hot.empty()) {
    const bool sampled = scene.sampled;
    const bool before = finger_button(sampled ? tr("Hotter") : tr("Larger"),
                                      with_key(sampled ? tr("Line with the next-higher sample count")
                                                       : tr("Line with the next-higher instruction count"),
                                               "Shift+F8")
                                          .c_str(),
                                      high) ||
                        ImGui::Shortcut(ImGuiMod_Shift | ImGuiKey_F8, ImGuiInputFlags_RouteGlobal);
    ImGui::SameLine();
    const bool after = finger_button(sampled ? tr("Next hot line") : tr("Next largest"),
                                     with_key(sampled ? tr("Line with the next-lower sample count")
                                                      : tr("Line with the next-lower instruction count"),
                                              "F8")
                                         .c_str(),
                                     high) ||
                       ImGui::Shortcut(ImGuiKey_F8, ImGuiInputFlags_RouteGlobal);
    ImGui::SameLine();
    const std::optional<CountColumn> by = scene.counted ? ui.by : std::nullopt;
    if (before) go_to(scene, next_hot(scene, shown, -1, by), commands);
    if (after) go_to(scene, next_hot(scene, shown, 1, by), commands);
  }
  draw_counts_toggle(scene, ui);
  make_room_for(tr("Copy line"));
  if (finger_button(tr("Copy line"), tr("Copy the line's source"), high) && shown >= 1)
    commands.push_back(CopyText{scene.rows[static_cast<std::size_t>(shown - 1)].text});
  ImGui::SameLine();
  draw_search(scene, shown, ui, commands);
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

// How far the text goes left so that a deep line shows its words and not its indent: as far as it must, and never into
// the words of the lines about it. Pixels; 0 where all of the line is in sight.
float indent_out_of_sight(const std::vector<SourceRow>& rows, std::size_t line, float room) {
  constexpr std::size_t kAbout = 6;
  const float each = text_width(Face::mono, kCode, "0");
  std::size_t indent = rows[line].text.size();
  for (std::size_t n = line - std::min(line, kAbout); n < std::min(line + kAbout + 1, rows.size()); ++n)
    indent = std::min(indent, rows[n].text.find_first_not_of(' '));
  const float beyond = each * static_cast<float>(rows[line].text.size() + 1) - room;
  return std::clamp(beyond, 0.0F, each * static_cast<float>(indent));
}

// The line that was chosen last comes into sight, once.
void follow(const SourceScene& scene, std::int32_t shown, float text_room, SourceUiState& ui) {
  if (ui.scrolled_to == shown && ui.scrolled_file == scene.file) return;
  const float row = style().px(kRow), height = ImGui::GetWindowHeight();
  const float top = static_cast<float>(shown - 1) * row, now = ImGui::GetScrollY();
  const bool in_sight = ui.scrolled_file == scene.file && top >= now && top + row <= now + height - row;
  // From a whole row on.
  if (!in_sight) ImGui::SetScrollY(std::floor(std::max(0.0F, top - height * 0.4F) / row) * row);
  ImGui::SetScrollX(indent_out_of_sight(scene.rows, static_cast<std::size_t>(shown - 1), text_room));
  ui.scrolled_to = shown;
  ui.scrolled_file = scene.file;
}

}  // namespace

void draw_source(const SourceScene& scene, const ProfileView& view, SourceUiState& ui, ImVec2 size,
                 Commands& commands) {
  if (begin_card("profile_source", size)) {
    if (!scene.empty.empty()) {
      heading(tr("Source"));
      dim_text(scene.empty);
    } else {
      const std::int32_t shown = line_shown(scene, view);
      draw_heads(scene, shown, ui, commands);
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
      const Gutter g = gutter(scene, ui, ImGui::GetContentRegionAvail().x);
      if (!g.columns.shown.empty()) draw_count_heads(scene, g, ui);
      ImGui::SetNextWindowContentSize({g.end + widest_text(scene), 0});
      if (ImGui::BeginChild("source_lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
        const float text_room = ImGui::GetWindowWidth() - g.end - ImGui::GetStyle().ScrollbarSize;
        follow(scene, shown, text_room, ui);
        draw_rows(scene, g, shown, ImGui::GetWindowWidth(), commands);
        fade_where_more();
        fade_long_lines();
      }
      ImGui::EndChild();
      ImGui::PopStyleVar();
      ImGui::PopStyleColor();
    }
  }
  ImGui::EndChild();
}

}  // namespace attn
