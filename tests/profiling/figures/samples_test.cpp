// Samples are summed by phase, line and state, and find their lines and phases in the listing of their machine code.
#include "profiling/figures/samples.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/listing/listing.h"
#include "profiling/figures/sampled_lines.h"

namespace attn {
namespace {

using gpu::CodePhase;

TEST(StallReasons, EachHasOneNameAndSaysWhatTheWarpWaitsFor) {
  std::set<std::string_view> names, titles;
  for (const StallReason& reason : stall_reasons()) {
    EXPECT_TRUE(names.insert(reason.name).second) << reason.name;
    EXPECT_TRUE(titles.insert(reason.title).second) << reason.title;
    EXPECT_GT(reason.what.size(), 20U) << reason.name;
    EXPECT_TRUE(reason.what.ends_with('.')) << reason.name;
    EXPECT_EQ(find_stall_reason(reason.name), &reason);
    EXPECT_EQ(warp_state_of(reason.name), reason.state);
  }
  EXPECT_EQ(warp_state_of("mio_throttle"), WarpState::queue);
  EXPECT_EQ(find_stall_reason("no such reason"), nullptr);
  EXPECT_EQ(warp_state_of("no such reason"), WarpState::fetch);
}

// A helper (line 2) that line 6 (S) and line 8 (P) call; line 1 has no phase.
gpu::KernelListing listing() {
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
      "        /*0010*/ FADD R4, R4, R4 ;\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 2 inlined at \"/a/kernels/gpu/k.cu\", line 8\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 8\n"
      "        /*0020*/ FADD R4, R4, R4 ;\n"
      "\t//## File \"/a/kernels/gpu/k.cu\", line 8\n"
      "        /*0030*/ STG.E [R2], R4 ;\n";
  return gpu::list_kernel(source, "k", "sm_90a", {}, printed).value_or(gpu::KernelListing());
}

KernelSamples samples() {
  KernelSamples s;
  s.reasons = {"selected", "wait", "short_scoreboard", "a_new_one"};
  s.no_lines = "not yet";
  s.functions = {{"k",
                  {{0x00, CodePhase::none, {}, {{3, 1, 1}}},
                   {0x10, CodePhase::none, {}, {{0, 10, 0}, {1, 20, 5}}},
                   {0x20, CodePhase::none, {}, {{0, 5, 0}, {2, 30, 30}}},
                   {0x30, CodePhase::none, {}, {{2, 4, 1}}}}}};
  return s;
}

TEST(Samples, FindTheirPhasesAndLinesThroughTheInlineChain) {
  KernelSamples s = samples();
  const auto put = put_lines(s, listing());
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(s.no_lines, "");
  EXPECT_EQ(s.text_hash, "44556677");
  EXPECT_EQ(s.files, (std::vector<std::string>{"kernels/gpu/k.cu"}));
  const auto& code = s.functions[0].instructions;
  EXPECT_EQ(code[0].phase, CodePhase::none);
  EXPECT_EQ(code[1].phase, CodePhase::s) << "the helper has no phase of its own";
  EXPECT_EQ(code[2].phase, CodePhase::p);
  EXPECT_EQ(code[3].phase, CodePhase::p);
  EXPECT_EQ(code[1].lines, (std::vector<gpu::SourceFrame>{{0, 2}}));
  EXPECT_EQ(code[3].lines, (std::vector<gpu::SourceFrame>{{0, 8}}));

  const auto phases = samples_by_phase(s);
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[0].phase, CodePhase::s);
  EXPECT_EQ(phases[0].counts.all, 30U);
  EXPECT_EQ(phases[0].counts.not_issued, 5U);
  EXPECT_EQ(phases[1].phase, CodePhase::p);
  EXPECT_EQ(phases[1].counts.all, 39U);
  EXPECT_EQ(phases[1].counts.main_state(), WarpState::queue);
  EXPECT_EQ(phases[2].phase, CodePhase::none) << "what no line says is shown";
  EXPECT_EQ(phases[2].counts.of[static_cast<std::size_t>(WarpState::fetch)], 1U) << "a reason that nobody knows";

  const auto lines = samples_by_line(s);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, 2U);
  EXPECT_EQ(lines[0].counts.all, 65U);
  EXPECT_EQ(lines[0].phase, CodePhase::p) << "35 of its 65 samples";
  EXPECT_EQ(lines[1].line, 8U);
  EXPECT_EQ(lines[2].line, 4U);
}

