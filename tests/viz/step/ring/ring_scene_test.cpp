// What a ring shows at each step: numbers that are those of attention in fp64, keys where they are, and the work of
// each rank counted by hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"
#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/ring/ring_scene.h"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::shared_ptr<const Recording> ring(std::int64_t ranks, bool zigzag, std::int64_t length = 16, bool causal = true,
                                      std::int32_t tile = 2) {
  Preset preset = **find_preset("random");
  preset.br = preset.bc = tile;
  preset.seed = 51;
  Problem p = preset.problem;
  p.Lq = p.Lk = length;
  p.D = p.Dv = 4;
  p.mask.causal = causal;
  Options o;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return record_problem(preset, p, "cpu_flash", o);
}

std::vector<ExactTile> exact_of(const Recording& rec) {
  std::vector<ExactTile> tiles;
  for (std::int32_t i = 0; i < rec.query_tiles(); ++i) tiles.emplace_back(rec, 0, 0, i);
  return tiles;
}

RingScene scene_at(const Recording& rec, EventIndex e, const std::vector<ExactTile>& exact = {}) {
  return ring_scene(rec, place_of(rec, e, {}), scales_of(rec), exact);
}

double element(const Array& t, std::int64_t row, std::int64_t width, std::int64_t col) {
  float x = 0;
  t.read(row * width + col, 1, &x);
  return static_cast<double>(x);
}

double score(const Recording& rec, std::int64_t row, std::int64_t key) {
  if (!rec.problem.visible(0, row, key)) return -kInfinity;
  double sum = 0;
  for (std::int64_t d = 0; d < rec.problem.D; ++d)
    sum += element(rec.inputs.q, row, rec.problem.D, d) * element(rec.inputs.k, key, rec.problem.D, d);
  return sum * rec.problem.effective_scale();
}

// m, l and O of a row over some keys, in fp64.
struct Sums {
  double m = -kInfinity, l = 0;
  std::vector<double> o;
};
Sums sums_over(const Recording& rec, std::int64_t row, const std::set<std::int64_t>& keys) {
  Sums s;
  s.o.assign(static_cast<std::size_t>(rec.problem.Dv), 0);
  for (const std::int64_t key : keys) s.m = std::max(s.m, score(rec, row, key));
  if (s.m == -kInfinity) return s;
  for (const std::int64_t key : keys) {
    const double p = std::exp(score(rec, row, key) - s.m);
    s.l += p;
    for (std::size_t c = 0; c < s.o.size(); ++c)
      s.o[c] += p * element(rec.inputs.v, key, rec.problem.Dv, static_cast<std::int64_t>(c));
  }
  return s;
}

void expect_near(const Cell& cell, double right, const std::string& what) {
  ASSERT_EQ(cell.look, CellLook::value) << what;
  if (!std::isfinite(right)) {
    EXPECT_EQ(static_cast<double>(cell.value), right) << what;
    return;
  }
  EXPECT_NEAR(static_cast<double>(cell.value), right, 1e-5 * (1 + std::fabs(right))) << what;
}

void expect_state(const RingState& state, std::int32_t r, const Sums& right, const std::string& what) {
  expect_near(state.m.cell(r, 0), right.m, what + " m");
  expect_near(state.l.cell(r, 0), right.l, what + " l");
  for (std::int32_t c = 0; c < state.o.cols; ++c)
    expect_near(state.o.cell(r, c), right.o[static_cast<std::size_t>(c)], what + " O " + std::to_string(c));
}

std::set<std::int64_t> keys_of(const Ring& ring, const Recording& rec, std::int64_t rank) {
  std::set<std::int64_t> keys;
  for (std::int64_t key = 0; key < rec.problem.Lk; ++key)
    if (ring.rank_of_chunk(ring.keys().of_tile(key / rec.options.bc)) == rank) keys.insert(key);
  return keys;
}

