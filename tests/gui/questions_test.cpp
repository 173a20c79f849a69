// Forty-six questions of a learner, written before the window was looked at: where each is answered, in at most three
// actions. An action is a key or a search (Ctrl+P, words, Enter). Every row is walked, from the first picture.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kernels/recording/recording.h"
#include "tests/environment/asked.h"
#include "tests/gui/gui_fixture.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr ImGuiKeyChord kLearnKey = ImGuiMod_Ctrl | ImGuiKey_4;

struct Action {
  ImGuiKeyChord key = 0;
  std::string find;  // in the palette
};
Action press(ImGuiKeyChord key) {
  return {key, ""};
}
Action find(const char* words) {
  return {0, words};
}

struct Asked {
  const char* question;
  std::vector<Action> actions;
  bool (*answered)(TestWindow& w);
};

const State& s(TestWindow& w) {
  return w.state();
}
Phase phase(TestWindow& w) {
  return recording(w).events[s(w).view.step.cursor].id.phase;
}
bool chart(TestWindow& w, StepChart wanted) {
  return s(w).view.workspace == Workspace::step && s(w).view.step.chart == wanted;
}
bool preset(TestWindow& w, std::string_view id) {
  return s(w).document.preset == id && s(w).view.workspace == Workspace::step;
}
bool lesson(TestWindow& w, std::string_view id) {
  return s(w).view.workspace == Workspace::learn && s(w).view.learn.lesson == id;
}
bool bench(TestWindow& w, BenchPage page) {
  return s(w).view.workspace == Workspace::bench && s(w).view.bench.page == page;
}
bool profile(TestWindow& w, ProfilePage page) {
  return s(w).view.workspace == Workspace::profile && s(w).view.profile.page == page;
}

bool answer(TestWindow& w, std::string_view part) {
  const PaletteEntry* shown = w.shell().answered();
  return shown != nullptr && shown->answer.find(part) != std::string::npos;
}

