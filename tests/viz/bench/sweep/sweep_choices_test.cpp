// The sweep panel's menus: each shows what holds, and each entry changes that one thing.
#include "viz/bench/sweep/sweep_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/gpu/rungs/common.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/ragged.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/sweep/planned.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/sweep/sweep_pass.h"
#include "viz/bench/sweep/sweep_presets.h"
#include "viz/state/state.h"

namespace attn {
namespace {

std::vector<SweepMenu> menus_of(const SweepSpec& s) {
  GpuView none, two;
  two.looked = true;
  two.gpus = {{0, "NVIDIA H100", "sm_90"}, {1, "NVIDIA A100", "sm_80"}};
  return {axis_menu(s),     dtype_menu(s), layout_menu(s),       mask_menu(s),        lengths_menu(s),
          inputs_menu(s),   check_menu(s), device_menu(s, none), device_menu(s, two), l2_menu(s),
          counters_menu(s), pass_menu(s),  output_menu(s)};
}

// Whether undo would tell them apart.
bool same_choices(const SweepSpec& a, const SweepSpec& b) {
  Document x, y;
  x.sweep = a;
  y.sweep = b;
  return x == y;
}

TEST(SweepMenus, ShowWhatHoldsAndTakeItOverAgainUnchanged) {
  for (const BenchPreset& preset : bench_presets()) {
    for (const SweepMenu& menu : menus_of(preset.sweep)) {
      const auto on = [](const SweepChoice& c) { return c.on; };
      const auto holds = std::find_if(menu.choices.begin(), menu.choices.end(), on);
      ASSERT_LE(std::count_if(menu.choices.begin(), menu.choices.end(), on), 1) << preset.id << menu.id;
      if (holds == menu.choices.end()) continue;  // a mask of one's own, an architecture that is not listed
      if (menu.id != std::string_view("##gpu")) {
        EXPECT_EQ(menu.shown, holds->words) << preset.id;
      }
      EXPECT_TRUE(same_choices(holds->changed, preset.sweep)) << preset.id << menu.id;
    }
  }
}

TEST(SweepMenus, AnEntryHoldsOnceItIsTaken) {
  const SweepSpec sweep = bench_presets().front().sweep;
  const auto menus = menus_of(sweep);
  for (std::size_t m = 0; m < menus.size(); ++m) {
    for (std::size_t n = 0; n < menus[m].choices.size(); ++n) {
      const auto after = menus_of(menus[m].choices[n].changed);
      EXPECT_TRUE(after[m].choices[n].on) << menus[m].id << " " << menus[m].choices[n].words;
    }
  }
}

TEST(SweepMenus, KeyLengthsByNameReplaceThoseOfOnesOwn) {
  SweepSpec sweep = bench_presets().front().sweep;
  EXPECT_EQ(lengths_menu(sweep).shown, "all Lk");
  sweep.base.mask.key_lengths.assign(static_cast<std::size_t>(sweep.base.B), 3);
  EXPECT_EQ(lengths_menu(sweep).shown, "your own");
  const SweepMenu menu = lengths_menu(sweep);
  ASSERT_EQ(menu.choices.size(), all_ragged().size());
  for (std::size_t n = 0; n < menu.choices.size(); ++n) {
    EXPECT_EQ(menu.choices[n].changed.ragged, all_ragged()[n]);
    EXPECT_TRUE(menu.choices[n].changed.base.mask.key_lengths.empty());
  }
}

TEST(SweepMenus, AKernelWithoutPagesSaysSo) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.base.storage = {16, 64};
  EXPECT_EQ(refusal(**find_kernel("cpu_flash1"), sweep), "contiguous keys only");
  EXPECT_EQ(refusal(**find_kernel("cpu_flash"), sweep), "");
}

TEST(SweepMenus, SoftcapAndAlibiAreSwitchedBesideTheMask) {
  SweepSpec sweep = bench_presets().front().sweep;
  const auto take = [&](std::string_view words) {
    for (const SweepChoice& c : mask_menu(SweepSpec(sweep)).choices) {
      if (c.words == words) sweep = c.changed;
    }
  };
  take("causal");
  take("softcap 30");
  take("ALiBi");
  EXPECT_EQ(mask_menu(sweep).shown, "causal + softcap 30 + ALiBi");
  EXPECT_TRUE(sweep.base.mask.causal && sweep.base.softcap == 30.0 && sweep.base.alibi);
  take("none");
  EXPECT_EQ(mask_menu(sweep).shown, "softcap 30 + ALiBi");
  take("softcap 30");
  take("ALiBi");
  EXPECT_EQ(mask_menu(sweep).shown, "none");
}

TEST(SweepMenus, TheLayoutIsAChoiceAndSaysWhichKernelsTakeIt) {
  SweepSpec sweep = bench_presets().front().sweep;
  const SweepMenu menu = layout_menu(sweep);
  EXPECT_EQ(menu.shown, "[B, H, L, D]");
  EXPECT_NE(menu.help.find("flash_hopper"), std::string::npos) << menu.help;
  ASSERT_EQ(menu.choices.size(), 2U);
  const SweepSpec turned = menu.choices[1].changed;
  EXPECT_EQ(turned.base.layout, AxisOrder::blhd);
  EXPECT_NE(sweep_key(turned), sweep_key(sweep));
  SweepSpec half = turned;
  half.base.dtype = DType::f16;
  for (const KernelRow* row : ladder_of(Pass::forward)) {
    const bool takes = std::ranges::find(row->layouts, AxisOrder::blhd) != row->layouts.end();
    const bool typed = std::ranges::find(row->dtypes, DType::f16) != row->dtypes.end();
    if (typed) {
      EXPECT_EQ(refusal(*row, half), takes ? "" : "[B, H, L, D] only") << row->id;
    }
  }
}

TEST(SweepMenus, APassBringsTheKernelsThatBelongToThoseChosen) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.base.dtype = DType::f16;
  sweep.base.output = OutputType::f32;
  sweep.kernels = {"cpu_multicore", "cpu_flash", "flash_mma", "flash_hopper"};
  using Ids = std::vector<std::string>;
  const SweepMenu menu = pass_menu(sweep);
  ASSERT_EQ(menu.choices.size(), 3U);
  EXPECT_EQ(menu.shown, "forward");
  const SweepSpec backward = menu.choices[1].changed, training = menu.choices[2].changed;
  EXPECT_EQ(backward.kernels, (Ids{"flash_bwd", "flash_bwd_hopper", "cpu_naive_bwd", "cpu_flash_bwd"}));
  EXPECT_EQ(training.kernels, (Ids{"flash_train", "flash_hopper_train", "cpu_naive_train", "cpu_flash_train"}));
  EXPECT_EQ(training.base.pass, Pass::training);
  EXPECT_EQ(training.base.output, OutputType::as_inputs) << "the backward reads O";
  EXPECT_NE(sweep_key(training), sweep_key(backward));
  const SweepSpec back = with_pass_and_kernels(training, Pass::forward);
  EXPECT_EQ(Ids({"cpu_multicore", "cpu_flash", "flash_mma", "flash_hopper"}), back.kernels);
  EXPECT_EQ(with_pass_and_kernels(backward, Pass::training).kernels, training.kernels);
  // Pages are the forward's alone.
  SweepSpec paged = sweep;
  paged.base.output = OutputType::as_inputs;
  paged.base.storage = {16, 64};
  EXPECT_EQ(with_pass_and_kernels(paged, Pass::training).base.storage.kind(), Storage::dense);
}

