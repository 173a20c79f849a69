// Bookmarks, speed, files and masks of the Step workspace by mouse and keyboard.
#include <gtest/gtest.h>
#include <cmath>

#include <filesystem>

#include "kernels/formats/npy.h"
#include "tests/gui/gui_fixture.h"
#include "viz/step/facts/landmarks.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

std::string array_file(const TestWindow& w, const std::string& name, const std::vector<std::int64_t>& shape) {
  Array a(DType::f32, shape);
  for (std::int64_t n = 0; n < a.size(); ++n) a.set(n, static_cast<float>(n + 1) / 4);
  const auto path = w.folder() / name;
  EXPECT_TRUE(write_npy(path, a, shape));
  return path.string();
}

TEST(StepTransport, BookmarksByButtonAndByKey) {
  TestWindow w;
  const auto marks = [&] { return bookmarked_steps(recording(w), w.state().view.step.bookmarks); };
  w.controller().update({GoToEvent{5}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##bookmark");
    IM_CHECK(marks() == std::vector<EventIndex>{5});
    ctx->KeyPress(ImGuiKey_End);
    ctx->KeyPress(ImGuiKey_B);
    IM_CHECK_EQ(marks().size(), 2U);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_N);
    IM_CHECK_EQ(w.state().view.step.cursor, 5U);
    ctx->ItemClick("##bookmark_next");
    IM_CHECK_EQ(w.state().view.step.cursor, recording(w).events.size() - 1);
    ctx->ItemClick("##bookmark_previous");
    ctx->KeyPress(ImGuiKey_N);
    ctx->KeyPress(ImGuiKey_B);
    IM_CHECK_EQ(marks().size(), 1U);
  }));
}

TEST(StepTransport, TheListOfBookmarksGoesAndRemoves) {
  TestWindow w;
  w.controller().update({ToggleBookmark{4}, ToggleBookmark{8}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ctx->Yield(2);
    ctx->ItemClick(("//$FOCUSED/$$8/Step 9: " + step_words(recording(w), 8)).c_str());
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, 8U);
    ctx->SetRef(kStep);
    ctx->ItemClick("##bookmark_list");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/$$4/Remove");
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.bookmarks.size(), 1U);
    ctx->ItemClick("//$FOCUSED/Remove all");
    ctx->ItemClick("//$FOCUSED/Close");
    ctx->Yield(2);
    IM_CHECK(w.state().view.step.bookmarks.empty());
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 9U);
  }));
}

TEST(StepTransport, SpeedByButtonAndByKey) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##speed_faster");
    IM_CHECK_EQ(w.state().view.step.play_steps_per_second, 4.0F);
    ctx->KeyPress(ImGuiKey_LeftBracket);
    ctx->KeyPress(ImGuiKey_LeftBracket);
    IM_CHECK_EQ(w.state().view.step.play_steps_per_second, 1.0F);
    ctx->KeyPress(ImGuiKey_RightBracket);
    ctx->ItemClick("##speed_slower");
    IM_CHECK_EQ(w.state().view.step.play_steps_per_second, 1.0F);
  }));
}

TEST(StepTransport, StepsWhereMChangesByButtonAndByKey) {
  TestWindow w;
  w.controller().update({ChoosePreset{"late_outlier"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##step_m_next");
    const EventIndex first = w.state().view.step.cursor;
    IM_CHECK(recording(w).events[first].id.phase == Phase::max);
    ctx->KeyPress(ImGuiKey_M);
    IM_CHECK_GT(w.state().view.step.cursor, first);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_M);
    IM_CHECK_EQ(w.state().view.step.cursor, first);
    ctx->KeyPress(ImGuiKey_M);
    ctx->ItemClick("##step_m_previous");
    IM_CHECK_EQ(w.state().view.step.cursor, first);
  }));
}

TEST(StepInputs, FilesAreTypedAndWhatWillNotDoStaysToBeMended) {
  TestWindow w;
  const std::string q = array_file(w, "q.npy", {6, 3}), k = array_file(w, "k.npy", {5, 3}),
                    other = array_file(w, "o.npy", {5, 9});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##generator");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/your .npy files");
    ctx->Yield(2);
    ctx->ItemInputValue("//$FOCUSED/Q/##path", q.c_str());
    ctx->Yield(2);
    ctx->ItemInputValue("//$FOCUSED/K/##path", other.c_str());
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Use them");
    ctx->Yield(2);
    w.controller().wait();
    ctx->Yield(3);
    // Refused, said in the window; nothing changed.
    IM_CHECK_STR_NE(w.controller().input_files_answer().error.c_str(), "");
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "blackboard");
    ctx->ItemInputValue("//$FOCUSED/K/##path", k.c_str());
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);  // K's brought the keyboard to V, this to the bias, the next uses them
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    w.controller().wait();
    ctx->Yield(3);
    IM_CHECK_STR_EQ(w.controller().input_files_answer().error.c_str(), "");
    IM_CHECK_EQ(w.state().document.problem.Lq, 6);
    IM_CHECK_EQ(w.state().document.problem.Lk, 5);
    IM_CHECK_EQ(recording(w).inputs.q.get(17), 4.5F);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    // Back to a generator.
    ctx->SetRef(kStep);
    ctx->ItemClick("##generator");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/uniform");
    ctx->Yield(2);
    IM_CHECK(w.state().document.inputs.q_file.empty());
  }));
}

