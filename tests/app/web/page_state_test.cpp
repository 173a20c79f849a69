// What a link's parameters come to.
#include <gtest/gtest.h>

#include <string>

#include "app/state/apply/apply.h"
#include "app/web/keys.h"
#include "app/web/page.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

PageOptions asked(const std::string& state, const std::string& order, const std::string& step) {
  PageOptions options;
  options.state = state;
  options.order = order;
  options.step = step;
  return options;
}

TEST(PageState, WithoutParametersItIsTheProgramsFirstView) {
  const auto state = state_of({});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->document, initial_state().document);
}

TEST(PageState, EachOrderHasACpuKernelThatRecordsItself) {
  for (const char* order : {"naive", "tiled", "flash"}) {
    const auto state = state_of(asked("", order, "3"));
    ASSERT_TRUE(state) << state.error().message;
    const auto row = find_kernel(state->document.kernel);
    ASSERT_TRUE(row);
    EXPECT_EQ((*row)->processor, Processor::cpu);
    EXPECT_EQ(name_of((*row)->order), order);
    EXPECT_EQ(state->view.step.cursor, 2U);
  }
}

TEST(PageState, ParametersWinOverTheStateString) {
  PageOptions options = asked("attn1,preset=causal,workspace=learn,cursor=7", "cpu_flash1", "2");
  options.theme = "light";
  options.panel = "tiles";
  const auto state = state_of(options);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_TRUE(state->document.problem.mask.causal);
  EXPECT_EQ(state->document.kernel, "cpu_flash1");
  EXPECT_EQ(state->view.step.cursor, 1U);
  EXPECT_EQ(state->view.workspace, Workspace::step);
  EXPECT_EQ(state->preferences.theme, Theme::light);
}

TEST(PageState, WhatIsUnknownIsRefusedInWords) {
  PageOptions options = asked("", "sideways", "");
  EXPECT_NE(state_of(options).error().message.find("order=sideways"), std::string::npos);
  for (const char* step : {"0", "-1", "two", "1x", "99999999999"})
    EXPECT_NE(state_of(asked("", "", step)).error().message.find(step), std::string::npos) << step;
  options = {};
  options.theme = "pink";
  EXPECT_NE(state_of(options).error().message.find("theme=pink"), std::string::npos);
  options = {};
  options.panel = "all";
  EXPECT_NE(state_of(options).error().message.find("panel=all"), std::string::npos);
  EXPECT_FALSE(state_of(asked("attn9,cursor=1", "", "")));
}

TEST(PageState, WhatIsRightBesideAWrongParameterHolds) {
  PageOptions options = asked("attn9,cursor=1", "naive", "3");
  options.theme = "light";
  options.panel = "tiles";
  const PageOptions rest = what_is_right(options);
  EXPECT_EQ(rest.state, "");
  EXPECT_EQ(rest.theme, "light");
  EXPECT_EQ(rest.panel, "tiles");
  const auto state = state_of(rest);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->view.step.cursor, 2U);
  EXPECT_EQ(state->preferences.theme, Theme::light);
  options = asked("attn1,preset=causal", "sideways", "2");
  EXPECT_EQ(what_is_right(options).order, "");
  EXPECT_EQ(what_is_right(options).state, options.state);
  options.theme = "pink";
  EXPECT_TRUE(state_of(what_is_right(options)));
  // Each is right alone, but this kernel has no such pass.
  options = asked("attn1,kernel=cpu_flash_bwd,pass=backward,L=16,D=4,br=4,bc=4", "cpu_sequential", "");
  EXPECT_TRUE(state_of(what_is_right(options)));
}

TEST(PageState, OneWrongParameterTakesNoOtherWithIt) {
  PageOptions right = asked("attn1,preset=causal", "cpu_flash1", "2");
  right.theme = "light";
  right.panel = "tiles";
  using Part = std::string PageOptions::*;
  const Part parts[] = {&PageOptions::state, &PageOptions::order, &PageOptions::step, &PageOptions::theme,
                        &PageOptions::panel};
  for (const Part wrong : parts) {
    PageOptions options = right;
    options.*wrong = "pink";
    const PageOptions rest = what_is_right(options);
    for (const Part part : parts) EXPECT_EQ(rest.*part, part == wrong ? "" : right.*part) << right.*wrong;
    EXPECT_TRUE(state_of(rest));
  }
}

TEST(PageKeys, CodesOfABrowserAreKeys) {
  EXPECT_EQ(key_of("KeyA"), ImGuiKey_A);
  EXPECT_EQ(key_of("KeyZ"), ImGuiKey_Z);
  EXPECT_EQ(key_of("Digit9"), ImGuiKey_9);
  EXPECT_EQ(key_of("Numpad0"), ImGuiKey_Keypad0);
  EXPECT_EQ(key_of("F12"), ImGuiKey_F12);
  EXPECT_EQ(key_of("ArrowRight"), ImGuiKey_RightArrow);
  for (const char* none : {"", "Key", "KeyAB", "Digitx", "F13", "AudioVolumeUp"})
    EXPECT_EQ(key_of(none), ImGuiKey_None);
}

}  // namespace
}  // namespace attn
