// The bytes of every order beside one another are those that a run of that order counts.
#include <algorithm>
#include <map>
#include <set>

#include "kernels/model/traffic.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/charts/traffic.h"
#include "viz/step/facts/values.h"

namespace attn {
namespace {

TEST(TrafficCard, BarsAreWhatARunOfEachOrderCounts) {
  for (const char* preset : {"blackboard", "late_outlier", "causal", "ragged", "heads", "bias"}) {
    std::map<std::string, std::uint64_t> counted;
    for (const char* kernel : kRecordingKernels) {
      const auto rec = record_preset(preset, kernel);
      std::uint64_t bytes = 0;
      for (const std::uint64_t part : rec->events.back().hbm_bytes) bytes += part;
      counted[std::string(name_of(rec->order))] = bytes;
    }
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      const TrafficTotals totals = traffic_totals(*rec);
      const TrafficScene scene = traffic_scene(*rec, static_cast<EventIndex>(rec->events.size() - 1), totals);
      ASSERT_EQ(scene.bars.size(), 4U);
      EXPECT_EQ(scene.bars[0].name, name_of(rec->order));
      EXPECT_EQ(scene.bars[0].so_far, scene.bars[0].total);
      EXPECT_EQ(scene.bars[0].once, compulsory(rec->order, rec->problem).total());
      std::set<std::string> names;
      for (const TrafficBar& bar : scene.bars) {
        EXPECT_EQ(bar.total, counted.at(bar.name)) << bar.name;
        EXPECT_LE(bar.once, bar.total) << bar.name;
        names.insert(bar.name);
      }
      EXPECT_EQ(names.size(), 4U);
    }
  }
}

// The mark on naive's bar: one of the sums that a naive run really has, which never falls and ends at its total.
TEST(TrafficCard, NaiveAtTheSameMomentIsAMomentOfNaive) {
  for (const char* preset : {"blackboard", "late_outlier", "ragged", "heads", "bias"}) {
    // The definition's own walk: one row at a time, all keys at once.
    const auto tiled = record_preset(preset, "cpu_sequential");
    const auto row = find_kernel("cpu_sequential");
    Options options = tiled->options;
    options.br = 1;
    options.bc = static_cast<std::int32_t>(tiled->problem.Lk);
    const auto naive = (*row)->record(**row, tiled->problem, options, tiled->inputs, {});
    ASSERT_TRUE(naive.has_value());
    std::set<std::uint64_t> sums{0};
    std::uint64_t scores_stored = 0;
    for (const Event& event : naive->events) {
      std::uint64_t bytes = 0;
      for (const std::uint64_t part : event.hbm_bytes) bytes += part;
      sums.insert(bytes);
      if (event.id.b == 0 && event.id.h == 0 && event.pass < 2) scores_stored = bytes;
    }
    for (const char* kernel : {"cpu_flash", "cpu_tiled"}) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      std::uint64_t before = 0;
      bool output = false;
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        const std::uint64_t now = naive_so_far(*rec, e);
        EXPECT_TRUE(sums.contains(now)) << now << " at step " << e + 1;
        EXPECT_GE(now, before) << "step " << e + 1;
        before = now;
        output = output || rec->events[e].id.phase == Phase::output;
        // No output without all of S and P stored.
        if (output) {
          EXPECT_GE(now, scores_stored);
        }
        if (testing::Test::HasFailure()) return;
      }
      EXPECT_EQ(before, *sums.rbegin());
    }
  }
}

// The bytes that a hover names add up to the piece that it is over.
TEST(TrafficCard, APieceSaysWhatItIsMadeOf) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("heads", kernel);
    const TrafficTotals totals = traffic_totals(*rec);
    for (const EventIndex e : {EventIndex{5}, static_cast<EventIndex>(rec->events.size() - 1)}) {
      const TrafficScene scene = traffic_scene(*rec, e, totals);
      for (const TrafficBar& bar : scene.bars) {
        for (const TrafficPiece& piece : kTrafficPieces) {
          const std::string words = piece_words(*rec, bar, piece.part, e);
          std::uint64_t sum = 0;
          for (const char* way : {"read: ", "written: "}) {
            if (const auto at = words.find(way); at != std::string::npos)
              sum += std::stoull(words.substr(at + std::string(way).size()));
          }
          EXPECT_EQ(sum, bar.bytes[static_cast<std::size_t>(piece.part)]) << bar.name << ": " << words;
        }
      }
    }
  }
  const auto rec = record_preset("blackboard", "cpu_flash");
  const auto last = static_cast<EventIndex>(rec->events.size() - 1);
  const TrafficScene scene = traffic_scene(*rec, last, traffic_totals(*rec));
  EXPECT_EQ(piece_words(*rec, scene.bars[0], TrafficPart::k, last),
            "flash, whole run\nK read: 64 B = 16 numbers × 4 B, all 8 of it 2 times");
}

std::string all_words(const Recording& rec) {
  std::string all;
  for (const TextRuns& words : traffic_totals(rec).words) all += plain_text(words) + "\n";
  return all;
}