TEST(RingScene, AfterEveryTurnEachRankHasWhatTheKeysSoFarComeToInFp64) {
  for (const bool causal : {false, true}) {
    for (const bool zigzag : {false, true}) {
      const auto rec = ring(4, zigzag, 16, causal);
      const Ring r = ring_of(rec->options, rec->query_tiles(), rec->key_tiles());
      for (EventIndex e = 0; e + 1 < rec->events.size(); ++e) {
        const std::int64_t turn = turn_of(*rec, rec->events[e].id);
        if (turn == r.ranks || turn_of(*rec, rec->events[e + 1].id) == turn) continue;
        const RingScene scene = scene_at(*rec, e);
        for (const RingRankRow& row : scene.ranks) {
          std::set<std::int64_t> seen, now = keys_of(r, *rec, r.share(row.rank, turn));
          for (std::int64_t t = 0; t <= turn; ++t) seen.merge(keys_of(r, *rec, r.share(row.rank, t)));
          EXPECT_EQ(row.here, r.share(row.rank, turn));
          EXPECT_TRUE(std::ranges::equal(row.keys, now));
          for (std::int32_t n = 0; n < static_cast<std::int32_t>(row.rows.size()); ++n) {
            const std::int64_t query = row.rows[static_cast<std::size_t>(n)];
            const std::string what = "turn " + std::to_string(turn) + " row " + std::to_string(query);
            expect_state(row.so_far, n, sums_over(*rec, query, seen), what + " so far");
            expect_state(row.turn, n, sums_over(*rec, query, now), what + " of the turn");
          }
        }
        ASSERT_FALSE(testing::Test::HasFailure());
      }
    }
  }
}

TEST(RingScene, ScoresAndWeightsAreThoseOfTheirRowsAndKeys) {
  const auto rec = ring(4, true);
  int scores = 0, weights = 0;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const RingScene scene = scene_at(*rec, e);
    for (const RingRankRow& row : scene.ranks) {
      for (std::int32_t r = 0; r < row.scores.rows; ++r) {
        for (std::int32_t c = 0; c < row.scores.cols; ++c) {
          const Cell& cell = row.scores.cell(r, c);
          if (cell.look != CellLook::value) continue;
          const std::int64_t query = row.rows[static_cast<std::size_t>(r)], key = row.keys[static_cast<std::size_t>(c)];
          if (row.scores.slot_of(r) == Slot::s) {
            ++scores;
            if (rec->problem.visible(0, query, key))
              expect_near(cell, score(*rec, query, key), "S of step " + std::to_string(e + 1));
          } else if (const Cell& m = row.turn.m.cell(r, 0); m.look == CellLook::value) {
            ++weights;
            expect_near(cell, std::exp(score(*rec, query, key) - static_cast<double>(m.value)),
                        "P of step " + std::to_string(e + 1));
          }
        }
      }
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GT(scores, 100);
  EXPECT_GT(weights, 100);
}

// One rank may have weights while another has scores still: no number stands under a letter that is not its own.
TEST(RingScene, TheHeadingNamesAllThatStandsBelowIt) {
  const auto rec = ring(4, true);
  int both = 0;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const RingScene scene = scene_at(*rec, e);
    std::vector<const RingGrid*> grids;
    for (const RingRankRow& row : scene.ranks) grids.push_back(&row.scores);
    const std::string heading = plain_text(scores_heading(grids, scene.scores));
    std::set<std::string> below;
    for (const RingGrid* grid : grids) {
      for (std::int32_t r = 0; r < grid->rows; ++r)
        for (std::int32_t c = 0; c < grid->cols; ++c)
          if (grid->cell(r, c).look == CellLook::value) below.insert(std::string(letter_of_slot(grid->slot_of(r))));
    }
    for (const char* sign : {"S", "P"})
      EXPECT_TRUE(below.empty() || below.contains(sign) == (heading.find(sign) != std::string::npos)) << e << heading;
    both += below.size() == 2 ? 1 : 0;
  }
  EXPECT_GT(both, 10);
}

