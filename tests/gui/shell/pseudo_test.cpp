// The window in a language that is a third longer than English: what is pressed neither meets its neighbour nor leaves
// its window where it does not in English.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/formats/catalogue_file.h"
#include "tests/environment/paths.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr float kSlack = 1.5F;  // pixels that neighbours may share: their borders

class Speaking {
 public:
  explicit Speaking(const Catalogue* catalogue) { speak(catalogue); }
  Speaking(const Speaking&) = delete;
  Speaking& operator=(const Speaking&) = delete;
  ~Speaking() { speak(nullptr); }
};

Catalogue pseudo() {
  std::ifstream in(test::source_folder() + "/assets/texts/en.json");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto read = pseudo_catalogue(text, "en.json");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *std::move(read) : Catalogue();
}

struct Faults {
  int meeting = 0, cut = 0, items = 0;
  std::string words;
};

// Two that overlap and of which neither lies in the other: a field within a canvas is none.
bool meet(const ImRect& a, const ImRect& b) {
  if (a.Contains(b) || b.Contains(a)) return false;
  const float w = std::min(a.Max.x, b.Max.x) - std::max(a.Min.x, b.Min.x);
  const float h = std::min(a.Max.y, b.Max.y) - std::max(a.Min.y, b.Min.y);
  return w > kSlack && h > kSlack;
}

Faults faults_of(Ctx* ctx, const char* workspace) {
  ImGuiTestItemList list;
  ctx->GatherItems(&list, workspace);
  std::vector<ImGuiTestItemInfo> items;
  for (const ImGuiTestItemInfo& item : list) items.push_back(item);
  Faults f;
  f.items = static_cast<int>(items.size());
  for (std::size_t n = 0; n < items.size(); ++n) {
    const ImGuiTestItemInfo& a = items[n];
    if (a.Window != nullptr && a.Window->ScrollMax.x <= 0 && a.RectClipped.GetWidth() > 0 &&
        a.RectFull.GetWidth() - a.RectClipped.GetWidth() > kSlack)
      ++f.cut, f.words += std::string(" cut: ") + a.DebugLabel;
    for (std::size_t m = n + 1; m < items.size(); ++m)
      if (a.Window == items[m].Window && meet(a.RectFull, items[m].RectFull))
        ++f.meeting, f.words += std::string(" meet: ") + a.DebugLabel + " and " + items[m].DebugLabel;
  }
  return f;
}

Faults drawn(Workspace workspace, const Catalogue* catalogue) {
  const Speaking speaking(catalogue);
  TestWindow w;
  w.controller().update({ChooseWorkspace{workspace}});
  w.draw_frames(4);
  Faults found;
  const std::string at = "//###workspace/" + std::string(name_of(workspace));
  EXPECT_TRUE(w.run([&](Ctx* ctx) { found = faults_of(ctx, at.c_str()); }));
  return found;
}

TEST(PseudoLanguage, HasRoomInEveryWorkspace) {
  const Catalogue longer = pseudo();
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    SCOPED_TRACE(name_of(workspace));
    const Faults english = drawn(workspace, nullptr), other = drawn(workspace, &longer);
    EXPECT_GT(english.items, 5);
    EXPECT_LE(other.meeting, english.meeting) << other.words;
    EXPECT_LE(other.cut, english.cut) << other.words;
  }
}

}  // namespace
}  // namespace attn
