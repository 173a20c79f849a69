#include "kernels/cpu/merge_trace.h"

#include "kernels/arithmetic/math.h"
#include "kernels/arithmetic/merge.h"
#include "kernels/orders/split/names.h"

namespace attn::cpu {

PartVersions shown_part(const Recorder& to) {
  const auto newest = [&](Slot fresh, Slot old) {
    return to.shown(fresh) != kNoVersion ? to.shown(fresh) : to.shown(old);
  };
  return {newest(Slot::m_new, Slot::m_old), newest(Slot::l_new, Slot::l_old), newest(Slot::o_new, Slot::o_old)};
}

void show_parts(Recorder& to, const PartVersions& first, const PartVersions* second) {
  const orders::SplitNames& n = orders::split_names();
  for (const Slot slot : {Slot::q, Slot::k, Slot::v, Slot::s, Slot::p, Slot::m_new, Slot::l_new, Slot::o_new,
                          Slot::alpha, n.alpha_part, n.m_part, n.l_part, n.o_part})
    to.clear(slot);
  to.show(Slot::m_old, first.m), to.show(Slot::l_old, first.l), to.show(Slot::o_old, first.o);
  if (second == nullptr) return;
  to.show(n.m_part, second->m), to.show(n.l_part, second->l), to.show(n.o_part, second->o);
}

MergeFactors::MergeFactors(const Call::PartRows& a, const Call::PartRows& b, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const Merged both = merge({a.m[r], a.l[r]}, {b.m[r], b.l[r]}, exp_f32);
    first.push_back(both.first), second.push_back(both.second);
  }
}

PartVersions record_merge(Recorder& to, const Place2d& rows, std::int64_t i, std::int64_t j,
                          const MergeFactors& factors, const Call::PartRows& both, std::int64_t Dv) {
  const orders::SplitNames& n = orders::split_names();
  to.column(Slot::m_new, both.m, rows);
  to.event(n.merge_max, rows, i, j);
  to.column(Slot::alpha, factors.first.data(), rows);
  to.event(n.merge_first, rows, i, j);
  to.column(n.alpha_part, factors.second.data(), rows);
  to.event(n.merge_second, rows, i, j);
  to.column(Slot::l_new, both.l, rows);
  to.event(n.merge_sum, rows, i, j);
  to.put(Slot::o_new, {both.o.data, both.o.ld}, rows, rows.rows, Dv);
  to.event(n.merge_output, rows, i, j);
  return {to.shown(Slot::m_new), to.shown(Slot::l_new), to.shown(Slot::o_new)};
}

KeyParts parts_of(const Call& call) {
  return {call.at.tj, call.at.splits};
}

MergeTrace::MergeTrace(const Call& call, const Place2d& rows, std::int64_t i, Recorder& to)
    : call_(call),
      rows_(rows),
      i_(i),
      parts_(static_cast<std::size_t>(call.at.splits)),
      loaded_(static_cast<std::size_t>(call.at.splits)),
      to_(to) {}

void MergeTrace::begin(const MergeStep& step) {
  factors_.emplace(call_.part_rows(rows_, step.into), call_.part_rows(rows_, step.from), rows_.rows);
  load(step.into, std::nullopt);
  load(step.into, step.from);
  show(step.into, step.from);
}

void MergeTrace::end(const MergeStep& step) {
  at(step.into) = record_merge(to_, rows_, i_, parts_of(call_).first(step.from), *factors_,
                               call_.part_rows(rows_, step.into), call_.p.Dv);
}

void MergeTrace::show(std::int64_t into, std::optional<std::int64_t> from) {
  show_parts(to_, at(into), from ? &at(*from) : nullptr);
}

void MergeTrace::load(std::int64_t into, std::optional<std::int64_t> from) {
  const auto part = from.value_or(into);
  if (loaded_[static_cast<std::size_t>(part)]) return;
  show(into, from);
  to_.event(orders::split_names().load_part, rows_, i_, parts_of(call_).first(part));
  loaded_[static_cast<std::size_t>(part)] = true;
}

}  // namespace attn::cpu
