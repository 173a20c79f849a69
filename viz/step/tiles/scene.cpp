#include "viz/step/tiles/scene.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/dropped.h"
#include "viz/step/facts/letters.h"

namespace attn {
namespace {

// l by which a cell of O is divided before it is shown; none where it is shown as it stands.
std::optional<float> divisor_of(const Recording& rec, EventIndex e, OutputReading reading, const Version& v, Slot slot,
                                std::int32_t r) {
  const bool output = slot == Slot::o_old || slot == Slot::o_new;
  if (!output || reading == OutputReading::as_summed || v.holds.normalised) return std::nullopt;
  float l = 0;  // its lanes' parts together
  for (const float part : row_of(rec, rec.after(e, output_sum_slot(rec, e)), v.first_row + r)) l += part;
  return l != 0 ? std::optional(l) : std::nullopt;
}

std::size_t element_of(const Version& v, std::int32_t r, std::int32_t c) {
  return static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c);
}

struct Builder {
  const Recording& rec;
  EventIndex e;
  const StepPlace& at;
  OutputReading reading;
  const TensorScales& scales;

  bool masked(std::int32_t row, std::int32_t key) const {
    if (!rec.problem.visible(at.b, row, key)) return true;
    if (!rec.problem.has_bias() || !rec.inputs.bias) return false;
    return std::isinf(rec.inputs.bias->get(rec.problem.bias_index(at.b, at.h, row, key)));
  }
  bool loaded(VersionId id, Slot slot) const;
  void fill(TileScene& tile, VersionId id) const;
  void mark_masked(TileScene& tile) const;
  TileScene tile(Slot slot, std::int32_t rows, std::int32_t cols, std::int32_t first_row, std::int32_t first_col) const;
};

// Came from HBM in this step: made before, live again.
bool Builder::loaded(VersionId id, Slot slot) const {
  if (rec.before(e, slot) == id) return false;
  const OrderPhase* phase = order_row(rec.order).phase(rec.events[e].id.phase);
  if (phase == nullptr) return false;
  if (std::ranges::find(phase->brings, slot) != phase->brings.end()) return true;
  // P comes back along with an input.
  const bool inputs_alone = !phase->loads.empty() && phase->loads == phase->brings;
  return inputs_alone && (is_input(slot) || slot == Slot::p);
}

void Builder::fill(TileScene& tile, VersionId id) const {
  const Version& v = rec.version(id);
  const TensorScale& scale = scales[static_cast<std::size_t>(tile.hue)];
  tile.live = true;
  tile.made = v.made_by == e || loaded(id, tile.slot);
  const std::span<const float> values = rec.values(id);
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols; ++c) {
      const std::int32_t vr = tile.transposed ? c : r, vc = tile.transposed ? r : c;
      if (vr >= v.rows || vc >= v.cols) continue;
      Cell& cell =
          tile.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(tile.cols) + static_cast<std::size_t>(c)];
      cell.look = CellLook::value;
      cell.value = values[element_of(v, vr, vc)];
      if (const auto l = divisor_of(rec, e, reading, v, tile.slot, vr))
        cell.value = static_cast<float>(static_cast<double>(cell.value) / *l);
      cell.shade = scale.shade(cell.value);
    }
  }
}

// Masked scores are hatched once the mask is applied, masked weights always.
void Builder::mark_masked(TileScene& tile) const {
  const VersionId id = rec.after(e, tile.slot);
  const bool skipped = rec.events[e].id.phase == Phase::skipped;
  if (!skipped && id == kNoVersion) return;
  if (!skipped && tile.slot == Slot::s && !rec.version(id).holds.masked && rec.events[e].id.phase == Phase::scores)
    return;
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols; ++c) {
      Cell& cell =
          tile.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(tile.cols) + static_cast<std::size_t>(c)];
      if (cell.look == CellLook::past_end) continue;
      // A kernel that is wrong may have let a hidden key through: its number is shown, not what it should be.
      const bool let_through =
          cell.look == CellLook::value && std::isfinite(cell.value) && (tile.slot == Slot::s || cell.value != 0);
      if (skipped || (masked(tile.first_row + r, tile.first_col + c) && !let_through)) cell.look = CellLook::masked;
    }
  }
}

