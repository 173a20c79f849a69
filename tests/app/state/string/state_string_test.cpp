#include "app/state/string/state_string.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "tests/kernels/temp_folder.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

std::string error_of(const std::string& text) {
  const auto parsed = parse_state_string(text);
  return parsed ? "" : parsed.error().message;
}

// What a state string carries, as text: equal text, equal view.
void expect_round_trip(const State& s) {
  const auto text = state_string(s);
  ASSERT_TRUE(text) << text.error().message;
  const auto parsed = parse_state_string(*text);
  ASSERT_TRUE(parsed) << *text << "\n" << parsed.error().message;
  EXPECT_TRUE(parsed->state.document == s.document) << *text;
  EXPECT_EQ(parsed->state.view.step.cursor, s.view.step.cursor) << *text;
  EXPECT_EQ(parsed->state.view.workspace, s.view.workspace) << *text;
  EXPECT_EQ(parsed->state.view.step.reading, s.view.step.reading) << *text;
  EXPECT_EQ(parsed->state.view.step.chart, s.view.step.chart) << *text;
  EXPECT_EQ(parsed->state.view.bench.value, s.view.bench.value) << *text;
  EXPECT_EQ(parsed->state.view.step.bookmarks, s.view.step.bookmarks) << *text;
  EXPECT_EQ(*state_string(parsed->state), *text);
}

TEST(StateString, TheFirstWindowIsShort) {
  EXPECT_EQ(*state_string(initial_state()), "attn1,preset=blackboard");
}

TEST(StateString, EveryPresetComesBack) {
  for (const Preset& p : presets()) expect_round_trip(*with_preset(initial_state(), p.id));
}

TEST(StateString, AnyStateComesBack) {
  std::mt19937_64 random(5);
  const auto pick = [&](std::int64_t min, std::int64_t max) {
    return min + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max - min + 1));
  };
  for (int round = 0; round < 300; ++round) {
    State s = initial_state();
    Document& d = s.document;
    d.preset.clear();
    Problem& p = d.problem;
    p.B = pick(1, 3);
    p.Hkv = pick(1, 3);
    p.Hq = p.Hkv * pick(1, 3);
    p.Lq = pick(1, 40);
    p.Lk = pick(1, 40);
    p.D = pick(1, 16);
    p.Dv = pick(1, 16);
    p.dtype = static_cast<DType>(pick(0, 2));
    if (pick(0, 1) != 0) p.scale = static_cast<double>(pick(-1000, 1000)) / 7;
    p.mask.causal = pick(0, 1) != 0;
    p.mask.window_left = pick(-1, 9);
    if (pick(0, 2) == 0) p.mask.key_lengths.assign(static_cast<std::size_t>(p.B), pick(0, p.Lk));
    if (pick(0, 2) == 0) p.bias_shape = {1, p.Hq, p.Lq, p.Lk};
    d.options.br = static_cast<std::int32_t>(pick(0, 64));
    d.options.key_order = static_cast<KeyOrder>(pick(0, 1));
    d.options.accumulate = static_cast<DType>(pick(0, 2));
    const auto generators = all_generators();
    d.inputs.generator = generators[static_cast<std::size_t>(pick(0, std::ssize(generators) - 1))];
    d.inputs.seed = random();
    if (pick(0, 2) == 0) d.inputs.sentence = "über, 100 % & <b> / we";
    for (std::int64_t i = 0; i < std::min<std::int64_t>(5, p.Lq * p.D); ++i) {
      d.inputs.edits.push_back(
          {InputTensor::q, i, std::ldexp(static_cast<float>(pick(-999, 999)), static_cast<int>(pick(-90, 90)))});
    }
    d.inputs.edits.push_back({InputTensor::v, 0, -INFINITY});
    d.kernel = "cpu_tiled";
    d.selection = fitted({static_cast<std::int32_t>(pick(0, 9)), static_cast<std::int32_t>(pick(0, 9)),
                          static_cast<std::int32_t>(pick(0, 99)), static_cast<Slot>(pick(0, 12)),
                          static_cast<std::int32_t>(pick(-1, 99))},
                         p);
    d.sweep.axis = all_axes().at(static_cast<std::size_t>(pick(0, 6)));
    d.sweep.values = {pick(1, 9999), pick(1, 9999)};
    d.sweep.base.Hq = d.sweep.base.Hkv = pick(1, 8);
    d.sweep.seconds_per_point = 0.1;
    s.view.step.cursor = static_cast<EventIndex>(pick(0, 0xffffffffLL));
    for (std::int64_t n = pick(0, 3); n > 0; --n) {
      const auto tile = [&] { return static_cast<std::int32_t>(pick(-1, 9)); };
      s.view.step.bookmarks.push_back(
          {{static_cast<std::int32_t>(n), 0, tile(), tile(), static_cast<Phase>(pick(0, 16))},
           static_cast<std::int32_t>(pick(0, 2))});
    }
    s.view.workspace = static_cast<Workspace>(pick(0, 3));
    s.view.step.reading = static_cast<OutputReading>(pick(0, 1));
    s.view.step.chart = static_cast<StepChart>(pick(0, 6));
    if (pick(0, 1) != 0) s.view.bench.value = pick(1, 99);
    s.view.bench.page = static_cast<BenchPage>(pick(0, 4));
    d.sweep.tuned = pick(0, 1) != 0;
    if (pick(0, 1) != 0) s.view.bench.sources = {"naive", "flash_mma"};
    s.view.step.fragment_kernel = pick(0, 1) == 0 ? "flash_mma" : "flash_hopper";
    s.view.step.fragment_tile = static_cast<FragmentTile>(pick(0, 5));
    expect_round_trip(s);
  }
}

