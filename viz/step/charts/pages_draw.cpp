#include "viz/step/charts/charts_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/charts/pages.h"

namespace attn {
namespace {

constexpr float kTitle = 20, kNumber = 20, kMostCell = 13, kLeastCell = 3, kGap = 3;            // logical
constexpr float kEntryHigh = 20, kKeysLine = 14, kLineName = 62, kMostEntry = 64, kLines = 26;  // logical

// How large a page is drawn, and where.
struct PoolPlace {
  Box area;
  std::int32_t across = 1;
  float cell = 0;            // pixels; below kLeastCell there are none
  float wide = 0, high = 0;  // of a page
  float pitch_x = 0, pitch_y = 0;
  Box page(std::size_t n) const {
    const std::int32_t at = static_cast<std::int32_t>(n), row = at / across;
    const ImVec2 min{area.min.x + pitch_x * static_cast<float>(at % across) + style().px(kNumber),
                     area.min.y + pitch_y * static_cast<float>(row)};
    return {min, {min.x + wide, min.y + high}};
  }
};

// As many pages across as make them largest.
PoolPlace place_pool(const Box& area, const PagesScene& scene) {
  const Style& s = style();
  const auto count = static_cast<std::int32_t>(std::max<std::size_t>(scene.pool.size(), 1));
  const auto columns = static_cast<float>(scene.columns_k + scene.columns_v), rows = static_cast<float>(scene.page);
  PoolPlace best;
  for (std::int32_t across = 1; across <= count; ++across) {
    const std::int32_t down = (count + across - 1) / across;
    const float pitch_x = area.width() / static_cast<float>(across), pitch_y = area.height() / static_cast<float>(down);
    const float room_x = pitch_x - s.px(kNumber + 12), room_y = pitch_y - s.px(8);
    const float cell = std::min({(room_x - s.px(kGap)) / columns, room_y / rows, s.px(kMostCell)});
    if (across > 1 && cell < best.cell) continue;
    best = {area,    across, cell, std::max(cell * columns + s.px(kGap), s.px(3)), std::max(cell * rows, s.px(3)),
            pitch_x, pitch_y};
  }
  // Close together where there is more room than they take.
  best.pitch_x = std::min(best.pitch_x, best.wide + s.px(kNumber + 30));
  best.pitch_y = std::min(best.pitch_y, best.high + s.px(22));
  return best;
}

class PagesDrawing {
 public:
  PagesDrawing(const PagesScene& scene, const PoolPlace& pool, const Box& table, Commands& commands)
      : scene_(scene), pool_(pool), table_(table), commands_(commands), list_(ImGui::GetWindowDrawList()), s_(style()) {
    std::size_t entries = 1;
    for (const TableLine& line : scene.table) entries = std::max(entries, line.entries.size());
    const float room = table.width() - s_.px(kLineName);
    entry_wide_ = std::min(room / static_cast<float>(entries), s_.px(kMostEntry));
  }

  void draw() {
    place_items();
    draw_links();
    for (std::size_t n = 0; n < scene_.pool.size(); ++n) draw_page(scene_.pool[n], pool_.page(n));
    for (std::size_t n = 0; n < scene_.table.size(); ++n) draw_line(n);
  }

 private:
  float line_top(std::size_t n) const {
    return table_.min.y + s_.px(kKeysLine) + s_.px(kLines) * static_cast<float>(n);
  }
  bool has_room(std::size_t n) const { return line_top(n) + s_.px(kEntryHigh) <= table_.max.y + 1; }
  Box entry_box(std::size_t line, std::size_t n) const {
    const float x = table_.min.x + s_.px(kLineName) + entry_wide_ * static_cast<float>(n);
    return {{x, line_top(line)},
            {x + entry_wide_ - s_.px(std::min(entry_wide_ / s_.scale / 8, 4.0F)), line_top(line) + s_.px(kEntryHigh)}};
  }

