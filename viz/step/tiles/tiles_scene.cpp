#include "viz/step/tiles/tiles_scene.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/orders/backward/options.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/abreast.h"
#include "viz/step/facts/dropped_tiles.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

// l by which a cell of O is divided before it is shown; none where it is shown as it stands.
std::optional<float> divisor_of(const Recording& rec, EventIndex e, OutputReading reading, const Version& v, Slot slot,
                                std::int32_t r) {
  if (order_look(rec.order).slot(slot).explain != Explain::output || reading == OutputReading::as_summed ||
      v.holds.normalised)
    return std::nullopt;
  float l = 0;  // its lanes' parts together
  for (const float part : row_of(rec, rec.after(e, output_sum_slot(rec, e)), v.first_row + r)) l += part;
  return l != 0 ? std::optional(l) : std::nullopt;
}

std::size_t element_of(const Version& v, std::int32_t r, std::int32_t c) {
  return static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c);
}

void replace_look(TileScene& tile, CellLook from, CellLook to) {
  for (Cell& cell : tile.cells)
    if (cell.look == from) cell.look = to;
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
  void lay_in_slot(TileScene& tile, EventIndex now) const;
  void mark_masked(TileScene& tile) const;
  std::int32_t columns_of(Slot slot) const;
  TileScene tile(Slot slot, bool transposed = false) const;
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
  const TensorScale& scale = scale_of(scales, tile.slot);
  tile.live = true;
  tile.brought = loaded(id, tile.slot) && (v.made_by != e || slot_row(tile.slot).input);
  // What a row starts with (ℓ old = 0) comes with its first step and is not what that step makes.
  const bool old = slot_row(tile.slot).made_as && slot_row(tile.slot).like == tile.slot;
  tile.made = (v.made_by == e && !old) || tile.brought;
  const std::span<const float> values = rec.values(id);
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols; ++c) {
      const std::int32_t vr = tile.transposed ? c : r, vc = tile.transposed ? r : c;
      if (vr >= v.rows || vc >= v.cols) continue;
      Cell& cell = tile.cell(r, c);
      cell.look = CellLook::value;
      cell.value = values[element_of(v, vr, vc)];
      if (const auto l = divisor_of(rec, e, reading, v, tile.slot, vr))
        cell.value = static_cast<float>(static_cast<double>(cell.value) / *l);
      cell.shade = scale.shade(cell.value);
    }
  }
}

// K or V as it lies in its slot, whether this consumer already found it, has let it go before others, or stands at the
// step that read it last while the slot is another tile's.
void Builder::lay_in_slot(TileScene& tile, EventIndex now) const {
  const auto lies_in = side_by_side_of(rec).lies_in_slot;
  if (lies_in == nullptr || at.j < 0) return;
  const bool lies = lies_in(rec, now, tile.slot == Slot::v, at.j);
  if (lies == tile.live) return;
  if (!lies) {
    tile.live = tile.made = tile.brought = false;
    return replace_look(tile, CellLook::value, CellLook::dropped);
  }
  for (const OrderPhase& phase : order_row(rec.order).phases) {
    if (std::ranges::find(phase.brings, tile.slot) == phase.brings.end()) continue;
    const std::optional<EventIndex> found = rec.find({at.b, at.h, std::max(at.i, 0), at.j, phase.phase});
    if (found && rec.after(*found, tile.slot) != kNoVersion) fill(tile, rec.after(*found, tile.slot));
  }
  tile.made = tile.brought = false;
}

// Masked scores are hatched once the mask is applied, masked weights always.
void Builder::mark_masked(TileScene& tile) const {
  const VersionId id = rec.after(e, tile.slot);
  const bool skipped = rec.events[e].id.phase == Phase::skipped;
  if (!skipped && id == kNoVersion) return;
  if (!skipped && tile.slot == Slot::s && !rec.version(id).holds.masked &&
      order_look(rec.order).phase(rec.events[e].id.phase).before_mask)
    return;
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols; ++c) {
      Cell& cell = tile.cell(r, c);
      if (cell.look == CellLook::past_end) continue;
      // A kernel that is wrong may have let a hidden key through: its number is shown, not what it should be.
      const bool let_through =
          cell.look == CellLook::value && std::isfinite(cell.value) && (tile.slot == Slot::s || cell.value != 0);
      if (skipped || (masked(tile.first_row + r, tile.first_col + c) && !let_through)) cell.look = CellLook::masked;
    }
  }
}

