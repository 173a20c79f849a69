// A kernel is sampled through the worker, and whatever refuses says why while the row stays.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/worker/client.h"
#include "app/worker/collect.h"
#include "app/worker/disassemble.h"
#include "app/worker/listing_ahead.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/figures/samples.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

TEST(WorkerSample, GivesTheSamplesOfTheKernelsLaunchesAlone) {
  GpuClient client = client_with({});
  const auto s = client.sample(small_point(), {kPlenty, {}});
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->functions.size(), 3U);
  EXPECT_EQ(s->functions[0].name, "naive_scores");
  EXPECT_EQ(counts_of(*s).all, 9U);
  EXPECT_EQ(s->reasons, (std::vector<std::string>{"selected", "wait"}));
  EXPECT_EQ(s->method, "a profiler, PC sampling");
  EXPECT_EQ(s->kernel_us, 250) << "by the double's events";
  EXPECT_FALSE(s->no_lines.empty());
}

TEST(WorkerSample, WhatRefusesSaysWhyAndTheRowStays) {
  for (const char* call : {"open_profiler", "load_for_samples", "sample"}) {
    GpuClient client = client_with({call});
    Measurement row;
    row.state = RowState::done;
    row.key.kernel = "naive";
    sample_row(client, small_point(), "sm_90a", {kPlenty, {}}, {}, row);
    EXPECT_EQ(row.state, RowState::done);
    EXPECT_EQ(row.samples, nullptr);
    EXPECT_NE(row.no_samples.find(call == std::string("open_profiler") ? "libcupti" : call), std::string::npos)
        << row.no_samples;
  }
}

TEST(WorkerSample, DroppedSamplesAreTriedAgainAndThenTold) {
  GpuClient client = client_with({"dropped"});
  const auto s = client.sample(small_point(), {kPlenty, {}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->dropped, 1U);
  EXPECT_EQ(s->period_log2, 11) << "three periods longer than the first";
}

gpu::ListingSubject small_subject() {
  const Point p = small_point();
  return {p.kernel, p.problem, p.options, "sm_90a"};
}

TEST(WorkerSample, MachineCodeThatIsReadAheadIsTheSame) {
  ListingAhead ahead(small_subject(), {}, {});
  const auto listing = ahead.get(), plain = list_kernel_here(small_subject(), {});
  ASSERT_TRUE(listing && plain);
  EXPECT_EQ(listing->why_no_sass, plain->why_no_sass);
  EXPECT_EQ(listing->text_hash, plain->text_hash);
  EXPECT_EQ(listing->sass.functions.size(), plain->sass.functions.size());
  EXPECT_FALSE(listing->files.empty());
  gpu::ListingSubject unknown = small_subject();
  unknown.kernel = "none_of_ours";
  EXPECT_FALSE(ListingAhead(unknown, {}, {}).get());
}

// The lab reads it while the kernel is timed: as soon as the words say that it was compiled, and not before.
TEST(WorkerSample, WordsOfProgressSayWhenTheKernelRan) {
  GpuClient client = client_with({});
  std::vector<std::string> words;
  const auto m = client.measure(small_point(), {kPlenty, {}}, [&](const std::string& now) { words.push_back(now); });
  ASSERT_TRUE(m) << m.error().message;
  const auto ran = std::find_if(words.begin(), words.end(), says_it_ran);
  ASSERT_NE(ran, words.end());
  const auto compiling = std::find_if(
      words.begin(), words.end(), [](const std::string& now) { return now.find("compiling") != std::string::npos; });
  EXPECT_LT(compiling, ran);
}

// Without nvdisasm too, of the compiler's PTX (that in a cubin names no lines): a line that waits at a barrier or takes
// an exponential has PTX that does.
TEST(WorkerSample, ThePtxOfALineDoesWhatTheLineSays) {
  gpu::ListingSubject subject;
  subject.kernel = "flash_simt";
  subject.problem.Lq = subject.problem.Lk = 4096;
  subject.problem.D = subject.problem.Dv = 64;
  subject.arch = "sm_90a";
  const auto listing = list_kernel_here(subject, {});
  ASSERT_TRUE(listing) << listing.error().message;
  if (listing->ptx.empty()) GTEST_SKIP() << listing->why_no_sass;
  int barriers = 0, exponentials = 0;
  for (const gpu::ListedFile& file : listing->files) {
    for (const gpu::ListedLine& line : file.lines) {
      if (line.ptx.empty()) continue;
      const auto has = [&](std::string_view opcode) {
        return std::ranges::any_of(line.ptx,
                                   [&](auto n) { return listing->ptx.at(n).find(opcode) != std::string::npos; });
      };
      if (line.text.find("  __syncthreads();") != std::string::npos) {
        EXPECT_TRUE(has("bar.sync") || has("barrier.sync")) << line.text;
        ++barriers;
      }
      if (line.text.find("= exp2_fast(") != std::string::npos) {
        EXPECT_TRUE(has("ex2.approx")) << line.text;
        ++exponentials;
      }
    }
  }
  EXPECT_GE(barriers, 2);
  EXPECT_GE(exponentials, 1);
}

// A real cubin: with one sample at each of its instructions, phases and lines are those of the compiled view.
TEST(WorkerSample, FindsTheLineAndPhaseOfEveryInstructionOfARealKernel) {
  for (const char* kernel : {"naive", "flash_simt"}) {
    gpu::ListingSubject subject;
    subject.kernel = kernel;
    subject.problem.Lq = subject.problem.Lk = 4096;
    subject.problem.D = subject.problem.Dv = 64;
    subject.arch = "sm_90a";
    const auto listing = list_kernel_here(subject, {});
    ASSERT_TRUE(listing) << listing.error().message;
    if (!listing->why_no_sass.empty()) GTEST_SKIP() << listing->why_no_sass;
    KernelSamples s;
    s.reasons = {"selected"};
    for (const gpu::SassFunction& f : listing->sass.functions) {
      SampledFunction& sampled = s.functions.emplace_back();
      sampled.name = f.name;
      for (const gpu::Instruction& i : f.instructions)
        sampled.instructions.push_back({i.address, gpu::CodePhase::none, {}, {{0, 1, 0}}});
    }
    const auto put = put_lines(s, *listing);
    ASSERT_TRUE(put) << put.error().message;
    EXPECT_FALSE(s.text_hash.empty());
    std::size_t phases = 0;
    for (const SampledPhase& phase : samples_by_phase(s)) {
      EXPECT_EQ(phase.counts.all, listing->by_phase.at(static_cast<std::size_t>(phase.phase)).total())
          << kernel << ", " << gpu::name_of(phase.phase);
      ++phases;
    }
    EXPECT_GE(phases, 8U) << kernel;
    const auto lines = samples_by_line(s);
    EXPECT_GE(lines.size(), 20U) << kernel;
    for (const SampledLine& line : lines) {
      const gpu::ListedLine& listed = listing->files.at(line.file).lines.at(line.line - 1);
      EXPECT_EQ(line.counts.all, listed.mix.total()) << kernel << ", line " << line.line << ": " << listed.text;
    }
  }
}

TEST(WorkerSample, ARowThatDidNotRunIsNotSampled) {
  GpuClient client = client_with({});
  Measurement row;
  row.state = RowState::refused;
  row.reason = "too large";
  sample_row(client, small_point(), "sm_90a", {kPlenty, {}}, {}, row);
  EXPECT_EQ(row.no_samples, "it did not run: too large");
  EXPECT_EQ(client.worker_id(), -1) << "nobody asked a GPU";
}

}  // namespace
}  // namespace attn
