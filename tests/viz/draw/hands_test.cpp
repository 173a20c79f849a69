#include "viz/draw/hands.h"

#include <gtest/gtest.h>

#include <string>

#include "imgui.h"

namespace attn {
namespace {

TEST(Hands, WordsNameKeysUnlessTheWindowIsATouchScreen) {
  EXPECT_FALSE(by_touch());  // without a window, too
  ImGuiContext* context = ImGui::CreateContext();
  EXPECT_EQ(std::string(for_hands("First step (Home)", "First step")), "First step (Home)");
  ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_IsTouchScreen;
  EXPECT_TRUE(by_touch());
  EXPECT_EQ(std::string(for_hands("First step (Home)", "First step")), "First step");
  EXPECT_EQ(with_key("First step", "Home"), "First step");
  ImGui::GetIO().ConfigFlags = 0;
  EXPECT_EQ(with_key("First step", "Home"), "First step (Home)");
  ImGui::DestroyContext(context);
}

}  // namespace
}  // namespace attn