const std::vector<Asked> kQuestions{
    // What happens in a step
    {"What happens first?", {}, [](TestWindow& w) { return phase(w) == Phase::load_q; }},
    {"And next?", {press(ImGuiKey_RightArrow)}, [](TestWindow& w) { return phase(w) == Phase::load_kv; }},
    {"Where does the maximum of my row rise?",
     {press(ImGuiKey_M)},
     [](TestWindow& w) { return phase(w) == Phase::max; }},
    {"Why is alpha so small here?",
     {find("Late outlier"), press(ImGuiKey_M), press(ImGuiKey_RightArrow)},
     [](TestWindow& w) { return preset(w, "late_outlier") && phase(w) == Phase::rescale; }},
    {"How does the last step look?",
     {press(ImGuiKey_End)},
     [](TestWindow& w) { return s(w).view.step.cursor + 1 == recording(w).events.size(); }},
    {"What if the numbers are others?", {find("Random")}, [](TestWindow& w) { return preset(w, "random"); }},
    {"Is O divided by the sum already?",
     {press(ImGuiKey_O)},
     [](TestWindow& w) { return s(w).view.step.reading == OutputReading::divided; }},
    {"How far is the row from its end while it runs?",
     {find("Hindsight")},
     [](TestWindow& w) { return chart(w, StepChart::hindsight); }},
    {"What would naive have done up to here?",
     {find("Naive and flash")},
     [](TestWindow& w) { return chart(w, StepChart::passes); }},
    {"How large is the rounding error?", {find("Error")}, [](TestWindow& w) { return chart(w, StepChart::error); }},
    {"Which key does each query look at?",
     {find("Attention map")},
     [](TestWindow& w) { return chart(w, StepChart::attention); }},
    {"Which thread holds which number of a tile?",
     {find("Fragments")},
     [](TestWindow& w) { return chart(w, StepChart::fragments); }},
    {"Which tiles does a causal mask spare?",
     {find("Causal")},
     [](TestWindow& w) { return s(w).document.problem.mask.causal; }},
    {"What becomes of a row that sees no key?",
     {find("A row without keys")},
     [](TestWindow& w) { return preset(w, "masked_row"); }},
    {"What becomes of a last, smaller tile?",
     {find("Ragged tiles")},
     [](TestWindow& w) { return preset(w, "ragged"); }},
    {"Where does a NaN in Q go?", {find("and NaN")}, [](TestWindow& w) { return preset(w, "non_finite"); }},
    {"Do two query heads share keys?", {find("Grouped heads")}, [](TestWindow& w) { return preset(w, "heads"); }},
    {"What does ALiBi do to a score?", {find("Distance bias")}, [](TestWindow& w) { return preset(w, "bias"); }},
    {"What does a sliding window spare?", {find("Sliding window")}, [](TestWindow& w) { return preset(w, "window"); }},
    {"What does FlashAttention-1 do in another order?",
     {find("cpu_flash1:")},
     [](TestWindow& w) { return s(w).document.kernel == "cpu_flash1"; }},
    {"What does a GPU hold in its registers in place of S?",
     {find("Late outlier, 64"), find("flash on CUDA cores"), find("Numbers as the kernel holds them")},
     [](TestWindow& w) { return recording(w).gpu.has_value() && s(w).view.step.raw; }},
    {"Can I come back to this step later?",
     {press(ImGuiKey_B)},
     [](TestWindow& w) { return s(w).view.step.bookmarks.size() == 1; }},
    {"How do I undo what I typed?",
     {find("Random"), press(ImGuiMod_Ctrl | ImGuiKey_Z)},
     [](TestWindow& w) { return preset(w, "blackboard"); }},
    // Learn
    {"Where do I begin?", {find("Start the first chapter")}, [](TestWindow& w) { return lesson(w, "wall"); }},
    {"Can I do it by hand?", {press(kLearnKey), find("By hand")}, [](TestWindow& w) { return lesson(w, "by-hand"); }},
    {"Why is the maximum subtracted?",
     {press(kLearnKey), find("The safe softmax")},
     [](TestWindow& w) { return lesson(w, "safe-softmax"); }},
    {"How are two halves put together?",
     {press(kLearnKey), find("Two halves make")},
     [](TestWindow& w) { return lesson(w, "two-halves"); }},
    {"Which bug is that?",
     {press(kLearnKey), find("Bug museum")},
     [](TestWindow& w) { return lesson(w, "bug-museum"); }},
    {"What does a wrong kernel's run look like?",
     {find("A peek at the next token")},
     [](TestWindow& w) { return s(w).document.kernel == "museum_mask_off_by_one"; }},
    {"Where does a wrong kernel go wrong first?",
     {find("A peek at the next token"), find("Find the first wrong step")},
     [](TestWindow& w) { return w.controller().model().examination.first.has_value(); }},
    {"Can a class vote?",
     {press(kLearnKey), find("By hand"), press(ImGuiKey_F11)},
     [](TestWindow& w) { return w.controller().model().learn->teach && lesson(w, "by-hand"); }},
    // Bench and Profile
    {"How fast is it?", {press(ImGuiMod_Ctrl | ImGuiKey_2)}, [](TestWindow& w) { return bench(w, BenchPage::charts); }},
    {"What changed from rung to rung?",
     {press(ImGuiKey_F7)},
     [](TestWindow& w) { return bench(w, BenchPage::ladder); }},
    {"Which tiles fit into shared memory?",
     {find("Tiles: which fit")},
     [](TestWindow& w) { return bench(w, BenchPage::tiles); }},
    {"How do two sources differ?",
     {find("Sources of two rungs")},
     [](TestWindow& w) { return bench(w, BenchPage::sources); }},
    {"What would this problem cost in Bench?",
     {find("Measure this problem")},
     [](TestWindow& w) { return s(w).view.workspace == Workspace::bench; }},
    {"Which line of the source became which instructions?",
     {find("Source of the kernel")},
     [](TestWindow& w) { return profile(w, ProfilePage::source); }},
    {"What do the pipes do over the time of a run?",
     {find("Heartbeat: how busy")},
     [](TestWindow& w) { return profile(w, ProfilePage::heartbeat); }},
    // What no picture says: the palette answers
    {"What is the formula for attention, in one line?",
     {find("formula for attention")},
     [](TestWindow& w) { return answer(w, "average of V's rows") && !w.shell().answered()->formula.empty(); }},
    {"What is the definition of LSE?",
     {find("LSE")},
     [](TestWindow& w) { return answer(w, "m + ln ℓ") && !w.shell().answered()->formula.empty(); }},
    {"Why divide by sqrt(D)?", {find("why divide by sqrt(D)")}, [](TestWindow& w) { return answer(w, "variance D"); }},
    {"At which L does naive run out of memory on this GPU?",
     {find("naive run out of memory")},
     [](TestWindow& w) { return answer(w, "naive from L = "); }},
    {"Why this tile size?",
     {press(ImGuiMod_Ctrl | ImGuiKey_2), find("why this tile size")},
     [](TestWindow& w) { return answer(w, "A larger Br reads K and V"); }},
    {"What does MIO throttle mean?",
     {find("MIO throttle")},
     [](TestWindow& w) { return answer(w, "shared-memory loads") && answer(w, "mio_throttle"); }},
    {"Which versions of driver, CUDA, NVRTC, CUPTI made this session?",
     {find("which versions driver CUPTI")},
     [](TestWindow& w) { return answer(w, "AttnScope "); }},
    // The window
    {"Which keys are there?", {press(ImGuiKey_F1)}, [](TestWindow& w) { return s(w).view.keys_sheet; }},
    {"Can it be larger?", {find("Text and tiles at 200")}, [](TestWindow& w) { return s(w).preferences.scale == 2; }},
};

void take(Ctx* ctx, const Action& action) {
  action.find.empty() ? ctx->KeyPress(action.key) : choose_in_palette(ctx, action.find.c_str());
}

TEST(LearnersQuestions, AreFortySevenAndEachIsAnsweredInThreeActions) {
  EXPECT_EQ(kQuestions.size(), 47U);
  std::size_t questions = 0;
  for (const Asked& asked : kQuestions) {
    if (test::left_to_release(questions++, 3)) continue;
    EXPECT_LE(asked.actions.size(), 3U) << asked.question;
    TestWindow w;
    bool answered = false;  // asked while what is open is open
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      for (const Action& action : asked.actions) {
        take(ctx, action);
        ctx->Yield(2);
        constexpr int kMostFrames = 400;
        for (int frame = 0; frame < kMostFrames && w.controller().tasks_run(); ++frame) ctx->Yield();
        ctx->Yield(2);
      }
      answered = asked.answered(w);
    })) << asked.question;
    EXPECT_TRUE(answered) << asked.question;
  }
}

}  // namespace
}  // namespace attn
