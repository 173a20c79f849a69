// Samples are summed by phase, line and state, and find their lines and phases in the listing of their machine code.
#include "profiling/figures/samples.h"

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/listing.h"
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
  EXPECT_EQ(warp_state_of("mio_throttle"), WarpState::shared);
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
  EXPECT_EQ(phases[1].counts.main_state(), WarpState::shared);
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
  EXPECT_EQ(warp_state_of("mio_throttle"), WarpState::shared);
  EXPECT_EQ(warp_state_of("math_pipe_throttle"), WarpState::last);
  EXPECT_EQ(warp_state_of("gmma"), WarpState::tensor);
  EXPECT_EQ(warp_state_of("no_instructions"), WarpState::fetch);
  for (const WarpState state : all_warp_states()) EXPECT_FALSE(words_of(state).empty() || name_of(state).empty());
}

}  // namespace
}  // namespace attn