TileScene Builder::tile(Slot slot, std::int32_t rows, std::int32_t cols, std::int32_t first_row,
                        std::int32_t first_col) const {
  TileScene tile;
  tile.slot = slot;
  tile.hue = tensor_of(slot);
  tile.rows = rows;
  tile.cols = cols;
  tile.first_row = first_row;
  tile.first_col = first_col;
  tile.transposed = slot == Slot::k;
  tile.natural = scales[static_cast<std::size_t>(tile.hue)].natural;
  tile.cells.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  // Rows and columns that the problem has here; what lies beyond is past the end.
  const SlotRow& of = slot_row(slot);
  const std::int32_t has_rows = slot == Slot::k ? rows : of.rows == SlotRows::keys ? at.keys : at.rows;
  const bool keys_across = slot == Slot::k || of.columns == SlotColumns::keys;
  const std::int32_t has_cols = keys_across ? at.keys : cols;
  for (std::int32_t r = 0; r < rows; ++r) {
    for (std::int32_t c = 0; c < cols; ++c) {
      if (r >= has_rows || c >= has_cols) {
        tile.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(c)].look =
            CellLook::past_end;
      }
    }
  }
  const VersionId id = rec.after(e, slot);
  if (id != kNoVersion) {
    fill(tile, id);
  } else if (is_dropped(rec, at, slot)) {
    for (Cell& cell : tile.cells) {
      if (cell.look == CellLook::empty) cell.look = CellLook::dropped;
    }
  }
  return tile;
}

// Columns of a statistic: the lanes that share a row, where each has its own part of l.
std::int32_t lanes_of(const Recording& rec, EventIndex e, Slot slot) {
  const VersionId id = rec.after(e, slot);
  return id != kNoVersion && rec.version(id).holds.partial ? rec.version(id).cols : 1;
}

std::string range_words(const char* what, std::int32_t first, std::int32_t count) {
  if (count <= 1) return std::string(" ") + what + " " + std::to_string(first);
  return std::string(" ") + what + "s " + std::to_string(first) + "–" + std::to_string(first + count - 1);
}

std::string index_text(std::int32_t n) {
  return n < 0 ? "" : std::to_string(n);
}

void add_titles(TilesScene& scene, const Recording& rec, EventIndex e, OutputReading reading) {
  using enum TensorColour;
  const StepPlace& at = scene.at;
  const auto of = [&](Column c) -> Runs& { return scene.tiles[static_cast<std::size_t>(c)].title; };
  of(Column::q) = {letter("Q", q), subscript(index_text(at.i), q), word(range_words("row", at.first_row, at.rows))};
  scene.k.title = {letter("K", k), subscript(index_text(at.j), k), letter("T", k, 1)};
  scene.v.title = {letter("V", v), subscript(index_text(at.j), v)};
  if (at.j >= 0) {
    scene.k.title.push_back(word(range_words("key", at.first_key, at.keys)));
    scene.v.title.push_back(word(range_words("value", at.first_key, at.keys)));
  }
  of(Column::s) = {letter("S", s)};
  // The last steps and a skipped tile have no new ones: those that stand are the row's.
  const Phase phase = rec.events[e].id.phase;
  const bool last =
      (phase == Phase::normalise || phase == Phase::store_o || phase == Phase::skipped) && !stores_scores(rec.order);
  of(Column::m_old) = {letter("m", m)};
  of(Column::l_old) = {letter("ℓ", l)};
  if (!last) {
    of(Column::m_old).push_back(word(" old"));
    of(Column::l_old).push_back(word(" old"));
  }
  of(Column::m_new) = {letter("m", m), word(" new")};
  of(Column::alpha) = {letter("α", alpha)};
  of(Column::p) = {letter("P", p), word(" weights")};
  of(Column::l_new) = {letter("ℓ", l), word(" new")};
  if (scene.tiles[static_cast<std::size_t>(Column::l_new)].cols > 1) of(Column::l_new).back() = word(" by lane");
  const Slot slot = output_slot(rec, e);
  const VersionId id = rec.after(e, slot);
  const bool done = id != kNoVersion && rec.version(id).holds.normalised;
  const char* words = done && !order_row(rec.order).divides_each_turn ? " output"
                      : reading == OutputReading::divided             ? " ÷ "
                                                                      : " so far";
  of(Column::o) = {letter("O", o), word(words)};
  if (!done && reading == OutputReading::divided) of(Column::o).push_back(letter("ℓ", l));
}

