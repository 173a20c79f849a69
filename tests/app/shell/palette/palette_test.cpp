// The command palette has all that the program can do: what is added to a table is in it.
#include "app/shell/palette/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <typeinfo>
#include <variant>

#include "app/control/controller.h"
#include "app/shell/keys/shortcuts.h"
#include "app/state/apply/apply.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/run.h"
#include "viz/bench/sweep/sweep_presets.h"

namespace attn {
namespace {

template <class T>
void collect(std::set<std::string>& names);
template <class... T>
void collect_all(const std::variant<T...>* /*list*/, std::set<std::string>& names) {
  (collect<T>(names), ...);
}
template <class T>
void collect(std::set<std::string>& names) {
  if constexpr (is_list_of_commands<T>)
    collect_all(static_cast<const T*>(nullptr), names);
  else
    names.insert(typeid(T).name());
}

std::string name_of_command(const Command& command) {
  return visit_command(command, [](const auto& c) { return std::string(typeid(c).name()); });
}

ListedRun a_run() {
  ListedRun r;
  r.run = new_run("attn1");
  r.run.name = "mine";
  return r;
}

class PaletteTest : public ::testing::Test {
 protected:
  PaletteTest() {
    ControllerOptions options;
    options.state = initial_state();
    controller_ = std::make_unique<Controller>(std::move(options));
    model_ = controller_->model();
    model_.runs.push_back(a_run());
    model_.files.push_back({"/somewhere/old.attn", "", false});
    state_ = controller_->state();
    const KernelRow& tiled = **find_kernel("tiled");
    state_.document.sweep.own = {*gpu::edit_of(tiled, "int x;\n", {})};
  }
  std::vector<PaletteEntry> entries() const { return palette_entries({state_, model_, can_undo_, false}); }
  const PaletteEntry* entry(const std::vector<PaletteEntry>& all, std::string_view words) const {
    const auto it = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.words == words; });
    return it == all.end() ? nullptr : &*it;
  }

  std::unique_ptr<Controller> controller_;
  Model model_;
  State state_;
  bool can_undo_ = false;
};

TEST_F(PaletteTest, EveryCommandIsThereUnlessItNeedsMoreThanAName) {
  std::set<std::string> wanted;
  collect<Command>(wanted);
  // A cell, typed texts and paths: what asks for them is there. A panel asks for the listing of a kernel and for
  // recorded timelines by itself, of which one is chosen and exported where they are, and the samples of a row are
  // asked for where the row is looked at. What a session or a draft offers is answered where it is asked; a try comes
  // back where the tries are, a limit of registers where a finding proposes it; several files are dropped; the menu of
  // peers looks for them when it is opened; the last are what lessons do by themselves.
  for (const char* name : {typeid(Select).name(),       typeid(GoToEvent).name(),      typeid(SetInputFiles).name(),
                           typeid(SaveSteps).name(),    typeid(RenameRun).name(),      typeid(SaveSessionAs).name(),
                           typeid(CopyText).name(),     typeid(ListKernel).name(),     typeid(SampleRow).name(),
                           typeid(ChooseAnswer).name(), typeid(CheckAnswer).name(),    typeid(TakeOwnKernels).name(),
                           typeid(AnswerOffer).name(),  typeid(EditLab).name(),        typeid(TakeTry).name(),
                           typeid(AnswerDraft).name(),  typeid(LimitRegisters).name(), typeid(OpenFiles).name(),
                           typeid(LookForPeers).name(), typeid(SetStage).name(),       typeid(ShowBeatStep).name(),
                           typeid(HoldBack).name(),     typeid(PlaceLesson).name(),    typeid(BeginClass).name(),
                           typeid(EndClass).name(),     typeid(FindTimelines).name(),  typeid(ChooseTimeline).name(),
                           typeid(PrintChapter).name(), typeid(ExportTimeline).name()})
    EXPECT_EQ(wanted.erase(name), 1U) << name;
  std::set<std::string> popups;
  // A kernel is chosen for what is looked at: Step here, Bench and Profile there.
  for (const Workspace workspace : {Workspace::bench, Workspace::step}) {
    state_.view.workspace = workspace;
    for (const PaletteEntry& e : entries()) {
      for (const Command& c : e.commands) {
        wanted.erase(name_of_command(c));
        if (const auto* ask = command_as<Ask>(c)) popups.insert(std::to_string(static_cast<int>(ask->popup)));
      }
    }
  }
  EXPECT_TRUE(wanted.empty()) << "not in the palette: " << *wanted.begin();
  EXPECT_EQ(popups.size(), static_cast<std::size_t>(Popup::palette));  // none is no popup, the palette is one
}

TEST_F(PaletteTest, EveryRowOfEveryTableIsThere) {
  const auto all = entries();
  const auto is_there = [&](std::string_view words, std::string_view group) {
    return std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.words == words && e.group == group; });
  };
  for (const Preset& p : presets()) EXPECT_TRUE(is_there(p.title, "Preset")) << p.id;
  for (const BenchPreset& p : bench_presets()) EXPECT_TRUE(is_there(p.title, "Sweep")) << p.id;
  for (const KernelRow* k : ladder_of(Pass::forward)) EXPECT_TRUE(is_there(k->title, "Kernel")) << k->id;
  for (const MetricRow& m : metric_table()) EXPECT_TRUE(is_there(m.label, "Metric")) << m.id;
  for (const char* workspace : {"Step", "Bench", "Profile", "Learn"}) EXPECT_TRUE(is_there(workspace, "Workspace"));
  for (const KeyRow& k : key_table()) {
    const bool shown = std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.chord == k.chord; });
    EXPECT_TRUE(shown || k.what.empty()) << k.what;
  }
}

