#include "viz/step_tiles.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "kernels/traffic.h"
#include "viz/number_text.h"

namespace attn {
namespace {

constexpr std::size_t kSTile = static_cast<std::size_t>(Column::s);

struct Drawn {
  ImDrawList* list;
  const TilesScene& scene;
  const TilesLayout& layout;
  const std::optional<CellRef>& pointed;  // lit in every view
  const StepMemory& memory;
  const Style& s;
};

// Gap between cells in pixels: none where cells are only a few pixels wide.
float cell_gap(float extent, const Style& s) {
  if (extent < s.px(4)) return 0;
  return extent < s.px(16) ? std::max(1.0F, s.px(0.5F)) : std::max(1.0F, s.px(1));
}

Box inset(const Box& b, const Style& s) {
  const float gx = cell_gap(b.width(), s), gy = cell_gap(b.height(), s);
  return {{b.min.x + gx, b.min.y + gy}, {b.max.x - gx, b.max.y - gy}};
}

void draw_gauge(const Drawn& d, const Box& box, float value, ImU32 fill) {
  // Alpha is how much of the past is left: the cell is filled that far.
  d.list->AddRectFilled(box.min, box.max, colour_of(Token::field), d.s.px(2));
  const float share = std::isfinite(value) ? std::clamp(value, 0.0F, 1.0F) : 1.0F;
  d.list->AddRectFilled(box.min, {box.min.x + box.width() * share, box.max.y}, fill, d.s.px(2));
}

void draw_value_cell(const Drawn& d, const TileScene& tile, const TilePlace& place, const Cell& cell, const Box& outer,
                     bool chosen) {
  const Box box = inset(outer, d.s);
  ImU32 ink = colour_of(Token::dim);
  const float rounding = box.width() > d.s.px(14) && box.height() > d.s.px(10) ? d.s.px(2) : 0;
  if (tile.superseded) {
    if (chosen) ink = colour_of(Token::text);
  } else if (tile.gauge) {
    draw_gauge(d, box, cell.value, cell_fill(d.s.theme, tile.hue, 0.1F));
    ink = colour_of(Token::text);
  } else {
    const ImU32 fill = cell_fill(d.s.theme, tile.hue, cell.shade);
    d.list->AddRectFilled(box.min, box.max, fill, rounding);
    ink = text_on(fill);
  }
  if (!cell.text.empty()) {
    draw_text_in(d.list, box, Align::centre, Face::mono, place.text_size, ink, cell.text);
  }
  if (cell.largest && box.width() > d.s.px(5)) {
    const float y = box.max.y - d.s.px(box.height() > d.s.px(20) ? 4 : 2);
    const float side = box.width() > d.s.px(20) ? d.s.px(4) : 0;
    d.list->AddRectFilled({box.min.x + side, y}, {box.max.x - side, y + d.s.px(2)}, colour_of(TensorColour::m));
  }
}

// Neighbours of the same look in a row are drawn as one: hatching and dashes cost many lines.
void draw_blank_run(const Drawn& d, const TilePlace& place, CellLook look, std::int32_t r, std::int32_t from,
                    std::int32_t to) {
  const Box first = place.cell(r, from), last = place.cell(r, to - 1);
  const Box run = inset({first.min, last.max}, d.s);
  const bool wide = place.cell_width >= d.s.px(14) && run.height() >= d.s.px(9);
  if (look == CellLook::masked) {
    d.list->AddRectFilled(run.min, run.max, faded(colour_of(Token::field), 0.6F), d.s.px(2));
    draw_hatch(d.list, run, faded(colour_of(Token::faint), 0.7F), 6);
    return;
  }
  const ImU32 line = look == CellLook::empty ? colour_of(Token::faint) : colour_of(Token::line);
  if (!wide) {
    if (look == CellLook::empty)
      draw_dashed(d.list, run, faded(line, 0.7F), 2);
    else
      d.list->AddRect(run.min, run.max, line);
    return;
  }
  for (std::int32_t c = from; c < to; ++c) {
    const Box box = inset(place.cell(r, c), d.s);
    if (look == CellLook::empty)
      draw_dashed(d.list, box, line);
    else
      draw_outline(d.list, box, line, 1);
  }
}

void draw_cells(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  const std::int32_t chosen = d.scene.at.row - d.scene.at.first_row;
  const bool by_query = tile.slot != Slot::k && tile.slot != Slot::v;
  if (!tile.live && !d.scene.skipped && tile.cells.size() > 64) {
    // Hundreds of empty slots are one.
    draw_dashed(d.list, inset(place.box, d.s), colour_of(Token::faint), 4);
    return;
  }
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols;) {
      const Cell& cell = tile.cell(r, c);
      if (cell.look == CellLook::value) {
        draw_value_cell(d, tile, place, cell, place.cell(r, c), by_query && r == chosen);
        ++c;
        continue;
      }
      std::int32_t end = c + 1;
      while (end < tile.cols && tile.cell(r, end).look == cell.look) ++end;
      draw_blank_run(d, place, cell.look, r, c, end);
      c = end;
    }
  }
}

