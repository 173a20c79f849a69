// A recording that is made some of it at a time: the bits of one made in one go wherever it pauses, and nothing left of
// one that is dropped half made.
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/backward/forward.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/recording_run.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"

namespace attn {
namespace {

struct Case {
  std::string name, kernel;  // of one kernel alone, or of all forwards
  Problem p;
  Options o;
};

Problem shape(std::int64_t lq, std::int64_t lk, std::int64_t d, std::int64_t dv, DType t = DType::f32) {
  Problem p;
  p.Lq = lq;
  p.Lk = lk;
  p.D = d;
  p.Dv = dv;
  p.dtype = t;
  return p;
}

Options tile(std::int32_t br, std::int32_t bc) {
  Options o;
  o.br = br;
  o.bc = bc;
  return o;
}

Options with(Options o, const Option& option, std::int64_t value) {
  choose(o, option, value);
  return o;
}

std::vector<Case> forwards() {
  Problem causal = shape(17, 23, 5, 7, DType::bf16);
  causal.mask.causal = true;
  Problem heads = shape(6, 20, 8, 4, DType::f16);
  heads.B = 2;
  heads.Hq = 4;
  heads.Hkv = 2;
  heads.mask.key_lengths = {20, 3};
  Problem biased = shape(9, 9, 4, 4);
  biased.bias_shape = {1, 1, 9, 9};
  // A tile that takes more than one step a phase, with rows left over.
  Problem wide = shape(203, 200, 64, 64);
  wide.softcap = 5;
  // Of these a step has fewer than sixteen rows, or keys.
  const Problem tall = shape(290, 40, 256, 256), broad = shape(40, 290, 256, 256);
  return {{"blackboard", "", shape(4, 4, 2, 2), tile(2, 2)},
          {"causal", "", causal, tile(4, 8)},
          {"heads", "", heads, tile(4, 8)},
          {"bias", "", biased, tile(4, 4)},
          {"wide tile", "", wide, tile(203, 200)},
          {"tall tile", "", tall, tile(290, 40)},
          {"broad tile", "", broad, tile(40, 290)},
          {"many tiles", "", shape(40, 64, 16, 16), tile(8, 16)}};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Case& c : forwards()) {
    for (const KernelRow& row : cpu_kernel_table()) all.push_back({c.name, std::string(row.id), c.p, c.o});
  }
  Options tree = with(with(tile(4, 4), kSplits, 5), kMerge, 1);
  all.push_back({"parts", "cpu_flash", shape(10, 30, 6, 5, DType::f16), with(tile(4, 4), kSplits, 3)});
  all.push_back({"parts as a tree", "cpu_flash", shape(10, 30, 6, 5), tree});
  all.push_back({"ring", "cpu_flash", shape(16, 16, 4, 4), with(tile(2, 2), kRanks, 4)});
  all.push_back({"pipeline", "cpu_flash", shape(4, 32, 4, 4), with(tile(2, 4), kPipeline, 1)});
  Options rounded = tile(4, 8);
  rounded.accumulate = DType::bf16;
  all.push_back({"rounded sums", "cpu_flash", shape(9, 20, 4, 4), rounded});
  Problem back = shape(16, 16, 4, 4);
  back.pass = Pass::backward;
  all.push_back({"ring backward", "cpu_flash_bwd", back, with(tile(2, 2), kRanks, 4)});
  for (const std::int64_t outside : {0, 1}) {
    for (Case c : forwards()) {
      if (c.p.dtype == DType::f16) continue;
      c.p.pass = Pass::backward;
      all.push_back({c.name + " backward", "cpu_flash_bwd", c.p, with(c.o, orders::backward::kOutside, outside)});
    }
  }
  return all;
}

Inputs inputs_of(const Problem& p) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 11;
  auto in = make_all_inputs(p, spec, in_turn, 0, Stream{});
  EXPECT_TRUE(in) << (in ? "" : in.error().message);
  return *std::move(in);
}

const KernelRow& kernel(const std::string& id) {
  for (const auto rows : {cpu_kernel_table(), cpu_backward_table()}) {
    for (const KernelRow& row : rows) {
      if (row.id == id) return row;
    }
  }
  throw std::out_of_range(id);
}

void expect_same(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.problem, b.problem);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.outputs.out, b.outputs.out);
  EXPECT_EQ(a.outputs.lse, b.outputs.lse);
  EXPECT_EQ(a.own_after, b.own_after);
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t e = 0; e < a.events.size(); ++e) {
    const Event &x = a.events[e], &y = b.events[e];
    ASSERT_TRUE(x.id == y.id && x.pass == y.pass && x.after == y.after && x.hbm_bytes == y.hbm_bytes) << "event " << e;
    ASSERT_EQ(a.find(x.id, x.pass), b.find(y.id, y.pass)) << "event " << e;
    for (std::size_t s = 0; s < slot_count(); ++s) {
      const auto slot = static_cast<Slot>(s);
      ASSERT_EQ(a.before(static_cast<EventIndex>(e), slot), b.before(static_cast<EventIndex>(e), slot))
          << "event " << e;
    }
  }
  ASSERT_EQ(a.versions.size(), b.versions.size());
  for (std::size_t v = 0; v < a.versions.size(); ++v) {
    const Version &x = a.versions[v], &y = b.versions[v];
    ASSERT_TRUE(x.offset == y.offset && x.rows == y.rows && x.cols == y.cols && x.first_row == y.first_row &&
                x.first_col == y.first_col && x.made_by == y.made_by && x.slot == y.slot && x.holds == y.holds)
        << "version " << v;
  }
  ASSERT_EQ(a.arena.size(), b.arena.size());
  EXPECT_EQ(std::memcmp(a.arena.data(), b.arena.data(), a.arena.size() * sizeof(float)), 0);
}