TEST(StateString, ASentenceThatIsNoneIsRefusedWithItsPlace) {
  const auto alone = parse_state_string("attn1,preset=words,sentence=alone");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("key 'sentence': The sentence has 1 word; type 2 to 24"), std::string::npos)
      << alone.error().message;
  const auto control = parse_state_string("attn1,preset=words,sentence=a%07b%20c");
  ASSERT_FALSE(control);
  EXPECT_NE(control.error().message.find("control character at byte 2"), std::string::npos);
}

// 13 words, 5 letters that they begin with.
TEST(StateString, ASentenceHasItsOwnShapeUnlessTheStringSaysOtherwise) {
  const std::string words = "sentence=a%20b%20c%20d%20e%20a%20b%20c%20d%20e%20a%20b%20c";
  for (const std::string& text : {"attn1,preset=words," + words, "attn1," + words + ",preset=words"}) {
    const auto state = parse_state_string(text);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->state.document.problem.Lq, 13);
    EXPECT_EQ(state->state.document.problem.Lk, 13);
    EXPECT_EQ(state->state.document.problem.D, 5);
    expect_round_trip(state->state);
  }
  const auto shorter = parse_state_string("attn1,preset=words,L=12," + words);
  ASSERT_TRUE(shorter) << shorter.error().message;
  EXPECT_EQ(shorter->state.document.problem.Lk, 12);
  EXPECT_EQ(shorter->state.document.problem.D, 5);
  expect_round_trip(shorter->state);
  const auto usual = parse_state_string("attn1,preset=words,sentence=usual");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->state.document.problem.Lk, 12);
}

// Both doors lead to the same view: the menu's and the string's. A string that names a step keeps what it meant.
TEST(StateString, TheWordsOpenAtTheirLastOneUnlessAStepIsNamed) {
  ControllerOptions options;
  options.state = initial_state();
  Controller menu(std::move(options));
  menu.update({ChoosePreset{"words"}});
  const auto opened = open_state_string("attn1,preset=words");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->document.selection.row, 11);
  EXPECT_EQ(opened->view.step.chart, StepChart::sentence);
  EXPECT_GT(opened->view.step.cursor, 0U);
  EXPECT_EQ(opened->view.step.cursor, menu.state().view.step.cursor);
  EXPECT_EQ(opened->document.selection, menu.state().document.selection);
  EXPECT_EQ(opened->view.step.chart, menu.state().view.step.chart);
  const auto own = open_state_string("attn1,preset=words,sentence=we%20can%20can%20a%20can,chart=row");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->document.selection.row, 4);
  EXPECT_EQ(own->view.step.chart, StepChart::row);
  EXPECT_GT(own->view.step.cursor, 0U);
  const auto named = open_state_string("attn1,preset=words,cursor=3");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->view.step.cursor, 3U);
  EXPECT_EQ(named->document.selection.row, 0);
  // Its first step, too, comes back as it was copied.
  State first = menu.state();
  first.view.step.cursor = 0;
  const auto text = state_string(first);
  ASSERT_TRUE(text) << text.error().message;
  const auto again = open_state_string(*text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->view.step.cursor, 0U);
  EXPECT_EQ(again->document.selection, first.document.selection);
}