void draw_tile(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  draw_cells(d, tile, place);
  if (tile.made) {
    // Only the rows that hold something were made.
    std::int32_t rows = 0, cols = 0;
    for (std::int32_t r = 0; r < tile.rows; ++r) {
      for (std::int32_t c = 0; c < tile.cols; ++c) {
        if (tile.cell(r, c).look == CellLook::past_end) continue;
        rows = std::max(rows, r + 1);
        cols = std::max(cols, c + 1);
      }
    }
    if (rows > 0) {
      Box box{place.box.min, {place.cell(0, cols - 1).max.x, place.y[static_cast<std::size_t>(rows)]}};
      draw_outline(d.list, box.grown(d.s.px(2)), colour_of(Token::text), 2, 4);
    }
  }
}

// One cell, row or column lit because the pointer is on what it belongs to.
void draw_lit(const Drawn& d, const Box& box, float thickness = 1) {
  draw_outline(d.list, box, colour_of(Token::text), thickness, 3);
}

void light_operands(const Drawn& d) {
  if (!d.pointed) return;
  const CellRef& at = *d.pointed;
  const TileScene* tile = tile_of(d.scene, at.slot);
  if (tile == nullptr || cell_of(d.scene, at) == nullptr) return;
  const auto row_box = [&](const TilePlace& p, std::int32_t r) {
    return Box{{p.box.min.x, p.y[static_cast<std::size_t>(r)]}, {p.box.max.x, p.y[static_cast<std::size_t>(r) + 1]}};
  };
  const auto column_box = [&](const TilePlace& p, std::int32_t c) {
    const float x = p.box.min.x + p.cell_width * static_cast<float>(c);
    return Box{{x, p.box.min.y}, {x + p.cell_width, p.box.max.y}};
  };
  const std::int32_t r = at.row - d.scene.at.first_row;
  const auto place = [&](Column c) -> const TilePlace& { return d.layout.places[static_cast<std::size_t>(c)]; };
  if (at.slot == Slot::s) {
    draw_lit(d, row_box(place(Column::q), r));
    draw_lit(d, column_box(d.layout.k, at.col - d.scene.at.first_key));
  } else if (at.slot == Slot::o_new && d.scene.tiles[static_cast<std::size_t>(Column::p)].live) {
    draw_lit(d, row_box(place(Column::p), r));
    draw_lit(d, column_box(d.layout.v, at.col));
  } else if (at.slot == Slot::p) {
    draw_lit(d, place(Column::s).cell(r, at.col - d.scene.at.first_key));
    draw_lit(d, place(Column::m_new).cell(r, 0));
  } else if (at.slot == Slot::m_new || at.slot == Slot::l_new) {
    draw_lit(d, row_box(place(at.slot == Slot::m_new ? Column::s : Column::p), r));
  } else if (at.slot == Slot::alpha) {
    draw_lit(d, place(Column::m_old).cell(r, 0));
    draw_lit(d, place(Column::m_new).cell(r, 0));
  }
}

const TilePlace* place_of_slot(const Drawn& d, Slot slot) {
  if (slot == Slot::k) return &d.layout.k;
  if (slot == Slot::v) return &d.layout.v;
  for (const Column c : d.scene.columns) {
    const Slot here = d.scene.tiles[static_cast<std::size_t>(c)].slot;
    const bool output = c == Column::o && (slot == Slot::o_new || slot == Slot::o_old);
    if (here == slot || output) return &d.layout.places[static_cast<std::size_t>(c)];
  }
  return nullptr;
}

