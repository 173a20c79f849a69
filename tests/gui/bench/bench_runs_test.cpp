// The list of runs in Bench under the hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/gui/bench/bench_fixture.h"

namespace attn {
namespace {

// Two runs in the list, both ticked: "aa" and, on top of it, "bb".
class RunListTest : public BenchTest {
 protected:
  static constexpr const char* kA = "00000000000000aa";
  static constexpr const char* kB = "00000000000000bb";

  void open_two(int width = 1440, int height = 900, float scale = 1) {
    open(width, height, scale, false);
    std::vector<ListedRun> runs;
    for (const char* id : {kA, kB}) {
      ListedRun& listed = runs.emplace_back();
      listed.run = new_run("");
      listed.run.id = id;
      listed.run.provenance.device = "a CPU";
      listed.run.rows = rows_of(sweep());
      if (id == kB)
        for (Measurement& m : listed.run.rows) m.time.median *= 1.5;
    }
    window->controller().show(runs, nullptr);
    window->draw_frames(4);
  }
  const BenchRuns& list() const { return state().document.runs; }
  static std::string item(const char* id, const char* name) { return std::string(id) + "/" + name; }
};

TEST_F(RunListTest, ATickTakesARunOffTheChartsAndUndoBringsItBack) {
  open_two();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick(item(kA, "##show").c_str());
    IM_CHECK(!is_shown(list(), kA));
    IM_CHECK(is_shown(list(), kB));
    ctx->ItemClick(item(kA, "name").c_str());  // the name is as good as the box
    IM_CHECK(is_shown(list(), kA));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK(!is_shown(list(), kA));
  }));
}

// Nobody clicks what has just moved there: neither under the pointer nor when it has left the list.
TEST_F(RunListTest, ATickMovesNoRun) {
  open_two();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    const auto top = [&](const char* id) { return ctx->ItemInfo(item(id, "##show").c_str()).RectFull.Min.y; };
    const bool a_first = top(kA) < top(kB);
    const char *const first = a_first ? kA : kB, *const second = a_first ? kB : kA;
    const float above = top(first), below = top(second);
    for (int n = 0; n < 2; ++n) {
      ctx->ItemClick(item(first, "##show").c_str());
      ctx->Yield(3);
      IM_CHECK_EQ(top(first), above);
      IM_CHECK_EQ(top(second), below);
    }
    ctx->ItemClick(item(first, "##show").c_str());
    IM_CHECK(!is_shown(list(), first));
    ctx->MouseMoveToPos({1000, 500});
    ctx->Yield(3);
    IM_CHECK_EQ(top(first), above);
    IM_CHECK_EQ(top(second), below);
  }));
}

// Eight runs that came with the program, the lower four behind "all 8".
class LongRunListTest : public RunListTest {
 protected:
  static std::string id_of(int n) { return fmt::format("000000000000000{}", n); }

  void open_eight() {
    open(1440, 900, 1, false);
    std::vector<ListedRun> runs;
    for (int n = 1; n <= 8; ++n) {
      ListedRun& listed = runs.emplace_back();
      listed.run = new_run("");
      listed.run.id = id_of(n);
      listed.run.name = fmt::format("bundled-{}", n);
      listed.run.rows = rows_of(sweep());
      // The third has the most kernels, so that it is offered first.
      if (n != 3) std::erase_if(listed.run.rows, [](const Measurement& m) { return m.key.kernel == "cpu_flash"; });
      listed.from = RunFrom::bundled;
    }
    window->controller().show(runs, nullptr);
    for (const ListedRun& r : runs) window->controller().update({ShowRun{r.run.id, false}});
    window->draw_frames(4);
  }
  static std::vector<float> tops(Ctx* ctx, int last) {
    std::vector<float> tops;
    look_at(ctx, "setup");
    for (int n = 1; n <= last; ++n)
      tops.push_back(ctx->ItemInfo(item(id_of(n).c_str(), "##show").c_str()).RectFull.Min.y);
    return tops;
  }
};

TEST_F(LongRunListTest, OpeningARunFromTheStripMovesNoneInTheList) {
  open_eight();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const std::vector<float> before = tops(ctx, 4);
    IM_CHECK(std::ranges::is_sorted(before));
    look_at(ctx, "strip");
    ctx->ItemClick(fmt::format("Open the bundled run bundled-3, 3 kernels##offer_{}", id_of(3)).c_str());
    ctx->Yield(3);
    IM_CHECK(is_shown(list(), id_of(3)));
    IM_CHECK(tops(ctx, 4) == before);
    // The second row is still the second run.
    ctx->MouseMoveToPos({60, before[1] + 5});
    look_at(ctx, "setup");
    ctx->ItemClick(item(id_of(2).c_str(), "##show").c_str());
    ctx->MouseMoveToPos({1000, 500});
    ctx->Yield(3);
    IM_CHECK(is_shown(list(), id_of(2)));
    IM_CHECK(tops(ctx, 4) == before);
  }));
}

// One of those behind the short list is in sight once it is ticked, below those that were.
TEST_F(LongRunListTest, ATickedRunIsInSightWhereverItIsListed) {
  open_eight();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const std::vector<float> before = tops(ctx, 3);
    IM_CHECK(!ctx->ItemExists(item(id_of(7).c_str(), "##show").c_str()));
    window->controller().update({ShowRun{id_of(7), true}});
    ctx->Yield(3);
    IM_CHECK(tops(ctx, 3) == before);
    IM_CHECK_GT(ctx->ItemInfo(item(id_of(7).c_str(), "##show").c_str()).RectFull.Min.y, before.back());
  }));
}

TEST_F(RunListTest, ARunIsNamedInItsMenu) {
  open_two();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick(item(kB, "more").c_str());
    ctx->ItemClick("//$FOCUSED/##name");
    ctx->KeyCharsReplaceEnter("after the change");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(list().names.at(kB).c_str(), "after the change");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK_STR_EQ(list().names.at(kB).c_str(), "");
  }));
}

TEST_F(RunListTest, ARunIsRemovedInItsMenuAndUndoBringsItBack) {
  open_two();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick(item(kA, "name").c_str(), ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Remove");
    ctx->Yield(2);
    IM_CHECK(list().removed.contains(kA));
    IM_CHECK(look_at(ctx, "setup"));
    IM_CHECK(!ctx->ItemExists(item(kA, "##show").c_str()));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->Yield(2);
    IM_CHECK(ctx->ItemExists(item(kA, "##show").c_str()));
    IM_CHECK(is_shown(list(), kA));
  }));
}

TEST_F(RunListTest, OneRunIsSetAgainstTheOther) {
  open_two();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick(item(kA, "more").c_str());
    ctx->ItemClick("//$FOCUSED/Compare the other runs with this one");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(list().reference.c_str(), kA);
    IM_CHECK_STR_EQ(state().view.bench.charts[3].c_str(), "against_run_ratio");
  }));
}

TEST_F(RunListTest, TheRowsOfEachRunStandInTheTable) {
  open_two();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "rows_11"));
    for (const char* row : {"##row_cpu_flash A_2048", "##row_cpu_flash B_2048"})
      IM_CHECK(ctx->ItemExists((std::string("**/") + row).c_str()));
  }));
}

}  // namespace
}  // namespace attn