  // What the pointer or the keyboard is on: a page, through itself or through its entry.
  void place_items() {
    for (std::size_t n = 0; n < scene_.pool.size(); ++n) {
      const Box box = pool_.page(n);
      ImGui::SetCursorScreenPos(box.min);
      ImGui::InvisibleButton(fmt::format("##page_{}", n).c_str(), {box.width(), box.height()});
      if (ImGui::IsItemHovered()) lit_ = scene_.pool[n].number;
      tooltip(scene_.pool[n].words);
    }
    for (std::size_t line = 0; line < scene_.table.size(); ++line) {
      if (!has_room(line)) continue;
      const TableLine& of = scene_.table[line];
      for (std::size_t n = 0; n < of.entries.size(); ++n) place_entry(of, of.entries[n], entry_box(line, n), n);
    }
  }

  void place_entry(const TableLine& line, const TableEntry& entry, const Box& box, std::size_t n) {
    if (entry.page < 0) return;
    ImGui::SetCursorScreenPos(box.min);
    const std::string id = fmt::format("##entry_{}_{}", line.b, n);
    if (ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav) && entry.event)
      commands_.emplace_back(GoToEvent{*entry.event});
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) lit_ = entry.page;
    tooltip(by_touch()
                ? phrase("Keys {} to {} of batch {} are in page {}. Tap to go to the step that loads these keys.",
                         entry.first_key, entry.last_key, line.b, entry.page)
                : phrase("Keys {} to {} of batch {} are in page {}. Click to go to the step that loads these keys.",
                         entry.first_key, entry.last_key, line.b, entry.page));
  }

  // From an entry to its page: where it leaves the table, and where it reaches the pool.
  struct Link {
    std::size_t page = 0;
    ImVec2 from, to;
    bool below = false;  // to a page of the last row, from below
    bool left = false;   // else by the lane on the page's left, in to its number; by that on its right, in there
    ImU32 ink = 0;
  };

  Link link_of(const Box& from, std::size_t page, ImU32 ink) const {
    const Box to = pool_.page(page);
    const std::size_t across = static_cast<std::size_t>(pool_.across), last = (scene_.pool.size() - 1) / across;
    const float bottom = pool_.page(last * across).max.y + s_.px(3);
    const bool below = page / across == last;
    return {page,
            {from.centre().x, from.min.y - s_.px(kKeysLine + 1)},
            {below ? to.centre().x : to.max.x + s_.px(11), bottom},
            below,
            false,
            ink};
  }

  float left_lane(std::size_t page) const { return pool_.page(page).min.x - s_.px(kNumber + 7); }

  // A line from each gathered entry up to its page.
  void draw_links() const {
    std::vector<Link> links;
    for (std::size_t line = 0; line < scene_.table.size(); ++line) {
      if (!has_room(line)) continue;
      const TableLine& of = scene_.table[line];
      for (std::size_t n = 0; n < of.entries.size(); ++n) {
        const TableEntry& entry = of.entries[n];
        if (entry.page < 0 || (!entry.gathered && entry.page != lit_)) continue;
        links.push_back(link_of(entry_box(line, n), static_cast<std::size_t>(entry.page),
                                colour_of(entry.gathered ? Token::text : Token::dim)));
      }
    }
    std::vector<PageWay> ways;
    ways.reserve(links.size());
    for (const Link& link : links)
      ways.push_back({link.from.x, link.to.x, link.below ? link.to.x : left_lane(link.page)});
    const std::vector<bool> left = on_the_left(ways);
    for (std::size_t n = 0; n < links.size(); ++n)
      if (left[n]) links[n].left = true, links[n].to.x = ways[n].left;
    for (const Link& link : links) draw_link(link);
  }

