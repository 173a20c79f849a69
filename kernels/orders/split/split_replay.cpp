// The merge again from what the recording holds, with the function that the kernel calls: bit for bit.
#include <vector>

#include "kernels/arithmetic/math.h"
#include "kernels/arithmetic/merge.h"
#include "kernels/arithmetic/tile_math.h"
#include "kernels/orders/split/names.h"
#include "kernels/recording/replay/replayer.h"

namespace attn::orders::split {
namespace {

const SplitNames& names() {
  return split_names();
}

// Of each row: m, l and the two factors.
std::vector<Merged> merged_rows(const Replayer& r) {
  const std::vector<float> m_first = r.column_after(Slot::m_old), m_second = r.column_after(names().m_part),
                           l_first = r.column_after(Slot::l_old), l_second = r.column_after(names().l_part);
  std::vector<Merged> rows;
  rows.reserve(m_first.size());
  for (std::size_t n = 0; n < m_first.size(); ++n)
    rows.push_back(merge({m_first[n], l_first[n]}, {m_second[n], l_second[n]}, exp_f32));
  return rows;
}

template <class Pick>
void compare_column(Replayer& r, Slot slot, const Pick& pick) {
  std::vector<float> out;
  for (const Merged& row : merged_rows(r)) out.push_back(pick(row));
  r.compare(slot, out.data(), 1);
}

// m, l and O of both, as the kernel makes them.
struct Both {
  Padded o;
  std::vector<float> m, l;
};
Both both(const Replayer& r) {
  const VersionId o_first = r.recording().after(r.index(), Slot::o_old),
                  o_second = r.recording().after(r.index(), names().o_part);
  const Version& v = r.recording().version(o_first);
  Both out{r.load(o_first), r.column_after(Slot::m_old), r.column_after(Slot::l_old)};
  const Padded part = r.load(o_second);
  const std::vector<float> m = r.column_after(names().m_part), l = r.column_after(names().l_part);
  cpu::merge_rows(r.recording().options.accumulate, part.read(), m.data(), l.data(), v.rows, v.cols, out.o.tile(),
                  out.m.data(), out.l.data());
  return out;
}

}  // namespace

void replay_max(Replayer& r) {
  compare_column(r, Slot::m_new, [](const Merged& row) { return row.of_both.m; });
}

void replay_first(Replayer& r) {
  compare_column(r, Slot::alpha, [](const Merged& row) { return row.first; });
}

void replay_second(Replayer& r) {
  compare_column(r, names().alpha_part, [](const Merged& row) { return row.second; });
}

void replay_sum(Replayer& r) {
  const Both sums = both(r);
  r.compare(Slot::l_new, sums.l.data(), 1);
}

void replay_output(Replayer& r) {
  const Both sums = both(r);
  r.compare(Slot::o_new, sums.o);
}

}  // namespace attn::orders::split
