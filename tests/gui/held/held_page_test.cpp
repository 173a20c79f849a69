// Step's page on what is held in a hand: at rest it is seen that it goes on, and how far.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr const char* kPresets[] = {"blackboard", "causal", "late_outlier", "gqa", "pages", "words", "bias", "large"};

TEST(HeldPage, SaysThatItGoesOn) {
  std::size_t cases = 0, pages = 0;
  for (const PhoneSize& size : kPages)
    for (const std::string preset : kPresets) {
      if (test::left_to_release(cases++, 8)) continue;
      Phone w(size);
      w.open(preset.c_str());
      for (const EventIndex e : {EventIndex{0}, EventIndex{20}}) {
        w.go_to(std::min<EventIndex>(e, recording(w).events.size() - 1));
        const ImGuiWindow* page = child_window("page");
        if (page == nullptr || page->ScrollMax.y <= 1) continue;
        ++pages;
        EXPECT_TRUE(w.run([&](Ctx* ctx) {
          ctx->SetRef(kStep);
          IM_CHECK(ctx->ItemExists("##page_bar"));
          const ImRect bar = ctx->ItemInfo("##page_bar").RectFull;
          IM_CHECK_GE(bar.Min.y, page->Pos.y - 1);
          IM_CHECK_LE(bar.Max.y, page->Pos.y + page->Size.y + 1);
          IM_CHECK_LT(bar.GetHeight(), page->Size.y);
          IM_CHECK_LE(bar.Max.x, static_cast<float>(size.width) - 1);
          IM_CHECK_GE(bar.Min.x, page->Pos.x + page->Size.x);
        })) << preset
            << " at " << size.width;
      }
    }
  EXPECT_GE(pages, test::asked("ATTNSCOPE_SANITIZED") ? 4U : 30U);
}

// Tiles that need less than the page leave room for the head of what stands below them.
TEST(HeldPage, TheChartsPeekInBelowTilesThatAreWhole) {
  for (const PhoneSize& size : {kPages[0], kPages[5]}) {
    Phone w(size);
    w.open(size.width < 480 ? "blackboard" : "late_outlier");
    w.go_to(20);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const ImGuiWindow* page = child_window("page");
      IM_CHECK(page != nullptr);
      ctx->SetRef(child_window("page"));
      ctx->ScrollToTop("");
      ctx->Yield(2);
      const ImRect tab = ctx->ItemInfo("##chart_row").RectFull;
      IM_CHECK_GE_NO_RET(page->Pos.y + page->Size.y - tab.Min.y, 12);
    })) << size.width;
  }
}

}  // namespace
}  // namespace attn