  // To a page of the last row from below; to another between the pages.
  void draw_link(const Link& link) const {
    const Box to = pool_.page(link.page);
    const float thick = s_.px(1.5F), tip = s_.px(6), half = s_.px(3.5F);
    const ImVec2 a = link.from, b = link.to;
    const float bend = std::max((a.y - b.y) * 0.5F, s_.px(6));
    list_->AddBezierCubic(a, {a.x, a.y - bend}, {b.x, b.y + bend}, b, link.ink, thick);
    if (link.below) return list_->AddTriangleFilled(b, {b.x - half, b.y + tip}, {b.x + half, b.y + tip}, link.ink);
    if (link.left) {
      // In front of the page's number.
      const float number = text_width(Face::mono, 11, std::to_string(link.page)) + s_.px(7);
      const ImVec2 in{std::max(to.min.x - number, b.x + tip), to.centre().y};
      const ImVec2 way[] = {b, {b.x, in.y}, {in.x - tip, in.y}};
      list_->AddPolyline(way, static_cast<int>(std::size(way)), link.ink, 0, thick);
      return list_->AddTriangleFilled(in, {in.x - tip, in.y - half}, {in.x - tip, in.y + half}, link.ink);
    }
    const ImVec2 in{to.max.x + s_.px(3), to.centre().y};
    list_->AddLine(b, {b.x, in.y}, link.ink, thick);
    list_->AddLine({b.x, in.y}, {in.x + tip, in.y}, link.ink, thick);
    list_->AddTriangleFilled(in, {in.x + tip, in.y - half}, {in.x + tip, in.y + half}, link.ink);
  }

  void draw_page(const PoolPage& page, const Box& box) const {
    const bool live = page.look == PageLook::gathered;
    const ImU32 ink = colour_of(live ? Token::text : Token::dim);
    const std::string text = std::to_string(page.number);
    if (pool_.wide > s_.px(14))
      draw_text_in(list_, {{box.min.x - s_.px(kNumber), box.min.y}, {box.min.x - s_.px(4), box.max.y}}, Align::right,
                   Face::mono, 11, ink, text);
    if (page.look == PageLook::free) {
      draw_dashed(list_, box, colour_of(Token::faint));
    } else {
      draw_rows(page, box);
    }
    if (live || page.number == lit_)
      draw_outline(list_, box.grown(s_.px(3)), colour_of(live ? Token::text : Token::dim), live ? 2 : 1.5F, 4);
  }

  void draw_rows(const PoolPage& page, const Box& box) const {
    const float high = box.height() / static_cast<float>(std::max<std::size_t>(page.rows.size(), 1));
    const float k = (box.width() - s_.px(kGap)) * static_cast<float>(scene_.columns_k) /
                    static_cast<float>(std::max(scene_.columns_k + scene_.columns_v, 1));
    for (std::size_t r = 0; r < page.rows.size(); ++r) {
      const float top = box.min.y + high * static_cast<float>(r);
      const PageRow& row = page.rows[r];
      draw_half(page, row, row.k_shade, TensorColour::k, {{box.min.x, top}, {box.min.x + k, top + high}});
      draw_half(page, row, row.v_shade, TensorColour::v, {{box.min.x + k + s_.px(kGap), top}, {box.max.x, top + high}});
    }
  }

  // K or V of one row: its cells, or a bar where they would be too small.
  void draw_half(const PoolPage& page, const PageRow& row, const std::vector<float>& shades, TensorColour hue,
                 const Box& box) const {
    const float strength = row.look == PageRowLook::gathered ? 1.0F : 0.45F;
    const float gap = pool_.cell >= s_.px(6) ? std::max(1.0F, s_.px(0.75F)) : 0;
    if (row.look == PageRowLook::unwritten) {
      // As everywhere a plate in the text's colour is no number.
      const float pale = page.look == PageLook::gathered ? 0.85F : 0.3F;
      list_->AddRectFilled({box.min.x, box.min.y + gap}, {box.max.x - gap, box.max.y},
                           faded(colour_of(Token::text), pale));
      return;
    }
    if (page.look == PageLook::other || shades.empty() || pool_.cell < s_.px(kLeastCell)) {
      const ImU32 fill = page.look == PageLook::other ? colour_of(Token::field) : faded(colour_of(hue), strength);
      list_->AddRectFilled({box.min.x, box.min.y + gap}, {box.max.x - gap, box.max.y}, fill);
      return;
    }
    const float wide = box.width() / static_cast<float>(shades.size());
    for (std::size_t c = 0; c < shades.size(); ++c) {
      const float x = box.min.x + wide * static_cast<float>(c);
      list_->AddRectFilled({x, box.min.y + gap}, {x + wide - gap, box.max.y},
                           faded(cell_fill(s_.theme, hue, shades[c]), strength), s_.px(1));
    }
  }