// Pauses wherever it is asked to.
Recording in_slices(const Case& c, const Inputs& in, int& slices) {
  const KernelRow& row = kernel(c.kernel);
  auto run = row.begin_recording(row, c.p, c.o, in, {});
  EXPECT_TRUE(run) << (run ? "" : run.error().message);
  for (slices = 1;; ++slices) {
    const auto whole = (*run)->go_on([] { return true; });
    EXPECT_TRUE(whole) << (whole ? "" : whole.error().message);
    if (!whole || *whole) break;
  }
  return (*run)->take();
}

TEST(RecordingRun, EveryCpuKernelThatRecordsDoesSoInSlices) {
  for (const auto rows : {cpu_kernel_table(), cpu_backward_table()}) {
    for (const KernelRow& row : rows) EXPECT_EQ(row.record == nullptr, row.begin_recording == nullptr) << row.id;
  }
}

TEST(RecordingRun, InSlicesItHasTheBitsOfOneGoInEveryKernel) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name + " " + c.kernel);
    const Inputs in = inputs_of(c.p);
    const KernelRow& row = kernel(c.kernel);
    const auto at_once = row.record(row, c.p, c.o, in, {});
    ASSERT_TRUE(at_once) << at_once.error().message;
    int slices = 0;
    const Recording made = in_slices(c, in, slices);
    expect_same(made, *at_once);
    const auto difference = replay(made);
    EXPECT_FALSE(difference) << difference->words;
  }
}

// So that no slice is longer than a step, however large the tile.
TEST(RecordingRun, ALargeTileIsMadeInManySlices) {
  Problem forward = shape(512, 512, 64, 64), backward = forward;
  backward.pass = Pass::backward;
  std::vector<Case> large;
  for (const KernelRow& row : cpu_kernel_table()) large.push_back({"", std::string(row.id), forward, tile(512, 512)});
  for (const std::int64_t outside : {0, 1})
    large.push_back({"", "cpu_flash_bwd", backward, with(tile(512, 512), orders::backward::kOutside, outside)});
  for (const Case& c : large) {
    int slices = 0;
    in_slices(c, inputs_of(c.p), slices);
    EXPECT_GT(slices, c.p.pass == Pass::backward ? 90 : 40) << c.kernel;
  }
}

// Sixteen of them are sixteen million multiply-adds.
TEST(RecordingRun, LongRowsAreMadeOneByOne) {
  const Case c{"", "cpu_flash", shape(16, 4096, 256, 256), tile(16, 4096)};
  int slices = 0;
  in_slices(c, inputs_of(c.p), slices);
  EXPECT_GT(slices, 2 * 16);
}

// Exactly, but where a mask hides whole key tiles from all, and in a ring: there at most so much.
TEST(RecordingRun, WhatItWillHoldIsKnownBefore) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name + " " + c.kernel);
    const KernelRow& row = kernel(c.kernel);
    const auto rec = row.record(row, c.p, c.o, inputs_of(c.p), {});
    ASSERT_TRUE(rec);
    const RecordingSize size = recording_size(rec->order, c.p, rec->options);
    EXPECT_GE(size.events, rec->events.size());
    EXPECT_GE(size.versions, rec->versions.size());
    EXPECT_GE(size.floats, rec->arena.size());
    if (!c.p.mask.key_lengths.empty() || c.name == "ring") continue;
    // A rank sends once a turn: counted with each key tile.
    if (c.name != "ring backward") {
      EXPECT_EQ(size.events, rec->events.size());
    }
    EXPECT_EQ(size.versions, rec->versions.size());
    EXPECT_EQ(size.floats, rec->arena.size());
  }
}

// Alive until the last that may ask it is gone.
struct Token {
  std::shared_ptr<std::atomic<bool>> asked;
  bool stop_requested() const { return *asked; }
};

TEST(RecordingRun, DroppedOrStoppedHalfMadeItLeavesNothingBehind) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name + " " + c.kernel);
    const KernelRow& row = kernel(c.kernel);
    const Inputs in = inputs_of(c.p);
    int all = 0;
    in_slices(c, in, all);
    for (const int after : {0, all / 3, all / 2, all - 1}) {
      auto asked = std::make_shared<std::atomic<bool>>(false);
      const std::weak_ptr<std::atomic<bool>> watched = asked;
      auto run = row.begin_recording(row, c.p, c.o, in, Stop(Token{std::move(asked)}));
      ASSERT_TRUE(run);
      for (int slice = 0; slice < after; ++slice) ASSERT_FALSE(*(*run)->go_on([] { return true; }));
      watched.lock()->store(true);
      const auto stopped = (*run)->go_on({});
      ASSERT_FALSE(stopped);
      EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
      run->reset();
      EXPECT_TRUE(watched.expired());
    }
  }
}

}  // namespace
}  // namespace attn
