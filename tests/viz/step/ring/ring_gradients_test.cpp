// What a backward round a ring shows at each step: gradients by their rule in fp64 from Q, K, V and dO alone, sums
// where their keys are, and what was sent, counted by hand.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/ring/ring_scene.h"

namespace attn {
namespace {

std::shared_ptr<const Recording> backward_ring(std::int64_t ranks, bool zigzag, std::int64_t length = 16,
                                               bool causal = true, std::int64_t query_heads = 1) {
  Preset preset = **find_preset("random");
  preset.br = preset.bc = 2;
  preset.seed = 51;
  Problem p = preset.problem;
  p.pass = Pass::backward;
  p.Hq = query_heads;
  p.Hkv = 1;
  p.Lq = p.Lk = length;
  p.D = p.Dv = 4;
  p.mask.causal = causal;
  Options o;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return record_problem(preset, p, "cpu_flash_bwd", o);
}

RingScene scene_at(const Recording& rec, EventIndex e) {
  return ring_scene(rec, place_of(rec, e, {}), scales_of(rec), {});
}

// The rule, pair by pair: of a row P, dP and dS over all keys.
struct Rule {
  const Recording& rec;
  const Problem& p = rec.problem;

  double in(const Array& t, std::int64_t head, std::int64_t length, std::int64_t row, std::int64_t c) const {
    return static_cast<double>(t.get((head * length + row) * 4 + c));
  }
  double dot(const Array& a, std::int64_t ha, std::int64_t ra, const Array& b, std::int64_t rb) const {
    double sum = 0;
    for (std::int64_t c = 0; c < 4; ++c) sum += in(a, ha, p.Lq, ra, c) * in(b, 0, p.Lk, rb, c);
    return sum;
  }
  struct Row {
    std::vector<double> weights, d_scores;
    double delta = 0;
  };
  Row row(std::int64_t h, std::int64_t query) const {
    std::vector<double> s, dp;
    double most = -1e300, sum = 0;
    Row r;
    for (std::int64_t key = 0; key < p.Lk; ++key) {
      s.push_back(p.visible(0, query, key) ? dot(rec.inputs.q, h, query, rec.inputs.k, key) * p.effective_scale()
                                           : -1e300);
      dp.push_back(dot(*rec.inputs.d_o, h, query, rec.inputs.v, key));
      most = std::max(most, s.back());
    }
    for (const double x : s) sum += x > -1e299 ? std::exp(x - most) : 0;
    for (std::size_t n = 0; n < s.size(); ++n) {
      r.weights.push_back(s[n] > -1e299 ? std::exp(s[n] - most) / sum : 0);
      r.delta += r.weights.back() * dp[n];
    }
    for (std::size_t n = 0; n < s.size(); ++n) r.d_scores.push_back(r.weights[n] * (dp[n] - r.delta));
    return r;
  }
  double dq(std::int64_t h, std::int64_t query, std::int64_t c, const std::set<std::int64_t>& keys) const {
    const Row r = row(h, query);
    double sum = 0;
    for (const std::int64_t key : keys)
      sum += r.d_scores[static_cast<std::size_t>(key)] * in(rec.inputs.k, 0, p.Lk, key, c);
    return sum;
  }
  double dk(std::int64_t key, std::int64_t c, const std::set<std::int64_t>& queries) const {
    double sum = 0;
    for (std::int64_t h = 0; h < p.Hq; ++h)
      for (const std::int64_t query : queries)
        sum += row(h, query).d_scores[static_cast<std::size_t>(key)] * in(rec.inputs.q, h, p.Lq, query, c);
    return sum;
  }
  double dv(std::int64_t key, std::int64_t c, const std::set<std::int64_t>& queries) const {
    double sum = 0;
    for (std::int64_t h = 0; h < p.Hq; ++h)
      for (const std::int64_t query : queries)
        sum += row(h, query).weights[static_cast<std::size_t>(key)] * in(*rec.inputs.d_o, h, p.Lq, query, c);
    return sum;
  }
};

void expect_near(const Cell& cell, double right, const std::string& what) {
  ASSERT_EQ(cell.look, CellLook::value) << what;
  EXPECT_NEAR(static_cast<double>(cell.value), right, 2e-5 * (1 + std::fabs(right))) << what;
}

// Rows of a rank, of either side: 2 each tile.
std::set<std::int64_t> rows_of(const Ring& ring, const KeyParts& parts, std::int64_t rank, std::int64_t length) {
  std::set<std::int64_t> rows;
  for (std::int64_t row = 0; row < length; ++row)
    if (ring.rank_of_chunk(parts.of_tile(row / 2)) == rank) rows.insert(row);
  return rows;
}

void expect_sums(const Rule& rule, const RingSums& sums, const std::vector<std::int32_t>& keys,
                 const std::set<std::int64_t>& queries, double scale, const std::string& what) {
  for (std::int32_t r = 0; r < sums.dk.rows; ++r) {
    const std::int64_t key = keys[static_cast<std::size_t>(r)];
    for (std::int32_t c = 0; c < 4; ++c) {
      const std::string where = what + " of key " + std::to_string(key);
      expect_near(sums.dk.cell(r, c), scale * rule.dk(key, c, queries), where + ", dK");
      expect_near(sums.dv.cell(r, c), rule.dv(key, c, queries), where + ", dV");
    }
  }
}

TEST(RingGradients, AfterEveryTurnEachRankHasWhatTheRuleSaysInFp64) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const bool causal : {false, true}) {
      const std::int64_t heads = ranks == 3 ? 2 : 1, length = ranks == 3 ? 12 : 16;
      const auto rec = backward_ring(ranks, causal, length, causal, heads);
      const Rule rule{*rec};
      const Ring r = ring_of(rec->options, rec->query_tiles(), rec->key_tiles());
      for (EventIndex e = 0; e + 1 < rec->events.size(); ++e) {
        const std::int64_t turn = turn_of(*rec, rec->events[e].id);
        if (turn == r.ranks || turn_of(*rec, rec->events[e + 1].id) == turn) continue;
        const RingScene scene = scene_at(*rec, e);
        EXPECT_TRUE(scene.backward);
        for (const RingRankRow& row : scene.ranks) {
          std::set<std::int64_t> seen, added;
          for (std::int64_t t = 0; t <= turn; ++t) {
            seen.merge(rows_of(r, r.keys(), r.share(row.rank, t), length));
            // Who had these keys before: the ranks to the left, as far as their owner.
            added.merge(rows_of(r, r.queries(), (row.rank + r.ranks - t) % r.ranks, length));
          }
          const std::string what = "turn " + std::to_string(turn) + ", rank " + std::to_string(row.rank);
          EXPECT_EQ(row.here, r.share(row.rank, turn)) << what;
          for (std::int32_t n = 0; n < row.dq.rows; ++n) {
            const std::int64_t query = row.rows[static_cast<std::size_t>(n)];
            expect_near(row.delta.cell(n, 0), rule.row(scene.at.h, query).delta, what + " delta");
            for (std::int32_t c = 0; c < 4; ++c)
              expect_near(row.dq.cell(n, c), rule.dq(scene.at.h, query, c, seen), what + " dQ");
          }
          expect_sums(rule, row.sums, row.sum_keys, added, 1, what + " sums");
          if (!row.idle && !causal)
            expect_sums(rule, row.part, row.sum_keys, rows_of(r, r.queries(), row.rank, length), 1, what + " part");
        }
        ASSERT_FALSE(testing::Test::HasFailure());
      }
    }
  }
}

