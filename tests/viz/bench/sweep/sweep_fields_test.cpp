#include "viz/bench/sweep/sweep_fields.h"
#include "kernels/model/problem/validate.h"
#include "profiling/spec/sweep_point.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "tests/viz/bench/rows.h"
#include "viz/bench/sweep/sweep_presets.h"
#include "viz/bench/sweep/to_step.h"

namespace attn {
namespace {

using Values = std::vector<std::int64_t>;

TEST(BenchSpec, AxisValuesAreReadAsListDoublingOrSteps) {
  EXPECT_EQ(parse_axis_values("512, 1024,2048").value(), (Values{512, 1024, 2048}));
  EXPECT_EQ(parse_axis_values(" 512..4096 ").value(), (Values{512, 1024, 2048, 4096}));
  EXPECT_EQ(parse_axis_values("500..2000").value(), (Values{500, 1000, 2000}));
  EXPECT_EQ(parse_axis_values("64 .. 256 step 64").value(), (Values{64, 128, 192, 256}));
  EXPECT_EQ(parse_axis_values("1k, 16k").value(), (Values{1024, 16384}));
  EXPECT_EQ(parse_axis_values("7").value(), (Values{7}));
}

TEST(BenchSpec, AxisValuesComeOutRisingAndOnce) {
  EXPECT_EQ(parse_axis_values("2048, 512, 512").value(), (Values{512, 2048}));
}

TEST(BenchSpec, BadAxisValuesAreNamed) {
  for (const auto& [text, words] : std::vector<std::pair<const char*, const char*>>{{"512, abc", "abc"},
                                                                                    {"-4", "-4"},
                                                                                    {"0", "'0'"},
                                                                                    {"1.5", "1.5"},
                                                                                    {"", "No value"},
                                                                                    {"512..", "''"},
                                                                                    {"1024..512", "1024"},
                                                                                    {"1..100000 step 1", "step"},
                                                                                    {"99999999999999999999", "999"},
                                                                                    {"3000000k", "3000000k"}}) {
    const auto values = parse_axis_values(text);
    ASSERT_FALSE(values) << text;
    EXPECT_NE(values.error().message.find(words), std::string::npos) << values.error().message;
  }
}

TEST(BenchSpec, TheTextOfValuesReadsBack) {
  for (const Values& values : {Values{512}, Values{512, 1024}, Values{128, 256, 512, 1024}, Values{64, 128, 192, 256},
                               Values{1, 3, 4, 9, 100}}) {
    EXPECT_EQ(parse_axis_values(axis_values_text(values)).value(), values) << axis_values_text(values);
  }
  EXPECT_EQ(axis_values_text(Values{128, 256, 512, 1024}), "128..1024");
  EXPECT_EQ(axis_values_text(Values{64, 128, 192, 256}), "64..256 step 64");
}

TEST(BenchSpec, MultiplesOf1024AreShort) {
  EXPECT_EQ(short_count(512), "512");
  EXPECT_EQ(short_count(1024), "1k");
  EXPECT_EQ(short_count(131072), "128k");
  EXPECT_EQ(short_count(1500), "1500");
}

bool has(const std::vector<SweepFieldText>& fields, SweepField f) {
  return std::any_of(fields.begin(), fields.end(), [&](const auto& x) { return x.field == f; });
}

TEST(BenchSpec, TheAxisTakesItsOwnFieldAway) {
  SweepSpec s = bench_test::sweep_state().document.sweep;
  EXPECT_FALSE(has(sweep_fields(s), SweepField::length));
  EXPECT_TRUE(has(sweep_fields(s), SweepField::tokens));
  EXPECT_TRUE(has(sweep_fields(s), SweepField::batch));
  s.tokens = 16384;  // the batch follows
  EXPECT_FALSE(has(sweep_fields(s), SweepField::batch));
  s = with_axis(s, Axis::H);
  EXPECT_FALSE(has(sweep_fields(s), SweepField::heads));
  EXPECT_TRUE(has(sweep_fields(s), SweepField::length));
  EXPECT_FALSE(has(sweep_fields(s), SweepField::tokens));
}

// What a field shows, typed back, changes nothing.
TEST(BenchSpec, EveryFieldReadsItsOwnText) {
  SweepSpec s = bench_test::sweep_state().document.sweep;
  s.base.Hkv = 2;
  s.base.Dv = 32;
  s.options.br = 32;
  s.options.threads = 3;
  s.seconds_per_point = 0.25;
  for (const Axis a : {Axis::L, Axis::B, Axis::H, Axis::D, Axis::br, Axis::bc, Axis::threads}) {
    const SweepSpec along = with_axis(s, a);
    for (const SweepFieldText& f : sweep_fields(along)) {
      const auto back = with_field(along, f.field, f.text, f.option);
      ASSERT_TRUE(back) << f.label << " = " << f.text << ": " << back.error().message;
      EXPECT_EQ(sweep_key(*back), sweep_key(along)) << f.label << " = " << f.text;
    }
  }
}

TEST(BenchSpec, FieldsSetWhatTheySay) {
  const SweepSpec s = bench_test::sweep_state().document.sweep;
  EXPECT_EQ(with_field(s, SweepField::heads, "16/4")->base.Hkv, 4);
  EXPECT_EQ(with_field(s, SweepField::heads, "8")->base.Hkv, 8);
  EXPECT_EQ(with_field(s, SweepField::dims, "128/64")->base.Dv, 64);
  EXPECT_EQ(with_field(s, SweepField::tile, "64 x 32")->options.bc, 32);
  EXPECT_EQ(with_field(s, SweepField::tile, "64×32")->options.bc, 32);
  EXPECT_EQ(with_field(s, SweepField::tile, "usual x 16")->options.br, 0);
  EXPECT_EQ(with_field(s, SweepField::tokens, "16k")->tokens, 16384);
  EXPECT_EQ(with_field(s, SweepField::tokens, "free")->tokens, 0);
  EXPECT_EQ(with_field(s, SweepField::threads, "all")->options.threads, 0);
  EXPECT_EQ(with_field(s, SweepField::seconds, "0.5 s")->seconds_per_point, 0.5);
}

TEST(BenchSpec, FieldsRefuseWhatTheyCannotRead) {
  const SweepSpec s = bench_test::sweep_state().document.sweep;
  for (const auto& [field, text] : std::vector<std::pair<SweepField, const char*>>{{SweepField::heads, "16/4/2"},
                                                                                   {SweepField::dims, "x"},
                                                                                   {SweepField::tile, "64 by 32"},
                                                                                   {SweepField::batch, "-1"},
                                                                                   {SweepField::threads, "many"},
                                                                                   {SweepField::seconds, "0"},
                                                                                   {SweepField::seconds, "nan"}}) {
    const auto changed = with_field(s, field, text);
    ASSERT_FALSE(changed) << text;
    EXPECT_FALSE(changed.error().message.empty());
  }
}

TEST(BenchSpec, KernelsStayInTheOrderOfTheLadder) {
  SweepSpec s = bench_test::sweep_state().document.sweep;
  const auto all = s.kernels;
  ASSERT_GE(all.size(), 3U);
  s = with_kernel(s, all[1], false);
  EXPECT_EQ(s.kernels.size(), all.size() - 1);
  s = with_kernel(s, all[1], true);
  EXPECT_EQ(s.kernels, all);
}

// The estimate and the drafts hang on this key: a choice that it missed would show stale words.
TEST(BenchSpec, TheKeyTellsEveryChoiceApart) {
  const SweepSpec s = bench_test::sweep_state().document.sweep;
  std::vector<SweepSpec> others(10, s);
  others[0].kernels.pop_back();
  others[1] = with_axis(s, Axis::D);
  others[2].values.pop_back();
  others[3].tokens = 4096;
  others[4].base.mask.causal = true;
  others[5].options.br = 32;
  others[6].base.dtype = DType::bf16;
  others[7].seconds_per_point = 2;
  others[8].memory_limit = 1 << 20;
  others[9].verify = false;
  for (const SweepSpec& other : others) EXPECT_NE(sweep_key(other), sweep_key(s));
}

TEST(BenchPresets, EachIsASweepThatCanRunAndIsRecognised) {
  for (const BenchPreset& p : bench_presets()) {
    SweepSpec now = bench_test::sweep_state().document.sweep;
    now.seconds_per_point = 0.25;
    const SweepSpec s = with_preset(p, now);
    EXPECT_TRUE(validate(s)) << p.id;
    EXPECT_EQ(preset_of(s), &p) << p.id;
    EXPECT_EQ(s.seconds_per_point, 0.25);  // the user's own
    EXPECT_TRUE(find_metric(p.metric)) << p.id;
    EXPECT_EQ(preset_of(with_kernel(s, s.kernels.front(), false)), nullptr) << p.id;
  }
}

TEST(BenchToStep, ALargeProblemComesSmallWithItsMaskTypeAndTiles) {
  Problem p;
  p.B = 4;
  p.Hq = 16;
  p.Hkv = 4;
  p.Lq = p.Lk = 4096;
  p.D = p.Dv = 128;
  p.dtype = DType::bf16;
  p.mask.causal = true;
  p.mask.key_lengths = {4096, 4096, 2048, 1};
  Options o;
  o.br = 1024;
  o.bc = 2048;
  const auto e = step_example("flash_simt", p, o);
  ASSERT_TRUE(e);
  EXPECT_EQ((*find_kernel(e->kernel))->order, Order::flash);
  EXPECT_TRUE((*find_kernel(e->kernel))->record != nullptr);
  EXPECT_TRUE(validate(e->problem)) << validate(e->problem).error().message;
  EXPECT_EQ(e->problem.Hq / e->problem.Hkv, 4);  // four heads share a KV head, as before
  EXPECT_EQ(e->problem.dtype, DType::bf16);
  EXPECT_TRUE(e->problem.mask.causal);
  EXPECT_EQ(e->problem.Lq / e->options.br, 4);  // as many tiles as before
  EXPECT_EQ(e->problem.Lk / e->options.bc, 2);
  EXPECT_NE(e->words.find("L = 16 instead of 4096"), std::string::npos) << e->words;
}

TEST(BenchToStep, EveryKernelFindsOneOfItsOrderThatCanBeRecorded) {
  Problem p;
  p.Lq = p.Lk = 1024;
  p.D = p.Dv = 64;
  for (const KernelRow* row : ladder_of(Pass::forward)) {
    const auto e = step_example(row->id, p, {});
    ASSERT_TRUE(e) << row->id;
    const KernelRow& shown = **find_kernel(e->kernel);
    EXPECT_EQ(shown.order, row->order);
    EXPECT_TRUE(shown.supports(shown, e->problem, e->options, cpu_device())) << row->id;
  }
}

TEST(BenchToStep, ASmallProblemStaysAsItIsAndGoesBack) {
  Problem p;
  p.Lq = p.Lk = 12;
  p.D = p.Dv = 4;
  const auto e = step_example("cpu_flash", p, {});
  ASSERT_TRUE(e);
  EXPECT_EQ(e->problem, p);
  EXPECT_EQ(e->words, "");
  Document d;
  d.kernel = "cpu_flash";
  d.problem = p;
  const SweepSpec s = sweep_of_step(bench_test::sweep_state().document.sweep, d);
  EXPECT_TRUE(validate(s));
  EXPECT_EQ(s.values.front(), 12);
  EXPECT_EQ(s.base.D, 4);
}

TEST(BenchSpec, ThePageIsAFieldOfSweepsWithAKernelThatReadsPages) {
  SweepSpec s = bench_presets().front().sweep;
  const auto page = [](const SweepSpec& of) {
    for (const SweepFieldText& f : sweep_fields(of))
      if (f.field == SweepField::page) return f.text;
    return std::string("no field");
  };
  s.kernels = {"cpu_flash1"};
  EXPECT_EQ(page(s), "no field");
  s.kernels = {"cpu_flash1", "cpu_flash"};
  s.axis = Axis::L;
  s.base.Lk = 40, s.base.B = 2, s.tokens = 0;
  EXPECT_EQ(page(s), "none");
  auto paged = with_field(s, SweepField::page, "16");
  ASSERT_TRUE(paged) << paged.error().message;
  EXPECT_EQ(page(*paged), "16");
  EXPECT_EQ(paged->base.storage, (KvStorage{16, 2 * (3 + 1)}));
  // The pool follows the shape, here and at each point.
  EXPECT_EQ(with_field(*paged, SweepField::batch, "3")->base.storage.pages, 3 * (3 + 1));
  EXPECT_EQ(problem_at(*paged, 64).storage.pages, 2 * (4 + 1));
  EXPECT_EQ(with_field(*paged, SweepField::page, "none")->base.storage, KvStorage{});
  for (const char* wrong : {"257", "-1", "sixteen"}) EXPECT_FALSE(with_field(s, SweepField::page, wrong)) << wrong;
  paged->axis = Axis("page");
  EXPECT_EQ(page(*paged), "no field");
}

TEST(BenchSpec, ThePageIsAnAxis) {
  SweepSpec s = bench_presets().front().sweep;
  s.kernels = {"cpu_flash"};
  s = with_axis(s, Axis("page"));
  EXPECT_EQ(s.values, (Values{1, 16, 64, 256}));
  EXPECT_TRUE(validate(s));
  EXPECT_EQ(problem_at(s, 16).storage.page, 16);
  s.values = {16, 512};
  const auto refused = validate(s);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("page = 512: Invalid page size of 512 keys"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace attn
