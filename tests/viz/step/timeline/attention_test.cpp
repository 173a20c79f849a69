// The attention map against the softmax computed here from the inputs, and against the order of the run.
#include "viz/step/timeline/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

constexpr std::int32_t kWhole = 1 << 20;  // no row or key is left out

// Softmax in fp64 of one row over the keys that `seen` says, straight from the inputs.
std::vector<double> softmax(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t row,
                            const std::vector<bool>& seen) {
  const Problem& p = rec.problem;
  std::vector<double> w(static_cast<std::size_t>(p.Lk), 0.0);
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t k = 0; k < p.Lk; ++k) {
    double dot = 0;
    for (std::int64_t d = 0; d < p.D; ++d)
      dot += static_cast<double>(rec.inputs.q.get(((b * p.Hq + h) * p.Lq + row) * p.D + d)) *
             rec.inputs.k.get(((b * p.Hkv + p.kv_head(h)) * p.Lk + k) * p.D + d);
    double s = dot * p.effective_scale();
    if (p.has_bias() && rec.inputs.bias) s += rec.inputs.bias->get(p.bias_index(b, h, row, k));
    w[static_cast<std::size_t>(k)] = seen[static_cast<std::size_t>(k)] ? s : -std::numeric_limits<double>::infinity();
    max = std::max(max, w[static_cast<std::size_t>(k)]);
  }
  for (double& x : w) sum += x = std::isinf(x) ? 0 : std::exp(x - max);
  for (double& x : w) x /= sum > 0 ? sum : 1;
  return w;
}

// Keys whose weight the run has made by event e, read off the events themselves.
std::vector<bool> weighed_keys(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t row) {
  std::vector<bool> seen(static_cast<std::size_t>(rec.problem.Lk), false);
  for (EventIndex n = 0; n <= e; ++n) {
    const Event& event = rec.events[n];
    if (event.id.b != b || event.id.h != h || event.id.phase != Phase::weights) continue;
    const Version& v = rec.version(rec.after(n, Slot::p));
    if (row < v.first_row || row >= v.first_row + v.rows) continue;
    for (std::int32_t c = 0; c < v.cols; ++c)
      seen[static_cast<std::size_t>(v.first_col + c)] = rec.problem.visible(b, row, v.first_col + c);
  }
  return seen;
}

TEST(AttentionMap, IsTheSoftmaxOfTheKeysSoFarAtEveryStep) {
  for (const char* preset : {"blackboard", "late_outlier", "causal", "ragged", "heads", "window", "bias", "padded"}) {
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      const Problem& p = rec->problem;
      for (EventIndex e = 0; e < rec->events.size(); e += 7) {
        const std::int32_t b = rec->events[e].id.b, h = rec->events[e].id.h;
        const AttentionMap map = attention_map(*rec, e, b, h, kWhole, kWhole);
        ASSERT_EQ(map.rows, p.Lq);
        ASSERT_EQ(map.cols, p.Lk);
        for (std::int32_t r = 0; r < map.rows; ++r) {
          const std::vector<bool> seen = weighed_keys(*rec, e, b, h, r);
          const std::vector<double> exact = softmax(*rec, b, h, r, seen);
          double entropy = 0;
          bool any = false;
          for (std::int32_t k = 0; k < map.cols; ++k) {
            const auto n = static_cast<std::size_t>(k);
            const AttentionCell& cell = map.cell(r, k);
            const bool visible = p.visible(b, r, k);
            ASSERT_EQ(cell.look == AttentionLook::value, visible && seen[n])
                << "step " << e + 1 << " " << r << "," << k;
            ASSERT_EQ(cell.look == AttentionLook::to_come, visible && !seen[n]);
            if (!seen[n]) continue;
            any = true;
            ASSERT_NEAR(cell.weight, exact[n], 3e-6) << r << "," << k;
            if (exact[n] > 0) entropy -= exact[n] * std::log2(exact[n]);
          }
          const Sharpness& sharp = map.sharpness[static_cast<std::size_t>(r)];
          ASSERT_EQ(sharp.known, any);
          if (any) {
            ASSERT_NEAR(sharp.bits, entropy, 2e-5);
          }
        }
      }
    }
  }
}

