#include "viz/step/facts/conditions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/lanes.h"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNear = 1e-6;  // two roundings of one number

struct Looker {
  const Recording& rec;
  const StepPlace& at;
  const Followed& f;
  std::set<std::string, std::less<>> found;

  void set(bool holds, const char* name) {
    if (holds) found.insert(name);
  }
  std::optional<float> live(Slot slot, std::int32_t col = 0) const {
    return live_value(rec, at.event, slot, at.row, col);
  }
  static bool odd(std::optional<float> x) { return x && !std::isfinite(*x); }

  // Whether rows [r0, r1) see a key of the tiles that were walked over before this one.
  bool saw_before(std::int32_t r0, std::int32_t r1) const {
    const auto sees = [&](std::int64_t c0, std::int64_t c1) {
      return c0 < c1 && rec.problem.cover(at.b, r0, r1, c0, c1) != TileCover::skipped;
    };
    const OrderRow& order = order_row(rec.order);
    if ((order.abreast == Abreast::parts || order.abreast == Abreast::ranks) && at.j >= 0) return saw_in_lane(r0, r1);
    if (rec.options.key_order == KeyOrder::right_to_left) return sees(at.first_key + at.keys, rec.problem.Lk);
    return sees(0, at.first_key);
  }
  // Whether rows [r0, r1) see a key of the tiles that come after this one.
  bool sees_after(std::int32_t r0, std::int32_t r1) const {
    const bool back = rec.options.key_order == KeyOrder::right_to_left;
    const std::int64_t first = back ? 0 : std::int64_t{at.first_key} + at.keys,
                       end = back ? std::int64_t{at.first_key} : rec.problem.Lk;
    return first < end && rec.problem.cover(at.b, r0, r1, first, end) != TileCover::skipped;
  }
  // Of a part, or of a turn of a ring: each starts as if there were no other keys.
  bool saw_in_lane(std::int32_t r0, std::int32_t r1) const {
    const bool ranks = order_row(rec.order).abreast == Abreast::ranks;
    const KeyParts parts{rec.key_tiles(), splits_of(rec.options)};
    const auto piece_of = [&](std::int32_t j) {
      EventId id = rec.events[at.event].id;
      id.j = j;
      return ranks ? turn_of(rec, id) : parts.of_tile(j);
    };
    const bool back = rec.options.key_order == KeyOrder::right_to_left;
    for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
      if ((back ? j <= at.j : j >= at.j) || piece_of(j) != piece_of(at.j)) continue;
      const std::int64_t c0 = std::int64_t{j} * at.bc, c1 = std::min<std::int64_t>(c0 + at.bc, rec.problem.Lk);
      if (rec.problem.cover(at.b, r0, r1, c0, c1) != TileCover::skipped) return true;
    }
    return false;
  }
  // The inputs themselves: what the kernel made of finite ones is its own.
  bool finite_inputs() const {
    // Rows of a pool that no key fills are none of the kernel's inputs.
    const bool paged = rec.problem.storage.kind() == Storage::paged;
    const Inputs out_of_pages = paged ? gathered(rec.problem, rec.inputs) : Inputs();
    const Inputs& in = paged ? out_of_pages : rec.inputs;
    for (const Array* a : {&in.q, &in.k, &in.v}) {
      std::vector<float> values(static_cast<std::size_t>(a->size()));
      if (values.empty()) continue;
      a->read(0, a->size(), values.data());
      if (std::any_of(values.begin(), values.end(), [](float x) { return !std::isfinite(x); })) return false;
    }
    return true;
  }
  void keys() {
    const bool between = at.j < 0;  // Q loaded, O divided: no key tile is live
    const std::int64_t seen =
        rec.problem.visible_keys(at.b, at.row).last - rec.problem.visible_keys(at.b, at.row).first;
    const bool all = takes_all_keys(rec, at.event);
    std::int64_t visible = all ? seen : 0, keys = all ? rec.problem.Lk : at.keys;
    for (std::int32_t c = 0; !all && c < at.keys; ++c)
      visible += rec.problem.visible(at.b, at.row, at.first_key + c) ? 1 : 0;
    const bool before = between ? seen > 0 : !all && saw_before(at.row, at.row + 1);
    set(all, "all_keys");
    set(!before, "first");
    set(!between && (all || !saw_before(at.first_row, at.first_row + at.rows)), "first_tile");
    set(!between && !sees_after(at.first_row, at.first_row + at.rows), "last_tile");
    set(visible == 0, "nothing");
    set(visible > 0 && visible < keys, "partial");
    // Orders that store S know the whole row's sum before they make a weight.
    const bool any = stores_scores(rec.order) ? seen > 0 : before || visible > 0;
    set(!any, "empty_row");
    const auto l = live(Slot::l_new) ? live(Slot::l_new) : live(Slot::l_old);
    set(any && l && *l == 0, "weightless");
  }
  void maximum() {
    set(f.m_old == -kInfinity, "fresh");
    set(f.m_new > f.m_old, "rose");
    set(f.m_new < f.m_old, "fell");
    set(f.m_new == -kInfinity, "no_max");
    // A kernel whose m need not be the maximum lets it stand below a score of this tile.
    const auto s = row_of(rec, rec.after(at.event, Slot::s), at.row);
    const bool over =
        std::any_of(s.begin(), s.end(), [&](float x) { return x > f.m_new + kNear * std::fabs(f.m_new); });
    set(rec.gpu && rec.gpu->slack > 0 && over && std::isfinite(f.m_new), "below");
    set(f.m_new == kInfinity, "infinite_max");
    set(f.m_new == f.m_old && std::isinf(f.m_new), "same_infinity");
    const auto alpha = live(Slot::alpha);
    set(alpha && *alpha < 0.01, "tiny");
    set(alpha && *alpha == 0, "gone");
    set(alpha && std::isnan(*alpha), "nan_alpha");
  }
  void not_finite() {
    const auto p = row_of(rec, rec.after(at.event, Slot::p), at.row);
    const auto is_nan = [](float x) { return std::isnan(x); };
    const auto scores =
        takes_all_keys(rec, at.event) ? rec.scores_read(at.event) : std::vector{rec.after(at.event, Slot::s)};
    set(std::ranges::any_of(scores, [&](VersionId s) { return std::ranges::any_of(row_of(rec, s, at.row), is_nan); }),
        "nan_score");
    set(odd(live(Slot::s, f.key)), "odd_score");
    set(odd(live(Slot::p, f.key)), "odd_weight");
    set(!std::isfinite(f.l_old) || !std::isfinite(f.o_old) || odd(live(Slot::l_old)), "odd_past");
    const auto l = live(Slot::l_new) ? live(Slot::l_new) : live(Slot::l_old);
    const auto o = live(output_slot(rec, at.event), f.col);
    set(odd(l), "odd_sum");
    set(odd(o), "odd_output");
    const bool weights = std::any_of(p.begin(), p.end(), [](float x) { return !std::isfinite(x); });
    if (rec.options.subtract_max || !(weights || odd(l) || odd(o)) || !finite_inputs()) return;
    set(true, "overflow");
    set(odd(live(Slot::p, f.key)), "overflow_here");
  }
};

}  // namespace