// The bars are of the colour of the squares: what is to come is not said to be done, and the other deal never runs.
TEST(RingScene, ATurnOfTheWorkStandsAsItsSquaresDo) {
  for (const bool zigzag : {true, false}) {
    const auto rec = ring(4, zigzag);
    for (EventIndex e = 0; e < rec->events.size(); e += 7) {
      const RingScene scene = scene_at(*rec, e);
      for (const RingSquare& square : scene.squares) {
        if (square.look == RingSquareLook::hidden) continue;
        EXPECT_EQ(ring_turn_look(scene, zigzag, square.turn), square.look) << e;
        EXPECT_EQ(ring_turn_look(scene, !zigzag, square.turn), RingSquareLook::hidden) << e;
      }
    }
  }
}

TEST(RingScene, TheLastStepShowsAttention) {
  const auto rec = ring(3, true, 12);
  const RingScene scene = scene_at(*rec, static_cast<EventIndex>(rec->events.size() - 1));
  EXPECT_TRUE(scene.dividing);
  std::set<std::int64_t> all;
  for (std::int64_t key = 0; key < 12; ++key) all.insert(key);
  for (const RingRankRow& row : scene.ranks) {
    EXPECT_FALSE(row.next.has_value());
    for (std::int32_t r = 0; r < row.so_far.o.rows; ++r) {
      const Sums right = sums_over(*rec, row.rows[static_cast<std::size_t>(r)], all);
      for (std::int32_t c = 0; c < row.so_far.o.cols; ++c)
        expect_near(row.so_far.o.cell(r, c), right.o[static_cast<std::size_t>(c)] / right.l, "O");
    }
  }
}

TEST(RingScene, NoTextPromisesMoreThanItsBound) {
  const auto rec = ring(2, true, 8);
  const auto exact = exact_of(*rec);
  std::size_t texts = 0;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const RingScene scene = scene_at(*rec, e, exact);
    for (const RingRankRow& row : scene.ranks) {
      for (const RingGrid* grid : {&row.q, &row.k, &row.scores, &row.turn.l, &row.so_far.o}) {
        for (const Cell& cell : grid->cells) {
          if (cell.look != CellLook::value || !std::isfinite(cell.value)) continue;
          ++texts;
          const auto value = static_cast<double>(cell.value);
          ASSERT_NEAR(value_of(cell.text), value, std::max(0.0051, 0.006 * std::fabs(value))) << cell.text;
          EXPECT_LE(text_length(cell.text), 6) << cell.text;
        }
      }
    }
  }
  EXPECT_GT(texts, 1000U);
}

TEST(RingScene, KeysAreOnTheirWayToTheRankThatHasThemNext) {
  const auto rec = ring(4, false);
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const RingScene scene = scene_at(*rec, e);
    if (scene.dividing) continue;
    for (const RingRankRow& row : scene.ranks) {
      const auto left = static_cast<std::size_t>((row.rank + 3) % 4);
      if (scene.turn == 3)
        EXPECT_FALSE(row.next.has_value());
      else
        EXPECT_EQ(row.next, scene.ranks[left].here) << "what the left neighbour has";
    }
  }
}

TEST(RingScene, TheMapSaysWhoComputesWhatInWhichTurn) {
  const auto rec = ring(4, true);
  const RingScene scene = scene_at(*rec, 0);
  ASSERT_EQ(scene.chunks, 8);
  // By hand, as zigzag deals eight chunks: 0 and 7, 1 and 6, 2 and 5, 3 and 4.
  const std::int64_t owner[] = {0, 1, 2, 3, 3, 2, 1, 0};
  for (std::int32_t a = 0; a < 8; ++a) {
    for (std::int32_t k = 0; k < 8; ++k) {
      const RingSquare& square = scene.square(a, k);
      EXPECT_EQ(square.rank, owner[a]);
      EXPECT_EQ(square.turn, (owner[a] - owner[k] + 4) % 4);
      EXPECT_EQ(square.look == RingSquareLook::hidden, k > a);
      EXPECT_EQ(square.cut, k == a);
      EXPECT_EQ(square.event.has_value(), k <= a);
      if (square.event) {
        const EventId& id = rec->events[*square.event].id;
        EXPECT_EQ(id.i, a);
        EXPECT_EQ(id.j, k);
      }
    }
  }
}

