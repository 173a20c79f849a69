// What a rank was dealt, in its own process: its rows of the problem's tensors, and the call that it works on. What has
// not come yet is NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/ring/dealt_rows.h"
#include "app/ring/messages.h"
#include "kernels/base/result.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/rank_of_ring.h"
#include "kernels/cpu/team.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/model/kernel.h"

namespace attn {

class DealtRank {
 public:
  // `block`: of a "deal" (messages.h).
  static Result<std::unique_ptr<DealtRank>> from(const DealRequest& r, std::span<const std::byte> block);

  const Ring& ring() const { return dealt_.ring; }
  std::int64_t rank() const { return rank_; }
  cpu::RankOfRing& work() { return *work_; }

  // K and V of its share, as it was dealt.
  const std::vector<std::byte>& own() const { return own_; }
  std::size_t share_bytes(std::int64_t share) const;
  // K and V of a share, into memory.
  Result<void> put_share(std::int64_t share, std::span<const std::byte> block);

  // A backward's dK and dV of a share that it has in this turn, as far as they are summed: what came with it, then what
  // the turn made. Nothing came in turn 0. Empty: nothing but K and V travels.
  Result<std::vector<std::byte>> sums(std::int64_t turn, std::span<const std::byte> came);
  // Its own, complete.
  Result<void> sums_home(std::span<const std::byte> came);
  bool has_sums() const;

  std::vector<std::byte> answer() const;

 private:
  DealtRank(Plan plan, std::int64_t rank, std::span<const std::byte> block);
  // The bias comes last, whole.
  const Buffers& placed(std::span<const std::byte> block);
  // Of so many bytes, or why not.
  Result<std::vector<float>> floats_of(std::int64_t share, std::span<const std::byte> came) const;

  Plan plan_;
  DealtProblem dealt_;
  std::int64_t rank_;
  Inputs in_;
  Outputs out_;
  cpu::AlignedBytes workspace_;
  Buffers buffers_;
  cpu::ThreadCrew crew_;
  cpu::Team team_;
  std::vector<std::byte> own_;
  std::unique_ptr<cpu::RankOfRing> work_;  // last: it is made of all of them
};

}  // namespace attn
