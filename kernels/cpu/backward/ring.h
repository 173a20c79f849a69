// A backward round a ring (kernels/model/ring.h): dQ stays where its queries are, while dK and dV are fp32 sums that go
// round with their keys, and once more, home. `Walk` is FlashBackward (flash_bwd.cpp) or a wrong copy of it. All ranks
// in one process, turn after turn, give the bits that a process a rank gives: they are the same sums in the same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/cpu/backward/flash_layout.h"
#include "kernels/cpu/rank_of_ring.h"
#include "kernels/cpu/team.h"
#include "kernels/model/kernel.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward_ring/names.h"

namespace attn::cpu {

// Ranks side by side: all of a ring, or one.
struct RingRanks {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

template <class Walk>
class BackwardRing {
 public:
  explicit BackwardRing(Walk& walk)
      : w_(walk),
        ring_(walk.ring_),
        query_tiles_(tiles_of_ranks(ring_, ring_.queries())),
        key_tiles_(tiles_of_ranks(ring_, ring_.keys())) {}

  const Ring& ring() const { return ring_; }

  // All ranks in this process.
  void run() {
    if constexpr (Walk::kRecorded) return record();
    const RingRanks all{0, ring_.ranks};
    for_keys_of(all, [this](std::int64_t kv, std::int64_t j) { w_.pack_keys(kv, j); });
    begin(all);
    for (std::int64_t n = 0; n < ring_.ranks; ++n) turn(all, n, n > 0);
    finish(all);
    sums_home(all);
  }

  // Their queries are made ready, and dQ is 0.
  void begin(const RingRanks& ranks) {
    for_rows_of(ranks, [this](std::int64_t head, std::int64_t i) {
      w_.pack_queries(head, i);
      for (std::int64_t c = 0; c < w_.at_.chunks; ++c)
        std::fill_n(w_.dq_rows(c, head, i).data, w_.rows_of(i) * w_.at_.ldd, 0.0F);
    });
  }
  // K and V of a share are in memory.
  void pack_share(std::int64_t share) {
    for_keys_of({share, share + 1}, [this](std::int64_t kv, std::int64_t j) { w_.pack_keys(kv, j); });
  }
  // What the ranks' queries give the keys that they have in this turn: added to the share's sums, or in their place.
  void turn(const RingRanks& ranks, std::int64_t turn, bool added) {
    const std::int64_t chunks = w_.at_.chunks, each = w_.p_.B * w_.p_.Hkv * chunks;
    w_.team_.run(ranks.count() * each, [&](std::int64_t n, std::int32_t worker) {
      const std::int64_t rank = ranks.first + n / each, kv = n % each / chunks, c = n % chunks;
      const auto& keys = key_tiles_[static_cast<std::size_t>(ring_.share(rank, turn))];
      for (std::int64_t k = c; k < std::ssize(keys) && !w_.team_.stopped(); k += chunks) {
        auto s = w_.scratch(worker);
        key_tile(kv, c, keys[static_cast<std::size_t>(k)], rank, added, s);
      }
    });
  }
  // dQ of the ranks' queries, after the last turn.
  void finish(const RingRanks& ranks) {
    for_rows_of(ranks, [this](std::int64_t head, std::int64_t i) { w_.store_dq(head, i); });
  }
  // dK and dV of the ranks' own shares, whose sums are complete.
  void sums_home(const RingRanks& ranks) {
    for_keys_of(ranks, [this](std::int64_t kv, std::int64_t j) {
      w_.store_keys(w_.dk_rows(0, kv, j), w_.dv_rows(0, kv, j), w_.keys_of_tile(j), kv * w_.p_.Lk + j * w_.at_.bc);
    });
  }
  // Calls use(floats, count) for each row of a share's sums: of a key dK, then dV.
  template <class Use>
  void for_sums_of(std::int64_t share, const Use& use) const {
    for (std::int64_t kv = 0; kv < w_.p_.B * w_.p_.Hkv; ++kv) {
      for (const std::int64_t j : key_tiles_[static_cast<std::size_t>(share)]) {
        const auto dk = w_.dk_rows(0, kv, j), dv = w_.dv_rows(0, kv, j);
        for (std::int64_t r = 0; r < w_.keys_of_tile(j); ++r) {
          use(dk.data + r * dk.ld, w_.p_.D);
          use(dv.data + r * dv.ld, w_.p_.Dv);
        }
      }
    }
  }