TEST(Samples, AllOfThemAreThereHoweverTheyAreSummed) {
  KernelSamples s = samples();
  ASSERT_TRUE(put_lines(s, listing()));
  const SampleCounts all = counts_of(s);
  EXPECT_EQ(all.all, 70U);
  EXPECT_EQ(all.not_issued, 37U);
  std::uint64_t phases = 0, states = 0, reasons = 0;
  for (const SampledPhase& phase : samples_by_phase(s)) phases += phase.counts.all;
  for (const std::uint64_t n : all.of) states += n;
  for (const std::uint64_t n : all.by_reason) reasons += n;
  EXPECT_EQ(phases, all.all);
  EXPECT_EQ(states, all.all);
  EXPECT_EQ(reasons, all.all);
}

TEST(Samples, OfOtherMachineCodeAreRefusedAndStayAsTheyWere) {
  KernelSamples s = samples();
  s.functions[0].instructions[2].address = 0x24;
  const KernelSamples before = s;
  const auto put = put_lines(s, listing());
  ASSERT_FALSE(put);
  EXPECT_NE(put.error().message.find("k was sampled at 0x24"), std::string::npos) << put.error().message;
  EXPECT_EQ(s, before);
  s = samples();
  s.functions[0].name = "another";
  EXPECT_FALSE(put_lines(s, listing()));
  gpu::KernelListing without = listing();
  without.why_no_sass = "nvdisasm was not found";
  s = samples();
  const auto none = put_lines(s, without);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "nvdisasm was not found");
}

TEST(Samples, EveryReasonThatCuptiKnowsHasAStateOfTheWarp) {
  EXPECT_EQ(warp_state_of("selected"), WarpState::issues);
  EXPECT_EQ(warp_state_of("not_selected"), WarpState::ready);
  EXPECT_EQ(warp_state_of("long_scoreboard"), WarpState::global);
  EXPECT_EQ(warp_state_of("lg_throttle"), WarpState::l1) << "the queue of the L1 cache is not device memory";
  EXPECT_EQ(warp_state_of("mio_throttle"), WarpState::queue);
  EXPECT_EQ(warp_state_of("wait"), WarpState::last);
  EXPECT_EQ(warp_state_of("math_pipe_throttle"), WarpState::pipe) << "a busy pipe is no latency";
  EXPECT_EQ(warp_state_of("gmma"), WarpState::tensor);
  EXPECT_EQ(warp_state_of("no_instructions"), WarpState::fetch);
  for (const WarpState state : all_warp_states()) EXPECT_FALSE(words_of(state).empty() || name_of(state).empty());
}

// Line 3 waits for all, line 5 (P) comes behind it and line 7 (S) after that.
gpu::KernelListing barrier_listing() {
  const gpu::KernelSource source{"kernels/gpu/b.cu",
                                 "extern \"C\" __global__ void b(float* p) {\n"
                                 "  // @phase barrier\n"
                                 "  __syncthreads();\n"
                                 "  // @phase P\n"
                                 "  p[0] = exp2f(p[0]);\n"
                                 "  // @phase S\n"
                                 "  s = q[0] * k[0];\n"
                                 "}\n",
                                 "0", false, "55667788"};
  const auto at = [](int line) { return "\t//## File \"/a/kernels/gpu/b.cu\", line " + std::to_string(line) + "\n"; };
  const std::string printed = "\t.section\t.text.b,\"ax\"\n" + at(3) +
                              "        /*0000*/ BAR.SYNC.DEFER_BLOCKING 0x0 ;\n" + at(5) +
                              "        /*0010*/ LDG.E R2, [R4.64] ;\n"
                              "        /*0020*/ MUFU.EX2 R6, R2 ;\n"
                              "        /*0030*/ F2FP.BF16.F32.PACK_AB R7, R6, R8 ;\n" +
                              at(7) +
                              "        /*0040*/ LDS.128 R8, [R12] ;\n"
                              "        /*0050*/ FFMA R20, R11, R21, R20 ;\n"
                              "        /*0060*/ SHFL.BFLY PT, R22, R20, 0x1, 0x1f ;\n"
                              "        /*0070*/ FADD R20, R22, R20 ;\n";
  return gpu::list_kernel(source, "b", "sm_90a", {}, printed).value_or(gpu::KernelListing());
}

