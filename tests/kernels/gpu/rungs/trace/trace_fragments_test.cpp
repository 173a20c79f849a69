// The record of kernels that keep S in fragments: raw products, the scale with the exponential, and a maximum that
// stays where it is near enough.
#include <algorithm>
#include <array>
#include <string>

#include "kernels/base/dtype.h"
#include "kernels/recording/reading.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "tests/environment/asked.h"
#include "tests/kernels/gpu/rungs/trace/traced_run.h"
#include "tests/kernels/temp_folder.h"

namespace attn::gpu {
namespace {

constexpr int kLanes = 4;
constexpr float kFirstM = -3.0e38F, kSlack = 8;

// flash_hopper's: keys from the last to the first, the sign of the scale in Q whatever else changes scores.
bool goes_right_to_left(const TracedRun& run) {
  return trace_facts(*run.plan.kernel, run.p(), run.plan.options)->right_to_left;
}

// What a warp does with its rows of one query tile.
class Warp {
 public:
  Warp(TracedRun& run, std::int64_t head, std::int64_t i, int first, int rows)
      : run_(run),
        p_(run.p()),
        o_(run.plan.options),
        at_(flash_trace(static_cast<int>(p_.Dv), o_.br, o_.bc, kLanes)),
        head_(head),
        i_(i),
        first_(first),
        m_(static_cast<std::size_t>(rows), kFirstM),
        l_(m_.size()),
        out_(m_.size(), std::vector<float>(static_cast<std::size_t>(p_.Dv))) {
    const double scale = p_.effective_scale();
    const bool bias = run.in.bias.has_value();
    const bool sign_stays = bias && !goes_right_to_left(run);
    sign_ = sign_stays || scale > 0 ? 1.0F : scale < 0 ? -1.0F : 0.0F;
    product_scale_ = sign_stays ? scale : scale == 0 ? 1 : std::fabs(scale);
    scale_ = bias || scale == 0 ? 1 : static_cast<float>(std::fabs(scale) * kLog2E);
  }

  void tile(std::int64_t j, float* record) {
    const std::int64_t from = i_ * o_.br + first_, to = from + static_cast<std::int64_t>(m_.size());
    const std::int64_t c1 = std::min<std::int64_t>(p_.Lk, (j + 1) * o_.bc);
    const bool hidden = p_.cover(head_ / p_.Hq, from, to, j * o_.bc, c1) == TileCover::skipped;
    std::vector<std::vector<float>> s;
    bool rises = false;
    for (std::size_t r = 0; r < m_.size(); ++r) {
      s.push_back(hidden ? std::vector<float>(static_cast<std::size_t>(o_.bc), kNone) : scores(r, j, record));
      for (const float x : s.back()) rises = rises || std::fmaf(x, scale_, -kSlack) > m_[r];
    }
    for (std::size_t r = 0; r < m_.size(); ++r) weigh(r, j, s[r], rises, hidden, record);
  }

  void end(float* record) {
    for (std::size_t r = 0; r < m_.size(); ++r) {
      const std::int64_t row = i_ * o_.br + first_ + static_cast<std::int64_t>(r);
      if (row >= p_.Lq) return;
      float sum = 0;
      for (const float part : l_[r]) sum += part;
      for (std::int64_t d = 0; d < p_.Dv; ++d) {
        const float x = sum == 0 ? 0 : out_[r][static_cast<std::size_t>(d)] * (1 / sum);
        record[at_.row_o + place(r) * at_.o_stride + d] = x;
        run_.out.out.set((head_ * p_.Lq + row) * p_.Dv + d, x);
      }
      const auto lse = static_cast<float>((m_[r] + std::log2(sum)) * kLn2);
      run_.out.lse.set(head_ * p_.Lq + row, sum == 0 ? kNone : lse);
    }
  }

 private:
  std::int64_t place(std::size_t r) const { return first_ + static_cast<std::int64_t>(r); }

