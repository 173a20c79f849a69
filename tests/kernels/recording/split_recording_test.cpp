// The keys split, recorded: parts that advance side by side, then their merge; right, replayed bit for bit, kept in a
// file, and every number within its bound of fp64.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/traffic.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/kernels/recording/walk.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

const KernelRow& kernel() {
  return **find_kernel("cpu_flash");
}

Inputs inputs_for(const Problem& p, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = seed;
  return *make_inputs(p, spec);
}

Options split(std::int64_t parts, bool tree = false, std::int32_t br = 4, std::int32_t bc = 4) {
  Options o;
  o.br = br;
  o.bc = bc;
  choose(o, kSplits, parts);
  if (tree) choose(o, kMerge, 1);
  return o;
}

Recording recorded(const Problem& p, const Options& o, const Inputs& in) {
  auto rec = kernel().record(kernel(), p, o, in, {});
  EXPECT_TRUE(rec) << describe(p) << ": " << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

Problem problem() {
  Problem p;
  p.Lq = 4;
  p.Lk = 16;
  p.D = p.Dv = 4;
  return p;
}

// Causal and ragged, heads that share keys; rows and parts without a key.
Problem mixed(DType dtype = DType::f32) {
  Problem p;
  p.B = 2;
  p.Hq = 2;
  p.Lq = 10;
  p.Lk = 27;
  p.D = 6;
  p.Dv = 5;
  p.dtype = dtype;
  p.mask.causal = true;
  p.mask.key_lengths = {27, 5};
  p.softcap = 3;
  return p;
}

TEST(SplitRecording, PartsAdvanceSideBySideThenTheyAreMerged) {
  Problem p = problem();
  p.Lk = 8;
  const std::string merge = "merge_max merge_first merge_second merge_sum merge_output ";
  std::string tile;
  for (const char* phase : {"load_kv", "scores", "max", "rescale", "weights", "sum", "output"})
    tile += std::string(phase) + "0 " + phase + "1 ";
  const Recording rec = recorded(p, split(2), inputs_for(p, 1));
  EXPECT_EQ(name_of(rec.order), "split");
  EXPECT_EQ(walk_of(rec), "load_q0 load_q1 " + tile + "store_state0 store_state1 load_part load_part " + merge +
                              "normalise store_o ");
}

TEST(SplitRecording, ATreeMergesPairsFirst) {
  const Recording rec = recorded(problem(), split(4, true), inputs_for(problem(), 1));
  std::vector<std::int32_t> absorbed;
  for (const Event& e : rec.events)
    if (name_of(e.id.phase) == "merge_max") absorbed.push_back(e.id.j);
  EXPECT_EQ(absorbed, (std::vector<std::int32_t>{1, 3, 2}));
}

TEST(SplitRecording, IsCheckedReplayedAndHasTheKernelsOwnBits) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Problem p = mixed(dtype);
    const Inputs in = inputs_for(p, 3);
    for (const std::int64_t parts : {2, 3, 7}) {
      for (const bool tree : {false, true}) {
        const Options o = split(parts, tree);
        const Recording rec = recorded(p, o, in);
        const auto good = check_recording(rec, "split");
        ASSERT_TRUE(good) << good.error().message;
        const auto difference = replay(rec);
        EXPECT_FALSE(difference) << (difference ? difference->words : "");
        EXPECT_TRUE(same_bits(rec.outputs, *run_on_cpu(kernel(), p, o, in, 0, {})));
        EXPECT_NE(outcome_of(*verdict_of(rec, {})), Outcome::wrong);
        const auto found = first_wrong_of(rec, {});
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_FALSE(found->has_value());
      }
    }
  }
}

// Every number on show at any step.
void expect_exact(const Recording& rec) {
  std::size_t held = 0;
  for (std::int32_t b = 0; b < rec.problem.B; ++b) {
    for (std::int32_t h = 0; h < rec.problem.Hq; ++h) {
      for (std::int32_t i = 0; i < rec.query_tiles(); ++i) {
        const ExactTile exact(rec, b, h, i);
        for (VersionId v = 0; v < rec.versions.size(); ++v) {
          const Version& version = rec.version(v);
          const EventId& made = rec.events[version.made_by].id;
          // What stands before the first key was set.
          if (is_input(version.slot) || made_as(version.slot) != version.slot) continue;
          if (made.b != b || made.h != h || made.i != i) continue;
          const auto values = rec.values(v);
          for (std::size_t n = 0; n < values.size(); ++n) {
            const auto at = exact.at(v, n);
            ASSERT_TRUE(at) << name_of(version.slot) << " of step " << version.made_by + 1;
            ++held;
            const auto x = static_cast<double>(values[n]);
            if (!std::isfinite(x) || !std::isfinite(at->exact)) {
              EXPECT_EQ(x, at->exact);
              continue;
            }
            ASSERT_LE(std::fabs(x - at->exact), at->bound)
                << describe(rec.problem) << " " << name_of(version.slot) << " " << n << " of step "
                << version.made_by + 1 << " (" << name_of(made.phase) << "): " << x << " for " << at->exact;
          }
        }
      }
    }
  }
  EXPECT_GT(held, 0U);
}