  void draw_line(std::size_t n) const {
    if (!has_room(n)) return;
    const TableLine& line = scene_.table[n];
    const float top = line_top(n);
    draw_text_in(list_, {{table_.min.x, top}, {table_.min.x + s_.px(kLineName), top + s_.px(kEntryHigh)}}, Align::left,
                 line.own ? Face::bold : Face::text, 12, colour_of(line.own ? Token::text : Token::dim),
                 phrase("batch {}", line.b));
    for (std::size_t e = 0; e < line.entries.size(); ++e) draw_entry(line, line.entries[e], entry_box(n, e), n == 0);
  }

  void draw_entry(const TableLine& line, const TableEntry& entry, const Box& box, bool names_keys) const {
    const std::string keys = entry.first_key == entry.last_key ? std::to_string(entry.first_key)
                                                               : fmt::format("{}–{}", entry.first_key, entry.last_key);
    if (names_keys && text_width(Face::mono, 11, keys) < entry_wide_ - s_.px(2))
      draw_text_in(list_, {{box.min.x, box.min.y - s_.px(kKeysLine)}, {box.max.x, box.min.y}}, Align::centre,
                   Face::mono, 11, colour_of(entry.gathered ? Token::text : Token::dim), keys);
    if (entry.page < 0) {
      draw_dashed(list_, box, colour_of(Token::faint));
      return;
    }
    const bool plain = entry.gathered;
    list_->AddRectFilled(box.min, box.max, colour_of(plain ? Token::text : Token::field), s_.px(3));
    if (!plain && entry.page == lit_) draw_outline(list_, box, colour_of(Token::dim), 1.5F, 3);
    const std::string text = std::to_string(entry.page);
    if (text_width(Face::mono, 12, text) < box.width())
      draw_text_in(list_, box, Align::centre, Face::mono, 12,
                   plain ? text_on(colour_of(Token::text)) : colour_of(line.own ? Token::text : Token::dim), text);
  }

  const PagesScene& scene_;
  const PoolPlace& pool_;
  const Box table_;
  Commands& commands_;
  ImDrawList* const list_;
  const Style& s_;
  float entry_wide_ = 0;
  std::int32_t lit_ = -1;  // the page that the pointer is on
};

// Of all keys by the size of a page, where there is room below the words.
void draw_sizes(ImDrawList* list, const Box& in, float y, const PagesScene& scene) {
  const Style& s = style();
  const float line = s.px(18), high = s.px(kTitle) + line * static_cast<float>(scene.sizes.size() + 1);
  if (y + s.px(8) + high > in.max.y) return;
  y += s.px(8);
  draw_text(list, {in.min.x, y}, Face::bold, 13, colour_of(Token::text), tr("Whole pages, all keys (derived)"));
  y += s.px(kTitle);
  const float wide = std::min(in.width() / 4, s.px(84));
  const auto cells = [&](const std::array<std::string, 4>& words, Face face, ImU32 ink) {
    for (std::size_t n = 0; n < words.size(); ++n) {
      const float x = in.min.x + wide * static_cast<float>(n);
      draw_text_in(list, {{x, y}, {x + wide - s.px(8), y + line}}, Align::right, face, 12, ink, words[n]);
    }
    y += line;
  };
  cells({tr("keys per page"), tr("read"), tr("unused"), tr("table")}, Face::text, colour_of(Token::dim));
  for (const PageSizeLine& l : scene.sizes)
    cells({std::to_string(l.page), l.read, l.unused, l.table}, Face::mono, colour_of(l.now ? Token::text : Token::dim));
}

