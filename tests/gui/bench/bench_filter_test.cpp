// The filter over Bench's table under the hand: what is typed, what is shown, what is said.
#include <gtest/gtest.h>

#include <string>

#include "tests/gui/bench/bench_fixture.h"
#include "tests/gui/drawn_text.h"

namespace attn {
namespace {

TEST_F(BenchTest, AFilterThatIsTypedChoosesTheRowsAndAnEmptyOneGivesThemBack) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("##filter");
    ctx->KeyCharsReplaceEnter("kernel == cpu_flash");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.filter.c_str(), "kernel == cpu_flash");
    ctx->ItemClick("##filter");
    ctx->KeyCharsReplaceEnter("d == 7");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.filter.c_str(), "d == 7");
    // Nothing is left, and the field stays.
    ctx->ItemClick("##filter");
    ctx->KeyCharsReplaceEnter("");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.filter.c_str(), "");
  }));
}

TEST_F(BenchTest, AFilterThatCannotBeReadStaysInItsFieldWithTheReasonUnderIt) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("##filter");
    ctx->KeyCharsReplaceEnter("tflop > 3");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.filter.c_str(), "");
    IM_CHECK_STR_EQ(ctx->ItemReadAsString("##filter"), "tflop > 3");
    ctx->KeyPress(ImGuiKey_Escape);
  }));
  std::string all;
  const DrawnText drawn;
  window->draw_frames(2);
  for (const std::string& text : drawn.texts()) all += text + "\n";
  EXPECT_NE(all.find("'tflop';"), std::string::npos) << all;
}

TEST_F(BenchTest, TabCompletesANameAndAChoiceOfAnOption) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("##filter");
    ctx->KeyChars("dea");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->KeyChars(" = zi");
    ctx->Yield(2);
  }));
  std::string all;
  {
    const DrawnText drawn;
    window->draw_frames(2);
    for (const std::string& text : drawn.texts()) all += text + " ";
  }
  EXPECT_NE(all.find("Tab completes: zigzag"), std::string::npos) << all;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "table"));
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.filter.c_str(), "deal = zigzag");
  }));
}

}  // namespace
}  // namespace attn
