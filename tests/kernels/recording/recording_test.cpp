// A recording is the kernel's own run: same answer, replayable bit for bit, sized before it is made.
#include "kernels/recording/recording.h"

#include <cmath>
#include <stop_token>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/traffic.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"

namespace attn {
namespace {

struct Case {
  std::string name;
  Problem p;
  Options o;
  Generator generator = Generator::normal;
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

std::vector<Case> cases() {
  std::vector<Case> out;
  const auto add = [&](std::string name, Problem p, std::int32_t br, std::int32_t bc, Generator g = Generator::normal) {
    Case c{std::move(name), std::move(p), {}, g};
    c.o.br = br;
    c.o.bc = bc;
    out.push_back(c);
  };
  add("blackboard", shape(4, 4, 2, 2), 2, 2, Generator::blackboard);
  add("one", shape(1, 1, 1, 1), 1, 1);
  add("ragged", shape(7, 10, 6, 5), 4, 4);
  add("tile larger than L", shape(3, 5, 8, 8), 64, 64);
  add("f16", shape(9, 17, 8, 8, DType::f16), 4, 8);
  add("bf16", shape(9, 17, 8, 8, DType::bf16), 4, 8);
  Problem causal = shape(16, 12, 8, 8);
  causal.mask.causal = true;
  add("causal with rows that see no key", causal, 4, 4);
  Problem window = shape(16, 16, 8, 8);
  window.mask.window_left = 3;
  window.mask.window_right = 1;
  add("window", window, 4, 4);
  Problem heads = shape(6, 20, 8, 4);
  heads.B = 2;
  heads.Hq = 4;
  heads.Hkv = 2;
  heads.mask.key_lengths = {20, 3};
  add("heads and key lengths", heads, 4, 8);
  Problem biased = shape(8, 8, 4, 4);
  biased.bias_shape = {1, 1, 8, 8};
  add("bias", biased, 4, 4);
  add("large logits", shape(16, 16, 8, 8), 4, 4, Generator::large_logits);
  add("non-finite", shape(16, 16, 8, 8), 4, 4, Generator::non_finite);
  add("keys beyond one vector", shape(5, 70, 33, 20), 3, 35);
  return out;
}

Inputs inputs_of(const Case& c) {
  InputSpec spec;
  spec.generator = c.generator;
  spec.seed = 3;
  Result<Inputs> in = make_inputs(c.p, spec);
  EXPECT_TRUE(in) << (in ? "" : in.error().message);
  return *in;
}

TEST(Recording, ReplayGivesTheKernelsBitsInEveryOrderMaskAndDtype) {
  for (const Case& c : cases()) {
    const Inputs in = inputs_of(c);
    for (const KernelRow& row : cpu_kernel_table()) {
      SCOPED_TRACE(c.name + " " + std::string(row.id));
      const Result<Recording> rec = row.record(row, c.p, c.o, in, {});
      ASSERT_TRUE(rec) << rec.error().message;
      const auto difference = replay(*rec);
      EXPECT_FALSE(difference) << difference->words;
    }
  }
}

TEST(Recording, HoldsWhatTheKernelAnswersOutsideARecording) {
  for (const Case& c : cases()) {
    const Inputs in = inputs_of(c);
    for (const KernelRow& row : cpu_kernel_table()) {
      SCOPED_TRACE(c.name + " " + std::string(row.id));
      const Result<Recording> rec = row.record(row, c.p, c.o, in, {});
      const Result<Outputs> run = run_on_cpu(row, c.p, c.o, in, 0, {});
      ASSERT_TRUE(rec && run);
      EXPECT_EQ(rec->outputs.out, run->out);
      EXPECT_EQ(rec->outputs.lse, run->lse);
    }
  }
}

TEST(Recording, ReplayNoticesAChangedNumber) {
  const Case c = cases()[2];
  const KernelRow* row = *find_kernel("cpu_flash");
  Recording rec = *row->record(*row, c.p, c.o, inputs_of(c), {});
  for (const Slot slot : {Slot::s, Slot::p, Slot::m_new, Slot::l_new, Slot::o_new}) {
    for (std::size_t v = 0; v < rec.versions.size(); ++v) {
      // The m, l, O of before the first key tile are no result of an event.
      if (rec.versions[v].slot != slot) continue;
      float& x = rec.arena[rec.versions[v].offset];
      const float kept = x;
      x += 0.5F;
      EXPECT_TRUE(replay(rec)) << name_of(slot) << " version " << v;
      x = kept;
    }
  }
}

// Numbers that no later step would betray: those of the inputs, and of m before any key was seen.
TEST(Recording, ReplayNoticesInputsAndAFirstStateThatAreNotTheRecordings) {
  const Case c = cases()[2];
  for (const KernelRow& row : cpu_kernel_table()) {
    SCOPED_TRACE(std::string(row.id));
    const Recording sound = *row.record(row, c.p, c.o, inputs_of(c), {});
    for (Array Inputs::*tensor : {&Inputs::q, &Inputs::k, &Inputs::v}) {
      Recording rec = sound;
      Array& a = rec.inputs.*tensor;
      a.set(a.size() - 1, a.get(a.size() - 1) + 1);
      const auto difference = replay(rec);
      ASSERT_TRUE(difference);
      EXPECT_NE(difference->words.find("load"), std::string::npos) << difference->words;
    }
    Recording rec = sound;
    std::size_t forged = 0;
    for (const Version& v : rec.versions) {
      if (v.slot != Slot::m_old) continue;
      rec.arena[v.offset] = -1e30F;
      ++forged;
    }
    EXPECT_EQ(replay(rec).has_value(), forged > 0);
  }
}

TEST(Recording, ReplayEndsWhenItIsAskedTo) {
  const Case c = cases()[2];
  const KernelRow* row = *find_kernel("cpu_flash");
  Recording rec = *row->record(*row, c.p, c.o, inputs_of(c), {});
  rec.arena.assign(rec.arena.size(), 7);
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(replay(rec, source.get_token()));
  EXPECT_TRUE(replay(rec));
}

TEST(Recording, SizeIsKnownBeforeItIsMade) {
  for (const Case& c : cases()) {
    const Inputs in = inputs_of(c);
    for (const KernelRow& row : cpu_kernel_table()) {
      SCOPED_TRACE(c.name + " " + std::string(row.id));
      const Recording rec = *row.record(row, c.p, c.o, in, {});
      const std::uint64_t predicted = recording_bytes(row.order, c.p, rec.options);
      EXPECT_GE(predicted, rec.bytes());
      EXPECT_LE(static_cast<double>(predicted), 1.05 * static_cast<double>(rec.bytes()) + 64);
    }
  }
}

TEST(Recording, BytesOfItsEventsAreTheTileLoadsOfTheProblem) {
  for (const Case& c : cases()) {
    const Inputs in = inputs_of(c);
    for (const KernelRow& row : cpu_kernel_table()) {
      SCOPED_TRACE(c.name + " " + std::string(row.id));
      const Recording rec = *row.record(row, c.p, c.o, in, {});
      const Traffic whole = tile_loads(row, c.p, rec.options);
      for (std::size_t part = 0; part < kTrafficParts; ++part)
        EXPECT_EQ(rec.events.back().hbm_bytes[part], whole.read[part] + whole.written[part]) << "part " << part;
    }
  }
}

TEST(Recording, TooLargeIsRefusedWithItsSizeAndTheLargestLengthThatFits) {
  Problem p = shape(1 << 20, 1 << 20, 64, 64);
  Options o;
  o.br = o.bc = 64;
  const Result<void> refused = check_recordable(Order::flash, p, o);
  ASSERT_FALSE(refused);
  const std::string& words = refused.error().message;
  const std::size_t at = words.find("L = ");
  ASSERT_NE(at, std::string::npos) << words;
  p.Lq = p.Lk = std::stoll(words.substr(at + 4));
  EXPECT_TRUE(check_recordable(Order::flash, p, o));
  p.Lq = p.Lk = p.Lk + 1;
  EXPECT_FALSE(check_recordable(Order::flash, p, o));
}

TEST(Recording, FindsEveryEventByItsPlace) {
  for (const Case& c : cases()) {
    for (const KernelRow& row : cpu_kernel_table()) {
      const Recording rec = *row.record(row, c.p, c.o, inputs_of(c), {});
      for (EventIndex e = 0; e < rec.events.size(); ++e) {
        const auto found = rec.find(rec.events[e].id, rec.events[e].pass);
        ASSERT_TRUE(found);
        EXPECT_EQ(*found, e) << c.name << " " << row.id << " " << name_of(rec.events[e].id.phase);
      }
      EXPECT_FALSE(rec.find({0, 0, 9999, 0, Phase::scores}));
    }
  }
}

TEST(Recording, VisitsKeysFromRightToLeftWhenAsked) {
  Case c = cases()[2];
  c.o.key_order = KeyOrder::right_to_left;
  const KernelRow* row = *find_kernel("cpu_flash");
  const Recording rec = *row->record(*row, c.p, c.o, inputs_of(c), {});
  EXPECT_FALSE(replay(rec));
  EXPECT_LT(*rec.find({0, 0, 0, 2, Phase::scores}), *rec.find({0, 0, 0, 0, Phase::scores}));
}

TEST(Recording, WithoutTheMaximumLargeScoresOverflow) {
  Case c{"", shape(16, 16, 8, 8), {}, Generator::large_logits};
  c.o.br = c.o.bc = 4;
  c.o.subtract_max = false;
  const KernelRow* row = *find_kernel("cpu_flash");
  const Recording rec = *row->record(*row, c.p, c.o, inputs_of(c), {});
  EXPECT_FALSE(replay(rec));
  bool overflow = false;
  for (const Version& v : rec.versions) {
    if (v.slot == Slot::p) overflow |= std::isinf(rec.arena[v.offset]);
  }
  EXPECT_TRUE(overflow);
}

TEST(Recording, NarrowAccumulationIsReplayedTooAndDiffers) {
  Case c{"", shape(16, 64, 8, 8), {}, Generator::normal};
  c.o.br = c.o.bc = 8;
  const KernelRow* row = *find_kernel("cpu_flash");
  const Recording wide = *row->record(*row, c.p, c.o, inputs_of(c), {});
  for (const DType t : {DType::f16, DType::bf16}) {
    c.o.accumulate = t;
    const Recording rec = *row->record(*row, c.p, c.o, inputs_of(c), {});
    const auto difference = replay(rec);
    EXPECT_FALSE(difference) << difference->words;
    EXPECT_NE(rec.outputs.out, wide.outputs.out);
    for (const Version& v : rec.versions) {
      if (v.slot != Slot::l_new) continue;
      for (std::int32_t r = 0; r < v.rows; ++r) {
        const float x = rec.arena[v.offset + static_cast<std::size_t>(r)];
        EXPECT_EQ(x, round_to(t, x));
      }
    }
  }
}

TEST(Recording, CorrespondingPlaceInAnotherOrderIsTheSameTileAndTensor) {
  const Case c = cases()[2];
  const KernelRow* flash = *find_kernel("cpu_flash");
  const KernelRow* naive = *find_kernel("cpu_sequential");
  const Recording a = *flash->record(*flash, c.p, c.o, inputs_of(c), {});
  const Recording b = *naive->record(*naive, c.p, c.o, inputs_of(c), {});
  const EventIndex here = *a.find({0, 0, 1, 2, Phase::weights});
  const Event& there = b.events[nearest_event(a, here, b)];
  EXPECT_EQ(there.id, (EventId{0, 0, 1, 2, Phase::weights}));
  EXPECT_LT(nearest_event(a, *a.find({0, 0, 1, -1, Phase::normalise}), b), b.events.size());
}

}  // namespace
}  // namespace attn
