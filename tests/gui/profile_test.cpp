// Profile under the hand: what it shows is what was chosen here or in Bench, and back.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

ImGuiWindow* child(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos) return window;
  return nullptr;
}

class ProfileTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1) {
    window = std::make_unique<TestWindow>(width, height);
    ListedRun shown;
    shown.run = new_run("");
    for (const std::int64_t length : {8192, 16384}) {
      for (const auto& [kernel, us] : {std::pair{"naive", 2571000.0}, std::pair{"flash_simt", 59526.0}}) {
        Measurement m = profile_test::h100_row(kernel, us);
        m.key.problem.Lq = m.key.problem.Lk = length;
        fill_figures(m);
        shown.run.rows.push_back(std::move(m));
      }
    }
    shown.run.provenance.device_arch = "sm_90a";
    shown.run.provenance.cores = 132;
    window->controller().update({ChooseWorkspace{Workspace::profile}, SetScale{scale}});
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
  }
  const State& state() const { return window->state(); }

  std::unique_ptr<TestWindow> window;
};

TEST_F(ProfileTest, AClickChoosesTheKernelAndTheValueAsBenchHasThem) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* panel = child("profile_panel");
    IM_CHECK(panel != nullptr);
    ctx->SetRef(panel);
    ctx->ItemClick("##profile_naive");
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "naive");
    ctx->ItemClick("##profile_value");
    ctx->ItemClick("//$FOCUSED/8192");
    IM_CHECK(state().view.bench.value == 8192);
    ImGuiWindow* strip = child("profile_strip");
    IM_CHECK(strip != nullptr);
    ctx->SetRef(strip);
    ctx->ItemClick("Open in Bench");
    IM_CHECK(state().view.workspace == Workspace::bench);
  }));
}

TEST_F(ProfileTest, ARowOfBenchOpensHere) {
  open();
  window->controller().update({ChooseWorkspace{Workspace::bench}});
  window->draw_frames(4);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* table = nullptr;
    for (ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      if (w->WasActive && std::string(w->Name).find("table") != std::string::npos) table = w;
    IM_CHECK(table != nullptr);
    ctx->ItemClick("**/##row_naive_16384", ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Profile it");
    IM_CHECK(state().view.workspace == Workspace::profile);
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "naive");
    IM_CHECK(state().view.bench.value == 16384);
  }));
}

struct Sizes {
  int width, height;
  float scale;
};
class ProfileSizeTest : public ::testing::TestWithParam<Sizes> {};

// Every card is there and no wider than the window; what does not fit its height is scrolled to.
TEST_P(ProfileSizeTest, FitsItsWindow) {
  const Sizes size = GetParam();
  TestWindow window(size.width, size.height);
  ListedRun shown;
  shown.run = new_run("");
  shown.run.rows.push_back(profile_test::h100_row("flash_simt", 59526));
  shown.run.provenance.device_arch = "sm_90a";
  window.controller().update({ChooseWorkspace{Workspace::profile}, SetScale{size.scale}});
  window.controller().show({shown}, nullptr);
  window.draw_frames(4);
  for (const char* name : {"profile_panel", "profile_strip", "roofline"}) {
    const ImGuiWindow* card = child(name);
    ASSERT_NE(card, nullptr) << name;
    EXPECT_GE(card->Pos.x, 0) << name;
    EXPECT_LE(card->Pos.x + card->Size.x, static_cast<float>(size.width)) << name;
    EXPECT_GT(card->Size.x, 60 * size.scale) << name;
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, ProfileSizeTest,
                         ::testing::Values(Sizes{1280, 720, 1}, Sizes{1440, 900, 1}, Sizes{1920, 1080, 1},
                                           Sizes{1440, 900, 2}, Sizes{1440, 900, 3}));

}  // namespace
}  // namespace attn