// The bars skip what a mask hides: so does what is said of another size.
TEST(TrafficCard, TheOutlookIsUnderTheRunsMaskOrSaysThatItIsNot) {
  const auto causal = record_preset("causal", "cpu_flash");
  Problem p;
  p.Lq = p.Lk = 4096;
  p.D = p.Dv = 64;
  p.mask.causal = true;
  const std::uint64_t bytes = tile_loads(Order::flash, 0, p, causal->options).total();
  const std::string said = all_words(*causal);
  EXPECT_NE(said.find("At 4096 × 64, causal: naive "), std::string::npos) << said;
  EXPECT_NE(said.find("flash " + bytes_text(bytes) + " with Br 4"), std::string::npos) << said;
  const auto preset = find_preset("random");
  ASSERT_TRUE(preset.has_value());
  EXPECT_NE(all_words(*record_preset("random", "cpu_flash")).find("At 4096 × 64: naive "), std::string::npos);
  Problem window = (*preset)->problem;
  window.mask.window_left = 4;
  const std::string of_window = all_words(*record_problem(**preset, window, "cpu_flash"));
  EXPECT_NE(of_window.find("At 4096 × 64 without a mask: naive "), std::string::npos) << of_window;
}

// What is said to mend the bytes of a low tile does, and the other extent does not.
TEST(TrafficCard, TheExtentThatIsSaidToMendTheBytesDoes) {
  int said = 0;
  for (const char* preset : {"blackboard", "late_outlier", "causal", "ragged", "heads", "random"}) {
    for (const char* kernel : kRecordingKernels) {
      const auto rec = record_preset(preset, kernel);
      const std::string words = all_words(*rec);
      const bool br = words.find("a larger Br fixes this") != std::string::npos;
      const bool bc = words.find("a larger Bc fixes this") != std::string::npos;
      if (!br && !bc) continue;
      ++said;
      SCOPED_TRACE(std::string(preset) + " " + kernel + ": " + words);
      Options larger_br = rec->options, larger_bc = rec->options;
      larger_br.br *= 2, larger_bc.bc *= 2;
      const auto total = [&](const Options& o) { return tile_loads(rec->order, 0, rec->problem, o).total(); };
      const std::uint64_t now = total(rec->options);
      EXPECT_TRUE(br != bc);
      EXPECT_LT(total(br ? larger_br : larger_bc), now);
      EXPECT_GE(total(br ? larger_bc : larger_br), now);
    }
  }
  EXPECT_GT(said, 1) << "somewhere it is said";
}

// With the key tile outside every row waits for the last key tile: there is no moment at which naive has as much.
TEST(TrafficCard, LineAndTriangleAreExplainedAtLengthAndInBrief) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("random", kernel);
    const TrafficScene scene = traffic_scene(*rec, 3, traffic_totals(*rec));
    const bool triangle = rec->order != Order::naive && rec->order != Order::flash1;
    EXPECT_EQ(std::ranges::any_of(scene.bars, [](const TrafficBar& bar) { return bar.same_moment.has_value(); }),
              triangle);
    for (const TextRuns* words : {&scene.marks, &scene.brief_marks}) {
      const std::string said = plain_text(*words);
      const std::string brief = !triangle ? "if each element moved once" : "each element once";
      const std::string once = words == &scene.marks ? "if each element were read or written once" : brief;
      EXPECT_NE(said.find(once), std::string::npos) << said;
      EXPECT_EQ(said.find("riangle") != std::string::npos, triangle) << said;
    }
  }
}

// The last turn of a query tile: O, m and l come from memory, O in the dtype and LSE go there; Q is not touched.
TEST(TrafficCard, TheLastTurnOfFlashAttention1CountsWhatItReadsAndHoldsNoMore) {
  for (const DType dtype : {DType::f32, DType::f16}) {
    const auto preset = find_preset("late_outlier");
    ASSERT_TRUE(preset.has_value());
    Problem p = (*preset)->problem;
    p.dtype = dtype;
    const auto rec = record_problem(**preset, p, "cpu_flash1");
    int turns = 0;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      if (rec->events[e].id.phase != Phase::store_o) continue;
      ++turns;
      const auto rows = static_cast<std::uint64_t>(rec->version(rec->after(e, Slot::o_new)).rows);
      const std::uint64_t columns = static_cast<std::uint64_t>(p.Dv);
      EXPECT_EQ(event_bytes(*rec, e), rows * (columns * 4 + 2 * 4) + rows * (columns * size_of(dtype) + 4));
      EXPECT_EQ(rec->after(e, Slot::q), kNoVersion);
      EXPECT_EQ(rec->after(e, Slot::k), kNoVersion);
      EXPECT_NE(rec->after(e, Slot::o_old), kNoVersion);
      EXPECT_NE(rec->after(e, Slot::m_old), kNoVersion);
      EXPECT_NE(rec->after(e, Slot::l_old), kNoVersion);
    }
    EXPECT_EQ(turns, rec->query_tiles());
  }
}

// What was read and what was written, each by itself, of every order: they add up to the bar.
TEST(TrafficCard, ReadsAndWritesAreToldApart) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  const TrafficTotals totals = traffic_totals(*rec);
  const auto said = [&](EventIndex e) { return plain_text(traffic_scene(*rec, e, totals).apart); };
  // Q of 2 rows, K and V of 2 keys, 2 numbers each.
  EXPECT_EQ(said(1), "48 B read, 0 B written");
  // Q once, K and V for each of 2 query tiles; O of 4 rows and their LSE.
  EXPECT_EQ(said(static_cast<EventIndex>(rec->events.size() - 1)), "160 B read, 48 B written");
  for (const char* kernel : kRecordingKernels) {
    const auto run = record_preset("heads", kernel);
    const TrafficTotals all = traffic_totals(*run);
    const Traffic whole = tile_loads(run->order, run->score_reads, run->problem, run->options);
    std::uint64_t written = 0;
    for (const std::uint64_t bytes : whole.written) written += bytes;
    EXPECT_EQ(all.written.back(), written) << kernel;
    EXPECT_TRUE(std::ranges::is_sorted(all.written)) << kernel;
  }
}

}  // namespace
}  // namespace attn