  std::vector<float> scores(std::size_t r, std::int64_t j, float* record) const {
    const std::int64_t row = i_ * o_.br + place(r);
    std::vector<float> s(static_cast<std::size_t>(o_.bc), kNone);
    for (std::int64_t c = 0; c < o_.bc; ++c) {
      const std::int64_t key = j * o_.bc + c;
      const bool inside = row < p_.Lq && key < p_.Lk;
      const float product = inside ? sign_ * run_.product(head_, row, key) : 0;
      float& masked = s[static_cast<std::size_t>(c)];
      if (inside && run_.in.bias) {
        masked = run_.masked(head_, row, key, product * static_cast<float>(product_scale_ * kLog2E), kLog2E);
      } else if (inside) {
        masked = run_.masked(head_, row, key, product, 1);
      }
      record[at_.s + place(r) * o_.bc + c] = product;
    }
    return s;
  }

  void weigh(std::size_t r, std::int64_t j, const std::vector<float>& s, bool rises, bool hidden, float* record) {
    const float larger = std::max(m_[r], *std::ranges::max_element(s) * scale_);
    const float alpha = !rises || m_[r] == larger ? 1 : std::exp2(m_[r] - larger);
    if (rises) m_[r] = larger;
    for (float& part : l_[r]) part *= alpha;
    for (float& x : out_[r]) x *= alpha;
    for (std::int64_t c = 0; c < o_.bc; ++c) {
      const float held = s[static_cast<std::size_t>(c)];
      const float weight = std::exp2(std::fmaf(held, scale_, -m_[r]));
      if (hidden) record[at_.s + place(r) * o_.bc + c] = kNone;
      record[at_.masked + place(r) * o_.bc + c] = held;
      record[at_.p + place(r) * o_.bc + c] = weight;
      l_[r][static_cast<std::size_t>(c % 8 / 2)] += weight;
      if (j * o_.bc + c >= p_.Lk) continue;
      for (std::int64_t d = 0; d < p_.Dv; ++d) {
        float& x = out_[r][static_cast<std::size_t>(d)];
        x = std::fmaf(round_to(p_.dtype, weight), run_.v(head_, j * o_.bc + c, d), x);
      }
    }
    record[at_.m + place(r)] = m_[r];
    record[at_.alpha + place(r)] = alpha;
    record[at_.who + place(r)] = who(5, static_cast<std::uint32_t>(place(r) / static_cast<int>(m_.size())));
    for (int lane = 0; lane < kLanes; ++lane) {
      record[at_.l + place(r) * kLanes + lane] = l_[r][static_cast<std::size_t>(lane)];
    }
    for (std::int64_t d = 0; d < p_.Dv; ++d) {
      record[at_.o + place(r) * at_.o_stride + d] = out_[r][static_cast<std::size_t>(d)];
    }
  }