TEST(AttentionMap, HoldsNothingOfTheFuture) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("causal", kernel);
    for (EventIndex e = 0; e < rec->events.size(); e += 5) {
      Recording past = *rec;
      for (const Version& v : rec->versions) {
        for (std::int32_t n = 0; v.made_by > e && n < v.rows * v.cols; ++n)
          past.arena[v.offset + static_cast<std::uint64_t>(n)] = 12345.0F;
      }
      const StepPlace at = place_of(*rec, e, pinned_row(3));
      const AttentionScene a = attention_scene(*rec, at, kWhole, kWhole), b = attention_scene(past, at, kWhole, kWhole);
      for (std::size_t n = 0; n < a.map.cells.size(); ++n) {
        ASSERT_EQ(a.map.cells[n].look, b.map.cells[n].look);
        ASSERT_EQ(a.map.cells[n].weight, b.map.cells[n].weight) << kernel << " step " << e + 1;
      }
      for (std::size_t n = 0; n < a.words.size(); ++n) EXPECT_EQ(plain_text(a.words[n]), plain_text(b.words[n]));
    }
  }
}

TEST(AttentionMap, SaysWhatTheMaskSkipsAndWhatItHides) {
  const auto rec = record_preset("causal", "cpu_flash");
  const StepPlace at = place_of(*rec, static_cast<EventIndex>(rec->events.size() - 1), pinned_row(2));
  const AttentionMap map = attention_map(*rec, at.event, 0, 0, kWhole, kWhole);
  EXPECT_EQ(map.cell(0, 1).look, AttentionLook::masked);
  EXPECT_EQ(map.cell(0, 8).look, AttentionLook::skipped);
  EXPECT_EQ(attention_words(*rec, at, 0, 1), "row 0, key 1: masked");
  EXPECT_EQ(attention_words(*rec, at, 0, 8), "row 0, key 8: it is in a tile that the mask skips");
  EXPECT_EQ(attention_words(*rec, at, 0, 0), "row 0, key 0: 1.000 of the row's weight");
  const StepPlace start = place_of(*rec, 0, pinned_row(2));
  EXPECT_EQ(attention_words(*rec, start, 2, 0), "row 2, key 0: not computed yet");
  const AttentionScene scene = attention_scene(*rec, at, kWhole, kWhole);
  EXPECT_EQ(plain_text(scene.words.back()), "all 10 tiles done, 6 skipped, 4 partly masked.");
}

// One key has it all: 0 bits. All alike: log2 of their number.
TEST(AttentionMap, EntropyTellsASharpRowFromAnEvenOne) {
  const auto even = record_preset("equal_scores", "cpu_flash");
  const auto last = static_cast<EventIndex>(even->events.size() - 1);
  EXPECT_NEAR(sharpness_of_row(*even, last, 0, 0, 3).bits, 4, 1e-5);
  const auto masked = record_preset("masked_row", "cpu_flash");
  const Sharpness none = sharpness_of_row(*masked, static_cast<EventIndex>(masked->events.size() - 1), 0, 0, 0);
  EXPECT_FALSE(none.known);
  const auto causal = record_preset("causal", "cpu_flash");
  const Sharpness one = sharpness_of_row(*causal, static_cast<EventIndex>(causal->events.size() - 1), 0, 0, 0);
  EXPECT_TRUE(one.known && one.whole);
  EXPECT_EQ(one.bits, 0);
}