// A kernel that no backward belongs to: those of its device stand in.
TEST(SweepMenus, APassIsNeverWithoutKernels) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.kernels = {"cpu_sequential"};
  for (const Pass pass : kPasses) {
    const SweepSpec changed = with_pass_and_kernels(sweep, pass);
    ASSERT_FALSE(changed.kernels.empty()) << name_of(pass);
    for (const std::string& id : changed.kernels) {
      EXPECT_TRUE(takes_pass(**find_kernel(id), pass)) << id;
      EXPECT_EQ((*find_kernel(id))->processor, Processor::cpu) << id;
    }
  }
}

TEST(SweepMenus, OInF32IsAChoiceWhereTheInputsAreNarrower) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.base.dtype = DType::f32;
  EXPECT_EQ(output_menu(sweep).choices.size(), 1U);
  sweep.base.dtype = DType::bf16;
  sweep.peers = {"torch-flash"};
  const SweepMenu menu = output_menu(sweep);
  EXPECT_EQ(menu.shown, "bf16");
  EXPECT_NE(menu.help.find("flash_hopper"), std::string::npos) << menu.help;
  ASSERT_EQ(menu.choices.size(), 2U);
  const SweepSpec sums = menu.choices[1].changed;
  EXPECT_EQ(sums.base.output, OutputType::f32);
  EXPECT_TRUE(sums.peers.empty()) << "they return O in the type of Q";
  EXPECT_EQ(output_menu(sums).shown, "f32");
  EXPECT_NE(sweep_key(sums), sweep_key(menu.choices[0].changed));
  EXPECT_EQ(refusal(**find_kernel("flash_mma"), sums), "O in bf16 only");
  EXPECT_EQ(refusal(**find_kernel("flash_hopper"), sums), "");
  // A type that holds the sums anyway.
  for (const SweepChoice& c : dtype_menu(sums).choices) {
    if (c.words == "f32") {
      EXPECT_EQ(c.changed.base.output, OutputType::as_inputs);
    }
  }
}

