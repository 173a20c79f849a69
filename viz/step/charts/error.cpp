#include "viz/step/charts/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/judge/verdict.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/letters.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

// Infinity in the words' face: that of numbers draws it too small to be told from an equals sign.
TextRun figure(double x, Ink ink = Token::text, int digits = 3) {
  return {significant_text(x, digits), std::isfinite(x) ? Face::mono : Face::text, ink, 0, false};
}

// A recorded number that fp64 with the rounding of fp32 does not explain. Scores and maxima of -inf are the mask's.
bool differs(bool overflows, double recorded, double exact, double bound) {
  if (std::isfinite(recorded)) return std::isfinite(exact) && std::abs(recorded - exact) > bound;
  if (recorded == exact) {
    // fp64 overflowed too: what S - m would have prevented.
    return recorded > 0 && overflows;
  }
  return std::isfinite(exact) || (std::isnan(recorded) && !std::isnan(exact));
}

}  // namespace

Commands go_to(const FirstDifference& first, Selection selection) {
  selection.row = first.row;
  selection.slot = first.slot;
  selection.col = first.col;
  return {GoToEvent{first.event}, Select{selection}};
}

float error_shade(double error) {
  if (!(error > 0)) return -1;
  const double share = (std::log10(error) - kMinErrorDecade) / (kMaxErrorDecade - kMinErrorDecade);
  return static_cast<float>(std::clamp(2 * share - 1, -1.0, 1.0));
}

ErrorScan::ErrorScan(std::shared_ptr<const Recording> rec, std::int32_t batch, std::int32_t head)
    : b(batch), h(head), rec_(std::move(rec)) {
  rows = static_cast<std::int32_t>(rec_->problem.Lq);
  cols = static_cast<std::int32_t>(rec_->problem.Dv);
  cells.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
}

bool ErrorScan::is_of(const std::shared_ptr<const Recording>& rec, std::int32_t batch, std::int32_t head) const {
  return rec_ == rec && b == batch && h == head;
}

bool ErrorScan::advance(std::int64_t budget) {
  const Problem& p = rec_->problem;
  const std::int32_t br = std::min(std::max(rec_->options.br, 1), rows);
  while (!done() && budget > 0) {
    const std::int32_t i = rows_done / br;
    if (!exact_ || !exact_->covers(b, h, i)) {
      exact_.emplace(*rec_, b, h, i, DType::f32);
      events_ = rec_->events_of(b, h, i);
    }
    compare_row(rows_done);
    look_for_first(rows_done);
    ++rows_done;
    budget -= 2 * p.Lk * (p.D + p.Dv);
  }
  if (done()) exact_.reset();
  return done();
}

void ErrorScan::compare_row(std::int32_t row) {
  if (rec_->problem.pass == Pass::backward) {
    trouble = tr("A backward pass outputs gradients instead of O; see the bounds in each tile.");
    return;
  }
  const auto ref = reference_rows_by(in_turn, rec_->problem, rec_->inputs, {{b, h, row}}, {});
  if (!ref) {
    trouble = ref.error().message;
    return;
  }
  const std::int64_t base = (static_cast<std::int64_t>(b) * rec_->problem.Hq + h) * rows * cols;
  for (std::int32_t n = 0; n < cols; ++n) {
    const std::int32_t at = row * cols + n;
    ErrorCell& cell = cells[static_cast<std::size_t>(at)];
    const double out = rec_->outputs.out.get(base + at), exact = ref->out[static_cast<std::size_t>(n)];
    const bool unjudged = !ref->unjudged.empty() && ref->unjudged[static_cast<std::size_t>(n)] != 0;
    if (!std::isfinite(exact) || unjudged) {
      cell.look = ErrorLook::undefined;
    } else if (!std::isfinite(out)) {
      cell.look = ErrorLook::overflow;
      ++overflows;
    } else {
      const double error = std::abs(out - exact);
      cell.look = error > 0 ? ErrorLook::error : ErrorLook::exact;
      cell.error = static_cast<float>(error);
      cell.shade = error_shade(error);
      if (error > max) max = error, max_row = row, max_col = n;
    }
  }
}

// Rows come one after another, the run goes by tiles: an earlier event wins, then an earlier tensor, then this order.
void ErrorScan::look_for_first(std::int32_t row) {
  const Recording& rec = *rec_;
  const OrderLook& look = order_look(rec.order);
  for (const EventIndex e : events_) {
    if (first && first->event < e) return;
    for (const Slot slot : look.computed) {
      if (first && first->event == e && first->slot == slot) return;
      const VersionId id = rec.after(e, slot);
      if (id == kNoVersion || rec.version(id).made_by != e || rec.version(id).slot != slot) continue;
      const Version& v = rec.version(id);
      const auto known = exact_->row(id, row - v.first_row);
      if (known.empty()) continue;
      const auto values = rec.values(id).subspan(static_cast<std::size_t>(row - v.first_row) * known.size());
      for (std::size_t n = 0; n < known.size(); ++n) {
        const auto recorded = static_cast<double>(values[n]);
        if (slot == Slot::o_new && v.holds.normalised && std::isfinite(known[n].bound))
          allowed = std::max(allowed, known[n].bound);
        if (!differs(look.slot(slot).overflows, recorded, known[n].exact, known[n].bound)) continue;
        first = FirstDifference{e,        slot,           row,           v.first_col + static_cast<std::int32_t>(n),
                                recorded, known[n].exact, known[n].bound};
        return;
      }
    }
  }
}