TEST(RingScene, WorkIsEqualByZigzagAndGrowsInOrder) {
  const auto rec = ring(4, true);
  const RingScene scene = scene_at(*rec, 0);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(scene.dealt.of_rank(rank), 9);
    EXPECT_EQ(scene.otherwise.of_rank(rank), 3 + 4 * static_cast<std::int64_t>(rank));
    EXPECT_EQ(scene.dealt.by_rank[rank], (std::vector<std::int64_t>{3, 2, 2, 2}));
  }
  EXPECT_EQ(scene.dealt.most(), 9);
  EXPECT_EQ(scene.otherwise.most(), 15);
  const RingScene other = scene_at(*ring(4, false), 0);
  EXPECT_EQ(other.dealt.by_rank[0], (std::vector<std::int64_t>{3, 0, 0, 0}));
  EXPECT_EQ(other.dealt.most(), 15);
}

// 16 keys of 4 + 4 numbers in fp32, four ranks: a share is a quarter, and three turns send it.
TEST(RingScene, BytesSentAreSaid) {
  const RingScene scene = scene_at(*ring(4, true), 0);
  EXPECT_EQ(scene.bytes.largest_share, 16 / 4 * 8 * 4);
  EXPECT_EQ(scene.bytes.total, 4 * 3 * 128);
  EXPECT_EQ(scene.sent_words, "Each rank sends 128 B of K and V per turn, for a total of 1536 B.");
}

TEST(RingScene, ARankWithNothingToDoSaysSo) {
  const auto rec = ring(4, false);
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const RingScene scene = scene_at(*rec, e);
    if (scene.dividing) continue;
    for (const RingRankRow& row : scene.ranks) EXPECT_EQ(row.idle, row.here > row.rank);
  }
}

// What later steps make is not known: with 0 in their place the picture is the same.
TEST(RingScene, DependsOnNothingThatComesLater) {
  const auto rec = ring(2, true, 8);
  for (EventIndex e = 0; e < rec->events.size(); e += 7) {
    const Recording until = known_after(*rec, e);
    const TensorScales scales = scales_of(*rec);
    const RingScene all = ring_scene(*rec, place_of(*rec, e, {}), scales, {}),
                    some = ring_scene(until, place_of(until, e, {}), scales, {});
    for (std::size_t n = 0; n < all.ranks.size(); ++n) {
      for (const auto grid : {&RingState::m, &RingState::l, &RingState::o}) {
        for (const auto state : {&RingRankRow::turn, &RingRankRow::so_far}) {
          const RingGrid &a = all.ranks[n].*state.*grid, &b = some.ranks[n].*state.*grid;
          for (std::size_t c = 0; c < a.cells.size(); ++c) {
            EXPECT_EQ(a.cells[c].look, b.cells[c].look);
            EXPECT_EQ(a.cells[c].value, b.cells[c].value);
          }
        }
      }
    }
  }
}

TEST(RingScene, TooManyCellsAreNotDrawnButSaid) {
  const RingScene scene = scene_at(*ring(4, true, 512, true, 32), 40);
  EXPECT_EQ(scene.dense, "512 queries and 512 keys are too many to draw as cells. The map shows the turns.");
  for (const RingRankRow& row : scene.ranks) EXPECT_TRUE(row.scores.cells.empty() && row.k.cells.empty());
  EXPECT_EQ(scene.chunks, 8);
  EXPECT_TRUE(scene_at(*ring(4, true), 40).dense.empty());
}

}  // namespace
}  // namespace attn