 private:
  void key_tile(std::int64_t kv, std::int64_t c, std::int64_t j, std::int64_t rank, bool added, auto& s) {
    w_.sum_keys(kv, c, j, query_tiles_[static_cast<std::size_t>(rank)], s);
    const std::int64_t cols = w_.keys_of_tile(j);
    const auto keep = [&](auto from, auto to) {
      if (added) return w_.add(w_.read(from), cols * from.ld, to);
      std::copy_n(from.data, cols * from.ld, to.data);
    };
    w_.once([&] {
      keep(s.sums.dk, w_.dk_rows(0, kv, j));
      keep(s.sums.dv, w_.dv_rows(0, kv, j));
    });
  }

  // ---- recorded: the same, one head of keys after the other and in a turn rank after rank; interleave_lanes() brings
  // the ranks side by side

  void record() {
    const RingRanks all{0, ring_.ranks};
    for_keys_of(all, [this](std::int64_t kv, std::int64_t j) { w_.pack_keys(kv, j); });
    w_.team_.run(w_.p_.B * w_.p_.Hkv, [this](std::int64_t kv, std::int32_t worker) {
      const auto rows = [&](const auto& work) {
        w_.each(w_.group_,
                [&](std::int64_t g) { w_.each(w_.at_.ti, [&](std::int64_t i) { work(w_.first_head(kv) + g, i); }); });
      };
      rows([&](std::int64_t head, std::int64_t i) {
        w_.pack_queries(head, i);
        w_.once([&] { std::fill_n(w_.dq_rows(0, head, i).data, w_.rows_of(i) * w_.at_.ldd, 0.0F); });
      });
      w_.each(ring_.ranks, [&](std::int64_t turn) {
        w_.each(ring_.ranks, [&](std::int64_t rank) { record_turn(kv, rank, turn, worker); });
      });
      rows([&](std::int64_t head, std::int64_t i) { w_.store_dq(head, i); });
      w_.each(w_.at_.tj, [&](std::int64_t j) { record_home(kv, j); });
    });
  }

  void record_turn(std::int64_t kv, std::int64_t rank, std::int64_t turn, std::int32_t worker) {
    const auto& names = orders::backward_ring_names();
    const std::int64_t i = query_tiles_[static_cast<std::size_t>(rank)].front();
    const auto& keys = key_tiles_[static_cast<std::size_t>(ring_.share(rank, turn))];
    const auto at = [&](std::int64_t j) { return w_.place(w_.first_head(kv), i, j); };
    if (turn + 1 < ring_.ranks) w_.trace_->travels(names.send, at(keys.front()), i, keys.front());
    if (turn > 0) w_.trace_->travels(names.send_sums, at(keys.front()), i, keys.front());
    w_.each(std::ssize(keys), [&](std::int64_t k) {
      const std::int64_t j = keys[static_cast<std::size_t>(k)];
      auto s = w_.scratch(worker);
      const bool seen = std::ranges::any_of(query_tiles_[static_cast<std::size_t>(rank)], [&](std::int64_t tile) {
        return !w_.hidden(w_.place(w_.first_head(kv), tile, j));
      });
      if (seen) w_.trace_->keys(at(j), i, j, w_.read(w_.k_rows(kv, j)), w_.read(w_.v_panel(kv, j)));
      key_tile(kv, 0, j, rank, turn > 0, s);
      w_.trace_->sums(turn == 0, at(j), i, j, w_.read(w_.dk_rows(0, kv, j)), w_.read(w_.dv_rows(0, kv, j)));
    });
  }

