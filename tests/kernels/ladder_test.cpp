// Every rung of the table is whole: what the window, the CLI and the checks ask of a row is there.
#include "kernels/ladder.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/traffic.h"

namespace attn {
namespace {

// A device that the row runs on.
Device device_of(const KernelRow& row) {
  if (row.processor == Processor::cpu) return cpu_device();
  return *gpu::device_for(row.architectures.back());
}

// A problem of a dtype and a pass that the row takes.
Problem problem_of(const KernelRow& row) {
  Problem p;
  p.Hq = p.Hkv = 2;
  p.Lq = p.Lk = 256;
  p.D = p.Dv = 64;
  p.dtype = row.dtypes.front();
  p.pass = row.passes.front();
  return p;
}

bool is_sentence(std::string_view words) {
  return !words.empty() && std::isupper(static_cast<unsigned char>(words.front())) && words.back() == '.';
}

TEST(Ladder, IdsAreUniqueAndLowerSnake) {
  std::set<std::string_view> ids, rungs;
  for (const KernelRow* row : ladder()) {
    EXPECT_TRUE(ids.insert(row->id).second) << row->id;
    EXPECT_TRUE(rungs.insert(row->rung).second) << row->id << ": rung " << row->rung << " is another kernel's";
    EXPECT_TRUE(std::ranges::all_of(row->id, [](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || c == '_';
    })) << row->id;
    EXPECT_EQ(*find_kernel(row->id), row);
  }
  EXPECT_EQ(ladder().size(), cpu_kernel_table().size() + gpu::gpu_kernel_table().size() + cpu_backward_table().size());
  EXPECT_EQ(ladder_of(Pass::forward).size() + ladder_of(Pass::backward).size(), ladder().size());
  for (const KernelRow& row : cpu_kernel_table()) EXPECT_TRUE(takes_pass(row, Pass::forward)) << row.id;
  for (const KernelRow& row : cpu_backward_table()) EXPECT_TRUE(takes_pass(row, Pass::backward)) << row.id;
}

// Which kernel is taken where nobody names one.
TEST(Ladder, TheBestRungSplitsKeysForFewRowsAlone) {
  struct Case {
    const char* arch;
    DType dtype;
    std::int64_t queries, heads, key_heads, dim;
    const char* best;
  };
  constexpr Case kCases[] = {
      {"sm_90a", DType::f16, 1, 32, 8, 128, "flash_splitkv"}, {"sm_90a", DType::f16, 16, 32, 8, 128, "flash_splitkv"},
      {"sm_90a", DType::f16, 17, 32, 8, 128, "flash_hopper"}, {"sm_90a", DType::bf16, 64, 8, 8, 64, "flash_splitkv"},
      {"sm_90a", DType::bf16, 256, 8, 8, 64, "flash_hopper"}, {"sm_90a", DType::f32, 1, 8, 8, 64, "flash_splitkv"},
      {"sm_90a", DType::f32, 256, 8, 8, 64, "flash_tf32x3"},  {"sm_80", DType::f16, 1, 8, 8, 128, "flash_splitkv"},
      {"sm_80", DType::f16, 256, 8, 8, 128, "flash_mma"},     {"sm_75", DType::f16, 1, 8, 8, 128, "flash_mma"}};
  for (const Case& c : kCases) {
    Problem p;
    p.Hq = c.heads, p.Hkv = c.key_heads, p.Lq = c.queries, p.Lk = 4096;
    p.D = p.Dv = c.dim;
    p.dtype = c.dtype;
    const KernelRow* best = best_rung(Processor::gpu, p, {}, *gpu::device_for(c.arch));
    ASSERT_NE(best, nullptr) << c.arch << " " << describe(p);
    EXPECT_EQ(best->id, c.best) << c.arch << " " << describe(p);
  }
  Problem many;
  many.Hq = many.Hkv = 8, many.Lq = many.Lk = 256, many.D = many.Dv = 64;
  many.dtype = DType::f16;
  Options split;
  choose(split, kSplits, 4);
  EXPECT_EQ(best_rung(Processor::gpu, many, split, *gpu::device_for("sm_90a"))->id, "flash_splitkv");
  EXPECT_EQ(best_rung(Processor::cpu, many, {}, cpu_device())->id, "cpu_flash");
  // Keys in pages of a long prompt: nothing else reads them.
  many.storage = {16, 16};
  EXPECT_EQ(best_rung(Processor::gpu, many, {}, *gpu::device_for("sm_90a")), nullptr);
  EXPECT_EQ(highest_rung(Processor::gpu, many, {}, *gpu::device_for("sm_90a"))->id, "flash_splitkv");
}

TEST(Ladder, EveryRowSaysWhatItIsAndTakes) {
  for (const KernelRow* row : ladder()) {
    SCOPED_TRACE(row->id);
    EXPECT_FALSE(row->title.empty());
    EXPECT_FALSE(row->rung.empty());
    EXPECT_TRUE(is_sentence(row->what)) << row->what;
    EXPECT_TRUE(is_sentence(row->teaches)) << row->teaches;
    EXPECT_FALSE(row->source.empty());
    EXPECT_FALSE(row->dtypes.empty());
    EXPECT_EQ(row->architectures.empty(), row->processor == Processor::cpu);
    EXPECT_TRUE(row->supports != nullptr && row->plan != nullptr);
    EXPECT_EQ(row->prepare != nullptr, row->processor == Processor::cpu) << "a driver would be linked to the row";
    EXPECT_EQ(row->launch != nullptr, row->processor == Processor::cpu);
    EXPECT_EQ(row->stores_scores, row->score_reads > 0) << "how often S is read back is asked of rungs that store it";
    EXPECT_EQ(row->stores_scores, stores_scores(row->order));
    for (const OptionSpec& o : row->options) {
      EXPECT_TRUE(is_option_name(o.option->name)) << o.option->name;
      EXPECT_EQ(spec_of(*row, *o.option), &o) << o.option->name << " stands twice";
      EXPECT_EQ(kind_of(Axis(o.option->name)).problem, nullptr) << o.option->name << " is an axis of the problem, too";
      EXPECT_LE(o.min, o.max) << o.option->name;
      EXPECT_GT(o.step, 0) << o.option->name;
      if (o.default_value == 0) continue;  // chosen from the device
      EXPECT_TRUE(o.default_value >= o.min && o.default_value <= o.max) << o.option->name;
    }
  }
}

TEST(Ladder, EveryRowPlansAProblemThatItTakes) {
  for (const KernelRow* row : ladder()) {
    const Problem p = problem_of(*row);
    const Device d = device_of(*row);
    const auto takes = row->supports(*row, p, {}, d);
    ASSERT_TRUE(takes) << row->id << ": " << takes.error().message;
    const auto plan = row->plan(*row, p, {}, d);
    ASSERT_TRUE(plan) << row->id << ": " << plan.error().message;
    EXPECT_EQ(plan->kernel, row);
    EXPECT_FALSE(plan->launches.empty()) << row->id;
    for (const OptionSpec& o : row->options) {
      const auto value = chosen(plan->options, *o.option);
      if (!o.option->compiled && !value) continue;  // nobody chose, and nothing is compiled with it
      EXPECT_TRUE(value && o.takes(*value)) << row->id << ": " << o.option->name << " is not chosen";
    }
  }
}

TEST(Ladder, EveryRowRefusesTheOtherProcessorAndOtherDtypesInWords) {
  for (const KernelRow* row : ladder()) {
    const bool on_cpu = row->processor == Processor::cpu;
    const Device other = on_cpu ? *gpu::device_for("sm_90a") : cpu_device();
    const auto refused = row->supports(*row, problem_of(*row), {}, other);
    ASSERT_FALSE(refused) << row->id;
    EXPECT_NE(refused.error().message.find(on_cpu ? "--device cpu" : "--device gpu"), std::string::npos) << row->id;
    for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
      Problem p = problem_of(*row);
      p.dtype = t;
      const bool takes = std::ranges::find(row->dtypes, t) != row->dtypes.end();
      EXPECT_EQ(row->supports(*row, p, {}, device_of(*row)).has_value(), takes) << row->id << " " << name_of(t);
    }
  }
}

TEST(Ladder, EveryGpuRungHasASourceWithTheEntriesItLaunches) {
  for (const KernelRow& row : gpu::gpu_kernel_table()) {
    const auto source = gpu::kernel_source(row.id, {});
    ASSERT_TRUE(source) << "write kernels/gpu/rungs/FAMILY/" << row.id << ".cu";
    for (const std::string_view arch : row.architectures) {
      ASSERT_TRUE(gpu::limits_of(arch)) << row.id << ": occupancy.cpp knows nothing of " << arch;
      const auto plan = row.plan(row, problem_of(row), {}, *gpu::device_for(arch));
      ASSERT_TRUE(plan) << row.id << " on " << arch << ": " << plan.error().message;
      for (const Launch& l : plan->launches) {
        EXPECT_NE(source->text.find(l.name + "("), std::string::npos) << row.id << ".cu has no entry " << l.name;
      }
    }
  }
}

TEST(Ladder, EveryEmbeddedKernelIsARung) {
  for (const gpu::SourceText& s : gpu::embedded_sources()) {
    if (!s.name.ends_with(".cu")) continue;
    const std::string_view id = s.name.substr(s.name.rfind('/') + 1, s.name.size() - s.name.rfind('/') - 4);
    EXPECT_TRUE(find_kernel(id)) << s.name << " is not in gpu_kernel_table()";
  }
}

// Of whatever processor: one check serves all.
TEST(Ladder, ARowRefusesAPassAStorageAndALayoutThatItDoesNotTake) {
  for (const KernelRow* row : ladder()) {
    SCOPED_TRACE(row->id);
    const auto refusal = [&](const Problem& p) {
      const auto takes = row->supports(*row, p, {}, device_of(*row));
      return takes ? std::string() : takes.error().message;
    };
    Problem p = problem_of(*row);
    EXPECT_EQ(refusal(p), "");
    const bool forward = p.pass == Pass::forward;
    p.pass = forward ? Pass::backward : Pass::forward;
    EXPECT_NE(refusal(p).find(forward ? "supports the pass forward, not backward"
                                      : "supports the pass backward, not forward"),
              std::string::npos)
        << refusal(p);
    p.pass = row->passes.front();
    p.storage = {16, 64};
    if (std::ranges::find(row->storages, p.storage.kind()) != row->storages.end()) {
      EXPECT_EQ(refusal(p), "");
    } else {
      EXPECT_NE(refusal(p).find("supports K and V that are dense, not paged"), std::string::npos) << refusal(p);
    }
    p.storage = {};
    p.layout = AxisOrder::blhd;
    if (std::ranges::find(row->layouts, p.layout) != row->layouts.end()) {
      EXPECT_EQ(refusal(p), "");
    } else {
      EXPECT_NE(refusal(p).find("supports axes in the order bhld, not blhd"), std::string::npos) << refusal(p);
    }
    p.layout = AxisOrder::bhld;
    p.dtype = row->dtypes.back();
    if (p.dtype == DType::f32 || p.pass == Pass::backward) continue;  // O is f32, or read
    p.output = OutputType::f32;
    if (std::ranges::find(row->outputs, p.output) != row->outputs.end()) {
      EXPECT_EQ(refusal(p), "");
    } else {
      EXPECT_NE(refusal(p).find("stores O only in the dtype of Q, K and V"), std::string::npos) << refusal(p);
    }
  }
}

}  // namespace
}  // namespace attn