void light_cell(const Drawn& d, const CellRef& ref, float thickness) {
  const TileScene* tile = tile_of(d.scene, ref.slot);
  const TilePlace* place = place_of_slot(d, ref.slot);
  if (tile == nullptr || place == nullptr || cell_of(d.scene, ref) == nullptr) return;
  const std::int32_t r = tile->transposed ? ref.col - tile->first_row : ref.row - tile->first_row;
  const std::int32_t c = tile->transposed ? ref.row - tile->first_col : ref.col - tile->first_col;
  draw_lit(d, place->cell(r, c), thickness);
}

void draw_band(const Drawn& d) {
  const TilePlace& q = d.layout.places[0];
  const auto r = static_cast<std::size_t>(d.scene.at.row - d.scene.at.first_row);
  const float top = q.y[r] - d.s.px(2), bottom = q.y[r + 1] + d.s.px(2);
  d.list->AddRectFilled({d.layout.band_left, top}, {d.layout.band_right, bottom}, colour_of(Token::band), d.s.px(3));
  d.list->AddRectFilled({d.layout.band_left, top}, {d.layout.band_left + d.s.px(3), bottom}, colour_of(Token::text),
                        d.s.px(1));
}

void draw_row_labels(const Drawn& d) {
  const TilePlace& q = d.layout.places[0];
  const std::int32_t chosen = d.scene.at.row - d.scene.at.first_row;
  const float height = (q.y.back() - q.y.front()) / static_cast<float>(d.scene.at.br);
  // Every label where there is room, else every 2nd, 4th ...
  std::int32_t every = 1;
  while (height * static_cast<float>(every) < d.s.px(12)) every *= 2;
  for (std::int32_t r = 0; r < d.scene.at.br; ++r) {
    const Box line{{d.layout.band_left, q.y[static_cast<std::size_t>(r)]},
                   {d.layout.label_right, q.y[static_cast<std::size_t>(r) + 1]}};
    if (r == chosen) {
      draw_text_in(d.list, line, Align::right, Face::bold, 12, colour_of(Token::text),
                   fmt::format("row {}", d.scene.at.row));
    } else if (r >= d.scene.at.rows) {
      if (r % every == 0) draw_text_in(d.list, line, Align::right, Face::text, 11, colour_of(Token::faint), "past");
    } else if (r % every == 0 && std::abs(r - chosen) * height >= d.s.px(11)) {
      draw_text_in(d.list, line, Align::right, Face::mono, 11, colour_of(Token::dim),
                   std::to_string(d.scene.at.first_row + r));
    }
  }
  const float v_height = d.layout.v.y.size() > 1 ? d.layout.v.y[1] - d.layout.v.y[0] : 0;
  if (v_height < d.s.px(12) || d.scene.at.j < 0) return;
  for (std::int32_t r = 0; r < d.scene.at.keys; ++r) {
    const Box line{{d.layout.v.box.min.x - d.s.px(40), d.layout.v.y[static_cast<std::size_t>(r)]},
                   {d.layout.v.box.min.x - d.s.px(7), d.layout.v.y[static_cast<std::size_t>(r) + 1]}};
    draw_text_in(d.list, line, Align::right, Face::mono, 11, colour_of(Token::dim),
                 std::to_string(d.scene.at.first_key + r));
  }
}

void draw_title(const Drawn& d, const TileScene& tile, const TilePlace& place, bool centred) {
  const float y = place.box.min.y - d.s.px(22);
  // Words go where the tile is too narrow for them.
  Runs title = tile.title;
  const float room = place.box.width() + d.s.px(centred ? 14 : 40);
  while (title.size() > 1 && runs_width(title, 14) > room && title.back().face == Face::text && title.back().raise == 0)
    title.pop_back();
  const float x = centred ? place.box.centre().x - runs_width(title, 14) / 2 : place.box.min.x;
  draw_runs(d.list, {x, y}, 14, title);
}