Runs scale_runs(const Problem& p) {
  const std::string words = scale_words(p);
  return {word(words.rfind("1/", 0) == 0 ? " / " + words.substr(2) : " × " + words, Token::text)};
}

// What the numbers on show are: those of a GPU's run as it was recorded may lack the scale, or be of base 2.
Holds held_of(const Recording& rec, EventIndex e, Slot slot) {
  const VersionId id = rec.after(e, slot);
  return id == kNoVersion ? Holds{} : rec.version(id).holds;
}
Holds held_scores(const Recording& rec, EventIndex e) {
  return held_of(rec, e, Slot::s);
}
Holds held_maximum(const Recording& rec, EventIndex e) {
  return held_of(rec, e, rec.after(e, Slot::m_new) != kNoVersion ? Slot::m_new : Slot::m_old);
}

// The column in which a phase's work is seen, and whether its tile can be the next one to come.
struct ColumnOfPhase {
  Phase phase;
  Column column;
  bool comes;
};
constexpr ColumnOfPhase kColumnOfPhase[] = {
    {Phase::load_q, Column::q, false},    {Phase::scores, Column::s, true},   {Phase::mask, Column::s, false},
    {Phase::store_s, Column::s, false},   {Phase::max, Column::m_new, true},  {Phase::rescale, Column::alpha, true},
    {Phase::weights, Column::p, true},    {Phase::sum, Column::l_new, true},  {Phase::output, Column::o, true},
    {Phase::normalise, Column::o, false}, {Phase::store_o, Column::o, false},
};
constexpr std::pair<Slot, Column> kColumnOfSlot[] = {
    {Slot::q, Column::q},         {Slot::s, Column::s},         {Slot::p, Column::p},
    {Slot::m_old, Column::m_old}, {Slot::m_new, Column::m_new}, {Slot::alpha, Column::alpha},
    {Slot::l_old, Column::l_old}, {Slot::l_new, Column::l_new}, {Slot::o_old, Column::o},
    {Slot::o_new, Column::o},
};

std::optional<Column> column_of(const OrderRow& order, Slot slot) {
  for (const auto& [of, column] : kColumnOfSlot) {
    if (of == slot) return column;
  }
  const auto own = order.own(slot);
  return own ? std::optional(static_cast<Column>(kColumns + *own)) : std::nullopt;
}

// Of an order's own phase: the column of what it makes.
std::optional<ColumnOfPhase> column_of(const OrderRow& order, Phase phase) {
  for (const ColumnOfPhase& known : kColumnOfPhase) {
    if (known.phase == phase) return known;
  }
  if (!order.own(phase)) return std::nullopt;
  for (const WalkStep& step : order.walk) {
    if (step.phase != phase || step.creates.empty()) continue;
    if (const auto column = column_of(order, step.creates.front())) {
      return ColumnOfPhase{phase, *column, step.once == Once::tile};
    }
  }
  return std::nullopt;
}

// Under the tile of an own slot: the formula of the phase that makes it.
void add_own_captions(TilesScene& scene, const OrderRow& order) {
  for (std::size_t n = 0; n < order.own_slots.size(); ++n) {
    const auto& makers = order.makers[static_cast<std::size_t>(order.own_slots[n])];
    const OrderPhase* made = makers.empty() ? nullptr : order.phase(makers.front());
    if (made != nullptr) scene.captions[kColumns + n].words = runs_of(made->formula, {}, Face::text, Token::dim);
  }
}