TileScene Builder::tile(Slot slot, bool transposed) const {
  const SlotRow& row = slot_row(slot);
  TileScene tile;
  tile.slot = slot;
  tile.hue = tensor_of(slot);
  tile.by_key = row.rows == SlotRows::keys;
  tile.statistic = row.columns == SlotColumns::one;
  tile.transposed = transposed;
  tile.gradient = row.gradient;
  tile.natural = row.input ? scale_of(scales, slot).natural : -1;
  const bool keys_across = row.columns == SlotColumns::keys;
  // Extents and first indices in the tensor; how much of them the problem has here: what lies beyond is past the end.
  std::int32_t rows = tile.by_key ? at.bc : at.br, has_rows = tile.by_key ? at.keys : at.rows;
  std::int32_t cols = columns_of(slot), has_cols = keys_across ? at.keys : cols;
  tile.first_row = tile.by_key ? at.first_key : at.first_row;
  tile.first_col = keys_across ? at.first_key : 0;
  if (transposed) {
    std::swap(rows, cols);
    std::swap(has_rows, has_cols);
    std::swap(tile.first_row, tile.first_col);
  }
  tile.rows = rows;
  tile.cols = cols;
  tile.cells.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  for (std::int32_t r = 0; r < rows; ++r) {
    for (std::int32_t c = 0; c < cols; ++c) {
      if (r >= has_rows || c >= has_cols) {
        tile.cell(r, c).look = CellLook::past_end;
      }
    }
  }
  const VersionId id = rec.after(e, slot);
  if (is_dropped(rec, at, slot))
    replace_look(tile, CellLook::empty, CellLook::dropped);
  else if (id != kNoVersion)
    fill(tile, id);
  return tile;
}

// Of a whole row of it; of a statistic the lanes that share a row, where each has its own part of l.
std::int32_t Builder::columns_of(Slot slot) const {
  switch (slot_row(slot).columns) {
    case SlotColumns::head:
      return static_cast<std::int32_t>(rec.problem.D);
    case SlotColumns::value_head:
      return static_cast<std::int32_t>(rec.problem.Dv);
    case SlotColumns::keys:
      return at.bc;
    case SlotColumns::one:
      break;
  }
  const VersionId id = rec.after(e, slot);
  return id != kNoVersion && rec.version(id).holds.partial ? rec.version(id).cols : 1;
}

