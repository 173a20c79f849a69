#include "app/ring/gpu/rank_memory.h"

#include <utility>

#include "kernels/base/text.h"

namespace attn {

Result<void> allocate_blocks(gpu::Driver& driver, std::initializer_list<NewBlock> blocks) {
  for (const NewBlock& n : blocks) {
    auto made = gpu::Memory::allocate(driver, n.bytes);
    if (!made) return tl::unexpected(made.error());
    n.block.emplace(std::move(*made));
  }
  return ok();
}

Result<void> poison_blocks(gpu::Driver& driver, std::initializer_list<const RankBlock*> blocks,
                           gpu::StreamHandle stream) {
  constexpr std::uint8_t kNan = 0xff;
  Result<void> good = ok();
  for (const RankBlock* block : blocks)
    if (good) good = driver.fill((*block)->address(), kNan, (*block)->bytes(), stream);
  return good;
}

RankSizes::RankSizes(const GpuOpenRequest& r)
    : rows(r.turns.count_of(r.rank)),
      heads(r.turns.heads_of(r.rank).count()),
      kv_heads(r.turns.kv_heads_of(r.rank).count()),
      D(r.problem.D),
      Dv(r.problem.Dv),
      element(size_of(r.problem.dtype)) {}

ShareBlock RankSizes::share(std::int64_t keys) const {
  constexpr std::uint64_t kLine = 256;
  const std::uint64_t v_at = (k_bytes(keys) + kLine - 1) / kLine * kLine;
  return {v_at, v_at + v_bytes(keys)};
}

Problem problem_of_turn(const GpuOpenRequest& r, const GpuTurn& work) {
  Problem p = r.problem;
  p.Lq = work.queries.count(), p.Lk = work.keys.count();
  p.Hq = r.turns.heads_of(r.rank).count(), p.Hkv = r.turns.kv_heads_of(r.rank).count();
  p.mask.causal = work.causal;
  if (p.pass == Pass::backward) return p;
  p.layout = AxisOrder::blhd;
  p.output = r.turns.turns() == 1 ? OutputType::as_inputs : OutputType::f32;
  return p;
}

Buffers RankMemory::inputs_of_turn(const GpuTurns& turns, const GpuTurn& work, std::int64_t turn) const {
  const RankSizes& s = sizes_;
  const auto first = [&](std::int64_t at, std::int64_t heads, std::int64_t width) {
    return s.element * static_cast<std::uint64_t>(at * heads * width);
  };
  const gpu::DevicePointer k = share(turn), v = k + s.share(turns.count_of(work.share)).v_at;
  Buffers b;
  b.in[Tensor::q] = pointer_to(q() + first(work.queries.first, s.heads, s.D));
  b.in[Tensor::k] = pointer_to(k + first(work.keys.first, s.kv_heads, s.D));
  b.in[Tensor::v] = pointer_to(v + first(work.keys.first, s.kv_heads, s.Dv));
  return b;
}

Result<RankMemory> RankMemory::place(gpu::Driver& driver, const GpuOpenRequest& r, std::span<const std::byte> rows,
                                     gpu::StreamHandle stream) {
  RankMemory m{RankSizes(r)};
  const RankSizes& s = m.sizes_;
  const std::uint64_t q = s.q_bytes(), k = s.k_bytes(s.rows), v = s.v_bytes(s.rows);
  if (rows.size() != q + k + v)
    return fail(ErrorKind::failed, phrase("received rows of {} bytes instead of {}", rows.size(), q + k + v));
  const bool travels = r.turns.turns() > 1, forward = r.problem.pass == Pass::forward, merges = travels && forward;
  const ShareBlock own = s.share(s.rows), largest = s.share(r.turns.most_rows());
  auto good = allocate_blocks(driver, {{m.q_, q},
                                       {m.own_, own.bytes},
                                       {m.slots_[0], shared_bytes(travels ? largest.bytes : 0)},
                                       {m.slots_[1], shared_bytes(r.turns.turns() > 2 ? largest.bytes : 0)},
                                       {m.flags_, shared_bytes(kFlagBytes)},
                                       {m.o_, forward ? s.o_bytes() : 0},
                                       {m.lse_, forward ? s.lse_bytes() : 0},
                                       {m.sums_, merges ? s.sums_bytes() : 0},
                                       {m.part_o_, merges ? s.sums_bytes() : 0},
                                       {m.part_lse_, merges ? s.lse_bytes() : 0}});
  if (!good) return tl::unexpected(good.error());
  good = driver.fill(m.flags(), 0, kFlagBytes, stream);
  if (good) good = driver.fill(m.own(), 0xff, own.bytes, stream);
  if (good) good = driver.upload(m.q(), rows.data(), q, stream);
  if (good) good = driver.upload(m.own(), rows.data() + q, k, stream);
  if (good) good = driver.upload(m.own() + own.v_at, rows.data() + q + k, v, stream);
  if (good) good = m.poison(driver, stream);
  // Even after an error: what was enqueued reads the caller's rows.
  const auto done = driver.synchronize(stream);
  if (good) good = done;
  if (!good) return tl::unexpected(good.error());
  return m;
}

Result<void> RankMemory::poison(gpu::Driver& driver, gpu::StreamHandle stream) const {
  return poison_blocks(driver, {&slots_[0], &slots_[1], &o_, &lse_, &sums_, &part_o_, &part_lse_}, stream);
}

}  // namespace attn