// Not those of any one kernel: a rung may run on few.
TEST(SweepMenus, EveryKnownArchitectureCanBeCompiledFor) {
  std::vector<std::string> offered;
  for (const SweepChoice& choice : arch_menu(bench_presets().front().sweep).choices) offered.push_back(choice.words);
  EXPECT_EQ(offered, std::vector<std::string>(gpu::architectures().begin(), gpu::architectures().end()));
}

// Whatever became of it: registers, a wait, or the reason why there are none.
TEST(SweepMenus, CompilingForAnArchitectureAlwaysAnswers) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.kernels = {"naive", "flash_simt"};
  Model model;
  EXPECT_EQ(compile_words(sweep, model), "");  // before anything was looked for
  model.gpu.looked = true;
  EXPECT_EQ(compile_words(sweep, model), "Compiling for sm_90a ...");
  model.task.running = true;
  EXPECT_EQ(compile_words(sweep, model), "Compilation starts when the run ends.");
  model.task.running = false;
  model.compiled_for = sweep_key(sweep);
  for (const auto& [kernel, registers] : {std::pair{"naive", 40.0}, std::pair{"flash_simt", 0.0}}) {
    Measurement& m = model.compiled.emplace_back();
    m.key.kernel = kernel;
    m.launches.resize(1);
    m.figures.resize(metric_table().size());
    Figure& f = m.figures[find_metric("registers_count").value()];
    if (registers > 0)
      f = {Origin::compiled, registers, "ptxas", ""};
    else
      f.reason = "its tile needs too much shared memory";
  }
  EXPECT_EQ(compile_words(sweep, model), "Registers: naive 40. flash_simt: its tile needs too much shared memory.");
  for (Measurement& m : model.compiled) m.figures[find_metric("registers_count").value()] = {};
  for (Measurement& m : model.compiled)
    m.figures[find_metric("registers_count").value()].reason = "NVRTC is not here: attnscope doctor --fetch-cuda";
  EXPECT_EQ(compile_words(sweep, model), "NVRTC is not here: attnscope doctor --fetch-cuda.");
  sweep.kernels = {"cpu_flash"};
  EXPECT_EQ(compile_words(sweep, model), "");
}

TEST(SweepMenus, AGpuThatIsNotHereIsNamedByItsNumber) {
  SweepSpec sweep;
  sweep.gpu = 3;
  GpuView one;
  one.gpus = {{0, "NVIDIA H100", "sm_90"}};
  EXPECT_EQ(device_menu(sweep, one).shown, "GPU 3: not found");
}

TEST(SweepPanel, TheBaselineStandsFirstOnEachDevice) {
  for (const Processor p : {Processor::cpu, Processor::gpu}) {
    for (const Pass pass : kPasses) {
      const auto rows = kernels_on(p, pass);
      ASSERT_FALSE(rows.empty());
      EXPECT_EQ(rows.front()->id, baseline_of(p, pass));
      for (const KernelRow* row : rows) EXPECT_EQ(row->processor, p) << row->id;
    }
  }
}

TEST(SweepPanel, AKernelThatDoesNotTakeTheTypeSaysWhichItTakes) {
  SweepSpec sweep;
  sweep.base.dtype = DType::bf16;
  for (const KernelRow* row : kernels_on(Processor::gpu, Pass::forward)) {
    const bool takes = std::find(row->dtypes.begin(), row->dtypes.end(), DType::bf16) != row->dtypes.end();
    EXPECT_EQ(refusal(*row, sweep).empty(), takes) << row->id;
  }
  sweep.base.dtype = DType::f32;
  for (const KernelRow* row : kernels_on(Processor::cpu, Pass::forward)) EXPECT_EQ(refusal(*row, sweep), "") << row->id;
}