TextRun scale_run(const Problem& p) {
  const std::string words = scale_words(p);
  return word(words.rfind("1/", 0) == 0 ? " / " + words.substr(2) : " × " + words, Token::text);
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

// Which of the pieces stand.
struct Captioner {
  const Recording& rec;
  Holds scores, maximum;
  bool shaped = true;  // softcap, bias and ALiBi are in S: all but between the step that makes it and theirs

  bool stands(PhraseWhen when) const {
    using enum PhraseWhen;
    const Problem& p = rec.problem;
    const bool subtracts = rec.options.subtract_max, delta = orders::backward::subtracts_delta(rec.options),
               shapes = shaped && !scores.base2;
    const std::pair<PhraseWhen, bool> all[] = {{always, true},
                                               {with_max, subtracts},
                                               {without_max, !subtracts},
                                               {scaled, scores.scaled},
                                               {unscaled, !scores.scaled},
                                               {scores_base2, scores.base2},
                                               {capped, shapes && p.softcap},
                                               {biased, shapes && p.has_bias()},
                                               {sloped, shapes && p.alibi},
                                               {base_e, !maximum.base2},
                                               {base_2, maximum.base2},
                                               {with_delta, delta},
                                               {without_delta, !delta}};
    const auto* const at = std::ranges::find(all, when, &std::pair<PhraseWhen, bool>::first);
    return at != std::end(all) && at->second;
  }
  TextRuns words(Phrases pieces) const {
    TextRuns out;
    for (const Phrase& piece : pieces) {
      if (!stands(piece.when)) continue;
      out.push_back(piece.scale ? scale_run(rec.problem) : run_of(piece));
      out.back().raise = piece.raise;
    }
    return out;
  }
};

// Of an order's own slot: that of the phase which makes it.
TextRuns formula_of(const OrderRow& order, Slot slot) {
  const auto& makers = order.makers[static_cast<std::size_t>(slot)];
  const OrderPhase* made = order.own(slot) && !makers.empty() ? order.phase(makers.front()) : nullptr;
  return made != nullptr ? runs_of(made->formula, {}, Face::text, Token::dim) : TextRuns();
}

// The algorithm, term by term.
void add_captions(TilesScene& scene, const Recording& rec, EventIndex e) {
  const bool shaped = rec.after(e, Slot::s) == kNoVersion || held_scores(rec, e).masked;
  const std::optional<MergedParts> merged = merged_parts(rec, e);
  const Captioner captioner{rec, held_scores(rec, e), held_maximum(rec, e), shaped};
  const PhaseLook& phase = scene.look->phase(rec.events[e].id.phase);
  for (const ColumnLook& column : scene.look->columns) {
    CaptionScene& caption = scene.captions[static_cast<std::size_t>(column.column)];
    caption.live = phase.lights == column.column;
    caption.words = captioner.words(caption.live && !phase.caption.empty() ? phase.caption : column.caption);
    if (caption.words.empty()) caption.words = formula_of(order_row(rec.order), column.slot);
    // Of many parts, "first" would be any. What has a formula keeps it.
    const bool first = column.title == TitleKind::first;
    if (merged && merged->numbered && column.caption.size() == 1 && (first || column.title == TitleKind::second))
      caption.words = {word(first ? merged->first : merged->second)};
  }
  for (SideTile& side : scene.sides) {
    side.caption.words = side.below ? formula_of(order_row(rec.order), side.tile.slot) : TextRuns();
    const VersionId id = rec.after(e, side.tile.slot);
    side.caption.live = side.below && id != kNoVersion && rec.version(id).made_by == e;
  }
}

// What a skipped tile would have held is not to come: it never will be.
void mark_never(TileScene& tile) {
  replace_look(tile, CellLook::empty, CellLook::masked);
  replace_look(tile, CellLook::dropped, CellLook::masked);
}

// Marks the largest score of each row so far in this tile: the one that m takes. `near`: how far the two may be apart,
// relative, where they were rounded on ways of their own.
void mark_largest(TileScene& s, const TileScene& m_new, float near) {
  if (!s.live || !m_new.live) return;
  for (std::int32_t r = 0; r < s.rows; ++r) {
    const float m = m_new.cell(r, 0).value;
    for (std::int32_t c = 0; c < s.cols; ++c) {
      Cell& cell = s.cell(r, c);
      if (cell.look == CellLook::value && m_new.cell(r, 0).look == CellLook::value &&
          (cell.value == m || std::fabs(cell.value - m) <= near * std::fabs(m))) {
        cell.largest = true;
        break;
      }
    }
  }
}

void put_in_flight(TileScene& tile) {
  tile.flight = true;
  tile.live = tile.made = false;
  for (Cell& cell : tile.cells)
    if (cell.look != CellLook::past_end) cell.look = CellLook::flight;
}

// What the tensor cores make, and K and V that a copy brings.
void mark_flights(TilesScene& scene, const Recording& rec, EventIndex now) {
  const EventIndex e = scene.at.event;
  if (const auto column = scene.look->phase(rec.events[e].id.phase).in_flight)
    put_in_flight(scene.tiles[static_cast<std::size_t>(*column)]);
  const auto on_its_way = side_by_side_of(rec).on_its_way;
  if (scene.at.j < 0 || on_its_way == nullptr) return;
  if (!scene.k.live && on_its_way(rec, now, false, scene.at.j)) put_in_flight(scene.k);
  if (!scene.v.live && on_its_way(rec, now, true, scene.at.j)) put_in_flight(scene.v);
}

// After step e, with what others have made of the slots until step `now`.
TilesScene scene_until(const Recording& rec, EventIndex e, EventIndex now, const Selection& selection,
                       OutputReading reading, const TensorScales& scales) {
  TilesScene scene;
  const OrderLook& look = look_at(rec, std::min<EventIndex>(e, static_cast<EventIndex>(rec.events.size() - 1)));
  scene.look = &look;
  // The other orders sum weights that are divided already.
  if (!look.undivided) reading = OutputReading::as_summed;
  scene.reading = reading;
  scene.at = place_of(rec, e, selection);
  scene.abreast = abreast(rec) > 1;
  e = scene.at.event;
  scene.first_keys = is_of_first_keys(rec, e);
  now = std::max(now, e);
  const Builder build{rec, e, scene.at, reading, scales};
  scene.tiles.resize(look.column_count());
  scene.captions.resize(look.column_count());
  const auto of = [&](Column c) -> TileScene& { return scene.tiles[static_cast<std::size_t>(c)]; };
  for (const ColumnLook& column : look.columns) {
    scene.columns.push_back(column.column);
    const bool other = column.other && rec.after(e, column.slot) == kNoVersion;
    of(column.column) = build.tile(other ? *column.other : column.slot);
    if (column.above == Slot::k) scene.k = build.tile(Slot::k, true);
    const bool across = slot_row(column.slot).columns == SlotColumns::keys;
    if (column.above == Slot::v) scene.v = build.tile(Slot::v, across);
    if (column.guest && rec.after(e, *column.guest) != kNoVersion)
      scene.sides.push_back({column.column, false, build.tile(*column.guest), {}});
    if (column.below) scene.sides.push_back({column.column, true, build.tile(*column.below), {}});
  }
  constexpr float kTwoRoundings = 3e-7F;
  if (look.scores && look.maximum)
    mark_largest(of(*look.scores), of(*look.maximum), rec.gpu && rec.gpu->slack > 0 ? kTwoRoundings : 0);
  for (const Column c : scene.columns)
    if (slot_row(of(c).slot).columns == SlotColumns::keys) build.mark_masked(of(c));
  const auto here = [&](const ColumnLook& c) { return of(c.column).live; };
  for (const ColumnLook& column : look.columns) {
    of(column.column).gauge = look.slot(column.slot).gauge;
    const std::optional<Slot> older = look.slot(column.slot).older;
    const auto old = std::ranges::find_if(look.columns, [&](const ColumnLook& c) { return c.slot == older; });
    // Parts by lane are too small for numbers: without their fill they would be nothing.
    if (older && old != look.columns.end())
      of(old->column).superseded = here(*old) && here(column) && of(old->column).cols == 1;
  }
  for (std::int32_t r = 0; r < scene.at.rows && !rec.labels.rows.empty(); ++r)
    scene.row_words.emplace_back(row_word(rec, scene.at.b, scene.at.first_row + r));
  for (std::int32_t c = 0; c < scene.at.keys && !rec.labels.columns.empty(); ++c)
    scene.key_words.emplace_back(key_word(rec, scene.at.b, scene.at.first_key + c));
  scene.skipped = rec.events[e].id.phase == Phase::skipped;
  if (scene.skipped) {
    const auto never = [&](TileScene& tile) {
      if (look.slot(tile.slot).never_if_skipped) mark_never(tile);
    };
    never(scene.k), never(scene.v);
    for (const Column c : scene.columns) never(of(c));
  }
  for (TileScene* tile : {&scene.k, &scene.v}) build.lay_in_slot(*tile, now);
  mark_flights(scene, rec, now);
  add_titles(scene, rec, reading);
  add_captions(scene, rec, e);
  return scene;
}

}  // namespace

