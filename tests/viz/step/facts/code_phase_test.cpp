// A phase of a kernel's source and its step are the same letter, there and back.
#include "viz/step/facts/code_phase.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

using gpu::CodePhase;

// Written down from the paper's algorithm, not from the table of the program.
TEST(CodePhaseOfAStep, IsTheLetterThatTheStepMakes) {
  const std::map<Phase, CodePhase> expected{
      {Phase::load_q, CodePhase::q},      {Phase::load_kv, CodePhase::k},
      {Phase::load_k, CodePhase::k},      {Phase::load_v, CodePhase::v},
      {Phase::load_state, CodePhase::q},  {Phase::scores, CodePhase::s},
      {Phase::mask, CodePhase::mask},     {Phase::store_s, CodePhase::store},
      {Phase::max, CodePhase::m},         {Phase::rescale, CodePhase::alpha},
      {Phase::weights, CodePhase::p},     {Phase::sum, CodePhase::l},
      {Phase::output, CodePhase::o},      {Phase::normalise, CodePhase::normalise},
      {Phase::store_o, CodePhase::store}, {Phase::store_state, CodePhase::store}};
  for (std::size_t n = 0; n < kPhases; ++n) {
    const auto phase = static_cast<Phase>(n);
    const auto code = code_phase_of(phase);
    if (phase == Phase::skipped) {
      EXPECT_FALSE(code);
      continue;
    }
    ASSERT_TRUE(code) << name_of(phase);
    EXPECT_EQ(*code, expected.at(phase)) << name_of(phase);
  }
}

TEST(CodePhaseOfAStep, OnlySetUpLoopAndBarriersHaveNoStepAndSaySo) {
  std::set<std::string> none;
  for (const CodePhase phase : gpu::all_code_phases())
    if (!why_no_step(phase).empty()) none.insert(std::string(gpu::name_of(phase)));
  EXPECT_EQ(none, (std::set<std::string>{"setup", "loop", "barrier", "untagged"}));
  EXPECT_NE(why_no_step(CodePhase::barrier).find("the paper has no step"), std::string::npos);
}

TEST(StepOfAPhase, IsTheFirstOfTheRunThatShowsItInEveryOrder) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("blackboard", kernel);
    for (const CodePhase phase : gpu::all_code_phases()) {
      const auto step = step_of(*rec, phase);
      // By hand: walk from the front until a step's letter is the phase's; V may come along with K.
      EventIndex first = kNoEvent;
      for (std::size_t e = 0; e < rec->events.size() && first == kNoEvent; ++e) {
        const Phase at = rec->events[e].id.phase;
        const bool with_k = phase == CodePhase::v && at == Phase::load_kv;
        if (with_k || code_phase_of(at) == phase) first = static_cast<EventIndex>(e);
      }
      if (phase == CodePhase::store && step) {
        EXPECT_EQ(code_phase_of(rec->events[*step].id.phase), CodePhase::store) << kernel;
        continue;  // O's own, where S is stored before it
      }
      EXPECT_EQ(step.has_value(), first != kNoEvent) << kernel << " " << gpu::name_of(phase);
      if (step) {
        EXPECT_EQ(*step, first) << kernel << " " << gpu::name_of(phase);
      }
    }
  }
}

TEST(StepOfAPhase, IsRefusedInWordsWhereTheRunHasNone) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  ASSERT_FALSE(rec->problem.mask.causal);
  const auto mask = step_of(*rec, CodePhase::mask);
  ASSERT_FALSE(mask);
  EXPECT_NE(mask.error().message.find("nothing is masked in this tile"), std::string::npos) << mask.error().message;
  const auto loop = step_of(*rec, CodePhase::loop);
  ASSERT_FALSE(loop);
  EXPECT_NE(loop.error().message.find("the paper has no step"), std::string::npos);
}

}  // namespace
}  // namespace attn