TEST(RingGradients, TheLastStepShowsAllGradientsAtHome) {
  const auto rec = backward_ring(3, true, 12, true, 2);
  const Rule rule{*rec};
  const Ring r = ring_of(rec->options, rec->query_tiles(), rec->key_tiles());
  const RingScene scene = scene_at(*rec, static_cast<EventIndex>(rec->events.size() - 1));
  std::set<std::int64_t> all;
  for (std::int64_t n = 0; n < 12; ++n) all.insert(n);
  const double scale = rec->problem.effective_scale();
  for (const RingRankRow& row : scene.ranks) {
    EXPECT_TRUE(row.home);
    EXPECT_TRUE(std::ranges::equal(row.sum_keys, rows_of(r, r.keys(), row.rank, 12)));
    expect_sums(rule, row.sums, row.sum_keys, all, scale, "rank " + std::to_string(row.rank));
    for (std::int32_t n = 0; n < row.dq.rows; ++n)
      for (std::int32_t c = 0; c < 4; ++c)
        expect_near(row.dq.cell(n, c), scale * rule.dq(scene.at.h, row.rows[static_cast<std::size_t>(n)], c, all),
                    "dQ");
  }
}

// One turn behind: what a rank has before it adds is what its left neighbour had at the end of the turn before.
TEST(RingGradients, SumsComeFromTheLeftNeighbourOneTurnBehind) {
  const auto rec = backward_ring(4, true);
  RingScene before = scene_at(*rec, 0);
  for (const RingRankRow& row : before.ranks)
    for (const Cell& cell : row.sums.dk.cells) EXPECT_EQ(cell.look, CellLook::empty) << "nothing came in turn 0";
  for (EventIndex e = 0; e + 1 < rec->events.size(); ++e) {
    const std::int64_t turn = turn_of(*rec, rec->events[e].id), next = turn_of(*rec, rec->events[e + 1].id);
    if (turn == next || next == 4) continue;
    const RingScene end = scene_at(*rec, e), begin = scene_at(*rec, e + 1);
    for (const RingRankRow& row : begin.ranks) {
      const RingRankRow& left = end.ranks[static_cast<std::size_t>((row.rank + 3) % 4)];
      EXPECT_EQ(row.sum_keys, left.sum_keys);
      for (std::size_t n = 0; n < row.sums.dk.cells.size(); ++n)
        EXPECT_EQ(row.sums.dk.cells[n].value, left.sums.dk.cells[n].value);
    }
  }
}