  TracedRun& run_;
  const Problem& p_;
  const Options& o_;
  FlashTrace at_;
  std::int64_t head_, i_;
  int first_;
  float sign_, scale_;
  double product_scale_ = 1;
  std::vector<float> m_;
  std::vector<std::array<float, kLanes>> l_;
  std::vector<std::vector<float>> out_;
};

void run_fragments(TracedRun& run) {
  const Problem& p = run.p();
  const Options& o = run.plan.options;
  const FlashTrace at = flash_trace(static_cast<int>(p.Dv), o.br, o.bc, kLanes);
  const std::int64_t ti = (p.Lq + o.br - 1) / o.br, tj = (p.Lk + o.bc - 1) / o.bc;
  const FlashTracePlaces places = flash_trace_places(at, p.B * p.Hq * ti, tj, o.threads);
  const int rows = o.br / (o.threads / 32);
  for (std::int64_t tile = 0; tile < p.B * p.Hq * ti; ++tile) {
    const std::int64_t head = tile / ti, i = tile % ti, r1 = std::min<std::int64_t>(p.Lq, (i + 1) * o.br);
    for (int first = 0; first < o.br; first += rows) {
      Warp warp(run, head, i, first, rows);
      for (std::int64_t n = 0; n < tj; ++n) {
        const std::int64_t j = goes_right_to_left(run) ? tj - 1 - n : n;
        const std::int64_t c1 = std::min<std::int64_t>(p.Lk, (j + 1) * o.bc);
        if (p.cover(head / p.Hq, i * o.br, r1, j * o.bc, c1) == TileCover::skipped) continue;
        warp.tile(j, run.trace.data() + places.tiles + (tile * tj + j) * at.tile);
      }
      warp.end(run.trace.data() + places.rows + tile * at.row);
    }
  }
}

struct Kind {
  const char* kernel;
  DType dtype;
};
constexpr Kind kKinds[] = {{"flash_mma", DType::f16}, {"flash_mma", DType::bf16}, {"flash_tf32x3", DType::f32}};

// The least that flash_hopper takes.
Options of_hopper() {
  Options o;
  o.br = 64;
  o.bc = 32;
  return o;
}
Problem longer(bool causal) {
  Problem p = ragged(causal);
  p.Lq = 150;
  p.Lk = 217;
  p.dtype = DType::bf16;
  return p;
}

// A query tile of two warps: under a causal mask the first has key tiles that it leaves out.
Options two_warps() {
  Options o;
  o.br = 32;
  o.bc = 16;
  o.threads = 64;
  return o;
}

TEST(TraceOfFragments, BecomesARecordingThatReplays) {
  for (const Kind& kind : kKinds) {
    for (const bool bias : {false, true}) {
      for (const double scale : {0.0, 0.3, -0.3}) {
        for (const Options& tile : {small_tile(), two_warps()}) {
          Problem p = ragged(true);
          p.dtype = kind.dtype;
          p.scale = scale;
          if (bias) p.bias_shape = {1, 1, 37, 53};
          TracedRun run = make_run(kind.kernel, p, tile);
          run_fragments(run);
          const auto rec = decoded(run);
          ASSERT_TRUE(rec) << rec.error().message;
          expect_good(*rec);
          EXPECT_EQ(rec->gpu->p, kind.dtype);
          EXPECT_EQ(rec->gpu->tf32x3, kind.dtype == DType::f32);
        }
      }
    }
  }
}

TEST(TraceOfFragments, OfKeysFromTheLastToTheFirstReplays) {
  for (const bool bias : {false, true}) {
    for (const double scale : {0.0, 0.3, -0.3}) {
      if (test::left_to_release(scale < 0 ? 0 : 1, 2)) continue;
      Problem p = longer(true);
      p.scale = scale;
      if (bias) p.bias_shape = {1, 1, 150, 217};
      TracedRun run = make_run("flash_hopper", p, of_hopper());
      run_fragments(run);
      const auto rec = decoded(run);
      ASSERT_TRUE(rec) << rec.error().message;
      expect_good(*rec);
      EXPECT_EQ(rec->options.key_order, KeyOrder::right_to_left);
      const auto first = std::ranges::find(rec->events, Phase::scores, [](const attn::Event& e) { return e.id.phase; });
      ASSERT_NE(first, rec->events.end());
      EXPECT_EQ(first->id.j, (p.Lk - p.Lq + 63) / 32) << "of the first 64 rows the last tile that one sees";
    }
  }
}

// A half step leaves keys out that no row of the warp sees: they have no score. One that a row sees has.
TEST(TraceOfFragments, AKeyThatNoRowOfTheWarpSeesMayLackItsScore) {
  const Problem p = longer(true);
  TracedRun run = make_run("flash_hopper", p, of_hopper());
  run_fragments(run);
  const Options& o = run.plan.options;
  const FlashTrace at = flash_trace(static_cast<int>(p.Dv), o.br, o.bc, kLanes);
  const FlashTracePlaces places = flash_trace_places(at, p.B * p.Hq * 3, 7, o.threads);
  const std::int64_t j = (p.Lk - p.Lq + 63) / 32, tile = places.tiles + j * at.tile;
  const auto score = [&](std::int64_t r, std::int64_t key) -> float& {
    return run.trace[static_cast<std::size_t>(tile + at.s + r * o.bc + key - j * o.bc)];
  };
  // Of rows 56 to 63, a warp's, the last sees keys to 63 + Lk - Lq.
  const std::int64_t last = 63 + p.Lk - p.Lq;
  for (std::int64_t r = 56; r < 64; ++r) score(r, last + 1) = kNone;
  const auto rec = decoded(run);
  ASSERT_TRUE(rec) << rec.error().message;
  expect_good(*rec);
  score(56, last) = kNone;
  const auto wrong = decoded(run);
  ASSERT_TRUE(wrong) << wrong.error().message;
  const auto difference = replay(*wrong);
  ASSERT_TRUE(difference);
  EXPECT_EQ(wrong->events[difference->event].id.phase, Phase::scores) << difference->words;
}

// Scores far apart: m rises in some tiles and stays in others.
TEST(TraceOfFragments, KeepsAMaximumThatIsNearEnough) {
  Problem p = ragged(false);
  p.dtype = DType::f16;
  TracedRun run = make_run("flash_mma", p, small_tile());
  run_fragments(run);
  const auto rec = decoded(run);
  ASSERT_TRUE(rec) << rec.error().message;
  expect_good(*rec);
  int stayed = 0, above = 0;
  for (const attn::Event& e : rec->events) {
    if (e.id.phase != Phase::weights) continue;
    for (const float x : rec->values(e.after[static_cast<std::size_t>(Slot::p)])) above += x > 1 ? 1 : 0;
    const auto alpha = rec->values(e.after[static_cast<std::size_t>(Slot::alpha)]);
    stayed += std::ranges::count(alpha, 1.0F) == static_cast<std::ptrdiff_t>(alpha.size()) ? 1 : 0;
  }
  EXPECT_GT(stayed, 0);
  EXPECT_GT(above, 0);
}

TEST(TraceOfFragments, ReplayNamesTheFirstPlaceThatDiffers) {
  for (const Kind& kind : kKinds) {
    Problem p = ragged(false);
    p.dtype = kind.dtype;
    TracedRun run = make_run(kind.kernel, p, small_tile());
    run_fragments(run);
    const FlashTrace at = flash_trace(20, 16, 16, kLanes);
    const FlashTracePlaces places = flash_trace_places(at, 2 * 2 * 3, 4, run.plan.options.threads);
    const std::int64_t tile = places.tiles + at.tile;
    expect_replay_names_first_difference(run,
                                         {{tile + at.masked, Phase::scores},
                                          {tile + at.m, Phase::max},
                                          {tile + at.alpha, Phase::rescale},
                                          {tile + at.p, Phase::weights},
                                          {tile + at.l, Phase::sum},
                                          {tile + at.o, Phase::output}},
                                         decoded, [](const Recording& rec, const ReplayDifference& d) {
                                           const EventId id = rec.events[d.event].id;
                                           EXPECT_EQ(id, (EventId{0, 0, 0, 1, id.phase}));
                                         });
  }
}

// m may lie below the maximum, but no further than the kernel lets it.
TEST(TraceOfFragments, AMaximumThatShouldHaveRisenIsFound) {
  Problem p = ragged(false);
  p.dtype = DType::f16;
  p.scale = 6;  // scores so far apart that m must rise
  TracedRun run = make_run("flash_mma", p, small_tile());
  run_fragments(run);
  const auto good = decoded(run);
  ASSERT_TRUE(good) << good.error().message;
  expect_good(*good);
  for (EventIndex e = 0; e < good->events.size(); ++e) {
    const attn::Event& event = good->events[e];
    if (event.id.phase != Phase::max || event.id.j == 0) continue;
    Recording rec = *good;
    const auto old = rec.values(rec.after(e, Slot::m_old)), now = rec.values(rec.after(e, Slot::m_new));
    const auto rose = std::ranges::find_if(now, [&](const float& x) { return x > old[&x - now.data()] + 9; });
    if (rose == now.end()) continue;
    const auto row = static_cast<std::size_t>(rose - now.begin());
    rec.arena[rec.version(rec.after(e, Slot::m_new)).offset + row] = old[row];
    const auto difference = replay(rec);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->event, e) << difference->words;
    return;
  }
  FAIL() << "no maximum rose by more than 9";
}

TEST(TraceOfFragments, OfRowsComputedAgainIsRefusedInWords) {
  TracedRun run = make_run("flash_tf32x3", ragged(false), small_tile());
  run_fragments(run);
  const FlashTrace at = flash_trace(20, 16, 16, kLanes);
  const FlashTracePlaces places = flash_trace_places(at, 2 * 2 * 3, 4, run.plan.options.threads);
  for (int n = 0; n < at.row; ++n) {
    run.trace[static_cast<std::size_t>(places.rows + at.row + n)] = std::bit_cast<float>(~0U);
  }
  const auto rec = decoded(run);
  ASSERT_FALSE(rec);
  EXPECT_EQ(rec.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(rec.error().message.find("recomputed query tile 1 of head 0"), std::string::npos) << rec.error().message;
}

// The formulas' numbers: scores scaled whatever the scale's sign, hidden keys and rows that saw none at -inf.
TEST(TraceOfFragments, ReadAsTheFormulasLiesWithinTheBoundsOfFp64) {
  for (const Kind& kind : kKinds) {
    for (const double scale : {0.0, 0.3, -0.3}) {
      for (const bool bias : {false, true}) {
        Problem p = ragged(true);
        p.dtype = kind.dtype;
        p.scale = scale;
        if (bias) p.bias_shape = {1, 1, 37, 53};
        TracedRun run = make_run(kind.kernel, p, two_warps());
        run_fragments(run);
        const auto held = decoded(run);
        ASSERT_TRUE(held) << held.error().message;
        EXPECT_TRUE(differs_from_formulas(*held));
        const Recording rec = formula_reading(*held);
        EXPECT_FALSE(differs_from_formulas(rec));
        EXPECT_EQ(rec.values(rec.after(0, Slot::m_old))[0], kNone);
        const ExactTile exact(rec, 1, 1, 1);
        int compared = 0;
        for (const EventIndex e : rec.events_of(1, 1, 1)) {
          for (std::size_t s = 0; s < kSlots; ++s) {
            const VersionId id = rec.events[e].after[s];
            if (id == kNoVersion || rec.version(id).made_by != e) continue;
            for (std::size_t n = 0; n < rec.values(id).size(); ++n) {
              const auto number = exact.at(id, n);
              const float x = rec.values(id)[n];
              ASSERT_NE(x, -kNone) << name_of(static_cast<Slot>(s));
              // A warp that sees none of the keys makes no score.
              if (!number || !std::isfinite(number->exact) || (s == static_cast<std::size_t>(Slot::s) && x == kNone)) {
                continue;
              }
              ASSERT_LE(std::fabs(x - number->exact), number->bound)
                  << kind.kernel << " " << e << " " << name_of(static_cast<Slot>(s)) << " " << n;
              ++compared;
            }
          }
        }
        EXPECT_GT(compared, 1000) << kind.kernel;
      }
    }
  }
}

TEST(TraceOfFragments, IsReadBackFromAFile) {
  for (const Kind& kind : kKinds) {
    Problem p = ragged(true);
    p.dtype = kind.dtype;
    p.scale = -0.3;
    TracedRun run = make_run(kind.kernel, p, two_warps());
    run_fragments(run);
    const auto rec = decoded(run);
    ASSERT_TRUE(rec) << rec.error().message;
    const TempFolder folder;
    const auto file = folder.path() / "gpu.attn";
    const auto written = write_recording(file, *rec);
    ASSERT_TRUE(written) << written.error().message;
    const auto back = read_recording(file);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->gpu->tf32x3, rec->gpu->tf32x3);
    EXPECT_EQ(back->gpu->slack, kSlack);
    EXPECT_EQ(back->gpu->first_m, kFirstM);
    EXPECT_TRUE(back->gpu->sign_in_q);
    expect_good(*back);
  }
}

}  // namespace
}  // namespace attn::gpu