TEST(SplitRecording, EveryNumberOfRandomProblemsLiesWithinItsBoundOfFp64) {
  constexpr std::uint64_t kProblems = 200;
  int repeated = 0, batches = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    std::uint64_t x = seed * 2654435761U + 99;
    const auto next = [&x](std::int64_t most) {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
      return 1 + static_cast<std::int64_t>((x >> 33U) % static_cast<std::uint64_t>(most));
    };
    Problem p;
    p.B = next(3);
    p.Hq = next(2);
    p.Lq = next(9), p.Lk = 2 + next(20), p.D = next(8), p.Dv = next(8);
    p.dtype = static_cast<DType>(next(3) - 1);
    p.mask.causal = next(2) == 1;
    if (next(2) == 1)
      for (std::int64_t b = 0; b < p.B; ++b) p.mask.key_lengths.push_back(next(p.Lk + 1) - 1);
    if (next(3) == 1) p.softcap = 2;
    if (next(3) == 1) p.alibi.emplace();
    const auto br = static_cast<std::int32_t>(next(5)),
               bc = static_cast<std::int32_t>(next(std::max<std::int64_t>(p.Lk / 2, 1)));
    const std::int64_t tiles = (p.Lk + bc - 1) / bc;
    Options o = split(1 + next(tiles - 1), next(2) == 1, br, bc);
    if (next(3) == 1) o.key_order = KeyOrder::right_to_left;
    Inputs in = inputs_for(p, seed);
    if (next(2) == 1) {
      p = with_pages(p, next(p.Lk + 2));
      // Tables of every kind: pages that several entries name, in this batch or others, and pages that none does.
      std::vector<std::int32_t> table = shuffled_pages(p, seed);
      if (next(4) > 1)
        for (std::int32_t& entry : table)
          entry = entry < 0 ? entry : static_cast<std::int32_t>(next(p.storage.pages) - 1);
      const std::set<std::int32_t> named(table.begin(), table.end());
      repeated += std::ssize(named) < std::ssize(table) - std::ranges::count(table, -1) ? 1 : 0;
      batches += p.B > 1 ? 1 : 0;
      in = laid_into_pages(p, std::move(in), std::move(table));
    }
    const Recording rec = recorded(p, o, in);
    const auto difference = replay(rec);
    ASSERT_FALSE(difference) << describe(p) << ": " << difference->words;
    expect_exact(rec);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
  EXPECT_GT(repeated, 20);
  EXPECT_GT(batches, 40);
}

// What-if: the recorder loads what lies in the page, the replay agrees, and the comparison with the right run says so.
TEST(SplitRecording, ATailThatIsNotZeroedIsRecordedAndNamed) {
  for (const std::int64_t parts : {1, 2}) {
    Problem p = with_pages(problem(), 4);
    p.mask.key_lengths = {p.Lk - 3};
    Options o = split(parts, false, 4, 8);
    choose(o, kZeroTail, 0);
    const Recording rec = recorded(p, o, inputs_for(p, 4));
    EXPECT_FALSE(replay(rec));
    EXPECT_TRUE(same_bits(rec.outputs, *run_on_cpu(kernel(), p, o, rec.inputs, 0, {})));
    EXPECT_TRUE(std::isnan(rec.outputs.out.get(0)));
    const auto found = first_wrong_of(rec, {});
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->id.phase, Phase::load_kv);
    EXPECT_EQ((*found)->slot, Slot::k);
    EXPECT_EQ((*found)->row, p.Lk - 3);
    EXPECT_NE((*found)->cause.find("The tail of the last page is not zeroed"), std::string::npos) << (*found)->cause;
  }
}