  void record_home(std::int64_t kv, std::int64_t j) {
    Place2d keys = w_.place(w_.first_head(kv), 0, j);
    keys.rows = 0;
    const std::int64_t owner = ring_.rank_of_chunk(ring_.keys().of_tile(j));
    if (key_tiles_[static_cast<std::size_t>(owner)].front() == j)
      w_.trace_->travels(orders::backward_ring_names().sums_home, keys, -1, j);
    w_.store_keys(w_.dk_rows(0, kv, j), w_.dv_rows(0, kv, j), w_.keys_of_tile(j), kv * w_.p_.Lk + j * w_.at_.bc);
    w_.trace_->keys_done(keys, j, w_.read(w_.dk_rows(0, kv, j)), w_.read(w_.dv_rows(0, kv, j)));
  }

  // work(head, tile) for the ranks' tiles of so many heads, on all threads.
  template <class Work>
  void for_tiles(const std::vector<std::vector<std::int64_t>>& lists, const RingRanks& ranks, std::int64_t heads,
                 const Work& work) {
    std::vector<std::int64_t> tiles;
    for (std::int64_t rank = ranks.first; rank < ranks.last; ++rank) {
      const auto& of = lists[static_cast<std::size_t>(rank)];
      tiles.insert(tiles.end(), of.begin(), of.end());
    }
    if (tiles.empty()) return;
    w_.team_.run(heads * std::ssize(tiles), [&](std::int64_t n, std::int32_t) {
      work(n / std::ssize(tiles), tiles[static_cast<std::size_t>(n % std::ssize(tiles))]);
    });
  }
  template <class Work>
  void for_rows_of(const RingRanks& ranks, const Work& work) {
    for_tiles(query_tiles_, ranks, w_.p_.B * w_.p_.Hq, work);
  }
  template <class Work>
  void for_keys_of(const RingRanks& ranks, const Work& work) {
    for_tiles(key_tiles_, ranks, w_.p_.B * w_.p_.Hkv, work);
  }

  Walk& w_;
  const Ring ring_;
  const std::vector<std::vector<std::int64_t>> query_tiles_, key_tiles_;  // by rank
};

// A rank in a process of its own. Of one rank the only turn does all.
template <class Walk>
class BackwardRank final : public RankOfRing {
 public:
  BackwardRank(const Plan& plan, const Buffers& buffers, std::int64_t rank, Team& team)
      : walk_(plan.problem, plan.options, buffers, team), ring_(walk_), own_{rank, rank + 1} {}

  void begin() override {
    if (!alone()) ring_.begin(own_);
  }
  void turn(std::int64_t turn) override {
    if (alone()) return walk_.run();
    ring_.pack_share(ring_.ring().share(own_.first, turn));
    ring_.turn(own_, turn, false);
  }
  void finish() override {
    if (!alone()) ring_.finish(own_);
  }
  std::size_t sums_of(std::int64_t share) const override {
    std::size_t floats = 0;
    if (!alone())
      ring_.for_sums_of(share, [&](const float*, std::int64_t n) { floats += static_cast<std::size_t>(n); });
    return floats;
  }
  void take_sums(std::int64_t share, std::span<float> to) const override {
    float* next = to.data();
    ring_.for_sums_of(share, [&](const float* row, std::int64_t n) { next = std::copy_n(row, n, next); });
  }
  void add_sums(std::int64_t share, std::span<const float> came) override {
    const float* next = came.data();
    ring_.for_sums_of(share, [&](float* row, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) row[i] = next[i] + row[i];
      next += n;
    });
  }
  void put_sums(std::int64_t share, std::span<const float> came) override {
    const float* next = came.data();
    ring_.for_sums_of(share, [&](float* row, std::int64_t n) {
      std::copy_n(next, n, row);
      next += n;
    });
  }
  void sums_home() override { ring_.sums_home(own_); }

 private:
  bool alone() const { return ring_.ring().ranks == 1; }

  Walk walk_;
  BackwardRing<Walk> ring_;
  RingRanks own_;
};

}  // namespace attn::cpu