TEST(StateString, ASentenceOfOnesOwnComesBackWithItsShapeAndItsArcs) {
  const auto state = with_sentence(initial_state(), "we can can a can");
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->document.problem.Lk, 5);
  EXPECT_EQ(state->document.problem.D, 3);
  EXPECT_EQ(state->view.step.chart, StepChart::sentence);
  expect_round_trip(*state);
  EXPECT_FALSE(with_sentence(initial_state(), ""));
  EXPECT_FALSE(with_sentence(initial_state(), "alone"));
}

TEST(StateString, PagesComeBackAndAPoolThatIsNotTheUsualOneIsNamed) {
  State s = initial_state();
  s.document.preset.clear();
  s.document.problem.B = 2;
  s.document.problem.Lk = 10;
  s.document.problem = with_pages(s.document.problem, 4);
  expect_round_trip(s);
  EXPECT_NE(state_string(s)->find(",page=4"), std::string::npos);
  EXPECT_EQ(state_string(s)->find("page=4/"), std::string::npos);
  s.document.problem.storage.pages = 20;
  expect_round_trip(s);
  EXPECT_NE(state_string(s)->find(",page=4/20"), std::string::npos);
  s.document.sweep.base = with_pages(s.document.sweep.base, 64);
  expect_round_trip(s);
  s.document.inputs.pages = PageOrder::in_order;
  expect_round_trip(s);
  EXPECT_NE(state_string(s)->find(",page_order=in_order"), std::string::npos);
  EXPECT_FALSE(parse_state_string("attn1,preset=pages,page_order=sorted"));
  EXPECT_FALSE(parse_state_string("attn1,preset=blackboard,page=257"));
  EXPECT_FALSE(parse_state_string("attn1,preset=blackboard,page=-1"));
}

// The strings of problems without them stay what they were: the writer gives what differs.
TEST(StateString, SoftcapAndAlibiComeBackAndAreLeftOutWhereThereAreNone) {
  State s = initial_state();
  EXPECT_EQ(state_string(s)->find("softcap"), std::string::npos);
  EXPECT_EQ(state_string(s)->find("alibi"), std::string::npos);
  s.document.preset.clear();
  s.document.problem.softcap = 12.5;
  s.document.problem.Hq = s.document.problem.Hkv = 2;
  s.document.sweep.base.softcap = 30;
  for (const auto& slopes : {std::vector<float>{}, {0.1F, -2}, {1e-20F, 3}}) {
    s.document.problem.alibi = slopes;
    s.document.sweep.base.alibi.emplace();
    expect_round_trip(s);
  }
  EXPECT_NE(state_string(s)->find("alibi=1e-20/3"), std::string::npos) << *state_string(s);
  EXPECT_NE(state_string(s)->find("sweep_alibi=usual"), std::string::npos) << *state_string(s);
  // The usual slopes, written out, are the usual ones.
  const auto parsed = parse_state_string("attn1,H=2,alibi=0.0625/0.00390625");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->state.document.problem.alibi && parsed->state.document.problem.alibi->empty());
  for (const char* bad : {"softcap=0", "softcap=-1", "softcap=nan", "softcap=inf", "softcap=", "alibi=1/2/3",
                          "alibi=", "alibi=x", "alibi=1e99", "alibi=1//2"}) {
    EXPECT_FALSE(error_of(std::string("attn1,") + bad).empty()) << bad;
  }
}

