#include "viz/step/tiles/pointed.h"

#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/dropped_tiles.h"
#include "viz/step/facts/letters.h"
#include "viz/step/orders/looks.h"
#include "viz/step/orders/work.h"

namespace attn {
namespace {

std::string scale_suffix(const Problem& p) {
  const std::string scale = scale_words(p);
  return scale.starts_with("1/") ? " / " + scale.substr(2) : " × " + scale;
}

struct PointedBuilder {
  const Recording& rec;
  const TilesScene& tiles;
  CellRef cell;
  PointedScene out;

  std::optional<float> live(Slot slot, std::int32_t row, std::int32_t col) const {
    return live_value(rec, tiles.at.event, slot, row, col);
  }
  // The bias of the score that is looked at, once the step that adds it was taken.
  std::optional<float> added_bias() const {
    const VersionId id = rec.after(tiles.at.event, Slot::s);
    if (!rec.inputs.bias || id == kNoVersion || !rec.version(id).holds.masked) return std::nullopt;
    float bias = 0;
    rec.inputs.bias->read(rec.problem.bias_index(tiles.at.b, tiles.at.h, cell.row, cell.col), 1, &bias);
    return bias;
  }
  // Inputs are printed as they were typed, and their product with the decimals of both.
  void add_term(double a, double b, int left, int right) {
    const auto text = [](double x, int natural) {
      return natural >= 0 ? number_text(x, {natural, false}) : significant_text(x, 4);
    };
    out.terms.push_back(
        {text(a, left), text(b, right),
         left >= 0 && right >= 0 ? number_text(a * b, {left + right, false}) : significant_text(a * b, 4)});
    out.products.push_back(a * b);
    out.decimals = left >= 0 && right >= 0 ? left + right : -1;
  }
  // Of two tiles, term by term.
  void explain_product(const ProductLook& look) {
    const TileScene *a = tile_of(tiles, look.left), *b = tile_of(tiles, look.right);
    if (a == nullptr || b == nullptr) return;
    out.left_letter = letter_of_slot(look.left), out.right_letter = letter_of_slot(look.right);
    out.left_ink = a->hue, out.right_ink = b->hue;
    const bool one = slot_row(cell.slot).columns == SlotColumns::one;
    const std::int32_t terms = look.over == SharedAxis::value_head ? static_cast<std::int32_t>(rec.problem.Dv)
                               : look.over == SharedAxis::keys     ? tiles.at.keys
                                                                   : tiles.at.rows;
    double sum = 0;
    for (std::int32_t n = 0; n < terms; ++n) {
      const std::int32_t key = tiles.at.first_key + n, row = tiles.at.first_row + n;
      const auto x = look.over == SharedAxis::value_head ? live(look.left, cell.row, n)
                     : look.over == SharedAxis::keys     ? live(look.left, cell.row, key)
                                                         : live(look.left, row, cell.row);
      const auto y = look.over == SharedAxis::value_head ? live(look.right, one ? cell.row : cell.col, n)
                     : look.over == SharedAxis::keys     ? live(look.right, key, cell.col)
                                                         : live(look.right, row, cell.col);
      if (!x || !y) return;
      add_term(*x, *y, a->natural, b->natural);
      sum += static_cast<double>(*x) * *y;
    }
    out.sum = woven(look.grows ? phrase("sum {}, added to the previous value", place(0)) : phrase("sum {}", place(0)),
                    {number(significant_text(sum, 5))});
  }
  void add(std::string_view said, const TextRuns& numbers) {
    const TextRuns more = woven(said, numbers);
    out.sum.insert(out.sum.end(), more.begin(), more.end());
  }
  void explain_score(float value) {
    using enum TensorColour;
    out.left_letter = "q", out.right_letter = "k", out.left_ink = q, out.right_ink = k;
    double sum = 0;
    for (std::int32_t d = 0; d < rec.problem.D; ++d) {
      const auto a = live(Slot::q, cell.row, d), b = live(Slot::k, cell.col, d);
      if (!a || !b) return;
      add_term(*a, *b, tiles.tiles[static_cast<std::size_t>(Column::q)].natural, tiles.k.natural);
      sum += static_cast<double>(*a) * *b;
    }
    out.title.insert(out.title.end(), {word(" = ", Token::text), letter("q", q), subscript(std::to_string(cell.row), q),
                                       word("·", Token::text), letter("k", k), subscript(std::to_string(cell.col), k),
                                       word(scale_suffix(rec.problem), Token::text)});
    const std::optional<float> bias = added_bias();
    const bool shaped = is_masked() && ui(Slot::s) == nullptr;
    if (shaped && rec.problem.softcap) out.title.push_back(word(tr(", capped"), Token::text));
    if (bias) out.title.push_back(word(tr(" + bias"), Token::text));
    if (shaped && rec.problem.alibi) out.title.push_back(word(" − ALiBi", Token::text));
    if (explain_held_score(sum)) return;
    if (rec.problem.shapes_scores()) return explain_shaped_score(sum, value);
    const std::string scale = scale_words(rec.problem);
    out.sum =
        woven(scale.starts_with("1/") ? phrase("sum {}, divided by {}: {}", place(0), scale.substr(2), place(1))
                                      : phrase("sum {}, times {}: {}", place(0), scale, place(1)),
              {number(significant_text(sum, 6)), number(significant_text(sum * rec.problem.effective_scale(), 6))});
    if (std::isinf(value) && value < 0 && !rec.problem.visible(tiles.at.b, cell.row, cell.col)) {
      out.sum.push_back(word(tr(", then masked")));
    } else if (bias) {
      add(phrase(", with the bias of {}: {}", place(0), place(1)),
          {number(significant_text(*bias, 6)),
           number(significant_text(sum * rec.problem.effective_scale() + *bias, 6))});
    } else if (rec.problem.has_bias()) {
      out.sum.push_back(word(tr("; the bias comes next")));
    }
  }
  // Softcap, bias, ALiBi and mask are in the score that is on show.
  bool is_masked() const {
    const VersionId id = rec.after(tiles.at.event, Slot::s);
    return id != kNoVersion && rec.version(id).holds.masked;
  }
  // With softcap or ALiBi: what each of them makes of the score, once the step that does it was taken.
  void explain_shaped_score(double sum, float value) {
    const Problem& p = rec.problem;
    const double scaled = sum * p.effective_scale();
    out.sum = woven(phrase("scaled {}", place(0)), {number(significant_text(scaled, 5))});
    if (!is_masked()) {
      out.sum.push_back(word(p.softcap && p.alibi ? tr("; softcap and ALiBi come next")
                             : p.softcap          ? tr("; the softcap comes next")
                                                  : tr("; ALiBi comes next")));
      return;
    }
    if (std::isinf(value) && value < 0) return out.sum.push_back(word(tr(", then masked")));
    constexpr int kDigits = 4;  // all of it stands on one line
    if (p.softcap) {
      add(phrase(", capped {}", place(0)), {number(significant_text(p.capped(scaled), kDigits))});
    }
    if (const auto bias = added_bias()) {
      add(phrase(", bias {}", place(0)), {number(significant_text(*bias, kDigits))});
    }
    if (p.alibi) {
      const double taken = p.alibi_at(tiles.at.b, tiles.at.h, cell.row, cell.col);
      out.sum.insert(out.sum.end(), {word(", ALiBi "), number(significant_text(-taken, kDigits))});
    }
  }
  // What is on show as a GPU's kernel held it, and so not what the formulas name.
  const Holds* ui(Slot slot) const {
    const VersionId id = rec.after(tiles.at.event, slot);
    if (!rec.gpu || id == kNoVersion) return nullptr;
    const Holds& holds = rec.version(id).holds;
    return !holds.scaled || holds.base2 || holds.partial ? &holds : nullptr;
  }
  bool explain_held_score(double sum) {
    const Holds* holds = ui(Slot::s);
    if (holds == nullptr) return false;
    if (!holds->scaled) out.title.pop_back();  // the scale
    if (holds->base2) out.title.push_back(word(" · log₂e", Token::text));
    out.sum =
        woven(holds->scaled ? phrase("sum {}, held as {}: scaled, times log₂e for base 2", place(0), place(1))
                            : phrase("sum {}, held as {}: the exponential applies the scale", place(0), place(1)),
              {number(significant_text(sum, 6)), number(significant_text(sum * rec.factor_of_product(*holds), 6))});
    if (holds->scaled && rec.problem.changes_scores()) {
      out.sum.push_back(
          word(rec.problem.shapes_scores() ? tr(", before softcap, bias and ALiBi") : tr(", before the bias")));
    }
    return true;
  }
  void explain_output() {
    using enum TensorColour;
    out.left_letter = "p", out.right_letter = "v", out.left_ink = p, out.right_ink = v;
    if (slot_row(cell.slot).made_as) {
      out.words = {word(tr("Value before this tile."))};
      return;
    }
    double sum = 0;
    for (std::int32_t c = 0; c < tiles.at.keys; ++c) {
      const auto a = live(Slot::p, cell.row, tiles.at.first_key + c),
                 b = live(Slot::v, tiles.at.first_key + c, cell.col);
      if (!a || !b) return;
      add_term(*a, *b, -1, tiles.v.natural);
      sum += static_cast<double>(*a) * *b;
    }
    const auto old = live(Slot::o_old, cell.row, cell.col), a = live(Slot::alpha, cell.row, 0);
    const TextRun added = number(significant_text(sum, 5));
    const bool first = old && a && *old == 0 && *a == 0;  // nothing was summed before that a factor could correct
    if (old && a && !first && order_look(rec.order).rescales_output) {
      out.sum = woven(
          phrase("sum {}, plus {} × old: {} × {}", place(0), place(1), place(2), place(3)),
          {added, letter("α", alpha), number(significant_text(*a, 4), alpha), number(significant_text(*old, 5), o)});
    } else {
      out.sum = woven(phrase("sum {}", place(0)), {added});
    }
  }
  void explain_sum() {
    using enum TensorColour;
    const auto l_old = live(Slot::l_old, cell.row, 0), a = live(Slot::alpha, cell.row, 0);
    double sum = 0;
    for (std::int32_t c = 0; c < tiles.at.keys; ++c) {
      if (const auto x = live(Slot::p, cell.row, tiles.at.first_key + c)) sum += *x;
    }
    const VersionId id = rec.after(tiles.at.event, cell.slot);
    if (ui(cell.slot) != nullptr && rec.version(id).cols > 1) {
      out.words =
          woven(phrase("lane {} of the {} that share row {}: the sum over its own columns; {} adds up the lanes",
                       cell.col, rec.version(id).cols, cell.row, place(0)),
                {letter("ℓ", l)});
      return;
    }
    if (stores_scores(rec.order)) {
      out.words =
          woven(phrase("The sum of the exponentials of the row's scores minus {}.", place(0)), {letter("m", m)});
      return;
    }
    if (a && l_old && *a == 0 && *l_old == 0) {
      out.words = {word("Σ"), letter("P", p), word(" = "), number(significant_text(sum, 5), p)};
      return;
    }
    out.words = {letter("α", alpha), letter("ℓ", l),
                 word(" + Σ"),       letter("P", p),
                 word(" = "),        number(significant_text(a.value_or(1), 5), alpha),
                 word(" × "),        number(significant_text(l_old.value_or(0), 5), l),
                 word(" + "),        number(significant_text(sum, 5), p)};
  }
  void explain_weight() {
    using enum TensorColour;
    const auto s_ = live(Slot::s, cell.row, cell.col), m_ = live(Slot::m_new, cell.row, 0);
    if (!s_ || !m_) return;
    if (const Holds* holds = ui(Slot::m_new); holds != nullptr && holds->base2) {
      const double factor =
          ui(Slot::s) == nullptr ? 1 : rec.factor_to_formula(*ui(Slot::s)) / rec.factor_to_formula(*holds);
      out.words = {word("exp2("), number(significant_text(factor * *s_, 6), s), word(" − "),
                   number(significant_text(*m_, 6), m), word(")")};
      return;
    }
    out.words = {word("exp("), number(significant_text(*s_, 6), s), word(" − "), number(significant_text(*m_, 6), m),
                 word(")")};
    const auto l_ = live(Slot::l_new, cell.row, 0);
    if (stores_scores(rec.order) && l_) {
      out.words.insert(out.words.end(), {word(" / "), number(significant_text(*l_, 6), l)});
    }
  }
  void explain(Explain what, float value) {
    switch (what) {
      case Explain::nothing:
        break;
      case Explain::score:
        return explain_score(value);
      case Explain::weight:
        return explain_weight();
      case Explain::output:
        return explain_output();
      case Explain::sum:
        return explain_sum();
      case Explain::maximum:
      case Explain::rescale:
      case Explain::earlier:
        return explain_statistic(what);
      case Explain::input:
        return explain_input();
      case Explain::product:
        return explain_product(order_look(rec.order).slot(cell.slot).product);
      case Explain::words:
        return explain_words();
    }
  }
  void explain_words() {
    StepPlace at = tiles.at;
    at.row = cell.row;
    StepValues none;
    const SlotLook& look = order_look(rec.order).slot(cell.slot);
    out.words = look.words(StepWork{rec, at, nullptr, none}, cell.row, cell.col);
  }
  void explain_statistic(Explain what) {
    using enum TensorColour;
    const auto m_old = live(Slot::m_old, cell.row, 0), m_new = live(Slot::m_new, cell.row, 0);
    const Holds* holds = ui(Slot::m_new);
    const bool base2 = holds != nullptr && holds->base2;
    if (base2 && what == Explain::maximum) {
      out.words = woven(phrase("in base 2; the formulas have {}", place(0)),
                        {number(significant_text(*m_new * rec.factor_to_formula(*holds), 6), m)});
    } else if (what == Explain::rescale && m_new) {
      const double old = m_old ? static_cast<double>(*m_old) : -static_cast<double>(INFINITY);
      out.words = {word(base2 ? "exp2(" : "exp("), number(significant_text(old, 6), m), word(" − "),
                   number(significant_text(*m_new, 6), m), word(")")};
    } else if (what == Explain::maximum) {
      out.words = {word(phrase("the largest score of row {} so far", std::to_string(cell.row)))};
    } else {
      out.words = {word(tr("value before this tile"))};
    }
  }
  void explain_input() {
    const std::string_view each = order_look(rec.order).slot(cell.slot).each;
    out.words = {word(
        phrase("input: {} {}, dimension {}; ", each.empty() ? name_of(cell.slot) : tr_of(each), cell.row, cell.col) +
        for_hands(tr("double-click to edit"), tr("double-tap to edit")))};
  }
};

void add_lead(PointedScene& out, PointedBy by) {
  switch (by) {
    case PointedBy::pointer:
      out.lead = out.short_lead = tr("Hovered: ");
      break;
    case PointedBy::keyboard:
      out.lead = out.short_lead = tr("Selected by keyboard: ");
      break;
    case PointedBy::pin:
      out.lead = out.short_lead = tr("Pinned: ");
      break;
    case PointedBy::score:
      out.lead = tr("Following the row's largest score in this tile: ");
      out.short_lead = tr("Followed: ");
      break;
    case PointedBy::step:
      out.lead = out.short_lead = tr("Followed: ");
      break;
    case PointedBy::output:
      out.lead = tr("Following the row's output: ");
      out.short_lead = tr("Followed: ");
      break;
  }
}

}  // namespace

std::string rest_words(const PointedScene& scene, std::size_t shown) {
  double rest = 0;
  for (std::size_t n = shown; n < scene.products.size(); ++n) rest += scene.products[n];
  return phrase("+ {} more, {}", scene.products.size() - shown,
                scene.decimals >= 0 ? number_text(rest, {scene.decimals, false}) : significant_text(rest, 4));
}

PointedScene pointed_scene(const Recording& rec, const TilesScene& tiles, const Pointed& pointed,
                           const ExactTile* exact) {
  const CellRef& ref = pointed.cell;
  PointedBuilder b{rec, tiles, ref, {}};
  add_lead(b.out, pointed.by);
  const Cell* cell = cell_of(tiles, ref);
  const TileScene* tile = tile_of(tiles, ref.slot);
  if (cell == nullptr || tile == nullptr) return b.out;
  // The cell that is followed for want of a largest score.
  if (pointed.by == PointedBy::score && cell->look != CellLook::value) b.out.lead = tr("Followed: ");
  if (pointed.by == PointedBy::score && std::isnan(cell->value)) b.out.lead = tr("Following a NaN score: ");
  b.cell.slot = tile->slot;
  const Ink ink = tile->hue;
  const std::string index =
      slot_row(ref.slot).columns == SlotColumns::one ? std::to_string(ref.row) : fmt::format("{},{}", ref.row, ref.col);
  b.out.title = {letter(std::string(letter_of(tile->slot)), ink), subscript(index, ink)};
  if (cell->look == CellLook::past_end) {
    b.out.words = {word(tr("Past the end: the last tile is smaller."))};
    return b.out;
  }
  if (cell->look == CellLook::empty) {
    b.out.words = {word(tr("Not computed yet."))};
    return b.out;
  }
  if (cell->look == CellLook::flight) {
    b.out.words = {
        word(tr("In flight: the hardware is computing or loading this tile, so its numbers cannot be read yet."))};
    return std::move(b.out);
  }
  if (cell->look == CellLook::dropped) {
    b.out.words = {word(dropped_words(rec, tiles.at, tile->slot))};
    return b.out;
  }
  if (cell->look == CellLook::masked) {
    const bool weight = ref.slot == Slot::p;
    b.out.title.insert(b.out.title.end(), {word(" = ", Token::text), number(weight ? "0" : "−∞")});
    if (tiles.skipped)
      b.out.words = {word(tr("The mask skips this tile: it was never loaded."))};
    else
      b.out.words = {
          word(phrase("Row {} may not see key {}: the score is −∞, and the weight is exactly 0.", ref.row, ref.col))};
    b.out.full = weight ? "0" : "-inf";
    return b.out;
  }
  b.out.full = fmt::format("{:.9g}", cell->value);
  b.out.full_words = phrase("recorded {}", significant_text(cell->value, kFullDigits));
  const VersionId id = rec.after(tiles.at.event, tile->slot);
  if (exact != nullptr && id != kNoVersion) {
    const Version& v = rec.version(id);
    const std::size_t n = static_cast<std::size_t>(ref.row - v.first_row) * static_cast<std::size_t>(v.cols) +
                          static_cast<std::size_t>(ref.col - v.first_col);
    const auto known = exact->at(id, n);
    // O divided by l is not what was recorded.
    if (known && rec.values(id)[n] == cell->value)
      b.out.full_words += phrase(", in fp64 {}", significant_text(known->exact, 12));
  }
  b.explain(order_look(rec.order).slot(tile->slot).explain, cell->value);
  const auto r = tile->transposed ? ref.col - tile->first_row : ref.row - tile->first_row;
  const auto c = tile->transposed ? ref.row - tile->first_col : ref.col - tile->first_col;
  const double bound = cell_bound(rec, tiles, *tile, r, c, exact);
  b.out.title.insert(b.out.title.end(), {word(" = ", Token::text), number(spelled_text(cell->value, 6, bound))});
  return b.out;
}

}  // namespace attn
