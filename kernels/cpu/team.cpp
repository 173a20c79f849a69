#include "kernels/cpu/team.h"

#include "kernels/base/pieces.h"

namespace attn::cpu {

Team::Team(std::int32_t threads, const Stream& stream) : stop_(stream.stop), mark_(stream.mark), crew_(stream.crew) {
  if (mark_ != nullptr) crew_ = nullptr;
  if (crew_ == nullptr || crew_->threads() == threads) return;
  own_ = crew_->with(threads);
  crew_ = own_.get();
}

void Team::run(std::int64_t pieces, const Piece& work) {
  const auto take = [&](std::int64_t piece) {
    if (!stopped()) work(piece, 0);
  };
  if (mark_ != nullptr) return mark_->each(0, pieces, take, WalkMark::kLook);
  if (crew_ != nullptr) return crew_->run(pieces, work, stop_);
  for (std::int64_t piece = 0; piece < pieces && !stopped(); ++piece) work(piece, 0);
}

}  // namespace attn::cpu