TEST(StateString, KeysMeanTheSameInEveryOrder) {
  std::vector<std::string_view> keys{"B=2",
                                     "H=4/2",
                                     "L=9/12",
                                     "page=4",
                                     "keys=4/12",
                                     "alibi=0.25/0.0625/0.015625/0.00390625",
                                     "kernel=flash_splitkv",
                                     "select=1/3/8/s/11"};
  std::ranges::sort(keys);
  const auto text_of = [&] { return fmt::format("attn1,preset=none,{}", fmt::join(keys, ",")); };
  const auto first = parse_state_string(text_of());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->state.document.problem.alibi->empty());
  EXPECT_EQ(first->state.document.problem.storage, with_pages(first->state.document.problem, 4).storage);
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    std::ranges::shuffle(keys, random);
    const auto parsed = parse_state_string(text_of());
    ASSERT_TRUE(parsed) << text_of() << ": " << parsed.error().message;
    EXPECT_EQ(*state_string(parsed->state), *state_string(first->state)) << text_of();
  }
}

TEST(StateString, HoldsOnlyCharactersThatNoShellTouches) {
  State s = *with_preset(initial_state(), "bias");
  const TempFolder temporary;
  const auto folder = temporary / "attnscope state $HOME;'\"\n ü";
  std::filesystem::create_directories(folder);
  s.document.inputs.q_file = (folder / "q.npy").string();
  std::ofstream(s.document.inputs.q_file) << "not read by the string";
  const auto text = state_string(s);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/:=,@%+"),
            std::string::npos)
      << *text;
  const auto opened = open_state_string(*text);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->document.inputs.q_file, s.document.inputs.q_file);
  std::ofstream(s.document.inputs.q_file) << "other bytes";
  const auto changed = open_state_string(*text);
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("has changed"), std::string::npos);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(open_state_string(*text));
}

TEST(StateString, TooManyEditsAskForAFile) {
  State s = *with_preset(initial_state(), "large");
  for (int i = 0; i < 2000; ++i) s.document.inputs.edits.push_back({InputTensor::q, i, 0.5F});
  const auto text = state_string(s);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("save a file instead"), std::string::npos);
}

TEST(StateString, APresetWithAChangeIsMadeByHand) {
  const auto parsed = parse_state_string("attn1,preset=blackboard,L=6");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->state.document.problem.Lk, 6);
  EXPECT_EQ(parsed->state.document.preset, "");
}

TEST(StateString, SaysWhereAndWhatIsWrong) {
  EXPECT_NE(error_of("attn2,preset=blackboard").find("'attn2'"), std::string::npos);
  EXPECT_NE(error_of("").find("starts with"), std::string::npos);
  EXPECT_NE(error_of("hello").find("starts with"), std::string::npos);
  EXPECT_NE(error_of("attn1,colour=red").find("'colour': unknown key"), std::string::npos);
  EXPECT_NE(error_of("attn1,L=6,L=7").find("twice"), std::string::npos);
  EXPECT_NE(error_of("attn1,L").find("needs '='"), std::string::npos);
  EXPECT_NE(error_of("attn1,preset=none,L=0").find("character 19, key 'L'"), std::string::npos);
  // A sentence ends once, whoever wrote it.
  for (const char* state : {"attn1,preset=xyz", "attn1,preset=none,L=0", "attn1,cursor=xyz"})
    EXPECT_FALSE(error_of(state).ends_with("..")) << error_of(state);
  EXPECT_NE(error_of("attn1,L=99999999999999999999").find("not an integer"), std::string::npos);
  EXPECT_NE(error_of("attn1,causal=yes").find("use 0 or 1"), std::string::npos);
  EXPECT_NE(error_of("attn1,kernel=cpu_fast").find("cpu_flash"), std::string::npos);
  EXPECT_NE(error_of("attn1,select=0/0/99/s/0").find("'select'"), std::string::npos);
  EXPECT_NE(error_of("attn1,edits=q:99999:1").find("'edits'"), std::string::npos);
  EXPECT_NE(error_of("attn1,edits=q:1:1/q:1:2").find("each cell once"), std::string::npos);
  EXPECT_NE(error_of("attn1,cursor=-1").find("'cursor'"), std::string::npos);
  EXPECT_NE(error_of("attn1,bookmarks=0:0:0:0:max").find("BATCH:HEAD:I:J:PHASE:PASS"), std::string::npos);
  EXPECT_NE(error_of("attn1,bookmarks=0:0:0:0:noon:0").find("unknown phase 'noon'"), std::string::npos);
  EXPECT_NE(error_of("attn1,bookmarks=0:0:0:0:max:0/0:0:0:0:max:0").find("twice"), std::string::npos);
  EXPECT_NE(error_of("attn1,scale=nan").find("finite"), std::string::npos);
  EXPECT_NE(error_of("attn1,q_file=a.npy").find("PATH@HASH"), std::string::npos);
  EXPECT_NE(error_of("attn1,q_file=%00@0123456789abcdef").find("not a character"), std::string::npos);
  EXPECT_NE(error_of("attn1,L=4;reboot").find("character 10"), std::string::npos);
  EXPECT_NE(error_of("attn1," + std::string(9000, 'a')).find("8192"), std::string::npos);
}