TEST_F(PaletteTest, WhatCannotBeDoneSaysWhy) {
  auto all = entries();
  ASSERT_NE(entry(all, "Undo"), nullptr);
  EXPECT_NE(entry(all, "Undo")->why_not.find("nothing to undo"), std::string::npos);
  EXPECT_FALSE(entry(all, "Cancel the task")->why_not.empty());
  EXPECT_FALSE(entry(all, "Next bookmark")->why_not.empty());
  EXPECT_TRUE(entry(all, "Next phase")->why_not.empty());
  can_undo_ = true;
  model_.task.running = true;
  model_.recording = nullptr;
  state_.view.step.bookmarks.push_back({});
  all = entries();
  EXPECT_TRUE(entry(all, "Undo")->why_not.empty());
  EXPECT_TRUE(entry(all, "Cancel the task")->why_not.empty());
  EXPECT_FALSE(entry(all, "Run the sweep")->why_not.empty());
  EXPECT_FALSE(entry(all, "Next phase")->why_not.empty());
}

TEST_F(PaletteTest, WhatShowsElsewhereGoesThere) {
  state_.view.workspace = Workspace::bench;
  const auto all = entries();
  const PaletteEntry* preset = entry(all, presets()[1].title);
  ASSERT_NE(preset, nullptr);
  State after = state_;
  for (const Command& c : preset->commands) after = *apply(after, std::get<StateCommand>(c), nullptr);
  EXPECT_EQ(after.view.workspace, Workspace::step);
  EXPECT_EQ(after.document.preset, presets()[1].id);
}

TEST_F(PaletteTest, ALetterFindsItsMeaningFirst) {
  const auto all = entries();
  for (const auto& [query, words] : {std::pair{"LSE", "LSE"}, {"lse", "LSE"}, {"log-sum-exp", "LSE"}, {"dS", "dS"}}) {
    const auto hits = palette_hits(all, query);
    ASSERT_FALSE(hits.empty()) << query;
    EXPECT_EQ(all[hits[0].entry].words, words) << query;
    EXPECT_EQ(all[hits[0].entry].group, "Letter") << query;
  }
}

TEST_F(PaletteTest, AFewLettersFindIt) {
  const auto all = entries();
  const auto first = [&](std::string_view query) {
    const auto hits = palette_hits(all, query);
    return hits.empty() ? std::string() : all[hits.front().entry].words;
  };
  EXPECT_EQ(first("late out"), "Late outlier");
  EXPECT_EQ(first("quit"), "Quit");
  EXPECT_EQ(first("light"), "Light");
  EXPECT_EQ(first("theme"), "Dark");
  EXPECT_EQ(first("scale 200"), "Text and tiles at 200 %");
  EXPECT_EQ(first("reset layout"), "Put all panels back in their original places");
  EXPECT_EQ(first("tflops"), "Rate");
  EXPECT_EQ(first("bench"), "Bench");
  EXPECT_EQ(first("300 %"), "Text and tiles at 300 %");
  EXPECT_EQ(first("tile size"), "Tiles: which fit, and how fast each one is");
  EXPECT_EQ(first("why this tile"), "Why this tile size?");
  EXPECT_EQ(first("mio throttle"), "MIO throttle");
  EXPECT_EQ(first("long_scoreboard"), "Long scoreboard");
  EXPECT_EQ(first("which versions"), "Which versions produced this session?");
  EXPECT_EQ(first("ranks wait"), "What do the ranks of a ring wait for?");
  EXPECT_EQ(first("slowest line"), "Source of the kernel, by line and phase");
  EXPECT_EQ(first("stall"), "Source of the kernel, by line and phase");
  EXPECT_EQ(first("diff"), "SASS diff next to the source");
  EXPECT_EQ(first("compare two kernels"), "Sources of two rungs side by side");
  EXPECT_TRUE(palette_hits(all, "zzyzx").empty());
  EXPECT_EQ(palette_hits(all, "").size(), all.size());
}

// Enter takes none of them: their letters alone are somewhere in the words.
TEST_F(PaletteTest, LettersThatAreStrewnAboutAreNoSureHit) {
  const auto all = entries();
  const auto surely = [&](std::string_view query) {
    const auto hits = palette_hits(all, query);
    return !hits.empty() && hits.front().sure;
  };
  for (const char* word : {"persons", "another tile", "simtta"}) EXPECT_FALSE(surely(word)) << word;
  for (const char* word : {"lo", "late out", "outlier", "200", "flops", "exp json"}) EXPECT_TRUE(surely(word)) << word;
  // A sure one stands before any other.
  for (const char* word : {"mask", "time", "tile", "m"}) {
    const auto hits = palette_hits(all, word);
    const auto weak = std::ranges::find_if(hits, [](const PaletteHit& hit) { return !hit.sure; });
    EXPECT_TRUE(std::all_of(weak, hits.end(), [](const PaletteHit& hit) { return !hit.sure; })) << word;
  }
}

TEST_F(PaletteTest, NothingStandsThereTwice) {
  state_.document.sweep.kernels = {"naive", "flash_simt"};
  std::set<std::string> seen;
  for (const PaletteEntry& e : entries()) {
    const std::string key = e.group + "|" + e.words + "|" + e.more;
    EXPECT_TRUE(seen.insert(key).second) << key;
  }
}

}  // namespace
}  // namespace attn
