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

// 44 is what the guidelines of phones ask for (Apple's points; WCAG 2.5.5).
TEST(Hands, WhatIsPressedIsAsLargeAsAFinger) {
  EXPECT_EQ(for_finger(24), 24);
  ImGuiContext* context = ImGui::CreateContext();
  ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_IsTouchScreen;
  EXPECT_EQ(for_finger(24), 44);
  EXPECT_EQ(for_finger(90), 90);
  EXPECT_EQ(beyond_edge(34), 5);
  EXPECT_EQ(beyond_edge(60), 0);
  ImGui::DestroyContext(context);
}

TEST(Hands, APhoneIsHeldUpright) {
  EXPECT_TRUE(is_upright_phone(336, 621));
  EXPECT_TRUE(is_upright_phone(351, 548)) << "a small one, with the browser's bars";
  EXPECT_FALSE(is_upright_phone(820, 343)) << "on its side";
  EXPECT_FALSE(is_upright_phone(796, 1061)) << "a tablet";
  EXPECT_FALSE(is_upright_phone(456, 250)) << "a window at 300 %";
}

}  // namespace
}  // namespace attn