TEST(AttentionMap, ARowThatIsNotANumberIsShownAsSuch) {
  const auto rec = record_preset("non_finite", "cpu_flash");
  const auto last = static_cast<EventIndex>(rec->events.size() - 1);
  const AttentionMap map = attention_map(*rec, last, 0, 0, kWhole, kWhole);
  std::set<AttentionLook> looks;
  for (std::int32_t r = 0; r < map.rows; ++r) {
    const bool finite =
        std::isfinite(*live_value(*rec, rec->find({0, 0, r / 4, -1, Phase::normalise}).value(), Slot::l_old, r, 0));
    for (std::int32_t k = 0; k < map.cols; ++k) {
      if (!rec->problem.visible(0, r, k)) continue;
      looks.insert(map.cell(r, k).look);
      EXPECT_EQ(map.cell(r, k).look, finite ? AttentionLook::value : AttentionLook::not_finite) << r << "," << k;
    }
  }
  EXPECT_EQ(looks.size(), 2U);
}

// More rows and keys than pixels: rows are sampled, of keys put together the largest weight stands.
TEST(AttentionMap, ALongOneKeepsItsPeaks) {
  const auto rec = record_preset("large", "cpu_flash");
  const auto last = static_cast<EventIndex>(rec->events.size() - 1);
  const AttentionMap whole = attention_map(*rec, last, 0, 0, kWhole, kWhole),
                     small = attention_map(*rec, last, 0, 0, 10, 9);
  EXPECT_EQ(small.rows, 10);
  EXPECT_EQ(small.cols, 9);
  for (std::int32_t r = 0; r < small.rows; ++r) {
    const std::int32_t row = small.query_of(r);
    for (std::int32_t c = 0; c < small.cols; ++c) {
      float most = 0;
      for (std::int32_t k = small.first_key_of(c); k < small.first_key_of(c + 1); ++k)
        most = std::max(most, whole.cell(row, k).weight);
      EXPECT_EQ(small.cell(r, c).weight, most) << row << "," << c;
    }
    EXPECT_EQ(small.sharpness[static_cast<std::size_t>(r)].bits, whole.sharpness[static_cast<std::size_t>(row)].bits);
  }
}

bool same_map(const AttentionMap& a, const AttentionMap& b) {
  const auto same_cell = [](const AttentionCell& x, const AttentionCell& y) {
    return x.look == y.look && x.weight == y.weight && x.shade == y.shade;
  };
  const auto same_row = [](const Sharpness& x, const Sharpness& y) {
    return x.known == y.known && x.whole == y.whole && x.bits == y.bits && x.keys == y.keys;
  };
  return a.b == b.b && a.h == b.h && a.rows == b.rows && a.cols == b.cols &&
         std::ranges::equal(a.cells, b.cells, same_cell) && std::ranges::equal(a.sharpness, b.sharpness, same_row);
}

// Whatever was shown before, in whatever order: a row that was kept is the one that would be made.
TEST(AttentionMap, KeptFromStepToStepIsTheOneMadeAnew) {
  for (const char* preset : {"causal", "ragged", "heads", "window", "masked_row"}) {
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      AttentionRows kept;
      const std::size_t events = rec->events.size();
      for (std::size_t n = 0; n < 60; ++n) {
        const auto e = static_cast<EventIndex>(n % 3 == 0 ? n : n * 97 % events) % static_cast<EventIndex>(events);
        const EventId& id = rec->events[e].id;
        const std::int32_t side = n < 40 ? kWhole : 5;
        ASSERT_TRUE(same_map(kept.at(*rec, e, id.b, id.h, side, side), attention_map(*rec, e, id.b, id.h, side, side)))
            << "step " << e + 1;
      }
    }
  }
}

TEST(AttentionMap, ShadesAreTheLogarithm) {
  EXPECT_EQ(weight_shade(1), 1);
  EXPECT_NEAR(weight_shade(0.01F), 0, 1e-6);
  EXPECT_EQ(weight_shade(1e-4F), -1);
  EXPECT_EQ(weight_shade(0), -1);
}

}  // namespace
}  // namespace attn