// At each instruction one sample of both reasons of the queue.
KernelSamples queue_samples() {
  KernelSamples s;
  s.reasons = {"short_scoreboard", "mio_throttle"};
  s.arch = "sm_90a";
  SampledFunction f{"b", {}};
  for (std::uint32_t address = 0; address < 0x80; address += 16)
    f.instructions.push_back({address, CodePhase::none, {}, {{0, 1, 1}, {1, 1, 1}}});
  s.functions = {f};
  EXPECT_TRUE(put_lines(s, barrier_listing()));
  return s;
}

TEST(Samples, TheQueueOfMemoryAndSpecialFunctionsIsNamedByTheMachineCode) {
  const KernelSamples bare = queue_samples();
  EXPECT_EQ(counts_of(bare).of[static_cast<std::size_t>(WarpState::queue)], 16U) << "nobody knows for which";
  const KernelSamples s = with_machine_code(bare, barrier_listing());
  const auto& code = s.functions[0].instructions;
  const auto comes_from = [&](std::size_t n) { return warp_state_of("short_scoreboard", code[n]); };
  const auto enters = [&](std::size_t n) { return warp_state_of("mio_throttle", code[n]); };
  EXPECT_EQ(enters(2), WarpState::special) << "MUFU";
  EXPECT_EQ(comes_from(3), WarpState::special) << "it packs what MUFU made";
  EXPECT_EQ(comes_from(2), WarpState::queue) << "what it reads comes from device memory";
  EXPECT_EQ(enters(4), WarpState::shared) << "LDS";
  EXPECT_EQ(comes_from(5), WarpState::shared) << "the last of the four registers that LDS loads";
  EXPECT_EQ(comes_from(7), WarpState::queue) << "a shuffle is neither";
  EXPECT_EQ(enters(6), WarpState::queue);
  const SampleCounts all = counts_of(s);
  EXPECT_EQ(all.in("shared"), 16U) << "the column of version 1 holds all of them, as it did";
  EXPECT_EQ(all.in("shared_memory") + all.in("special_functions") + all.in("memory_queue"), 16U);
}

TEST(Samples, MachineCodeOfAnotherTextOrChipSaysNothingOfThem) {
  const KernelSamples bare = queue_samples();
  gpu::KernelListing listing = barrier_listing();
  listing.text_hash = "another";
  EXPECT_EQ(with_machine_code(bare, listing), bare);
  listing = barrier_listing();
  listing.arch = "sm_80";
  EXPECT_EQ(with_machine_code(bare, listing), bare);
}

TEST(Samples, AWaitForTheOtherWarpsIsItsBarriersWhereverItWasSampled) {
  KernelSamples s = queue_samples();
  s.reasons = {"barrier", "wait"};
  const auto of = [](const KernelSamples& samples, CodePhase phase) {
    for (const SampledPhase& p : samples_by_phase(samples))
      if (p.phase == phase) return p.counts;
    return SampleCounts();
  };
  const auto barriers = static_cast<std::size_t>(WarpState::barrier);
  const KernelSamples with = with_machine_code(s, barrier_listing());
  EXPECT_EQ(of(with, CodePhase::barrier).of[barriers], 8U);
  EXPECT_EQ(of(with, CodePhase::p).of[barriers], 0U);
  EXPECT_EQ(of(with, CodePhase::p).all, 3U) << "its other samples stay";
  EXPECT_EQ(of(s, CodePhase::barrier).of[barriers], 8U) << "the same without the machine code";
  // Too far behind: nobody knows which barrier.
  for (SampledInstruction& i : s.functions[0].instructions)
    if (i.address > 0x40) i.address += 0x400;
  EXPECT_EQ(of(s, CodePhase::barrier).of[barriers], 5U);
  EXPECT_EQ(of(s, CodePhase::s).of[barriers], 3U);
}

TEST(Samples, EachColumnOfAFileIsOneStateOrOneOldSum) {
  std::vector<int> times(kWarpStates, 0);
  for (std::size_t n = 0; n < 9; ++n)
    for (const WarpState state : states_in(state_columns()[n])) ++times[static_cast<std::size_t>(state)];
  for (const int n : times) EXPECT_EQ(n, 1) << "the first nine hold every state once";
  for (const std::string_view column : state_columns()) EXPECT_FALSE(states_in(column).empty()) << column;
  for (const WarpState state : all_warp_states()) EXPECT_EQ(states_in(name_of(state)).size(), 1U);
  EXPECT_TRUE(states_in("no_state").empty());
}

}  // namespace
}  // namespace attn