CellRef TileScene::ref(std::int32_t r, std::int32_t c) const {
  if (transposed) return {slot, first_col + c, first_row + r};
  return {slot, first_row + r, first_col + c};
}

TilesScene tiles_scene(const Recording& rec, EventIndex e, const Selection& selection, OutputReading reading,
                       const TensorScales& scales) {
  return scene_until(rec, e, 0, selection, reading, scales);
}

TilesScene tiles_scene(const Recording& rec, EventIndex e, EventIndex now, const Selection& selection,
                       const TensorScales& scales) {
  TilesScene scene = scene_until(rec, e, now, selection, OutputReading::as_summed, scales);
  if (now <= e) return scene;
  // What step `now` did not make stood there before.
  const auto stood = [](TileScene& tile) { tile.made = tile.brought = false; };
  for (const Column c : scene.columns) stood(scene.tiles[static_cast<std::size_t>(c)]);
  for (SideTile& side : scene.sides) stood(side.tile);
  stood(scene.k), stood(scene.v);
  scene.next_any = false;
  for (CaptionScene& caption : scene.captions) caption.live = false;
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
        Cell& cell = tile.cell(r, c);
        if (cell.look == CellLook::value) use(r, c, cell);
      }
    }
  };
  each([&](std::int32_t r, std::int32_t c, const Cell& cell) {
    values.push_back(cell.value);
    // Sums kept in 16 bits: what is wrong with them is what there is to see.
    const bool kept = scene.look->slot(tile.slot).running_sum && rec.options.accumulate != DType::f32;
    bounds.push_back(kept ? 0 : cell_bound(rec, scene, tile, r, c, exact));
  });
  const ColumnFormat format = column_format(values, bounds, room, tile.natural);
  std::size_t n = 0;
  each([&](std::int32_t, std::int32_t, Cell& cell) { cell.text = cell_text(cell.value, bounds[n++], format); });
}

}  // namespace attn
