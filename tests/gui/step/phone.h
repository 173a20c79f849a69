// A window under a finger, of the size of a phone.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "viz/draw/hands.h"

namespace attn {

// What the page has of a phone of 360 x 740, 390 x 844 and 412 x 915: the line under the picture takes 47.
struct PhoneSize {
  int width, height;
};
// And of a phone, of a small one, of one that lies, and of a tablet both ways up.
inline constexpr PhoneSize kHeld[] = {{390, 797}, {360, 591}, {844, 341}, {820, 1131}, {1180, 771}};
// All that the page is looked at on: small phones that lie and small tablets too.
inline constexpr PhoneSize kPages[] = {{390, 797},  {360, 593},  {844, 343}, {740, 313},
                                       {820, 1133}, {744, 1086}, {1180, 773}};
inline constexpr PhoneSize kPhones[] = {{360, 693}, {390, 797}, {412, 868}};

class Phone : public TestWindow {
 public:
  // `state`: the string that it opens with.
  explicit Phone(const PhoneSize& size = kPhones[1], const std::string& state = "attn1")
      : TestWindow(size.width, size.height, "", false, {}, {}, {}, state) {
    ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_IsTouchScreen;
  }
  void open(const char* preset, const char* kernel = "cpu_flash") {
    controller().update({ChoosePreset{preset}, ChooseKernel{kernel}});
    settle();
  }
  void settle() {
    for (int frame = 0; frame < 400 && controller().tasks_run(); ++frame) draw_frames(1);
    draw_frames(3);
  }
  void go_to(EventIndex e) {
    controller().update({GoToEvent{e}});
    draw_frames(4);
  }
};

// Whether one is written over the other; indices and exponents of a letter stand at different heights.
inline bool collide(const DrawnText::Place& a, const DrawnText::Place& b) {
  const float wide = std::min(a.right, b.right) - std::max(a.left, b.left),
              high = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float low = std::min(a.bottom - a.top, b.bottom - b.top);
  constexpr float kCut = 8;  // lower than this they are at the page's edge
  return low >= kCut && wide > 2 && high > 0.6F * low;
}

// Two shelves of HBM at one place have one word.
inline bool is_same(const DrawnText::Place& a, const DrawnText::Place& b) {
  return a.text == b.text && a.left == b.left && a.top == b.top;
}

inline void expect_apart(const std::vector<DrawnText::Place>& places, const std::string& where) {
  for (std::size_t n = 0; n < places.size(); ++n)
    for (std::size_t k = 0; k < n; ++k)
      EXPECT_FALSE(collide(places[n], places[k]) && !is_same(places[n], places[k]))
          << where << ": " << places[n].text << " over " << places[k].text;
}

// `where`: before each id, as "//$FOCUSED/"; empty: what the context refers to.
inline void expect_for_fingers(ImGuiTestContext* ctx, const std::string& where,
                               std::initializer_list<const char*> ids) {
  for (const char* id : ids) {
    const std::string path = where + id;
    EXPECT_TRUE(ctx->ItemExists(path.c_str())) << path;
    const ImRect box = ctx->ItemInfo(path.c_str()).RectFull;
    EXPECT_GE(box.GetWidth(), kFinger - 0.5F) << path;
    EXPECT_GE(box.GetHeight(), kFinger - 0.5F) << path;
  }
}

}  // namespace attn