// The algorithm, term by term.
void add_captions(TilesScene& scene, const Recording& rec, EventIndex e) {
  using enum TensorColour;
  const auto set = [&](Column c, Runs words) { scene.captions[static_cast<std::size_t>(c)].words = std::move(words); };
  const OrderRow& order = order_row(rec.order);
  const bool stored = order.stores_scores;
  set(Column::q, {letter("Q", q), word(stored ? " rows" : order.query_stays ? " stays on chip" : " again")});
  Runs scores{letter("S", s), word(" = "), letter("Q", q), letter("K", k), letter("T", k, 1)};
  for (Run& run : scale_runs(rec.problem)) scores.push_back(std::move(run));
  const Holds held = held_scores(rec, e);
  if (!held.scaled) scores.pop_back();
  if (held.base2) scores.push_back(word(", base 2"));
  set(Column::s, scores);
  const bool with_max = rec.options.subtract_max;
  if (with_max)
    set(Column::m_new, {word("max("), word("old", m), word(", "), letter("S", s), word(")")});
  else
    set(Column::m_new, {letter("m", m), word(" held at 0")});
  const bool base2 = held_maximum(rec, e).base2;
  const std::string base = base2 ? "2" : "e";
  set(Column::alpha, {letter(base, alpha), {"old − new", Face::text, m, 1, false}});
  if (stored) {
    set(Column::p, {letter("P", p),
                    word(" = "),
                    letter("e", p),
                    letter("S", s, 1),
                    {" − ", Face::text, Token::dim, 1, false},
                    letter("m", m, 1),
                    word(" / "),
                    letter("ℓ", l)});
    set(Column::l_new,
        {word("Σ "), letter("e", p), letter("S", s, 1), {" − ", Face::text, Token::dim, 1, false}, letter("m", m, 1)});
    set(Column::o, {letter("O", o), word(" + "), letter("P", p), letter("V", v)});
  } else {
    Runs weights{letter("P", p), word(" = "), letter(base, p)};
    if (!held.scaled) weights.push_back({"scaled ", Face::text, Token::dim, 1, false});
    weights.insert(weights.end(),
                   {letter("S", s, 1), {" − ", Face::text, Token::dim, 1, false}, {"new", Face::text, m, 1, false}});
    set(Column::p, std::move(weights));
    set(Column::l_new, {letter("α", alpha), letter("ℓ", l), word(" + Σ "), letter("P", p)});
    if (order.divides_each_turn) {
      set(Column::o, {word("("), letter("αℓ", l), letter("O", o), word(" + "), letter("P", p), letter("V", v),
                      word(") / "), letter("ℓ", l)});
    } else {
      set(Column::o, {letter("α", alpha), letter("O", o), word(" + "), letter("P", p), letter("V", v)});
    }
  }
  const Phase phase = rec.events[e].id.phase;
  if (phase == Phase::normalise || phase == Phase::store_o) {
    set(Column::o, {letter("O", o), word(" / "), letter("ℓ", l)});
  }
  add_own_captions(scene, order);
  if (const auto column = column_of(order, phase)) {
    scene.captions[static_cast<std::size_t>(column->column)].live = true;
  }
}

// What a skipped tile would have held is not to come: it never will be.
void mark_never(TileScene& tile) {
  for (Cell& cell : tile.cells) {
    if (cell.look == CellLook::empty || cell.look == CellLook::dropped) cell.look = CellLook::masked;
  }
}

// Marks the largest score of each row so far in this tile: the one that m takes. `near`: how far the two may be apart,
// relative, where they were rounded on ways of their own.
void mark_largest(TileScene& s, const TileScene& m_new, float near) {
  if (!s.live || !m_new.live) return;
  for (std::int32_t r = 0; r < s.rows; ++r) {
    const float m = m_new.cell(r, 0).value;
    for (std::int32_t c = 0; c < s.cols; ++c) {
      Cell& cell =
          s.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(s.cols) + static_cast<std::size_t>(c)];
      if (cell.look == CellLook::value && m_new.cell(r, 0).look == CellLook::value &&
          (cell.value == m || std::fabs(cell.value - m) <= near * std::fabs(m))) {
        cell.largest = true;
        break;
      }
    }
  }
}

// The tile that the next event of this query tile will make.
void find_next(TilesScene& scene, const Recording& rec, EventIndex e) {
  if (e + 1 >= rec.events.size()) return;
  const EventId& id = rec.events[e + 1].id;
  const EventId& now = rec.events[e].id;
  if (id.b != now.b || id.h != now.h || id.i != now.i || id.j != now.j) return;
  const auto next = column_of(order_row(rec.order), id.phase);
  if (!next || !next->comes) return;
  scene.next_column = next->column;
  scene.next_any = !scene.tiles[static_cast<std::size_t>(scene.next_column)].live;
  scene.next = "next";
}