// S carries the keys' numbers over its columns, its letter to the left of them.
void draw_score_title(const Drawn& d) {
  const TilePlace& place = d.layout.places[kSTile];
  const TileScene& tile = d.scene.tiles[kSTile];
  const bool indices = place.cell_width >= d.s.px(16) && d.scene.at.j >= 0;
  if (!indices) {
    draw_title(d, tile, place, false);
    return;
  }
  draw_runs(d.list, {place.box.min.x - d.s.px(20), place.box.min.y - d.s.px(22)}, 14, tile.title);
  for (std::int32_t c = 0; c < d.scene.at.keys; ++c) {
    const Box cell = place.cell(0, c);
    const bool lit = d.pointed && (d.pointed->slot == Slot::s || d.pointed->slot == Slot::p) &&
                     d.pointed->col == d.scene.at.first_key + c;
    draw_text_in(d.list, {{cell.min.x, place.box.min.y - d.s.px(21)}, {cell.max.x, place.box.min.y - d.s.px(3)}},
                 Align::centre, lit ? Face::bold : Face::mono, 11, colour_of(lit ? Token::text : Token::dim),
                 std::to_string(d.scene.at.first_key + c));
  }
}

void draw_captions(const Drawn& d) {
  for (const Column c : d.scene.columns) {
    const CaptionScene& caption = d.scene.captions[static_cast<std::size_t>(c)];
    if (caption.words.empty()) continue;
    const TilePlace& place = d.layout.places[static_cast<std::size_t>(c)];
    float size = 14;
    const float room = place.box.width() + d.s.px(c == Column::o || c == Column::q ? 40 : 60);
    while (size > 11 && runs_width(caption.words, size) > room) size -= 1;
    const float width = runs_width(caption.words, size);
    // A term that joins old and new stands under both.
    float centre = place.box.centre().x;
    if (c == Column::m_new)
      centre = (d.layout.places[static_cast<std::size_t>(Column::m_old)].box.min.x + place.box.max.x) / 2;
    if (c == Column::l_new)
      centre = (d.layout.places[static_cast<std::size_t>(Column::l_old)].box.min.x + place.box.max.x) / 2;
    const float x = std::min(centre - width / 2, d.layout.band_right - width);
    draw_runs(d.list, {x, d.layout.captions_top + d.s.px(4)}, size, caption.words);
    if (!caption.live) continue;
    const float y = d.layout.captions_top + d.s.px(27);
    d.list->AddRectFilled({x, y}, {x + width, y + d.s.px(2.5F)}, colour_of(Token::text), d.s.px(1));
  }
}

void draw_next(const Drawn& d) {
  if (!d.scene.next_any) return;
  const TilePlace& place = d.layout.places[static_cast<std::size_t>(d.scene.next_column)];
  const float width = text_width(Face::text, 13, d.scene.next);
  if (width + d.s.px(12) > place.box.width()) return;
  const float bottom = place.y[static_cast<std::size_t>(d.scene.at.rows)];
  const ImVec2 centre{place.box.centre().x, (place.box.min.y + bottom) / 2};
  const Box box{{centre.x - width / 2 - d.s.px(6), centre.y - d.s.px(10)},
                {centre.x + width / 2 + d.s.px(6), centre.y + d.s.px(10)}};
  d.list->AddRectFilled(box.min, box.max, colour_of(Token::card), d.s.px(4));
  draw_text_in(d.list, box, Align::centre, Face::text, 13, colour_of(Token::dim), d.scene.next);
}

std::optional<CellRef> hit(const TileScene& tile, const TilePlace& place, ImVec2 p) {
  if (!place.box.contains(p) || place.cell_width <= 0) return std::nullopt;
  const auto c = static_cast<std::int32_t>((p.x - place.box.min.x) / place.cell_width);
  const auto below = std::upper_bound(place.y.begin(), place.y.end(), p.y);
  const auto r = static_cast<std::int32_t>(below - place.y.begin()) - 1;
  if (r < 0 || r >= tile.rows || c < 0 || c >= tile.cols) return std::nullopt;
  return tile.ref(r, c);
}

Select select_of(const TilesScene& scene, const CellRef& ref) {
  Select select{{scene.at.b, scene.at.h, scene.at.row, ref.slot, ref.col}};
  // A key's column pins that key's score; a value's column pins that column of O.
  if (ref.slot == Slot::k)
    select.selection.slot = Slot::s, select.selection.col = ref.row;
  else if (ref.slot == Slot::v)
    select.selection.slot = Slot::o_new;
  else
    select.selection.row = ref.row;
  return select;
}