std::string cell_words(const ErrorScan& scan, std::int32_t row, std::int32_t col) {
  const ErrorCell& cell =
      scan.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(scan.cols) + static_cast<std::size_t>(col)];
  std::string what;
  switch (cell.look) {
    case ErrorLook::to_come:
      what = tr("not compared yet");
      break;
    case ErrorLook::exact:
      what = tr("equal to fp64");
      break;
    case ErrorLook::error:
      what = significant_text(cell.error, 4);
      break;
    case ErrorLook::overflow:
      what = tr("not finite, unlike fp64");
      break;
    case ErrorLook::undefined:
      what = tr("reached by infinite inputs, so there is no fp64 value");
      break;
  }
  return fmt::format("O {},{}: {}", row, col, what);
}

ErrorScene error_scene(const Recording& rec, const ErrorScan& scan) {
  ErrorScene scene;
  scene.first = scan.first;
  if (!scan.done()) scene.progress = phrase("{} of {} rows compared", scan.rows_done, scan.rows);
  if (!scan.trouble.empty()) {
    scene.words.push_back({word(scan.trouble)});
    return scene;
  }
  const TextRuns largest = woven(scan.max > 0 ? phrase("Largest difference from fp64: {} (row {}, column {}).",
                                                       place(0), scan.max_row, scan.max_col)
                                              : phrase("Largest difference from fp64: {}", place(0)),
                                 {figure(scan.max, Token::text)});
  // Where every number overflowed there is no largest.
  if (scan.max > 0 || scan.overflows == 0) scene.words.push_back(largest);
  if (scan.overflows > 0)
    scene.words.push_back({word(phrase("{} of {} numbers are not finite where the exact output is finite.",
                                       scan.overflows, static_cast<std::int64_t>(scan.rows) * scan.cols),
                                Token::text)});
  if (!scan.first) {
    const DType stored = rec.problem.dtype;
    if (!scan.done()) return scene;
    // A bound is no explanation: sums in 16 bits may hide below it where scores are large.
    const DType sums = rec.options.accumulate;
    const bool narrow = stored != DType::f32;
    const std::string said =
        sums != DType::f32 && narrow ? phrase(
                                           "Sums are kept in {}, yet fp32 rounding, with P and O kept in {}, could "
                                           "explain every difference, because the scores are large.",
                                           name_of(sums), name_of(stored))
        : sums != DType::f32 ? phrase(
                                   "Sums are kept in {}, yet fp32 rounding could explain every difference, because the "
                                   "scores are large.",
                                   name_of(sums))
        : narrow
            ? phrase("No difference in any step exceeds what rounding in fp32, with P and O kept in {}, can cause.",
                     name_of(stored))
            : tr("No difference in any step exceeds what rounding in fp32 can cause.");
    TextRuns bound{word(said)};
    if (scan.allowed > 0) {
      const TextRuns most = woven(phrase(" For {}, that is {}.", place(0), place(1)),
                                  {letter("O", TensorColour::o), figure(scan.allowed)});
      bound.insert(bound.end(), most.begin(), most.end());
    }
    scene.words.push_back(std::move(bound));
    return scene;
  }
  const FirstDifference& f = *scan.first;
  const EventId& id = rec.events[f.event].id;
  const bool one = slot_row(f.slot).columns == SlotColumns::one;
  const std::string index = !one ? fmt::format(" {},{}", f.row, f.col) : fmt::format(" {}", f.row);
  const std::string tile = id.j >= 0 ? phrase("query tile {}, key tile {}", id.i, id.j) : phrase("query tile {}", id.i);
  // Without the maximum fp64 is run the same way, and overflows too, only later.
  const std::string said =
      rec.options.subtract_max
          ? phrase("First difference beyond fp32 rounding: {}{} in step {} ({}): {}, but {} in fp64.", place(0),
                   place(1), f.event + 1, tile, place(2), place(3))
          : phrase(
                "First difference beyond fp32 rounding: {}{} in step {} ({}): {}, but {} in fp64 without the maximum.",
                place(0), place(1), f.event + 1, tile, place(2), place(3));
  scene.words.push_back(woven(said, {{std::string(letter_of(f.slot)), f.slot == Slot::lse ? Face::text : Face::maths,
                                      tensor_of(f.slot), 0, false},
                                     word(index, Token::text),
                                     figure(f.recorded, Token::text, 7),
                                     figure(f.exact, Token::text, 7)}));
  return scene;
}

}  // namespace attn