// The tiles are gathered through the table: the numbers are those without pages, and 0 where a batch has no key.
TEST(SplitRecording, KeysInPagesGiveTheSameNumbersAndZerosBeyondTheLength) {
  for (const std::int64_t parts : {1, 2, 3}) {
    for (const std::int64_t page : {1, 3, 4, 16}) {
      const Problem dense = mixed(DType::f16), p = with_pages(dense, page);
      const Inputs in = inputs_for(p, 3);
      const Recording rec = recorded(p, split(parts), in), plain = recorded(dense, split(parts), inputs_for(dense, 3));
      EXPECT_FALSE(replay(rec));
      EXPECT_TRUE(same_bits(rec.outputs, plain.outputs));
      EXPECT_TRUE(same_bits(rec.outputs, *run_on_cpu(kernel(), p, split(parts), in, 0, {})));
      expect_exact(rec);
      std::size_t zeros = 0;
      for (VersionId v = 0; v < rec.versions.size(); ++v) {
        const Version& tile = rec.version(v);
        if (tile.slot != Slot::k && tile.slot != Slot::v) continue;
        const std::int64_t there = dense.mask.key_lengths[static_cast<std::size_t>(rec.events[tile.made_by].id.b)];
        const auto values = rec.values(v), by_key = plain.values(v);
        for (std::size_t n = 0; n < values.size(); ++n) {
          const bool absent = tile.first_row + static_cast<std::int64_t>(n) / tile.cols >= there;
          ASSERT_EQ(values[n], absent ? 0.0F : by_key[n]);
          zeros += absent ? 1 : 0;
        }
      }
      EXPECT_GT(zeros, 0U);
    }
  }
}

TEST(SplitRecording, FileKeepsPoolAndTable) {
  const Problem p = with_pages(mixed(), 4);
  const Recording rec = recorded(p, split(3), inputs_for(p, 3));
  const TempFolder folder;
  const auto written = write_recording(folder / "pages.attn", rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(folder / "pages.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->problem, p);
  EXPECT_EQ(read->inputs.page_table, rec.inputs.page_table);
  EXPECT_EQ(read->arena, rec.arena);
  EXPECT_FALSE(replay(*read));
  Recording wrong = rec;
  wrong.inputs.page_table[1] = 99;
  const auto refused = write_recording(folder / "wrong.attn", wrong);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("entry 1 of batch 0 in the page table is 99"), std::string::npos)
      << refused.error().message;
}

// A tile that comes out of another page than the table says is found.
TEST(SplitRecording, AWrongPageIsFoundByTheReplay) {
  const Problem p = with_pages(problem(), 4);
  Recording rec = recorded(p, split(2), inputs_for(p, 4));
  std::swap(rec.inputs.page_table[0], rec.inputs.page_table[3]);
  const auto difference = replay(rec);
  ASSERT_TRUE(difference);
  EXPECT_EQ(name_of(rec.events[difference->event].id.phase), "load_kv");
}

TEST(SplitRecording, AnyChangedNumberOfTheMergeIsFoundByTheReplay) {
  for (const char* phase : {"merge_max", "merge_first", "merge_second", "merge_sum", "merge_output"}) {
    Recording rec = recorded(problem(), split(2), inputs_for(problem(), 4));
    const auto at = std::ranges::find(rec.versions, *phase_named(phase),
                                      [&](const Version& v) { return rec.events[v.made_by].id.phase; });
    ASSERT_NE(at, rec.versions.end()) << phase;
    rec.arena[at->offset] += 0.5F;
    const auto difference = replay(rec);
    ASSERT_TRUE(difference) << phase;
    EXPECT_EQ(difference->event, at->made_by) << difference->words;
  }
}

TEST(SplitRecording, BytesAreThoseForeseenAndSayWhatTheSplitAdds) {
  for (const std::int64_t parts : {2, 4}) {
    const Recording rec = recorded(problem(), split(parts), inputs_for(problem(), 4));
    std::uint64_t counted = 0;
    for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
    EXPECT_EQ(counted, tile_loads(kernel(), rec.problem, rec.options).total());
    // Each part reads Q of its own, and its O, m and l go to memory and come back.
    const std::uint64_t q = 4 * 4 * 4, part = 4 * 4 * 4 + 2 * 4 * 4, n = static_cast<std::uint64_t>(parts);
    EXPECT_EQ(counted, tile_loads(Order::flash, 0, rec.problem, rec.options).total() + (n - 1) * q + 2 * n * part);
    EXPECT_LE(rec.bytes(), recording_bytes(rec.order, rec.problem, rec.options));
  }
}

TEST(SplitRecording, FileGivesBackWhatWasRecorded) {
  const Recording rec = recorded(mixed(DType::f16), split(3, true), inputs_for(mixed(DType::f16), 3));
  const TempFolder folder;
  const auto written = write_recording(folder / "split.attn", rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(folder / "split.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->options, rec.options);
  EXPECT_EQ(read->arena, rec.arena);
  EXPECT_FALSE(replay(*read));
}

TEST(SplitRecording, MorePartsThanKeyTilesAreRefusedInWords) {
  const auto rec = kernel().record(kernel(), problem(), split(5), inputs_for(problem(), 1), {});
  ASSERT_FALSE(rec);
  EXPECT_NE(rec.error().message.find("so 4 tiles allow at most 4 parts, not 5"), std::string::npos)
      << rec.error().message;
}

}  // namespace
}  // namespace attn