// One invisible button a tile: what the pointer and the tests find.
void take_pointer(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout) {
  StepCache& cache = *panel.memory.cache;
  cache.hovered.reset();
  const auto button = [&](const char* id, const TileScene& tile, const TilePlace& place) {
    if (place.box.width() < 1 || place.box.height() < 1) return;
    ImGui::SetCursorScreenPos(place.box.min);
    const bool clicked = ImGui::InvisibleButton(id, {place.box.width(), place.box.height()});
    if (!ImGui::IsItemHovered()) return;
    cache.hovered = hit(tile, place, ImGui::GetMousePos());
    if (!clicked || !cache.hovered) return;
    const bool inside =
        tile.slot == Slot::k || tile.slot == Slot::v || cache.hovered->row < scene.at.first_row + scene.at.rows;
    if (inside) panel.commands.push_back(select_of(scene, *cache.hovered));
  };
  static constexpr const char* kIds[kColumns] = {"##tile_q",     "##tile_s",     "##tile_m_old",
                                                 "##tile_m_new", "##tile_alpha", "##tile_p",
                                                 "##tile_l_old", "##tile_l_new", "##tile_o"};
  for (const Column c : scene.columns) {
    const auto n = static_cast<std::size_t>(c);
    button(kIds[n], scene.tiles[n], layout.places[n]);
  }
  button("##tile_k", scene.k, layout.k);
  button("##tile_v", scene.v, layout.v);
}

// Tiles in the order in which left and right cross from one to the next.
std::vector<const TileScene*> row_tiles(const TilesScene& scene) {
  std::vector<const TileScene*> tiles;
  for (const Column c : scene.columns) tiles.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
  return tiles;
}

void move_keyboard(const TilesScene& scene, CellRef& at, int dx, int dy) {
  const TileScene* tile = tile_of(scene, at.slot);
  if (tile == nullptr) return;
  std::int32_t r = (tile->transposed ? at.col - tile->first_row : at.row - tile->first_row) + dy;
  std::int32_t c = (tile->transposed ? at.row - tile->first_col : at.col - tile->first_col) + dx;
  // Over S's upper edge lies K, over O's lies V, and back.
  if (r < 0 && tile->slot == Slot::s)
    tile = &scene.k, r = tile->rows - 1;
  else if (r < 0 && tile == &scene.tiles[static_cast<std::size_t>(Column::o)])
    tile = &scene.v, r = tile->rows - 1;
  else if (r >= tile->rows && tile->slot == Slot::k)
    tile = &scene.tiles[kSTile], r = 0;
  else if (r >= tile->rows && tile->slot == Slot::v)
    tile = &scene.tiles[static_cast<std::size_t>(Column::o)], r = 0;
  const std::vector<const TileScene*> row = row_tiles(scene);
  const auto here = std::find(row.begin(), row.end(), tile);
  if (here != row.end() && c < 0 && here != row.begin())
    tile = *(here - 1), c = tile->cols - 1;
  else if (here != row.end() && c >= tile->cols && here + 1 != row.end())
    tile = *(here + 1), c = 0;
  at = tile->ref(std::clamp(r, 0, tile->rows - 1), std::clamp(c, 0, tile->cols - 1));
}