TEST(SweepPanel, TheTimeLeftIsRoundedUp) {
  EXPECT_EQ(left_words(-1), "");
  EXPECT_EQ(left_words(0.2), "about 1 s left");
  EXPECT_EQ(left_words(89.5), "about 90 s left");
  EXPECT_EQ(left_words(91), "about 2 min left");
}

// Run is lit where at least one point can run, and says why not elsewhere.
TEST(SweepRun, IsRefusedWithTheReasonWhereNoPointCanRun) {
  SweepSpec sweep = bench_presets().front().sweep;
  GpuView nobody_looked, none, h100;
  none.looked = h100.looked = true;
  none.why_none = "no NVIDIA driver";
  h100.gpus = {{0, "NVIDIA H100", "sm_90a"}};
  const auto why = [&](const GpuView& gpus) { return why_nothing_runs(sweep, gpus, planned_rows(sweep)); };
  sweep.kernels = {"cpu_flash"};
  EXPECT_EQ(why(none), "");
  sweep.kernels = {"flash_simt"};
  EXPECT_EQ(why(nobody_looked), "");
  EXPECT_EQ(why(none), "flash_simt: no GPU here: no NVIDIA driver");
  EXPECT_EQ(why(h100), "");
  // One that can run is enough.
  sweep.kernels = {"flash_simt", "cpu_flash"};
  EXPECT_EQ(why(none), "");
  // flash_simt takes f32 alone, on every architecture.
  sweep.kernels = {"flash_simt"};
  sweep.base.dtype = DType::f16;
  sweep.arch = "sm_90a";
  EXPECT_NE(why(h100).find("flash_simt: "), std::string::npos) << why(h100);
  EXPECT_NE(why(h100).find("f32"), std::string::npos) << why(h100);
  sweep.values.clear();
  EXPECT_EQ(why(h100), validate(sweep).error().message);
}

// What is compiled for need not be what is here: the kernels run on what is here.
TEST(SweepRun, IsRefusedWhereTheGpuThatIsHereCannotThoughAnotherCould) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.kernels = {"flash_tf32x3"};
  sweep.base.dtype = DType::f32;
  GpuView old;
  old.looked = true;
  old.gpus = {{0, "a T4", "sm_75"}};
  const auto why = [&] { return why_nothing_runs(sweep, old, planned_rows(sweep)); };
  sweep.arch = "sm_90a";
  EXPECT_NE(why().find("flash_tf32x3: "), std::string::npos) << why();
  EXPECT_NE(why().find("sm_75"), std::string::npos) << why();
  // And the other way round: it is compiled for one that cannot, and runs on one that can.
  sweep.arch = "sm_75";
  old.gpus = {{0, "an H100", "sm_90a"}};
  EXPECT_EQ(why(), "");
}

TEST(SweepRun, IsRefusedWhereNoPointFitsTheMemory) {
  SweepSpec sweep = bench_presets().front().sweep;
  sweep.kernels = {"naive"};
  sweep.base.dtype = DType::f32;
  sweep.base.B = sweep.base.Hq = sweep.base.Hkv = 1;
  sweep.tokens = 0;
  sweep.base.D = sweep.base.Dv = 64;
  sweep.values = {65536, 131072};
  sweep.arch = "sm_90a";
  GpuView small;
  small.looked = true;
  small.gpus = {{0, "a GPU", "sm_90a", 1ULL << 30}};  // S alone takes 16 GiB
  const auto why = [&] { return why_nothing_runs(sweep, small, planned_rows(sweep)); };
  EXPECT_NE(why().find("naive: "), std::string::npos) << why();
  EXPECT_NE(why().find("all of its memory is 1.00 GiB"), std::string::npos) << why();
  EXPECT_NE(why().find("The largest L that fits is "), std::string::npos) << why();
  sweep.values.front() = 1024;  // one is enough
  EXPECT_EQ(why(), "");
  sweep.memory_limit = 1 << 20;
  EXPECT_NE(why().find("the memory limit is 1.00 MiB"), std::string::npos) << why();
  sweep.kernels = {"cpu_flash"};
  EXPECT_NE(why().find("cpu_flash: "), std::string::npos) << why();
  sweep.memory_limit = 0;
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace attn