// Of a rank the tile alone that it works on: S, then P, dP and dS in its place.
TEST(RingGradients, OneTileOfARankIsOnChipAndWhatItHoldsIsSaid) {
  const auto rec = backward_ring(4, true);
  std::set<std::string> letters;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const RingScene scene = scene_at(*rec, e);
    if (phase_name(rec->events[e].id.phase).name == "weight_gradient") {
      EXPECT_EQ(letter_of_slot(scene.scores), "dP");
    }
    letters.insert(std::string(letter_of_slot(scene.scores)));
    for (const RingRankRow& row : scene.ranks) {
      std::int64_t values = 0;
      for (const Cell& cell : row.scores.cells) values += cell.look == CellLook::value ? 1 : 0;
      EXPECT_LE(values, 4) << "step " << e + 1;
    }
  }
  EXPECT_EQ(letters, (std::set<std::string>{"S", "P", "dP", "dS"}));
}

// 16 keys of 4 + 4 numbers, four ranks: K and V three times, dK and dV in f32 four times.
TEST(RingGradients, BytesSentAreSaid) {
  const RingScene scene = scene_at(*backward_ring(4, true), 0);
  EXPECT_EQ(scene.bytes.total + scene.bytes.total_sums, 4 * 3 * 128 + 4 * 4 * 128);
  EXPECT_EQ(scene.sent_words,
            "Each rank sends 128 B of K and V per turn, and 128 B of dK and dV in f32. All together send 3584 B.");
}

TEST(RingGradients, TheMapLeadsToTheStepsOfItsSquares) {
  const auto rec = backward_ring(4, true);
  const RingScene scene = scene_at(*rec, 0);
  for (std::int32_t a = 0; a < 8; ++a) {
    for (std::int32_t k = 0; k <= a; ++k) {
      ASSERT_TRUE(scene.square(a, k).event);
      EXPECT_EQ(rec->events[*scene.square(a, k).event].id.i, a);
      EXPECT_EQ(rec->events[*scene.square(a, k).event].id.j, k);
    }
  }
}

// What later steps make is not known: with 0 in their place the picture is the same.
TEST(RingGradients, DependOnNothingThatComesLater) {
  const auto rec = backward_ring(2, true, 8);
  for (EventIndex e = 0; e < rec->events.size(); e += 5) {
    const Recording until = known_after(*rec, e);
    const TensorScales scales = scales_of(*rec);
    const RingScene all = ring_scene(*rec, place_of(*rec, e, {}), scales, {}),
                    some = ring_scene(until, place_of(until, e, {}), scales, {});
    for (std::size_t n = 0; n < all.ranks.size(); ++n) {
      const auto same = [&](const RingGrid& a, const RingGrid& b) {
        for (std::size_t c = 0; c < a.cells.size(); ++c) {
          EXPECT_EQ(a.cells[c].look, b.cells[c].look);
          EXPECT_EQ(a.cells[c].value, b.cells[c].value);
        }
      };
      same(all.ranks[n].dq, some.ranks[n].dq);
      same(all.ranks[n].part.dk, some.ranks[n].part.dk);
      same(all.ranks[n].sums.dv, some.ranks[n].sums.dv);
      same(all.ranks[n].scores, some.ranks[n].scores);
    }
  }
}

}  // namespace
}  // namespace attn