// Tab enters the tiles, arrows move, Enter pins, Esc leaves. The keys are owned for the frame, so that neither
// Dear ImGui's tabbing nor the shell's stepping sees them.
void take_keys(const TilesPanel& panel, const TilesScene& scene) {
  StepMemory& memory = panel.memory;
  StepCache& cache = *memory.cache;
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
    return;
  const ImGuiID owner = ImGui::GetID("##step_cells");
  ImGui::SetKeyOwner(ImGuiKey_Tab, owner);
  if (!memory.cells_focused) {
    if (!ImGui::IsKeyPressed(ImGuiKey_Tab, ImGuiInputFlags_None, owner) || io.KeyCtrl) return;
    memory.cells_focused = true;
    if (!cache.keyboard || cell_of(scene, *cache.keyboard) == nullptr)
      cache.keyboard = pointed_cell(scene, panel.state, memory);
    if (!cache.keyboard) cache.keyboard = scene.tiles[kSTile].ref(0, 0);
    return;
  }
  if (!cache.keyboard || cell_of(scene, *cache.keyboard) == nullptr)
    cache.keyboard = scene.tiles[kSTile].ref(scene.at.row - scene.at.first_row, 0);
  const auto pressed = [&](ImGuiKey key) {
    ImGui::SetKeyOwner(key, owner);
    return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
  };
  if (pressed(ImGuiKey_Escape) || ImGui::IsKeyPressed(ImGuiKey_Tab, ImGuiInputFlags_None, owner)) {
    memory.cells_focused = false;
    return;
  }
  const bool plain = !io.KeyCtrl && !io.KeyShift;
  if (!plain) return;
  if (pressed(ImGuiKey_LeftArrow)) move_keyboard(scene, *cache.keyboard, -1, 0);
  if (pressed(ImGuiKey_RightArrow)) move_keyboard(scene, *cache.keyboard, 1, 0);
  if (pressed(ImGuiKey_UpArrow)) move_keyboard(scene, *cache.keyboard, 0, -1);
  if (pressed(ImGuiKey_DownArrow)) move_keyboard(scene, *cache.keyboard, 0, 1);
  if (pressed(ImGuiKey_Enter)) panel.commands.push_back(select_of(scene, *cache.keyboard));
}

void give_texts(TilesScene& scene, const TilesLayout& layout) {
  for (const Column c : scene.columns)
    write_numbers(scene.tiles[static_cast<std::size_t>(c)], layout.places[static_cast<std::size_t>(c)].room);
  write_numbers(scene.k, layout.k.room);
  write_numbers(scene.v, layout.v.room);
}

void draw_all(const Drawn& d) {
  draw_band(d);
  draw_row_labels(d);
  for (const Column c : d.scene.columns) {
    const auto n = static_cast<std::size_t>(c);
    draw_tile(d, d.scene.tiles[n], d.layout.places[n]);
    const bool statistic = d.scene.tiles[n].cols == 1 && c != Column::s && c != Column::p;
    if (c == Column::s)
      draw_score_title(d);
    else
      draw_title(d, d.scene.tiles[n], d.layout.places[n], statistic && c != Column::q && c != Column::o);
  }
  draw_tile(d, d.scene.k, d.layout.k);
  draw_title(d, d.scene.k, d.layout.k, false);
  draw_tile(d, d.scene.v, d.layout.v);
  draw_title(d, d.scene.v, d.layout.v, false);
  draw_captions(d);
  draw_next(d);
  light_operands(d);
}

void show_pointed(const TilesPanel& panel, const Drawn& d) {
  if (!d.pointed) return;
  const PointedScene scene = pointed_scene(panel.rec, d.scene, *d.pointed, panel.memory.cache->bounds());
  if (d.layout.has_pointed && pointed_height(scene) <= d.layout.pointed.height() + d.s.px(14)) {
    draw_pointed(d.list, d.layout.pointed, scene);
  } else if (panel.memory.cache->hovered) {
    ImGui::BeginTooltip();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = d.s.px(360);
    ImGui::Dummy({width, pointed_height(scene)});
    draw_pointed(ImGui::GetWindowDrawList(), {at, {at.x + width, at.y + pointed_height(scene)}}, scene);
    ImGui::EndTooltip();
  }
  const bool copy = ImGui::GetIO().KeyCtrl && ImGui::IsKeyPressed(ImGuiKey_C, false) && !ImGui::GetIO().WantTextInput;
  if (copy && !scene.full.empty()) panel.commands.push_back(CopyText{scene.full});
}

}  // namespace

std::optional<CellRef> pointed_cell(const TilesScene& scene, const State& state, const StepMemory& memory) {
  const StepCache& cache = *memory.cache;
  if (cache.hovered) return cache.hovered;
  if (memory.cells_focused && cache.keyboard) return cache.keyboard;
  const Selection& pinned = state.document.selection;
  if (pinned.col >= 0) {
    const CellRef ref{pinned.slot, scene.at.row, pinned.col};
    if (cell_of(scene, ref) != nullptr) return ref;
  }
  const std::int32_t r = scene.at.row - scene.at.first_row;
  // O while it is made or all that is left, else the row's largest score: what m looks at.
  const TileScene& o = scene.tiles[static_cast<std::size_t>(Column::o)];
  const TileScene& s = scene.tiles[kSTile];
  if (o.live && (o.made || !s.live)) return o.ref(r, 0);
  std::optional<CellRef> best;
  float most = 0;
  for (std::int32_t c = 0; c < s.cols; ++c) {
    const Cell& cell = s.cell(r, c);
    if (cell.look != CellLook::value || (best && !(cell.value > most))) continue;
    best = s.ref(r, c);
    most = cell.value;
  }
  return best;
}

