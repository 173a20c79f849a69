// Whoever asks for a kernel that the shown rows lack is led to it by one press: on the runs that come with the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/gui/bench/bench_fixture.h"
#include "tests/gui/drawn_text.h"

namespace attn {
namespace {

// Of the files: h100-ladder has flash_mma in f16 alone and no flash_hopper, h100-steps flash_hopper alone.
constexpr const char *kLadder = "f979ab111cc17821", *kHopper = "1cdd841804aacef5", *kSteps = "d370c4a876586be3";

class AbsentKernelTest : public BenchTest {
 protected:
  void open_bundled(int width = 1440, int height = 900) {
    open(width, height, 1, false);
    std::vector<ListedRun> runs;
    for (const char* name : {"h100-hopper", "h100-ladder", "h100-steps"}) {
      auto session = read_session(test::source_folder() + "/assets/sessions/" + name + ".attn");
      ASSERT_TRUE(session);
      for (SweepRun& run : session->runs) {
        run.name = name;
        runs.push_back({std::move(run), RunFrom::bundled, false, false});
      }
    }
    window->controller().show(runs, nullptr);
    for (const ListedRun& r : window->controller().model().runs)
      window->controller().update({ShowRun{r.run.id, false}});
    window->controller().update({TakeSweepOf{kLadder}});
    window->draw_frames(4);
  }
  static bool has_row(Ctx* ctx, const std::string& kernel) {
    bool found = false;
    for (int columns = 2; columns < 24 && !found; ++columns)
      for (const int l : {1024, 2048, 4096, 8192, 16384})
        found |= look_at(ctx, fmt::format("rows_{}", columns)) &&
                 ctx->ItemExists(fmt::format("**/##row_{}_{}", kernel, l).c_str());
    return found;
  }
  // Presses what the strip offers, whose words are whole and within it.
  static void press(Ctx* ctx, const char* words) {
    IM_CHECK(look_at(ctx, "strip"));
    const std::string item = fmt::format("{}##offer_kernel", words);
    IM_CHECK(ctx->ItemExists(item.c_str()));
    IM_CHECK(child_window("strip")->InnerRect.Contains(ctx->ItemInfo(item.c_str()).RectFull));
    ctx->ItemClick(item.c_str());
    ctx->Yield(4);
  }
  // Everything that a frame draws, in the order of drawing: paragraphs and tooltips word by word.
  static std::string drawn_words(Ctx* ctx) {
    const DrawnText drawn;
    ctx->Yield(2);
    std::string words;
    for (const auto& place : drawn.places()) words += place.text + (place.text.ends_with(' ') ? "" : " ");
    return words;
  }
  // With the pointer at rest on an item, so that its tooltip is there.
  static std::string words_at(Ctx* ctx, const char* panel, const char* item) {
    look_at(ctx, panel);
    ctx->MouseMove(item);
    ctx->SleepNoSkip(0.7F, 0.05F);
    return drawn_words(ctx);
  }
};

TEST_F(AbsentKernelTest, ATickLeadsToRowsOfAnotherType) {
  for (const int width : {1280, 1440}) {
    SCOPED_TRACE(width);
    window.reset();
    open_bundled(width, width == 1280 ? 720 : 900);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      IM_CHECK(!has_row(ctx, "flash_mma"));
      IM_CHECK(look_at(ctx, "setup"));
      ctx->ItemClick("##kernel_flash_mma");
      ctx->Yield(3);
      press(ctx, "Show the f16 rows");
      IM_CHECK(sweep().base.dtype == DType::f16);
      IM_CHECK(has_row(ctx, "flash_mma"));
      IM_CHECK(look_at(ctx, "time"));
      IM_CHECK(ctx->ItemExists("label_flash_mma"));
      IM_CHECK(look_at(ctx, "strip"));
      IM_CHECK(!ctx->ItemExists("**/Show the f16 rows##offer_kernel"));
    }));
  }
}

TEST_F(AbsentKernelTest, TheMenuLeadsToARunThatHasTheKernel) {
  open_bundled();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    window->controller().update({ChooseBenchKernel{"flash_hopper"}});
    ctx->Yield(3);
    press(ctx, "Open h100-hopper");
    IM_CHECK(is_shown(state().document.runs, kHopper));
    IM_CHECK(has_row(ctx, "flash_hopper B"));
    IM_CHECK(look_at(ctx, "time"));
    IM_CHECK(ctx->ItemExists("label_flash_hopper B"));
  }));
}

// A tick whose kernel is nowhere to be seen is taken back without a trace.
TEST_F(AbsentKernelTest, UntickingAsksNoLonger) {
  open_bundled();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##kernel_flash_hopper");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.kernel.c_str(), "flash_hopper");
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##kernel_flash_hopper");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.kernel.c_str(), "");
  }));
}

// Of two runs the sentences are about the last ticked; the table has the kernel of the first.
TEST_F(AbsentKernelTest, AKernelOfTheOtherRunIsNotCalledMissing) {
  open_bundled();
  window->controller().update({ShowRun{kSteps, true}, ChooseBenchKernel{"flash_mma"}});
  window->draw_frames(4);
  std::string words;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(has_row(ctx, "flash_mma A"));
    words = drawn_words(ctx);
  }));
  EXPECT_EQ(words.find("has no row"), std::string::npos);
  EXPECT_NE(words.find("In A, flash_mma takes "), std::string::npos) << words;
}

TEST_F(AbsentKernelTest, TheListOfKernelsSaysWhichRunsHaveOne) {
  open_bundled();
  std::string words;
  EXPECT_TRUE(window->run([&](Ctx* ctx) { words = words_at(ctx, "setup", "name_flash_mma"); }));
  EXPECT_NE(words.find("Measured in h100-hopper, h100-ladder."), std::string::npos) << words;
}

// The page of texts is not where figures come from.
TEST_F(AbsentKernelTest, TheChipOfSourcesSaysThatItIsCode) {
  open_bundled();
  std::string words;
  EXPECT_TRUE(window->run([&](Ctx* ctx) { words = words_at(ctx, "strip", "Sources"); }));
  EXPECT_NE(words.find("Source code of two kernels side by side"), std::string::npos) << words;
}

}  // namespace
}  // namespace attn
