// How a backward's dK and dV travel round the ring of GPUs, and home.
#include "app/ring/gpu/rank_run.h"

namespace attn {

// dK and dV of the share that this turn computed with follow it to the right, where it is one turn ahead.
Result<void> RankRun::enqueue_sums(std::int64_t turn) {
  const TurnEvents& e = turns_[static_cast<std::size_t>(turn)];
  const std::int64_t slot = turn % 2;
  auto good = peers_->await(e.end, carrying_);
  // The slot held what the neighbour has passed on since.
  if (good && carries_by_peers() && turn >= 2)
    good = peers_->await(memory_.flags() + kFlagSumsFree, value_of(turn - 1), carrying_);
  if (good) good = driver().record(e.sums_begin, carrying_);
  if (good)
    good = carry({gradients_->sums(turn), right_sums_[static_cast<std::size_t>(slot)],
                  gradients_->sums_bytes(r_.rank, turn), gradients_->slot(slot),
                  gradients_->sums_bytes(r_.rank, turn + 1)});
  if (good) good = driver().record(e.sums_end, carrying_);
  if (!good || !carries_by_peers()) return good;
  good = peers_->write(right_flags_ + kFlagSums, value_of(turn + 1), carrying_);
  const bool wanted = turn >= 1 && turn + 2 <= r_.turns.turns();
  if (good && wanted) good = peers_->write(left_flags_ + kFlagSumsFree, value_of(turn), carrying_);
  return good;
}

// What the left neighbour made of the share that we have in this turn.
Result<void> RankRun::await_sums(std::int64_t turn) {
  return carries_by_peers() ? peers_->await(memory_.flags() + kFlagSums, value_of(turn), computing())
                            : peers_->await(turns_[static_cast<std::size_t>(turn - 1)].sums_end, computing());
}

// The way home: dK and dV of our own keys come from the left, complete.
Result<void> RankRun::enqueue_home() {
  const TurnEvents& e = turns_.back();
  auto good = driver().record(e.begin, computing());
  if (good) good = gradients_->round_d_q();
  if (good) good = driver().record(e.computed, computing());
  if (good) good = await_sums(r_.turns.turns());
  if (good) good = driver().record(e.came, computing());
  if (good) good = gradients_->round_d_k_d_v();
  if (good) good = driver().record(e.end, computing());
  return good;
}

}  // namespace attn