TEST(StateString, ChoicesOfBenchForTheGpuReadBack) {
  State s = initial_state();
  s.document.sweep.kernels = {"naive", "flash_simt"};
  s.document.sweep.gpu = 1;
  s.document.sweep.arch = "sm_80";
  s.document.sweep.l2 = L2State::warm;
  s.document.sweep.counters = false;
  s.view.bench.baseline = "tiled";
  s.view.bench.kernel = "flash_simt";
  const auto text = state_string(s);
  ASSERT_TRUE(text);
  const auto back = parse_state_string(*text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->state.document == s.document);
  EXPECT_EQ(back->state.view.bench.baseline, "tiled");
  EXPECT_EQ(back->state.view.bench.kernel, "flash_simt");
  EXPECT_FALSE(parse_state_string("attn1,sweep_arch=sm_10"));
  EXPECT_FALSE(parse_state_string("attn1,baseline=nothing"));
}

// Of every preset and some seeds, by CPU kernels: what a session keeps leads back to where its numbers came from, as
// long as the file holds the very run that they make.
TEST(SessionState, PresetGeneratorAndSeedComeBackWhereTheRunIsTheirs) {
  int restored = 0;
  for (const Preset& p : presets()) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}}) {
      auto next = apply(initial_state(), StateCommand(StepCommand(ChoosePreset{std::string(p.id)})), nullptr);
      ASSERT_TRUE(next) << p.id;
      State saved = *next;
      if (seed != 0 && uses_seed(saved.document.inputs.generator)) {
        saved.document.inputs.seed = seed;
        saved.document.preset.clear();
      }
      auto rec = record_document(saved.document, {});
      if (!rec || rec->bytes() > (1 << 20)) continue;
      State opened = initial_state();
      take_recording(*rec, "saved.attn", opened.document);
      ASSERT_FALSE(opened.document.inputs.q_file.empty());
      const Document with_file = opened.document;
      EXPECT_TRUE(restore_inputs(session_state(saved), *rec, opened.document)) << p.id;
      EXPECT_EQ(opened.document.preset, saved.document.preset);
      EXPECT_TRUE(opened.document.inputs == saved.document.inputs) << p.id;
      ++restored;
      // A file whose run is another keeps its own numbers.
      rec->arena.at(rec->arena.size() / 2) += 1;
      opened.document = with_file;
      EXPECT_FALSE(restore_inputs(session_state(saved), *rec, opened.document)) << p.id;
      EXPECT_TRUE(opened.document == with_file);
    }
  }
  EXPECT_GE(restored, 10);
}

TEST(SessionState, NamesNoFileOfTheMachineThatSavedIt) {
  State s = initial_state();
  s.document.inputs.q_file = "/home/someone/q.npy";
  EXPECT_EQ(session_state(s).find("someone"), std::string::npos);
}

// "attn1,pass=backward" names no kernel: that of the first window takes forwards alone.
TEST(StateString, APassWithoutAKernelHasOneThatTakesIt) {
  const auto state = open_state_string("attn1,pass=backward");
  ASSERT_TRUE(state.has_value());
  const auto row = find_kernel(state->document.kernel);
  ASSERT_TRUE(row.has_value());
  EXPECT_TRUE(takes_pass(**row, Pass::backward)) << state->document.kernel;
  EXPECT_NE((*row)->record, nullptr);
  EXPECT_EQ(why_not_recordable(state->document), std::nullopt);
  // Who names a kernel has it, and it comes back although it takes another pass.
  const auto named = open_state_string("attn1,pass=backward,kernel=cpu_flash");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->document.kernel, "cpu_flash");
  const auto text = state_string(*named);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(open_state_string(*text)->document.kernel, "cpu_flash") << *text;
}

}  // namespace
}  // namespace attn
