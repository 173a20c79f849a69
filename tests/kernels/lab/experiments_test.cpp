// Every prepared experiment fits the source as it ships, changes it, and compiles for every architecture of its rung.
#include "kernels/lab/experiments.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

std::string shipped(const Experiment& e) {
  return gpu::kernel_source(e.rung, {})->text;
}

TEST(Experiments, EachHasItsQuestionAndARungAndChangesSomething) {
  std::set<std::string_view> ids;
  for (const Experiment* each : experiments()) {
    const Experiment& e = *each;
    SCOPED_TRACE(e.id);
    EXPECT_TRUE(ids.insert(e.id).second);
    EXPECT_TRUE(e.question.ends_with('?'));
    EXPECT_TRUE(e.change.ends_with('.'));
    EXPECT_TRUE(e.answer.empty() || e.answer.ends_with('.'));
    const auto rung = find_kernel(e.rung, {});
    ASSERT_TRUE(rung);
    EXPECT_EQ(std::ranges::count((*rung)->experiments, e.id, &Experiment::id), 1)
        << "declared by the rung that it names";
    EXPECT_EQ((*rung)->processor, Processor::gpu);
    EXPECT_NE(patches_of(e).empty(), e.options == Options()) << "a patch, or other options";
  }
  EXPECT_EQ(ids.size(), 7U);
  std::size_t patches = 0;
  for (const Experiment* e : experiments()) patches += patches_of(*e).size();
  EXPECT_EQ(patches, experiment_patches().size()) << "a patch of no experiment";
  EXPECT_FALSE(find_experiment("pad"));
}

TEST(Experiments, EachPatchFitsTheShippedTextOnceAndTheChangedTextNoMore) {
  for (const Experiment* each : experiments()) {
    const Experiment& e = *each;
    SCOPED_TRACE(e.id);
    const auto changed = changed_text(e, shipped(e));
    ASSERT_TRUE(changed) << changed.error().message;
    if (patches_of(e).empty()) continue;
    EXPECT_NE(*changed, shipped(e));
    EXPECT_FALSE(changed_text(e, "int x;\n")) << "a text that it does not fit is refused";
    for (const Patch* patch : patches_of(e))
      EXPECT_TRUE(patch->source.ends_with("/" + std::string(e.rung) + ".cu")) << patch->source;
  }
}

TEST(Experiments, OtherOptionsAreTakenOnEveryArchitectureThatHasTheRoom) {
  for (const Experiment* each : experiments()) {
    const Experiment& e = *each;
    if (!patches_of(e).empty()) continue;
    SCOPED_TRACE(e.id);
    const KernelRow& rung = **find_kernel(e.rung, {});
    Problem p;
    p.Lq = p.Lk = 256;
    p.D = p.Dv = 64;
    p.dtype = rung.dtypes.front();
    for (const std::string_view arch : {"sm_80", "sm_90a", "sm_120"}) {
      if (std::ranges::find(rung.architectures, arch) == rung.architectures.end()) continue;
      const auto device = gpu::device_for(arch);
      const auto plan = rung.plan(rung, p, e.options, *device), usual = rung.plan(rung, p, {}, *device);
      ASSERT_TRUE(plan && usual) << arch;
      EXPECT_NE(plan->options, usual->options) << arch << ": it changes nothing";
    }
  }
}

class ExperimentTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ExperimentTest, CompilesForEveryArchitectureOfItsRungWithoutAnError) {
  auto compiler = gpu::open_nvrtc();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  gpu::CompileService service(**compiler, {});
  const Experiment& e = *experiments()[GetParam()];
  if (patches_of(e).empty()) GTEST_SKIP() << "the text is the rung's, which other tests compile";
  const KernelRow& rung = **find_kernel(e.rung, {});
  const auto edit = gpu::edit_of(rung, *changed_text(e, shipped(e)), {});
  ASSERT_TRUE(edit) << edit.error().message;
  // Small, so that it compiles in a moment.
  Problem p;
  p.Lq = p.Lk = 64;
  p.D = p.Dv = 32;
  p.dtype = rung.dtypes.front();
  Options o;
  o.br = 32;
  o.bc = 32;
  o.threads = 128;
  for (const std::string_view arch : rung.architectures) {
    SCOPED_TRACE(arch);
    const auto device = gpu::device_for(arch);
    const auto plan = (*edit)->plan(**edit, p, o, *device);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto report = gpu::inspect(service, *plan, *device, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->entries.size(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExperimentTest, ::testing::Range<std::size_t>(0, 7),
                         [](const auto& each) { return std::string(experiments()[each.param]->id); });

}  // namespace
}  // namespace attn
