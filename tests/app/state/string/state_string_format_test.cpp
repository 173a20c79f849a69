// The format's bytes: strings that users keep must open for ever, and the same view must write the same string.
#include "app/state/string/state_string.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "app/state/apply/apply.h"

namespace attn {
namespace {

State step_by_hand() {
  State s = initial_state();
  Document& d = s.document;
  d.preset.clear();
  d.problem.B = 2;
  d.problem.Hq = 4;
  d.problem.Hkv = 2;
  d.problem.Lq = 7;
  d.problem.Lk = 9;
  d.problem.D = 8;
  d.problem.Dv = 6;
  d.problem.dtype = DType::bf16;
  d.problem.scale = 0.3;
  d.problem.mask = {true, 4, 0, {9, 5}};
  d.problem.bias_shape = {1, 4, 7, 9};
  d.inputs.generator = Generator::uniform;
  d.inputs.seed = 18446744073709551615ULL;
  d.inputs.edits = {{InputTensor::q, 3, -0.1F}, {InputTensor::v, 0, INFINITY}, {InputTensor::bias, 250, 1e-9F}};
  d.kernel = "cpu_flash1";
  d.options = {3, 2, 4, 2, false, KeyOrder::right_to_left, DType::f16};
  d.selection = {1, 3, 6, Slot::o_new, 5};
  s.view.step.cursor = 4000000000U;
  s.view.step.reading = OutputReading::divided;
  s.view.step.chart = StepChart::hindsight;
  s.view.step.play_steps_per_second = 0.25F;
  s.view.step.bookmarks = {{{0, 0, 1, 2, Phase::max}, 0}, {{1, 3, -1, -1, Phase::skipped}, 2}};
  s.view.log_panel = true;
  return s;
}

State bench_by_hand() {
  State s = initial_state();
  SweepSpec& sweep = s.document.sweep;
  sweep.kernels = {"cpu_flash", "flash_simt"};
  sweep.axis = Axis::bc;
  sweep.values = {16, 32};
  sweep.base.B = 3;
  sweep.base.Lq = 100;
  sweep.base.mask.causal = true;
  sweep.options.threads = 64;
  sweep.tokens = 8192;
  sweep.ragged = Ragged::zipf;
  sweep.gpu = 2;
  sweep.arch = "sm_80";
  sweep.l2 = L2State::warm;
  sweep.counters = false;
  sweep.generator = Generator::large_logits;
  sweep.seed = 7;
  sweep.seconds_per_point = 0.125;
  sweep.min_repeats = 9;
  sweep.memory_limit = 1 << 30;
  sweep.verify = !sweep.verify;
  sweep.verify_full = !sweep.verify_full;
  s.view.workspace = Workspace::bench;
  s.view.bench.charts = {"tflops", "", "dram_bytes", "time_spread_pct"};
  s.view.bench.kernel = "flash_simt";
  s.view.bench.baseline = "tiled";
  s.view.bench.value = 32;
  return s;
}

State preset_looked_at() {
  State s = *with_preset(initial_state(), "causal");
  s.view.workspace = Workspace::learn;
  s.view.step.cursor = 12;
  s.document.selection.row = 2;
  return s;
}

constexpr std::string_view kStep =
    "attn1,preset=none,B=2,H=4/2,L=7/9,D=8/6,dtype=bf16,scale=0.3,causal=1,window=4/0,keys=9/5,"
    "bias=1/4/7/9,br=3,bc=2,threads=4,stages=2,subtract_max=0,key_order=right_to_left,accumulate=f16,"
    "generator=uniform,seed=18446744073709551615,edits=q:3:-0.1/v:0:inf/bias:250:1e-09,kernel=cpu_flash1,"
    "select=1/3/6/o_new/5,cursor=4000000000,reading=divided,chart=hindsight,speed=0.25,"
    "bookmarks=0:0:1:2:max:0/1:3:-1:-1:skipped:2,log=1";
constexpr std::string_view kBench =
    "attn1,preset=blackboard,workspace=bench,sweep_kernels=cpu_flash/flash_simt,sweep_axis=bc,"
    "sweep_values=16/32,sweep_B=3,sweep_L=100/256,sweep_causal=1,sweep_threads=64,sweep_gpu=2,"
    "sweep_arch=sm_80,sweep_l2=warm,sweep_counters=0,sweep_tokens=8192,sweep_ragged=zipf,sweep_generator=large_logits,"
    "sweep_seed=7,sweep_seconds=0.125,sweep_repeats=9,sweep_memory=1073741824,sweep_verify=0,"
    "sweep_verify_full=1,metric=time_spread_pct,charts=tflops/usual/dram_bytes,"
    "bench_kernel=flash_simt,baseline=tiled,at=32";
constexpr std::string_view kPreset = "attn1,preset=causal,workspace=learn,select=0/0/2/s/-1,cursor=12";

void expect_writes(const State& state, std::string_view text) {
  const auto written = state_string(state);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(*written, text);
  const auto read = parse_state_string(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->state.document == state.document);
  EXPECT_EQ(*state_string(read->state), text);
}

TEST(StateStringFormat, EachKeyOfStepIsWrittenAsItAlwaysWas) {
  expect_writes(step_by_hand(), kStep);
}

TEST(StateStringFormat, EachKeyOfBenchIsWrittenAsItAlwaysWas) {
  expect_writes(bench_by_hand(), kBench);
}

TEST(StateStringFormat, EachKeyOfLearnIsWrittenAsItAlwaysWas) {
  State s = initial_state();
  s.view.workspace = Workspace::learn;
  s.view.learn = {"one-pass", "past"};
  expect_writes(s, "attn1,preset=blackboard,workspace=learn,lesson=one-pass,beat=past");
}

TEST(StateStringFormat, WhatAPresetSaysIsLeftOut) {
  expect_writes(preset_looked_at(), kPreset);
}

}  // namespace
}  // namespace attn