TEST(StepInputs, EveryMaskTheBiasAndTheSeedFromThePanel) {
  TestWindow w;
  w.controller().update({ChoosePreset{"random"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const auto choose = [&](const char* combo, const char* item) {
      ctx->SetRef(kStep);
      ctx->ItemClick(combo);
      ctx->Yield(2);
      ctx->ItemClick((std::string("//$FOCUSED/") + item).c_str());
      ctx->Yield(3);
      ctx->SetRef(kStep);
    };
    const Problem& p = w.state().document.problem;
    const auto seen = [&](std::int64_t row, std::int64_t key) { return recording(w).problem.visible(0, row, key); };
    // Each kind by itself, and they hold together; the kernel has run with them.
    choose("##mask", "causal");
    IM_CHECK(p.mask.causal);
    IM_CHECK(!seen(0, 1) && seen(1, 0));
    choose("##mask", "window");
    IM_CHECK(p.mask.causal && p.mask.window_left == 2);
    ctx->ItemInputValue("##window", "1, 0");
    ctx->Yield(3);
    IM_CHECK_EQ(p.mask.window_left, 1);
    IM_CHECK(!seen(3, 1) && seen(3, 2));
    choose("##mask", "causal");
    IM_CHECK(!p.mask.causal && p.mask.window_left == 1);
    choose("##mask", "key lengths");
    ctx->ItemInputValue("##key_lengths", "3");
    ctx->Yield(3);
    IM_CHECK_EQ(p.mask.key_lengths.size(), 1U);
    IM_CHECK(seen(2, 2) && !seen(3, 3));
    ctx->ItemInputValue("##key_lengths", "3000");
    ctx->Yield(3);
    IM_CHECK_EQ(p.mask.key_lengths[0], 3);  // refused, and nothing is lost
    choose("##mask", "none");
    IM_CHECK(p.mask == Mask{});
    IM_CHECK(seen(0, p.Lk - 1));
    choose("##bias", "by distance");
    IM_CHECK(p.has_bias());
    IM_CHECK(recording(w).inputs.bias.has_value());
    IM_CHECK_EQ(recording(w).inputs.bias->get(1), -0.5F);
    choose("##bias", "none");
    IM_CHECK(!p.has_bias());
    ctx->ItemInputValue("##seed", "77");
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().document.inputs.seed, 77U);
    const float before = recording(w).inputs.q.get(0);
    ctx->ItemInputValue("##seed", "78");
    ctx->Yield(3);
    IM_CHECK_NE(recording(w).inputs.q.get(0), before);
  }));
}

TEST(StepInputs, SoftcapAndAlibiFromThePanelByMouseAndKeyboard) {
  TestWindow w;
  w.controller().update({ChoosePreset{"random"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const Problem& p = w.state().document.problem;
    const auto score = [&](std::int32_t row, std::int32_t key) {
      const Recording& rec = recording(w);
      const auto e = rec.find({0, 0, row / rec.options.br, key / rec.options.bc, Phase::mask});
      return e ? rec.values(rec.after(*e, Slot::s))[0] : 0.0F;
    };
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##softcap"));
    ctx->ItemClick("##bias");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/softcap");
    ctx->Yield(3);
    ctx->SetRef(kStep);
    IM_CHECK(p.softcap == 2.0);
    ctx->ItemInputValue("##softcap", "0.25");
    ctx->Yield(3);
    IM_CHECK(recording(w).problem.softcap == 0.25);
    IM_CHECK_LE(std::abs(score(0, 0)), 0.25F);
    ctx->ItemInputValue("##softcap", "-1");
    ctx->Yield(3);
    IM_CHECK(p.softcap == 0.25);     // refused, and nothing is lost
    ctx->KeyPress(ImGuiKey_Escape);  // the typed text that was refused
    ctx->Yield(2);
    ctx->SetRef(kStep);
    ctx->ItemClick("##bias");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/ALiBi slopes");
    ctx->Yield(3);
    IM_CHECK(recording(w).problem.alibi.has_value());
    const auto far = static_cast<std::int32_t>(p.Lk - 1) / recording(w).options.bc * recording(w).options.bc;
    IM_CHECK_LT(score(0, far), 0.25F - p.slope(0, 0) * static_cast<float>(far) + 0.001F);
    ctx->SetRef(kStep);
    ctx->ItemClick("##bias");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/softcap");
    ctx->Yield(3);
    IM_CHECK(!p.softcap && p.alibi);
  }));
}

TEST(StepInputs, AnEditShowsInTheNextFrame) {
  TestWindow w;
  w.controller().update({GoToEvent{*recording(w).find({0, 0, 0, 0, Phase::scores})}});
  InputSpec typed = w.state().document.inputs;
  typed.edits = {{InputTensor::q, 0, 9}};
  const float before = recording(w).values(recording(w).after(w.state().view.step.cursor, Slot::s))[0];
  w.controller().update({SetInputs{typed, 0}});
  w.draw_frames(1);
  const float after = recording(w).values(recording(w).after(w.state().view.step.cursor, Slot::s))[0];
  EXPECT_NE(after, before);
  EXPECT_FALSE(w.controller().model().task.running);
}

TEST(StepPictures, StepsAreAskedForInASmallWindow) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_F12);
    ctx->Yield(2);
    ctx->ItemInputValue("//$FOCUSED/##first", 5);
    ctx->ItemInputValue("//$FOCUSED/##last", 2);
    ctx->Yield(2);
    IM_CHECK((ctx->ItemInfo("//$FOCUSED/Create").ItemFlags & ImGuiItemFlags_Disabled) != 0);
    ctx->ItemInputValue("//$FOCUSED/##last", 7);
    ctx->Yield(2);
    IM_CHECK((ctx->ItemInfo("//$FOCUSED/Create").ItemFlags & ImGuiItemFlags_Disabled) == 0);
    ctx->ItemClick("//$FOCUSED/Close");
  }));
}

}  // namespace
}  // namespace attn
