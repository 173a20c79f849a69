// Work that is cut into pieces: who takes them, and where it stands between two of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace attn {

// Calls work(piece) once for each piece in [0, pieces), in any order and maybe several at once, and returns when all
// are done. Exceptions must not leave `work`.
using TakePieces = std::function<void(std::int64_t pieces, const std::function<void(std::int64_t piece)>& work)>;

// The calling thread takes one after the other. On threads: kernels/base/on_threads.h.
inline void in_turn(std::int64_t pieces, const std::function<void(std::int64_t piece)>& work) {
  for (std::int64_t piece = 0; piece < pieces; ++piece) work(piece);
}

// Asked now and then; true: enough for now.
using Pause = std::function<bool()>;

// Where a walk stands that may be left in the middle. To go on, it is called again from its beginning: a step that is
// done is left out. What lasts is made in steps; what stands between them (where a tile lies, which addresses are its)
// is found again at each call, and must be the same again.
class WalkMark {
 public:
  // Costs of steps are in multiply-adds, roughly.
  static constexpr std::int64_t kStep = 256;
  static constexpr std::int64_t kLook = 1 << 16;                 // after so much the pause is asked
  static constexpr std::int64_t kBlock = std::int64_t{1} << 20;  // what may be done without a look at the pause

  // Calls `walk` until it is through, or until `pause` answers true; whether it is through. Without a pause it is.
  template <class Walk>
  bool go_on(const Walk& walk, const Pause& pause) {
    pause_ = pause ? &pause : nullptr;
    paused_ = false;
    spent_ = 0;
    levels_.front().met = 0;
    walk();
    return !paused_;
  }

  // Whether the step that begins here is left out: it is done, or of a later call. Else it is done now, in one go.
  bool skips(std::int64_t cost = kStep) {
    if (whole_) return false;
    Level& here = levels_[depth_];
    if (here.met++ < here.done || paused_) return true;
    ++here.done;
    spend(cost);
    return false;
  }
  // A step; those within it are parts of it.
  template <class Step>
  void once(const Step& step, std::int64_t cost = kStep) {
    if (whole_) return step();
    if (skips(cost)) return;
    whole_ = true;
    step();
    whole_ = false;
  }
  // body(n) for n in [first, last): each in steps of its own, or, if it has none, a step itself, of that cost.
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body, std::int64_t cost = kStep) {
    const auto turn = [&](std::int64_t n) {
      if (first + n >= last) return false;
      body(first + n);
      return true;
    };
    loop(turn, cost);
  }
  // body() until it answers false.
  template <class Body>
  void repeat(const Body& body, std::int64_t cost = kStep) {
    loop([&](std::int64_t) { return body(); }, cost);
  }
  // body(first, count) for blocks of [0, n), each cheap enough to be a step: sixteen rows or a multiple of them, fewer
  // where those cost too much.
  template <class Body>
  void blocks(std::int64_t n, std::int64_t cost_each, const Body& body) {
    constexpr std::int64_t kRows = 16;
    const std::int64_t cheap = std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(1, cost_each));
    const std::int64_t rows = cheap < kRows ? cheap : cheap / kRows * kRows;
    if (whole_ || rows >= n) return once([&] { body(std::int64_t{0}, n); }, n * cost_each);
    const auto block = [&](std::int64_t at) { body(at * rows, std::min(rows, n - at * rows)); };
    each(0, (n + rows - 1) / rows, block, rows * cost_each);
  }
  // A value that lasts from call to call, made at the first, until the turn of each() or repeat() that it is in ends.
  template <class T, class... Args>
  T& kept(Args&&... args) {
    Level& here = levels_[depth_];
    const std::int64_t at = here.met++;
    const auto there = std::ranges::find(here.kept, at, &Kept::first);
    if (!paused_ && at == here.done) ++here.done;
    if (there != here.kept.end()) return *static_cast<T*>(there->second.get());
    auto made = std::make_shared<T>(std::forward<Args>(args)...);
    T& value = *made;
    here.kept.emplace_back(at, std::move(made));
    return value;
  }

 private:
  using Kept = std::pair<std::int64_t, std::shared_ptr<void>>;
  // The turn of a loop that the walk is in: its steps that are done, and those that this call has met.
  struct Level {
    std::int64_t turn = 0, done = 0, met = 0;
    std::vector<Kept> kept;
  };

  // turn(n) until it answers false.
  template <class Turn>
  void loop(const Turn& turn, std::int64_t cost) {
    if (whole_) {
      for (std::int64_t n = 0; turn(n); ++n) {
      }
      return;
    }
    if (levels_[depth_].met++ < levels_[depth_].done || paused_) return;
    if (++depth_ == levels_.size()) levels_.emplace_back();
    bool more = true;
    while (more && !paused_) {
      levels_[depth_].met = 0;
      const bool again = turn(levels_[depth_].turn);
      if (paused_) break;  // within the turn: nobody knows yet
      more = again;
      const std::int64_t next = levels_[depth_].turn + 1;
      levels_[depth_] = {next, 0, 0, {}};
      if (more) spend(cost);
    }
    if (!more) levels_[depth_] = {};
    --depth_;
    if (!more) ++levels_[depth_].done;
  }
  void spend(std::int64_t cost) {
    spent_ += cost;
    if (spent_ < kLook || pause_ == nullptr) return;
    spent_ = 0;
    if ((*pause_)()) paused_ = true;
  }

  std::vector<Level> levels_ = std::vector<Level>(1);
  std::size_t depth_ = 0;
  const Pause* pause_ = nullptr;  // null: to the end
  std::int64_t spent_ = 0;        // since the last look at it
  bool paused_ = false;
  bool whole_ = false;  // in once(): what is met is no step of its own
};

}  // namespace attn