// The tiles of an order's own slots, each to the right of its nearest relative.
void add_own_tiles(TilesScene& scene, const Builder& build, const OrderRow& order) {
  const StepPlace& at = scene.at;
  const Problem& p = build.rec.problem;
  for (const Slot slot : order.own_slots) {
    const SlotRow& row = slot_row(slot);
    const std::int32_t columns[] = {lanes_of(build.rec, build.e, slot), static_cast<std::int32_t>(p.D),
                                    static_cast<std::int32_t>(p.Dv), at.bc};  // SlotColumns
    const bool keys = row.rows == SlotRows::keys, across = row.columns == SlotColumns::keys;
    TileScene tile = build.tile(slot, keys ? at.bc : at.br, columns[static_cast<std::size_t>(row.columns)],
                                keys ? at.first_key : at.first_row, across ? at.first_key : 0);
    tile.title = {letter(std::string(row.letter), tile.hue)};
    const auto column = static_cast<Column>(scene.tiles.size());
    scene.tiles.push_back(std::move(tile));
    scene.captions.emplace_back();
    const auto beside = column_of(order, row.like);
    const auto place = beside ? std::ranges::find(scene.columns, *beside) : scene.columns.end();
    scene.columns.insert(place == scene.columns.end() ? place : place + 1, column);
  }
}

}  // namespace

Column like_column(const TilesScene& scene, Column column) {
  constexpr Column kLike[] = {Column::alpha, Column::q, Column::o, Column::s};  // SlotColumns
  const auto n = static_cast<std::size_t>(column);
  return n < kColumns ? column : kLike[static_cast<std::size_t>(slot_row(scene.tiles[n].slot).columns)];
}

CellRef TileScene::ref(std::int32_t r, std::int32_t c) const {
  if (transposed) return {slot, first_col + c, first_row + r};
  return {slot, first_row + r, first_col + c};
}

TilesScene tiles_scene(const Recording& rec, EventIndex e, const Selection& selection, OutputReading reading,
                       const TensorScales& scales) {
  TilesScene scene;
  // Only an order that divides at the end has the choice: the others sum weights that are divided already.
  const OrderRow& order = order_row(rec.order);
  if (!order.ends_with_lse) reading = OutputReading::as_summed;
  scene.reading = reading;
  scene.at = place_of(rec, e, selection);
  e = scene.at.event;
  const StepPlace& at = scene.at;
  const Builder build{rec, e, at, reading, scales};
  const auto D = static_cast<std::int32_t>(rec.problem.D), Dv = static_cast<std::int32_t>(rec.problem.Dv);
  scene.columns = order.stores_scores
                      ? std::vector<Column>{Column::q,     Column::s,     Column::m_old, Column::m_new,
                                            Column::l_old, Column::l_new, Column::p,     Column::o}
                      : std::vector<Column>{Column::q, Column::s,     Column::m_old, Column::m_new, Column::alpha,
                                            Column::p, Column::l_old, Column::l_new, Column::o};
  const auto of = [&](Column c) -> TileScene& { return scene.tiles[static_cast<std::size_t>(c)]; };
  of(Column::q) = build.tile(Slot::q, at.br, D, at.first_row, 0);
  of(Column::s) = build.tile(Slot::s, at.br, at.bc, at.first_row, at.first_key);
  of(Column::p) = build.tile(Slot::p, at.br, at.bc, at.first_row, at.first_key);
  constexpr std::pair<Column, Slot> kStats[] = {{Column::m_old, Slot::m_old},
                                                {Column::m_new, Slot::m_new},
                                                {Column::alpha, Slot::alpha},
                                                {Column::l_old, Slot::l_old},
                                                {Column::l_new, Slot::l_new}};
  for (const auto& [column, slot] : kStats)
    of(column) = build.tile(slot, at.br, lanes_of(rec, e, slot), at.first_row, 0);
  of(Column::o) = build.tile(output_slot(rec, e), at.br, Dv, at.first_row, 0);
  add_own_tiles(scene, build, order);
  scene.k = build.tile(Slot::k, D, at.bc, 0, at.first_key);
  scene.v = build.tile(Slot::v, at.bc, Dv, at.first_key, 0);
  constexpr float kTwoRoundings = 3e-7F;
  mark_largest(of(Column::s), of(Column::m_new), rec.gpu && rec.gpu->slack > 0 ? kTwoRoundings : 0);
  build.mark_masked(of(Column::s));
  build.mark_masked(of(Column::p));
  of(Column::m_old).superseded = of(Column::m_old).live && of(Column::m_new).live;
  // Parts by lane are too small for numbers: without their fill they would be nothing.
  of(Column::l_old).superseded = of(Column::l_old).live && of(Column::l_new).live && of(Column::l_old).cols == 1;
  of(Column::alpha).gauge = true;
  scene.skipped = rec.events[e].id.phase == Phase::skipped;
  if (scene.skipped) {
    for (TileScene* tile : {&scene.k, &scene.v, &of(Column::m_new), &of(Column::alpha), &of(Column::l_new)})
      mark_never(*tile);
    for (std::size_t n = kColumns; n < scene.tiles.size(); ++n) mark_never(scene.tiles[n]);
  }
  add_titles(scene, rec, e, reading);
  add_captions(scene, rec, e);
  find_next(scene, rec, e);
  return scene;
}