std::set<std::string, std::less<>> step_conditions(const Recording& rec, const StepPlace& at,
                                                   const Followed& followed) {
  Looker look{rec, at, followed, {}};
  look.keys();
  look.maximum();
  look.not_finite();
  const auto lse = look.live(Slot::lse);
  look.set(lse && *lse == -std::numeric_limits<float>::infinity(), "no_lse");
  look.set(rec.problem.has_bias(), "biased");
  look.set(rec.problem.softcap.has_value(), "capped");
  const bool paged = rec.problem.storage.kind() == Storage::paged;
  look.set(paged, "paged");
  look.set(paged && keys_of_tile(rec, at).lacks_some(), "absent");
  look.set(paged && loads_tail(rec, at), "raw_tail");
  look.set(rec.problem.alibi.has_value(), "sloped");
  const auto score = look.live(Slot::s, followed.key);
  look.set(score && std::isfinite(*score) && rec.problem.visible(at.b, at.row, followed.key), "kept");
  look.set(!rec.options.subtract_max, "unsubtracted");
  look.set(rec.options.accumulate != DType::f32, "narrow");
  look.set(order_row(rec.order).abreast == Abreast::ranks && turn_of(rec, rec.events[at.event].id) == 0, "own_keys");
  look.set(!orders::backward::subtracts_delta(rec.options), "forgotten");
  look.set(orders::backward::lse_type(rec.options) != DType::f32, "narrow_lse");
  return look.found;
}

}  // namespace attn
