// A monkey at mouse and keyboard: thousands of random actions without an error of Dear ImGui, a crash or a leak (the
// address sanitizer's run tells), and the window still works afterwards.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "imgui_internal.h"
#include "tests/environment/asked.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

// What could leave the folder of the tests, measure for minutes or end the program is not pressed with Ctrl.
constexpr ImGuiKey kKeys[] = {ImGuiKey_LeftArrow,   ImGuiKey_RightArrow,
                              ImGuiKey_UpArrow,     ImGuiKey_DownArrow,
                              ImGuiKey_Space,       ImGuiKey_Home,
                              ImGuiKey_End,         ImGuiKey_P,
                              ImGuiKey_G,           ImGuiKey_O,
                              ImGuiKey_M,           ImGuiKey_N,
                              ImGuiKey_B,           ImGuiKey_Tab,
                              ImGuiKey_Escape,      ImGuiKey_Enter,
                              ImGuiKey_1,           ImGuiKey_2,
                              ImGuiKey_3,           ImGuiKey_4,
                              ImGuiKey_Equal,       ImGuiKey_Minus,
                              ImGuiKey_0,           ImGuiKey_T,
                              ImGuiKey_L,           ImGuiKey_F1,
                              ImGuiKey_Z,           ImGuiKey_Y,
                              ImGuiKey_C,           ImGuiKey_K,
                              ImGuiKey_I,           ImGuiKey_Backspace,
                              ImGuiKey_LeftBracket, ImGuiKey_RightBracket,
                              ImGuiKey_Delete};
constexpr std::string_view kTyped = "0123456789-.x ae?";

class Monkey {
 public:
  Monkey(TestWindow& window, unsigned seed) : window_(window), random_(seed) {}

  void act() {
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        move();
        break;
      case 3:
      case 4:
        click(pick(8) == 0 ? ImGuiMouseButton_Right : ImGuiMouseButton_Left);
        break;
      case 5:
        ImGui::GetIO().AddMouseWheelEvent(0, static_cast<float>(pick(5) - 2));
        break;
      case 6:
        ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(kTyped[static_cast<std::size_t>(pick(17))]));
        break;
      default:
        press(kKeys[pick(static_cast<int>(std::size(kKeys)))]);
    }
    window_.draw_frames(1);
  }
  void release() {
    if (held_) ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, std::exchange(held_, false));
    window_.draw_frames(2);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void move() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::GetIO().AddMousePosEvent(static_cast<float>(pick(static_cast<int>(size.x))),
                                    static_cast<float>(pick(static_cast<int>(size.y))));
  }
  // A press that now and then is let go only later: a drag.
  void click(ImGuiMouseButton button) {
    ImGuiIO& io = ImGui::GetIO();
    if (held_) {
      io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
      held_ = false;
      return;
    }
    io.AddMouseButtonEvent(button, true);
    window_.draw_frames(1);
    if (button == ImGuiMouseButton_Left && pick(4) == 0) {
      held_ = true;
      return;
    }
    io.AddMouseButtonEvent(button, false);
  }
  void press(ImGuiKey key) {
    ImGuiIO& io = ImGui::GetIO();
    const bool ctrl = pick(5) == 0, shift = pick(5) == 0;
    if (ctrl) io.AddKeyEvent(ImGuiMod_Ctrl, true);
    if (shift) io.AddKeyEvent(ImGuiMod_Shift, true);
    io.AddKeyEvent(key, true);
    window_.draw_frames(1);
    io.AddKeyEvent(key, false);
    io.AddKeyEvent(ImGuiMod_Ctrl, false);
    io.AddKeyEvent(ImGuiMod_Shift, false);
  }

  TestWindow& window_;
  std::mt19937 random_;
  bool held_ = false;
};

void note_error(ImGuiContext*, void* to, const char* words) {
  static_cast<std::vector<std::string>*>(to)->emplace_back(words);
}

void let_loose(int actions, unsigned seed) {
  TestWindow w(1280, 800);
  std::vector<std::string> errors;
  ImGui::GetCurrentContext()->ErrorCallback = note_error;
  ImGui::GetCurrentContext()->ErrorCallbackUserData = &errors;
  Monkey monkey(w, seed);
  for (int n = 1; n <= actions; ++n) {
    monkey.act();
    // Neither a sweep nor a problem of minutes holds the rest up.
    if (n % 50 == 0) w.controller().update({CancelTask{}});
    if (n % 400 == 0)
      w.controller().update({ChoosePreset{"blackboard"}, SetScale{1}, ChooseWorkspace{Workspace::step}});
    ASSERT_TRUE(errors.empty()) << "action " << n << ": " << errors.front();
  }
  monkey.release();
  ImGui::GetIO().ClearInputKeys();
  w.controller().update({CancelTask{}});
  w.controller().wait();
  w.controller().update({ShowKeys{false}, ChoosePreset{"blackboard"}, ChooseWorkspace{Workspace::step}, Play{false}});
  w.draw_frames(3);
  w.controller().update({GoToEnd{false}, StepBy{}});
  w.draw_frames(2);
  EXPECT_EQ(w.state().view.step.cursor, 1U);
  EXPECT_TRUE(errors.empty());
}

TEST(MonkeyTest, TenThousandRandomActions) {
  let_loose(test::asked("ATTNSCOPE_SANITIZED") ? 1500 : 10000, 1);
}

// Nine times as many more, each as a test of its own.
class LongMonkey : public ::testing::TestWithParam<unsigned> {};
TEST_P(LongMonkey, TenThousandMore) {
  if (!test::asked("ATTNSCOPE_LONG_TESTS")) GTEST_SKIP() << "one of the long lists: tests/run.sh --full";
  let_loose(10000, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Seeds, LongMonkey, ::testing::Range(2U, 11U));

}  // namespace
}  // namespace attn
