// Counts of instructions find lines and phases through the listing of their machine code, and are summed exactly.
#include "profiling/figures/counts.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/listing/listing.h"
#include "profiling/figures/sampled_lines.h"

namespace attn {
namespace {

using gpu::CodePhase;

// A helper (line 2) that lines 6 (S) and 8 (P) call; line 4 has no phase.
gpu::KernelListing counted_listing() {
  const gpu::KernelSource source{"kernels/gpu/k.cu",
                                 "__device__ inline float twice(float x) {\n"
                                 "  return x + x;\n"
                                 "}\n"
                                 "extern \"C\" __global__ void k(float* p) {\n"
                                 "  // @phase S\n"
                                 "  p[0] = twice(p[0]);\n"
                                 "  // @phase P\n"
                                 "  p[1] = twice(p[1]);\n"
                                 "}\n",
                                 "00112233", false, "44556677"};
  const std::string printed =
      "\t.section\t.text.k,\"ax\"\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 4\n"
      "        /*0000*/ LDC R1, c[0x0][0x28] ;\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 2 inlined at \"/a/kernels/gpu/k.cu\", line 6\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 6\n"
      "        /*0010*/ LDS R4, [R4] ;\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 2 inlined at \"/a/kernels/gpu/k.cu\", line 8\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 8\n"
      "        /*0020*/ LDS R4, [R4] ;\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 8\n"
      "        /*0030*/ STG.E [R2], R4 ;\n";
  return gpu::list_kernel(source, "k", "sm_90a", {}, printed).value_or(gpu::KernelListing());
}

CounterSums sums(std::uint64_t executed, std::uint64_t threads, std::uint64_t shared, std::uint64_t shared_ideal,
                 std::uint64_t sectors, std::uint64_t sectors_ideal) {
  CounterSums s;
  s[InstructionCounter::executed] = executed;
  s[InstructionCounter::threads] = threads;
  s[InstructionCounter::shared] = shared;
  s[InstructionCounter::shared_ideal] = shared_ideal;
  s[InstructionCounter::sectors] = sectors;
  s[InstructionCounter::sectors_ideal] = sectors_ideal;
  return s;
}

KernelCounts counts() {
  KernelCounts c;
  c.chip = "GH100";
  c.no_lines = "not yet";
  c.metrics = {"a", "b", "c", "d", "e", "f"};
  c.functions = {{"k",
                  {{0x00, CodePhase::none, {}, sums(8, 256, 0, 0, 0, 0)},
                   {0x10, CodePhase::none, {}, sums(8, 256, 40, 8, 0, 0)},
                   {0x20, CodePhase::none, {}, sums(16, 500, 16, 16, 0, 0)},
                   {0x30, CodePhase::none, {}, sums(4, 64, 0, 0, 128, 16)}}}};
  return c;
}

TEST(Counts, AddressesFindTheirPhasesAndLinesAsInATableMadeByHand) {
  KernelCounts c = counts();
  const auto put = put_lines(c, counted_listing());
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(c.no_lines, "");
  EXPECT_EQ(c.text_hash, "44556677");
  struct Row {
    CodePhase phase;
    CounterSums of;
  };
  const std::vector<Row> by_hand = {{CodePhase::s, sums(8, 256, 40, 8, 0, 0)},
                                    {CodePhase::p, sums(20, 564, 16, 16, 128, 16)},
                                    {CodePhase::none, sums(8, 256, 0, 0, 0, 0)}};
  const auto phases = counts_by_phase(c);
  ASSERT_EQ(phases.size(), by_hand.size());
  for (std::size_t n = 0; n < by_hand.size(); ++n) {
    EXPECT_EQ(phases[n].phase, by_hand[n].phase) << n;
    EXPECT_EQ(phases[n].sums, by_hand[n].of) << n;
  }
  // The innermost line of a file counts it: the helper's, not its calls'.
  const auto lines = counts_by_line(c);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, 2U);
  EXPECT_EQ(lines[0].sums, sums(24, 756, 56, 24, 0, 0));
  EXPECT_EQ(lines[0].phase, CodePhase::p) << "16 of its 24 are P's";
  EXPECT_EQ(lines[1].line, 4U);
  EXPECT_EQ(lines[2].line, 8U);
  EXPECT_EQ(lines[2].sums, sums(4, 64, 0, 0, 128, 16));
  EXPECT_EQ(sums_of(c), sums(36, 1076, 56, 24, 128, 16));
}

TEST(Counts, ConflictsAndExcessSectorsAreWhatIsBeyondTheIdeal) {
  const KernelCounts c = counts();
  const CounterSums s = sums(10, 160, 40, 8, 128, 16);
  EXPECT_EQ(derived(c, s, DerivedCount::conflicts), 32);
  EXPECT_EQ(derived(c, s, DerivedCount::excess_sectors), 112);
  EXPECT_EQ(derived(c, sums(1, 1, 8, 8, 3, 4), DerivedCount::conflicts), 0);
  EXPECT_EQ(derived(c, sums(1, 1, 8, 8, 3, 4), DerivedCount::excess_sectors), -1) << "nothing is hidden";
  EXPECT_DOUBLE_EQ(threads_per_instruction(c, s).value_or(0), 16);
  EXPECT_FALSE(threads_per_instruction(c, {})) << "of nothing executed";
}

TEST(Counts, WhatTheChipDoesNotCountIsNoNought) {
  KernelCounts c = counts();
  for (const InstructionCounter one : {InstructionCounter::shared_ideal, InstructionCounter::sectors}) {
    c = counts();
    c.metrics.at(static_cast<std::size_t>(one)).clear();
    const bool shared = one == InstructionCounter::shared_ideal;
    EXPECT_EQ(derived(c, sums_of(c), DerivedCount::conflicts).has_value(), !shared);
    EXPECT_EQ(derived(c, sums_of(c), DerivedCount::excess_sectors).has_value(), shared);
  }
  c.metrics.at(static_cast<std::size_t>(InstructionCounter::threads)).clear();
  EXPECT_FALSE(threads_per_instruction(c, sums_of(c)));
}

TEST(Counts, OfOtherMachineCodeAreRefusedAndStayAsTheyWere) {
  KernelCounts c = counts();
  c.functions[0].instructions[2].address = 0x24;
  const KernelCounts before = c;
  const auto put = put_lines(c, counted_listing());
  ASSERT_FALSE(put);
  EXPECT_NE(put.error().message.find("k was counted at 0x24"), std::string::npos) << put.error().message;
  EXPECT_EQ(c, before);
}

TEST(Counts, TheTableHasARowForEachCounterInTheirOrder) {
  std::size_t n = 0;
  for (const InstructionCounterRow& row : instruction_counter_table()) {
    EXPECT_EQ(static_cast<std::size_t>(row.counter), n++);
    EXPECT_FALSE(row.metrics.empty()) << row.id;
  }
  EXPECT_EQ(n, kInstructionCounters);
}

}  // namespace
}  // namespace attn
