// A kernel of one's own comes in by a drop on the window, and the palette finds it.
#include <array>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "app/shell/dropped_files.h"
#include "app/state/apply/apply.h"
#include "tests/gui/gui_fixture.h"
#include "tests/kernels/gpu/own_kernel/own_kernel_text.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

class OwnKernelTest : public ::testing::Test {
 protected:
  OwnKernelTest() { window.controller().update({ChooseWorkspace{Workspace::profile}}); }
  std::string write(const std::string& name, const std::string& text) {
    const auto file = window.folder().path() / name;
    std::ofstream(file) << text;
    return file.string();
  }
  // As the desktop's drop does.
  void drop(const std::string& file) {
    const std::array<const char*, 1> paths{file.c_str()};
    window.controller().update(open_dropped(paths));
    settle();
  }
  void settle() {
    for (int n = 0; n < 3; ++n) {
      window.draw_frames(2);
      window.controller().wait();
    }
    window.draw_frames(2);
  }
  const State& state() const { return window.state(); }

  TestWindow window;
};

TEST_F(OwnKernelTest, AFileDroppedOnTheWindowIsAKernelThatThePaletteFinds) {
  drop(write("mine.cu", kOwnKernel));
  ASSERT_EQ(state().document.sweep.own.size(), 1U);
  const std::string name(state().document.sweep.own.front()->id);
  EXPECT_EQ(bench_kernel(state()), name);
  EXPECT_TRUE(window.run([&](Ctx* ctx) {
    window.controller().update({ChooseKernel{"naive"}});
    ctx->Yield(2);
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "naive");
    choose_in_palette(ctx, name.c_str());
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), name.c_str());
    IM_CHECK(state().view.workspace == Workspace::profile);
    choose_in_palette(ctx, ("Remove " + name).c_str());
    IM_CHECK(state().document.sweep.own.empty());
  }));
}

TEST_F(OwnKernelTest, AFileWithAWrongHeaderIsRefusedWithItsLine) {
  std::string wrong = kOwnKernel;
  wrong.replace(wrong.find("\"api\": 1"), 8, "\"api\": 9");
  drop(write("wrong.cu", wrong));
  EXPECT_TRUE(state().document.sweep.own.empty());
  bool said = false;
  for (const auto& line : window.controller().log().after(0))
    said = said || line.text.find("wrong.cu, line 1: \"api\" is 9") != std::string::npos;
  EXPECT_TRUE(said);
}

// A desktop may drop a list without a path, such as one of comments alone.
TEST(DroppedFiles, ADropWithoutAPathOpensNothing) {
  EXPECT_TRUE(open_dropped({}).empty());
}

}  // namespace
}  // namespace attn