void draw_step_tiles(const TilesPanel& panel, const Box& box, TilesScene& scene) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const Box area{{box.min.x + s.px(16), box.min.y + s.px(8)}, {box.max.x - s.px(18), box.max.y - s.px(8)}};
  const TilesLayout layout = layout_tiles(scene, area);
  give_texts(scene, layout);
  list->PushClipRect(box.min, box.max, true);
  take_pointer(panel, scene, layout);
  take_keys(panel, scene);
  const std::optional<CellRef> pointed = pointed_cell(scene, panel.state, panel.memory);
  const Drawn drawn{list, scene, layout, pointed, panel.memory, s};
  draw_all(drawn);
  if (pointed) light_cell(drawn, *pointed, panel.memory.cells_focused ? 2.0F : 1.0F);
  if (layout.has_chip) draw_chip_card(list, layout.chip, panel.rec);
  show_pointed(panel, drawn);
  list->PopClipRect();
}

void draw_chip_card(ImDrawList* list, const Box& box, const Recording& rec) {
  const Style& s = style();
  const auto bytes = on_chip_bytes(rec.order, rec.problem, rec.options);
  struct Part {
    TrafficPart part;
    TensorColour hue;
    const char* letter;
  };
  static constexpr Part kParts[] = {{TrafficPart::q, TensorColour::q, "Q"}, {TrafficPart::k, TensorColour::k, "K"},
                                    {TrafficPart::v, TensorColour::v, "V"}, {TrafficPart::s, TensorColour::s, "S"},
                                    {TrafficPart::p, TensorColour::p, "P"}, {TrafficPart::stats, TensorColour::m, "mℓ"},
                                    {TrafficPart::o, TensorColour::o, "O"}};
  std::uint64_t total = 0;
  for (const std::uint64_t b : bytes) total += b;
  if (total == 0) return;
  draw_text(list, box.min, Face::bold, 14, colour_of(Token::text), "Tiles on chip");
  const float width = std::min(box.width(), s.px(230));
  float x = box.min.x, y = box.min.y + s.px(24);
  for (const Part& p : kParts) {
    const float w = width * static_cast<float>(bytes[static_cast<std::size_t>(p.part)]) / static_cast<float>(total);
    if (w <= 0) continue;
    list->AddRectFilled({x, y}, {x + std::max(w - s.px(1), 1.0F), y + s.px(11)}, colour_of(p.hue));
    x += w;
  }
  y += s.px(18);
  const std::string number = std::to_string(total);
  draw_runs(list, {box.min.x, y}, 13,
            {{number + " B", Face::mono, Token::text, 0, false},
             {" of SRAM and registers", Face::text, Token::dim, 0, false}});
  y += s.px(21);
  x = box.min.x;
  for (const Part& p : kParts) {
    const std::uint64_t b = bytes[static_cast<std::size_t>(p.part)];
    if (b == 0 || y + s.px(18) > box.max.y) continue;
    const Runs runs{{p.letter, Face::maths, p.hue, 0, false},
                    {" " + std::to_string(b), Face::mono, Token::dim, 0, false}};
    const float w = runs_width(runs, 12.5F);
    if (x + w > box.max.x) x = box.min.x, y += s.px(20);
    if (y + s.px(18) > box.max.y) break;
    draw_runs(list, {x, y}, 12.5F, runs);
    x += w + s.px(14);
  }
  y += s.px(20);
  if (bytes[static_cast<std::size_t>(TrafficPart::p)] == 0 && y + s.px(18) <= box.max.y) {
    draw_runs(list, {box.min.x, y}, 12.5F,
              {{"P", Face::maths, TensorColour::p, 0, false},
               {" takes the place of ", Face::text, Token::dim, 0, false},
               {"S", Face::maths, TensorColour::s, 0, false}});
  }
}

}  // namespace attn
