// Ways in Step: out of what cannot be recorded, to split keys, and to what a sentence's last word attends to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "viz/step/timeline/sentence.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(StepWays, AKernelThatDoesNotTakeThePassOffersOneThatDoes) {
  TestWindow w(1440, 900, "", false, {}, {}, {}, "attn1,pass=backward,kernel=cpu_flash");
  w.draw_frames(3);
  ASSERT_EQ(w.controller().model().recording, nullptr);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##use_other");
    ctx->Yield(3);
    IM_CHECK(w.controller().model().recording != nullptr);
    IM_CHECK(recording(w).problem.pass == Pass::backward);
  }));
}

TEST(StepWays, KeysAreSplitFromTheFirstWindowOn) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_parts");
    ctx->Yield(3);
    IM_CHECK_EQ(splits_of(w.state().document.options), 2);
    IM_CHECK(order_row(recording(w).order).abreast == Abreast::parts);
    IM_CHECK(ctx->ItemExists("##splits"));
  }));
}

}  // namespace
}  // namespace attn
