// Profile under a finger, of every bundled session at the sizes of phones and tablets: labels of the roofline, menus.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "profiling/session/session.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/profile/profile_fixture.h"
#include "tests/gui/step/phone.h"

namespace attn {
namespace {

// What the page has of a phone held upright, a small one, one that lies, and a tablet either way.
constexpr PhoneSize kHands[] = {{390, 797}, {360, 593}, {844, 343}, {820, 1133}, {1180, 773}};

std::vector<std::filesystem::path> bundled() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() + "/assets/sessions"))
    if (file.path().extension() == ".attn") files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

// Each session at each size, in the light theme; those without rows are left out.
void on_each(const std::function<void(Phone&)>& look) {
  std::size_t at = 0, seen = 0;
  for (const std::filesystem::path& file : bundled()) {
    auto session = read_session(file);
    ASSERT_TRUE(session) << file;
    std::vector<ListedRun> runs;
    for (SweepRun& run : session->runs) runs.push_back({std::move(run), RunFrom::file, false, false});
    if (runs.empty()) continue;
    for (const PhoneSize& size : kHands) {
      if (test::left_to_release(at++, 3)) continue;
      SCOPED_TRACE(file.filename().string() + " at " + std::to_string(size.width));
      Phone w(size);
      w.controller().update({ChooseWorkspace{Workspace::profile}, SetTheme{Theme::light}});
      w.controller().show(runs, nullptr);
      w.draw_frames(5);
      look(w);
      ++seen;
    }
  }
  EXPECT_GE(seen, test::asked("ATTNSCOPE_SANITIZED") ? 8U : 25U);
}

std::vector<DrawnText::Place> drawn_in(Phone& w, const ImGuiWindow& card) {
  const DrawnText drawn;
  w.draw_frames(1);
  std::vector<DrawnText::Place> places;
  for (const DrawnText::Place& p : drawn.places())
    if (card.Rect().Contains(ImRect(p.left, p.top, p.right, p.bottom))) places.push_back(p);
  return places;
}

// "copy, 2.83 TB/s" and "multiply-add peak, 65.2 TFLOP/s" are two names.
TEST(ProfileByTouch, NoNameInARooflineLiesOnAnother) {
  on_each([](Phone& w) {
    const ImGuiWindow* card = profile_gui::child("roofline");
    if (card == nullptr || card->Size.y < 150) return;  // nothing is drawn that has no row
    const auto places = drawn_in(w, *card);
    EXPECT_GE(places.size(), 3U);  // more are below the edge of a lying phone
    for (std::size_t n = 0; n < places.size(); ++n)
      for (std::size_t m = n + 1; m < places.size(); ++m)
        EXPECT_FALSE(collide(places[n], places[m])) << places[n].text << " over " << places[m].text;
  });
}

// "L 1638" is another length than 16384. Beside its words the menu has its arrow, as wide as it is high.
TEST(ProfileByTouch, NoNumberInTheBarIsCut) {
  int numbers = 0;
  on_each([&](Phone& w) {
    const ImGuiWindow* bar = profile_gui::child("profile_panel");
    ASSERT_NE(bar, nullptr);
    const DrawnText drawn;
    w.draw_frames(1);
    float widest = 0;
    for (const std::string& text : drawn.texts())
      if (std::regex_match(text, std::regex("[LBDHqkv]+ [0-9]+")))
        widest = std::max(widest, ImGui::CalcTextSize(text.c_str()).x);
    if (widest == 0) return;  // where there is room, the axis is a label beside it
    ++numbers;
    EXPECT_TRUE(w.run([&](ImGuiTestContext* ctx) {
      ctx->SetRef(bar->ID);
      const ImRect menu = ctx->ItemInfo("##profile_value").RectFull;
      IM_CHECK_GE_NO_RET(menu.GetWidth() - menu.GetHeight(), widest);
    }));
  });
  EXPECT_GE(numbers, test::asked("ATTNSCOPE_SANITIZED") ? 5 : 20);
}

TEST(ProfileByTouch, NoMenuInTheBarLiesOnAnother) {
  on_each([](Phone& w) {
    const ImGuiWindow* bar = profile_gui::child("profile_panel");
    ASSERT_NE(bar, nullptr);
    EXPECT_TRUE(w.run([&](ImGuiTestContext* ctx) {
      ctx->SetRef(bar->ID);
      std::vector<ImRect> boxes;
      for (const char* id : {"##profile_kernel", "##profile_value", "##profile_against", "All", "All metrics"})
        if (ctx->ItemExists(id)) boxes.push_back(ctx->ItemInfo(id).RectFull);
      IM_CHECK_GE(boxes.size(), 3U);
      for (std::size_t n = 0; n < boxes.size(); ++n) {
        IM_CHECK_LE(boxes[n].Max.x, bar->Rect().Max.x);
        for (std::size_t m = n + 1; m < boxes.size(); ++m) IM_CHECK(!boxes[n].Overlaps(boxes[m]));
      }
    }));
  });
}

// docs/web.md: on a touch screen, the texts mention no keys.
TEST(ProfileByTouch, NoPageNamesAKeyOrTheMouse) {
  const std::regex names("\\b(Ctrl|Shift|Esc|Enter|Tab|F[0-9]+|wheel|mouse|[Cc]licks?|[Hh]over)\\b");
  for (const PhoneSize& size : kHands) {
    Phone w(size);
    for (const ProfilePage page :
         {ProfilePage::figures, ProfilePage::source, ProfilePage::heartbeat, ProfilePage::timeline, ProfilePage::lab}) {
      w.controller().update({ChooseWorkspace{Workspace::profile}, ChooseProfilePage{page}});
      w.draw_frames(2);
      w.controller().wait();
      w.settle();
      const DrawnText drawn;
      w.draw_frames(1);
      for (const std::string& text : drawn.texts())
        EXPECT_FALSE(std::regex_search(text, names)) << size.width << ": " << text;
    }
  }
}

}  // namespace
}  // namespace attn
