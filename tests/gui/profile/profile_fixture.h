// Profile in a window: rows of an H100, a toy kernel's source, samples of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "imgui_internal.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/run.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_counts.h"
#include "tests/viz/profile/toy_kernel.h"

namespace attn::profile_gui {

inline ImGuiWindow* child(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos) return window;
  return nullptr;
}

class ProfileTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1, KernelLister lister = {}) {
    window = std::make_unique<TestWindow>(width, height, "", false, std::move(lister));
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

class ProfileSourceTest : public ProfileTest {
 protected:
  // As if the compiler had answered: what the panel asks for is put into the model by a lister of the test's own.
  void open_source(gpu::KernelListing listing, int width = 1440, int height = 900, float scale = 1) {
    open(width, height, scale,
         [listing = std::move(listing)](const gpu::ListingSubject&, const std::stop_token&) { return listing; });
    window->controller().update({ChooseProfilePage{ProfilePage::source}});
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(2);
      window->controller().wait();
    }
    window->draw_frames(2);
  }
  const ProfileView& view() const { return state().view.profile; }
};

// Profile's timeline with what came with the program.
class TimelinePageTest : public ::testing::Test {
 protected:
  void open(int width, int height) {
    window = std::make_unique<TestWindow>(width, height);
    window->controller().update({ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::timeline}});
    window->draw_frames(2);
    window->controller().wait();
    window->draw_frames(4);
  }

  std::unique_ptr<TestWindow> window;
};

// Ten samples at the set-up, 60 in S of which 20 are lost, 30 in P, all lost.
inline KernelSamples toy_samples() {
  using gpu::CodePhase;
  KernelSamples s;
  s.text_hash = "44556677";
  s.period_log2 = 11;
  s.launches = 1;
  s.reasons = {"selected", "short_scoreboard", "wait"};
  s.files = {"kernels/gpu/toy.cu"};
  s.functions = {{"toy",
                  {{0x10, CodePhase::setup, {{0, 3}}, {{2, 10, 0}}},
                   {0x20, CodePhase::s, {{0, 5}}, {{0, 35, 0}, {1, 25, 20}}},
                   {0x50, CodePhase::p, {{0, 7}}, {{2, 30, 30}}}}}};
  return s;
}

class ProfileSampledTest : public ProfileSourceTest {
 protected:
  void open_sampled(int width = 1440, int height = 900, float scale = 1, bool counted = false) {
    open_source(profile_test::toy_listing(), width, height, scale);
    ListedRun shown;
    shown.run = new_run("");
    shown.run.provenance.device_arch = "sm_90a";
    for (const auto& [kernel, us] : {std::pair{"naive", 90000.0}, std::pair{"flash_simt", 59526.0}}) {
      shown.run.rows.push_back(profile_test::h100_row(kernel, us));
      shown.run.rows.back().samples = std::make_shared<const KernelSamples>(toy_samples());
      if (counted) shown.run.rows.back().counts = std::make_shared<const KernelCounts>(profile_test::toy_counts());
    }
    window->controller().show({shown}, nullptr);
    window->controller().update({ShowRun{shown.run.id, true}});
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(2);
      window->controller().wait();
    }
  }
};

}  // namespace attn::profile_gui