// The same under the pointer or the keyboard, whatever room there is.
std::string sizes_words(const PagesScene& scene) {
  std::string words = tr("Derived: what copying whole pages would read for all keys. This run reads rows.");
  for (const PageSizeLine& l : scene.sizes) {
    words += '\n';
    words += plural(l.page, "{1} key per page: {2} read ({3} unused), page table: {4}",
                    "{1} keys per page: {2} read ({3} unused), page table: {4}", std::to_string(l.page), l.read,
                    l.unused, l.table);
  }
  return words;
}

// Beside the title: what this tile's pages take.
void draw_cost(ImDrawList* list, const Box& in, const PagesScene& scene) {
  const Style& s = style();
  const float left = in.min.x + text_width(Face::bold, 13, scene.title) + s.px(16);
  const float wide = text_width(Face::text, 12, scene.cost);
  if (scene.cost.empty() || left + wide > in.max.x) return;
  ImGui::SetCursorScreenPos({left, in.min.y});
  ImGui::InvisibleButton("##page_bytes", {wide, s.px(18)}, ImGuiButtonFlags_EnableNav);
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  tooltip(sizes_words(scene));
  draw_text(list, {left, in.min.y + s.px(1)}, Face::text, 12, colour_of(lit ? Token::text : Token::dim), scene.cost);
}

// Title and words about the tile at hand, one under the other.
void draw_words(ImDrawList* list, const Box& in, const PagesScene& scene) {
  const Style& s = style();
  float y = in.min.y;
  draw_text(list, {in.min.x, y}, Face::bold, 13, colour_of(Token::text), tr("This tile"));
  y += s.px(kTitle);
  for (const TextRuns* words : {&scene.gathered, &scene.followed, &scene.tail}) {
    const float left = in.max.y - y;
    if (words->empty() || left < line_height(13)) continue;
    const int lines = std::max(1, static_cast<int>(left / line_height(13)));
    y += draw_paragraph(list, {in.min.x, y}, in.width(), 13, *words, std::min(lines, 5)) + s.px(6);
  }
  draw_sizes(list, in, y, scene);
}

}  // namespace

void draw_pages(const Box& in, const Recording& rec, const StepPlace& at, std::int32_t key, const TensorScales& scales,
                Commands& commands) {
  const Style& s = style();
  PagesScene scene = pages_scene(rec, at, key, scales);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (!scene.nothing.empty()) {
    draw_paragraph(list, {in.min.x, in.min.y + s.px(16)}, in.width(), 13, {word(scene.nothing)}, 3);
    return;
  }
  const bool beside = in.width() > s.px(520);
  const float words = beside ? std::clamp(in.width() * 0.3F, s.px(200), s.px(330)) : 0;
  const Box left{in.min, {in.max.x - (beside ? words + s.px(20) : 0), in.max.y}};
  if (beside) draw_words(list, {{in.max.x - words, in.min.y}, in.max}, scene);
  // The batch at hand first: of many batches the table has room for some.
  std::ranges::stable_sort(scene.table, {}, [](const TableLine& line) { return !line.own; });
  const float lines = std::min(static_cast<float>(scene.table.size()), left.height() < s.px(150) ? 1.0F : 3.0F);
  const float table_high = s.px(kKeysLine + (lines - 1) * kLines + kEntryHigh);
  draw_text(list, left.min, Face::bold, 13, colour_of(Token::text), scene.title);
  draw_cost(list, left, scene);
  const Box pool{{left.min.x, left.min.y + s.px(kTitle + 3)}, {left.max.x, left.max.y - table_high - s.px(20)}};
  if (pool.height() < s.px(16)) return;
  const PoolPlace place = place_pool(pool, scene);
  // Near the pool where there is more room than both take.
  constexpr float kLinks = 64;  // logical
  const float used = place.page(scene.pool.empty() ? 0 : scene.pool.size() - 1).max.y;
  const float top = std::min(left.max.y - table_high, used + s.px(kLinks));
  PagesDrawing(scene, place, {{left.min.x, top}, {left.max.x, top + table_high}}, commands).draw();
}

}  // namespace attn
