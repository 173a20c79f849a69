// Peers in Bench's set-up under the hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/gui/bench/bench_fixture.h"

namespace attn {
namespace {

TEST_F(BenchTest, PeersAreSwitchedOnAndOffInTheirMenu) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##peers");
    ctx->ItemClick("//$FOCUSED/torch's");
    IM_CHECK(sweep().peers == std::vector<std::string>{"torch-cpu"});
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK(sweep().peers.empty());
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
    ctx->ItemClick("##peers");
    ctx->ItemClick("//$FOCUSED/off");
    IM_CHECK(sweep().peers.empty());
  }));
}

}  // namespace
}  // namespace attn
