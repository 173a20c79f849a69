// What a finding proposes is one press away, by mouse and by keyboard; and a phase leads to its step and back by the
// keyboard alone.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/state/apply/apply.h"
#include "profiling/session/run.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_kernel.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using profile_test::h100_row;
using profile_test::put;

class ProfileTryTest : public ::testing::Test {
 protected:
  void open(std::vector<Measurement> rows, const std::string& kernel) {
    window = std::make_unique<TestWindow>(1440, 900);
    ListedRun shown;
    shown.run = new_run("");
    shown.run.rows = std::move(rows);
    shown.run.provenance.device_arch = "sm_90a";
    shown.run.provenance.cores = 132;
    window->controller().update({ChooseWorkspace{Workspace::profile}, ChooseKernel{kernel}});
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
  }
  // flash_simt with the listing of a small text of known lines, on the source page.
  void open_toy_source() {
    window = std::make_unique<TestWindow>(1440, 900, "", false, [](const gpu::ListingSubject&, const std::stop_token&) {
      return profile_test::toy_listing();
    });
    ListedRun shown;
    shown.run = new_run("");
    shown.run.rows = {h100_row("flash_simt", 59526)};
    shown.run.provenance.device_arch = "sm_90a";
    window->controller().update({ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::source}});
    window->controller().show({shown}, nullptr);
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(2);
      window->controller().wait();
    }
    window->draw_frames(2);
  }
  const State& state() const { return window->state(); }
  const LabView& lab() const { return window->controller().model().lab; }
  // The lab's text may be read beside the window.
  template <class Holds>
  static void wait_for(Ctx* ctx, const Holds& holds) {
    for (int n = 0; n < 400 && !holds(); ++n) ctx->SleepNoSkip(0.02F, 0.02F);
    IM_CHECK(holds());
  }
  std::unique_ptr<TestWindow> window;
};

// 254 registers of 256 threads: one block an SM, with shared memory for several.
Measurement held_by_registers() {
  Measurement m = h100_row("flash_mma", 9000);
  m.key.problem.dtype = DType::f16;
  m.launches[0].shared_bytes = 32768;
  put(m, "tensor_pipe_pct", 30);
  put(m, "peak_share_pct", 40);
  put(m, "dram_peak_share_pct", 5);
  return m;
}

TEST_F(ProfileTryTest, ALimitOfRegistersOpensInTheLabByMouseAndByKeyboard) {
  open({held_by_registers()}, "flash_mma");
  const auto limited = [&] {
    return state().view.profile.page == ProfilePage::lab && lab().kernel == "flash_mma" &&
           lab().now.build.max_registers == 128;
  };
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child_window("profile_strip"));
    ctx->ItemClick("**/At most 128 registers");
    wait_for(ctx, limited);
    window->controller().update({RevertLab{}, ChooseProfilePage{ProfilePage::figures}});
    ctx->Yield(3);
    IM_CHECK_EQ(lab().now.build.max_registers, 0);
    ctx->SetRef(child_window("profile_strip"));
    ctx->NavMoveTo("**/At most 128 registers");
    ctx->KeyPress(ImGuiKey_Enter);
    wait_for(ctx, limited);
  }));
}

TEST_F(ProfileTryTest, AnotherKernelIsShownByMouseAndByKeyboard) {
  Measurement bound = h100_row("flash_simt", 35000);  // 96 % of the multiply-add peak
  put(bound, "tensor_pipe_pct", 0.4);
  open({bound, h100_row("flash_tf32x3", 30000)}, "flash_simt");
  const auto kernel = [&] { return bench_kernel(state()); };
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child_window("profile_strip"));
    ctx->ItemClick("**/flash_tf32x3");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(kernel().c_str(), "flash_tf32x3");
    IM_CHECK(state().view.workspace == Workspace::profile);
    window->controller().update({ChooseKernel{"flash_simt"}});
    ctx->Yield(3);
    ctx->SetRef(child_window("profile_strip"));
    ctx->NavMoveTo("**/flash_tf32x3");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(kernel().c_str(), "flash_tf32x3");
  }));
}

// By Tab, as a person gets there: whether it came to the item of this id within so many presses.
bool tab_to(Ctx* ctx, ImGuiID id, int most = 80) {
  for (int n = 0; n < most; ++n) {
    if (ImGui::GetCurrentContext()->NavId == id) return true;
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield(2);
  }
  return false;
}

TEST_F(ProfileTryTest, TheDoorsBetweenPhaseAndStepAreReachedByTabAndOpenedByEnter) {
  open_toy_source();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child_window("phase_rows"));
    IM_CHECK(tab_to(ctx, ctx->GetID("phase_S")));
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_EQ(state().view.profile.line, 5);
    ctx->SetRef(child_window("profile_phases"));
    IM_CHECK(tab_to(ctx, ctx->GetID("###phase_in_step")));
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(4);
    IM_CHECK(state().view.workspace == Workspace::step);
    IM_CHECK(recording(*window).events[state().view.step.cursor].id.phase == Phase::scores);
    ctx->SetRef(kStep);
    IM_CHECK(tab_to(ctx, ctx->GetID("##step_door")));
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(4);
    IM_CHECK(state().view.workspace == Workspace::profile);
  }));
}

TEST_F(ProfileTryTest, APhaseLeadsToItsStepAndBackByTheKeyboardAlone) {
  open_toy_source();
  const auto phase = [&] { return recording(*window).events[state().view.step.cursor].id.phase; };
  const auto line = [&] { return state().view.profile.line; };
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    // From the table of phases: the line of S, then its step.
    ctx->SetRef(child_window("phase_rows"));
    ctx->NavMoveTo("phase_S");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_EQ(line(), 5);
    ctx->SetRef(child_window("profile_phases"));
    ctx->NavMoveTo("###phase_in_step");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(4);
    IM_CHECK(state().view.workspace == Workspace::step);
    IM_CHECK(phase() == Phase::scores);
    // On to P by the key of Step, and back by the palette, which has both ways.
    for (int n = 0; n < 20 && phase() != Phase::weights; ++n) {
      ctx->KeyPress(ImGuiKey_Space);
      ctx->Yield(2);
    }
    IM_CHECK(phase() == Phase::weights);
    choose_in_palette(ctx, fmt::format("P in Profile: {}", gpu::words_of(gpu::CodePhase::p)).c_str());
    ctx->Yield(4);
    IM_CHECK(state().view.workspace == Workspace::profile);
    IM_CHECK_EQ(line(), 7);
    choose_in_palette(ctx, fmt::format("S in Step: {}", gpu::words_of(gpu::CodePhase::s)).c_str());
    IM_CHECK(state().view.workspace == Workspace::step);
    IM_CHECK(phase() == Phase::scores);
  }));
}

}  // namespace
}  // namespace attn
