#include "app/ring/gpu/rank_gradients.h"

#include <cstring>
#include <utility>

#include "kernels/base/text.h"

namespace attn {
namespace {

std::uint64_t floats(std::int64_t numbers) {
  return sizeof(float) * static_cast<std::uint64_t>(numbers);
}

// The last `count` rows of each head.
std::vector<std::byte> last_rows(std::span<const std::byte> lse, const RankSizes& s, std::int64_t count) {
  std::vector<std::byte> last;
  for (std::int64_t head = 1; head <= s.heads; ++head) {
    const auto rows = lse.subspan(floats(head * s.rows - count), floats(count));
    last.insert(last.end(), rows.begin(), rows.end());
  }
  return last;
}

}  // namespace

Result<std::unique_ptr<RankGradients>> RankGradients::place(gpu::Queue& queue, const GpuOpenRequest& r,
                                                            std::span<const std::byte> rows) {
  std::unique_ptr<RankGradients> made(new RankGradients(queue, r));
  const RankSizes& s = made->sizes_;
  const std::uint64_t expected = 2 * s.o_bytes() + s.lse_bytes();
  if (rows.size() != expected)
    return fail(ErrorKind::failed, phrase("received rows of {} bytes instead of {}", rows.size(), expected));
  const auto late = last_rows(rows.last(s.lse_bytes()), s, r.turns.rows_of(r.rank).back().count());
  auto good = made->allocate();
  if (!good) return tl::unexpected(good.error());
  good = made->send(rows, late);
  if (good) good = made->poison();
  // Even after an error: what was enqueued reads the rows.
  const auto done = queue.driver().synchronize(queue.stream());
  if (good) good = done;
  if (!good) return tl::unexpected(good.error());
  return made;
}

Result<void> RankGradients::allocate() {
  const RankSizes& s = sizes_;
  const std::uint64_t largest = travels() ? 2 * floats(d_k_numbers(r_.turns.most_rows())) : 0;
  turns_.resize(static_cast<std::size_t>(r_.turns.turns()));
  return allocate_blocks(queue_.driver(), {{d_o_, s.o_bytes()},
                                           {o_, s.o_bytes()},
                                           {lse_, s.lse_bytes()},
                                           {late_lse_, s.lse_bytes()},
                                           {delta_, s.lse_bytes()},
                                           {d_q_, s.q_bytes()},
                                           {d_k_, s.k_bytes(s.rows)},
                                           {d_v_, s.v_bytes(s.rows)},
                                           {d_q_sums_, travels() ? floats(d_q_numbers()) : 0},
                                           {own_, travels() ? 2 * floats(d_k_numbers(s.rows)) : 0},
                                           {part_, largest},
                                           {slots_[0], shared_bytes(largest)},
                                           {slots_[1], shared_bytes(largest)}});
}

Result<void> RankGradients::send(std::span<const std::byte> rows, std::span<const std::byte> late_lse) {
  const RankSizes& s = sizes_;
  const auto lse = rows.last(s.lse_bytes());
  gpu::Driver& driver = queue_.driver();
  auto good = driver.upload(d_o_->address(), rows.data(), s.o_bytes(), queue_.stream());
  if (good) good = driver.upload(o_->address(), rows.data() + s.o_bytes(), s.o_bytes(), queue_.stream());
  if (good) good = driver.upload(lse_->address(), lse.data(), lse.size(), queue_.stream());
  if (good) good = driver.upload(late_lse_->address(), late_lse.data(), late_lse.size(), queue_.stream());
  return good;
}

Result<void> RankGradients::poison() {
  return poison_blocks(queue_.driver(),
                       {&d_q_sums_, &own_, &part_, &d_q_, &delta_, &d_k_, &d_v_, &slots_[0], &slots_[1]},
                       queue_.stream());
}

Buffers RankGradients::buffers(const Buffers& q_k_v, const GpuTurn& work, std::int64_t turn) const {
  const RankSizes& s = sizes_;
  const auto skipped = [&](std::int64_t width) {
    return s.element * static_cast<std::uint64_t>(work.queries.first * s.heads * width);
  };
  Buffers b = q_k_v;
  b.in[Tensor::d_o] = pointer_to(d_o_->address() + skipped(s.Dv));
  b.in[Tensor::o] = pointer_to(o_->address() + skipped(s.Dv));
  b.in[Tensor::lse] = pointer_to(work.queries.first == 0 ? lse_->address() : late_lse_->address());
  for (const Tensor t : {Tensor::q, Tensor::o, Tensor::d_o}) b.strides[t] = {d_q_numbers(), s.D, s.heads * s.D};
  for (const Tensor t : {Tensor::k, Tensor::v})
    b.strides[t] = {d_k_numbers(r_.turns.most_rows()), s.D, s.kv_heads * s.D};
  // All queries are in turn 0.
  if (turn == 0) b.out[Tensor::delta] = pointer_to(delta_->address());
  if (!travels()) {
    b.out[Tensor::d_q] = pointer_to(d_q_->address());
    b.out[Tensor::d_k] = pointer_to(d_k_->address());
    b.out[Tensor::d_v] = pointer_to(d_v_->address());
  } else {
    const gpu::DevicePointer sums = turn == 0 ? own_->address() : part_->address();
    b.out[Tensor::d_k] = pointer_to(sums);
    b.out[Tensor::d_v] = pointer_to(sums + floats(d_k_numbers(work.keys.count())));
  }
  b.workspace = workspace_ ? workspace_->pointer() : nullptr;
  return b;
}

Result<void> RankGradients::make_workspace(std::uint64_t bytes) {
  if (workspace_)
    return workspace_->bytes() >= bytes ? ok() : fail(ErrorKind::failed, "a later turn needs a larger workspace");
  auto memory = gpu::Memory::allocate(queue_.driver(), bytes);
  if (!memory) return tl::unexpected(memory.error());
  workspace_.emplace(std::move(*memory));
  return ok();
}

Result<void> RankGradients::prepare(const Plan& plan, const Buffers& b, const GpuTurn& work, std::int64_t turn) {
  if (!kernels_) {
    auto made = gpu::RingGradients::make(queue_, plan);
    if (!made) return tl::unexpected(made.error());
    kernels_.emplace(*made);
  }
  auto ready = kernels_->prepare(plan, b, {d_q_sums_->address(), sizes_.rows, work.queries.first, turn > 0});
  if (!ready) return tl::unexpected(ready.error());
  turns_[static_cast<std::size_t>(turn)] = std::move(*ready);
  return ok();
}

Result<void> RankGradients::compute(std::int64_t turn) {
  const auto& ready = turns_[static_cast<std::size_t>(turn)];
  return ready ? kernels_->launch(*ready) : ok();
}

Result<void> RankGradients::add(std::int64_t turn) {
  const GpuTurn work = r_.turns.turn(r_.rank, turn);
  if (turn == 0 || work.idle()) return ok();
  const std::int64_t keys = r_.turns.count_of(work.share);
  gpu::RingAdd a{sums(turn), part_->address(), sizes_.kv_heads, keys, work.keys.first, work.keys.count()};
  if (auto added = kernels_->add(a); !added) return added;
  a.sums += floats(d_k_numbers(keys));
  a.part += floats(d_k_numbers(work.keys.count()));
  return kernels_->add(a);
}

Result<void> RankGradients::round_d_q() {
  const auto scale = static_cast<float>(r_.problem.effective_scale());
  return kernels_->round({d_q_sums_->address(), d_q_->address(), d_q_numbers(), scale});
}

Result<void> RankGradients::round_d_k_d_v() {
  const gpu::DevicePointer home = sums(r_.turns.turns());
  const std::int64_t numbers = d_k_numbers(sizes_.rows);
  const auto scale = static_cast<float>(r_.problem.effective_scale());
  if (auto rounded = kernels_->round({home, d_k_->address(), numbers, scale}); !rounded) return rounded;
  return kernels_->round({home + floats(numbers), d_v_->address(), numbers, 1});
}

std::uint64_t RankGradients::sums_bytes(std::int64_t rank, std::int64_t turn) const {
  return 2 * floats(d_k_numbers(r_.turns.count_of(r_.turns.turn(rank, turn).share)));
}

Result<std::vector<std::byte>> RankGradients::answer() {
  std::vector<std::byte> bytes;
  Result<void> good = ok();
  for (const auto* memory : {&d_q_, &delta_, &d_k_, &d_v_}) {
    const std::size_t at = bytes.size();
    bytes.resize(at + (*memory)->bytes());
    if (good)
      good = queue_.driver().download(bytes.data() + at, (*memory)->address(), (*memory)->bytes(), queue_.stream());
  }
  if (good) good = queue_.driver().synchronize(queue_.stream());
  if (!good) return tl::unexpected(good.error());
  return bytes;
}

}  // namespace attn
