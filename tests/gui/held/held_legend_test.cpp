// The legend on what is held in a hand: it names every mark of the run, in narrow figures too.
#include <string>

#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/gui/step/phone.h"
#include "viz/step/beside/legend.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr const char* kPresets[] = {"blackboard", "late_outlier", "causal", "masked_row", "pages", "bias"};

void expect_every_mark(Phone& w, const std::string& where) {
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    if (ImGuiWindow* page = child_window("page")) {
      ctx->SetRef(page);
      ctx->ScrollToItem("##cell_legend", ImGuiAxis_Y, ImGuiTestOpFlags_NoFocusWindow);
      ctx->Yield(2);
    }
    const DrawnText drawn;
    ctx->Yield(2);
    const Recording& rec = recording(w);
    for (const LegendEntry& e : cell_legend(legend_marks(rec, scales_of(rec))))
      EXPECT_TRUE(drawn.texts().contains(e.words) || drawn.texts().contains(e.narrow)) << where << ": " << e.words;
  })) << where;
}

TEST(HeldLegend, NamesEveryMarkOfAFigure) {
  for (const PhoneSize& size : {PhoneSize{360, 420}, PhoneSize{360, 560}, PhoneSize{440, 420}})
    for (const char* preset : kPresets) {
      Phone w(size);
      w.shell().show_alone(StepPanel::tiles);
      w.open(preset);
      w.go_to(11);
      expect_every_mark(w, std::string(preset) + " at " + std::to_string(size.width));
    }
}

TEST(HeldLegend, NamesEveryMarkOnAPage) {
  std::size_t cases = 0;
  for (const PhoneSize& size : kPages)
    for (const char* preset : kPresets) {
      if (test::left_to_release(cases++, 6)) continue;
      Phone w(size);
      w.open(preset);
      w.go_to(20);
      expect_every_mark(w, std::string(preset) + " at " + std::to_string(size.width));
    }
}

}  // namespace
}  // namespace attn