double cell_bound(const Recording& rec, const TilesScene& scene, const TileScene& tile, std::int32_t r, std::int32_t c,
                  const ExactTile* exact) {
  const EventIndex e = scene.at.event;
  const VersionId id = rec.after(e, tile.slot);
  if (id == kNoVersion) return 0;
  const Version& v = rec.version(id);
  const std::int32_t vr = tile.transposed ? c : r, vc = tile.transposed ? r : c;
  if (vr >= v.rows || vc >= v.cols) return 0;
  const double bound = bound_of(rec, exact, id, element_of(v, vr, vc));
  const auto l = divisor_of(rec, e, scene.reading, v, tile.slot, vr);
  if (!l) return bound;
  // |o/l - o'/l'| <= (bound_o + |o/l| bound_l) / l, to first order.
  const VersionId l_id = rec.after(e, output_sum_slot(rec, e));
  const double l_bound =
      bound_of(rec, exact, l_id, static_cast<std::size_t>(v.first_row + vr - rec.version(l_id).first_row));
  const double quotient = static_cast<double>(rec.values(id)[element_of(v, vr, vc)]) / *l;
  return (bound + std::abs(quotient) * l_bound) / std::abs(*l) * 1.0000001 + std::abs(quotient) * 6e-8;
}

void write_numbers(const Recording& rec, const TilesScene& scene, TileScene& tile, int room, const ExactTile* exact,
                   int only_row) {
  if (room < 3) return;
  std::vector<float> values;
  std::vector<double> bounds;
  const std::int32_t first = std::max(only_row, 0), end = only_row < 0 ? tile.rows : std::min(only_row + 1, tile.rows);
  const auto each = [&](const auto& use) {
    for (std::int32_t r = first; r < end; ++r) {
      for (std::int32_t c = 0; c < tile.cols; ++c) {
        Cell& cell =
            tile.cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(tile.cols) + static_cast<std::size_t>(c)];
        if (cell.look == CellLook::value) use(r, c, cell);
      }
    }
  };
  each([&](std::int32_t r, std::int32_t c, const Cell& cell) {
    values.push_back(cell.value);
    // Sums kept in 16 bits: what is wrong with them is what there is to see.
    const bool sum =
        tile.slot == Slot::l_old || tile.slot == Slot::l_new || tile.slot == Slot::o_old || tile.slot == Slot::o_new;
    const bool kept = sum && rec.options.accumulate != DType::f32;
    bounds.push_back(kept ? 0 : cell_bound(rec, scene, tile, r, c, exact));
  });
  const ColumnFormat format = column_format(values, bounds, room, tile.natural);
  std::size_t n = 0;
  each([&](std::int32_t, std::int32_t, Cell& cell) { cell.text = cell_text(cell.value, bounds[n++], format); });
}

int wanted_characters(const TileScene& tile) {
  if (tile.natural < 0) return 7;
  int max = 3;
  for (const Cell& cell : tile.cells) {
    if (cell.look == CellLook::value) max = std::max(max, text_length(number_text(cell.value, {tile.natural, false})));
  }
  return max;
}

}  // namespace attn
