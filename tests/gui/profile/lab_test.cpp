// The lab under the hand: typing, Ctrl+Enter, a mark that leads to its line, an experiment by one click, back to the
// original; and a kernel of one's own by Ctrl+O. The worker's double compiles: no GPU, no NVRTC.
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/state/apply/apply.h"
#include "imgui_internal.h"
#include "kernels/gpu/compile/sources.h"
#include "profiling/session/session.h"
#include "tests/app/worker/double.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "tests/kernels/gpu/own_kernel/own_kernel_text.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

ImGuiWindow* lab_child(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos) return window;
  return nullptr;
}

// A text with "wrong" in it does not compile: its line 2.
class SayingCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "a double"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource& source, const std::vector<std::string>&) override {
    if (source.text.find("wrong") != std::string::npos)
      return fail(ErrorKind::failed, source.name + " does not compile for sm_90a:\n" + source.name + ":2: it is wrong");
    gpu::Cubin c;
    for (const char* entry : {"mine", "flash_simt", "flash_mma"})
      c.log += std::string("ptxas info    : Compiling entry function '") + entry +
               "' for 'sm_90a'\nptxas info    : Used 200 registers\n";
    return c;
  }
};

std::shared_ptr<GpuBench> bench_without_gpu() {
  const auto compiler = []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<SayingCompiler>(); };
  return std::make_shared<GpuBench>(
      [compiler] {
        WorkerParts parts = parts_with({});
        parts.compiler = compiler;
        parts.driver = []() -> Result<std::unique_ptr<gpu::Driver>> {
          return fail(ErrorKind::cannot_run, "no driver here");
        };
        return Child::copy([parts](Socket& socket) { return work(socket, parts); });
      },
      compiler, std::filesystem::path());
}

class LabWindowTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1) {
    window.reset();  // one at a time
    window = std::make_unique<TestWindow>(width, height, "", false, KernelLister(), bench_without_gpu());
    window->controller().update({ChooseWorkspace{Workspace::profile}, SetScale{scale},
                                 ChooseProfilePage{ProfilePage::lab}, ChooseKernel{"flash_simt"}});
    settle();
  }
  void settle() {
    for (int n = 0; n < 3; ++n) {
      window->draw_frames(2);
      window->controller().wait();
    }
    window->draw_frames(2);
  }
  const LabView& lab() const { return window->controller().model().lab; }
  // Into the first line of the field, by a click.
  static void click_text(Ctx* ctx) {
    ImGuiWindow* lines = lab_child("lab_lines");
    IM_CHECK(lines != nullptr);
    ctx->MouseMoveToPos({lines->Pos.x + 200, lines->Pos.y + 6});
    ctx->MouseClick();
    ctx->Yield(2);
  }
  std::unique_ptr<TestWindow> window;
};

TEST_F(LabWindowTest, TypingChangesTheTextAndCtrlEnterBuildsIt) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK_STR_EQ(lab().kernel.c_str(), "flash_simt");
    click_text(ctx);
    ctx->KeyPress(ImGuiKey_Home);
    ctx->KeyChars("// typed ");
    ctx->Yield(2);
    IM_CHECK(lab().changed());
    IM_CHECK(lab().now.text.find("// typed ") < 200);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
    ctx->Yield(2);
    const auto built = [&] { return lab().built() != nullptr; };
    for (int n = 0; n < 400 && !built(); ++n) ctx->SleepNoSkip(0.02F, 0.02F);
    IM_CHECK(built());
    IM_CHECK(lab().built()->row->reason.find("no driver here") != std::string::npos);
    // The field keeps the keyboard, and Enter alone is a new line.
    ctx->KeyChars("x");
    ctx->Yield(2);
    IM_CHECK(lab().now.text.find("// typed x") != std::string::npos);
    // Escape leaves the field and takes nothing back.
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(lab().now.text.find("// typed x") != std::string::npos);
    IM_CHECK(ImGui::GetCurrentContext()->ActiveId == 0);
  }));
}

// The program's keys work while the editor has the keyboard, and what is typed never lands in a text that is hidden.
TEST_F(LabWindowTest, KeysOfTheProgramWorkInTheEditorAndLettersStayInTheirText) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    click_text(ctx);
    ctx->KeyPress(ImGuiKey_Home);
    ctx->KeyChars("// one ");
    ctx->Yield(2);
    const std::string typed = lab().now.text;
    IM_CHECK(typed.find("// one ") < 200);
    for (const auto& [key, workspace] :
         {std::pair{ImGuiKey_2, Workspace::bench}, std::pair{ImGuiKey_1, Workspace::step}}) {
      ctx->KeyPress(ImGuiMod_Ctrl | key);
      ctx->Yield(2);
      IM_CHECK(window->state().view.workspace == workspace);
      ctx->KeyChars("zq");
      ctx->Yield(2);
      IM_CHECK(lab().now.text == typed);
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_3);
      ctx->Yield(3);
      IM_CHECK(window->state().view.workspace == Workspace::profile);
      IM_CHECK(lab().now.text == typed);
      click_text(ctx);
    }
    // Ctrl+Z takes back what was typed here, and nothing of the sweep or of Step.
    const Document document = window->state().document;
    for (int n = 0; n < 12 && lab().changed(); ++n) {
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
      ctx->Yield(2);
    }
    IM_CHECK(!lab().changed());
    IM_CHECK(window->state().document == document);
  }));
}

TEST_F(LabWindowTest, AnErrorsLineIsMarkedAndAPressLeadsThere) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    click_text(ctx);
    ctx->KeyPress(ImGuiKey_End);
    ctx->KeyChars(" wrong");
    ImGuiWindow* strip = lab_child("lab_strip");
    IM_CHECK(strip != nullptr);
    ctx->SetRef(strip);
    ctx->ItemClick("Build, check, measure");
    for (int n = 0; n < 400 && lab().marks.empty(); ++n) ctx->SleepNoSkip(0.02F, 0.02F);
    IM_CHECK_EQ(lab().marks.size(), 1U);
    ctx->Yield(2);
    ImGuiWindow* lines = lab_child("lab_lines");
    ctx->SetRef(lines);
    ctx->ScrollToBottom("");
    ctx->Yield(2);
    const float far = lines->Scroll.y;
    IM_CHECK(far > 100);
    ctx->SetRef(lab_child("lab_editor"));
    ctx->ItemClick("###lab_mark_2");
    // It scrolls over as many frames as it takes.
    for (int n = 0; n < 200 && lab_child("lab_lines")->Scroll.y >= far; ++n) ctx->SleepNoSkip(0.01F, 0.01F);
    IM_CHECK(lab_child("lab_lines")->Scroll.y < far);
    ctx->KeyChars("HERE");  // the caret stands in the marked line
    ctx->Yield(2);
    const std::string& text = lab().now.text;
    const std::size_t line_2 = text.find('\n') + 1;
    IM_CHECK_STR_EQ(text.substr(line_2, 4).c_str(), "HERE");
  }));
}

TEST_F(LabWindowTest, AnExperimentOpensByOneClickAndRevertTakesItBack) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(lab_child("lab_experiments"));
    ctx->ItemClick("**/expf for exp2##experiment_expf");
    ctx->Yield(3);
    IM_CHECK(lab().now.text.find("expf((s[i][j]") != std::string::npos);
    ctx->SetRef(lab_child("lab_editor"));
    ctx->ItemClick("Difference");
    ctx->Yield(2);
    ctx->ItemClick("Editor");
    ctx->SetRef(lab_child("lab_strip"));
    ctx->ItemClick("Keep in Bench");
    ctx->Yield(2);
    IM_CHECK_EQ(window->state().document.sweep.own.size(), 1U);
    ctx->ItemClick("Revert");
    ctx->Yield(2);
    IM_CHECK(!lab().changed());
  }));
}

TEST_F(LabWindowTest, AnOptionIsTypedAndATryComesBackByAPress) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(lab_child("lab_panel"));
    ctx->ItemInputValue("##lab_registers", 64);
    ctx->Yield(2);
    IM_CHECK_EQ(lab().now.build.max_registers, 64);
    ctx->ItemClick("##lab_registers");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    ctx->KeyPress(ImGuiKey_Delete);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK_EQ(lab().now.build.max_registers, 0);  // an emptied field is no limit
    ctx->ItemInputValue("##lab_registers", 64);
    ctx->Yield(2);
    ctx->ItemClick("##lab_fast");
    ctx->Yield(2);
    IM_CHECK(lab().now.build.fast_math);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
    for (int n = 0; n < 400 && lab().tries.empty(); ++n) ctx->SleepNoSkip(0.02F, 0.02F);
    IM_CHECK_EQ(lab().tries.size(), 1U);
    for (int n = 0; n < 400 && !lab().building.empty(); ++n) ctx->SleepNoSkip(0.02F, 0.02F);
    ctx->SetRef(lab_child("lab_strip"));
    ctx->ItemClick("Revert");
    ctx->Yield(3);
    IM_CHECK(!lab().changed());
    ctx->SetRef(lab_child("lab_tries"));
    ctx->ItemClick("##try_0");
    ctx->Yield(3);
    IM_CHECK_EQ(lab().now.build.max_registers, 64);
  }));
}

TEST_F(LabWindowTest, AFileOfOnesOwnOpensByCtrlOAndStandsInTheLab) {
  open();
  const std::string file = (window->folder().path() / "mine.cu").string();
  std::ofstream(file) << kOwnKernel;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
    ctx->Yield(3);
    ctx->KeyCharsReplaceEnter(file.c_str());
    for (int n = 0; n < 200 && window->state().document.sweep.own.empty(); ++n) ctx->SleepNoSkip(0.02F, 0.02F);
    IM_CHECK_EQ(window->state().document.sweep.own.size(), 1U);
    ctx->Yield(4);
    IM_CHECK_STR_EQ(lab().kernel.c_str(), std::string(window->state().document.sweep.own.front()->id).c_str());
    IM_CHECK_STR_EQ(lab().now.text.c_str(), kOwnKernel.c_str());
  }));
}

TEST_F(LabWindowTest, ASessionsKernelIsAskedForInWords) {
  open();
  Session s;
  s.kernels = {{"mine.cu", kOwnKernel}};
  const auto file = window->folder().path() / "s.attn";
  ASSERT_TRUE(write_session(file, s));
  window->controller().update({OpenFile{file.string()}});
  settle();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(window->state().document.sweep.own.empty());
    ctx->SetRef("//Kernels of a session");
    ctx->ItemClick("Allow");
    ctx->Yield(3);
    IM_CHECK_EQ(window->state().document.sweep.own.size(), 1U);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
  }));
}

TEST_F(LabWindowTest, FitsASmallWindowAndLargeLetters) {
  for (const auto& [width, height, scale] : {std::tuple{1280, 720, 1.0F}, std::tuple{1440, 900, 2.0F}}) {
    open(width, height, scale);
    for (const char* name : {"lab_panel", "lab_strip", "lab_editor"}) {
      const ImGuiWindow* card = lab_child(name);
      ASSERT_NE(card, nullptr) << name;
      EXPECT_GT(card->Size.x, 200.0F * scale) << name;
      EXPECT_LE(card->Pos.x + card->Size.x, static_cast<float>(width) + 1) << name;
    }
    EXPECT_GT(lab_child("lab_lines")->Size.y, 120.0F * scale);
  }
}

// "Late hand-back" is the longest.
TEST_F(LabWindowTest, EveryLabelEndsBeforeItsField) {
  for (const float scale : {1.0F, 1.5F, 2.0F}) {
    open(static_cast<int>(1280 * scale), static_cast<int>(720 * scale), scale);
    window->controller().update({ChooseKernel{"flash_hopper"}});
    settle();
    const ImGuiWindow* panel = lab_child("lab_panel");
    ASSERT_NE(panel, nullptr);
    std::vector<ImRect> fields;
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      ImGuiTestItemList items;
      ctx->GatherItems(&items, panel->ID);
      for (const ImGuiTestItemInfo& item : items)
        if (std::string(item.DebugLabel).rfind("##lab_", 0) == 0) fields.push_back(item.RectFull);
    }));
    ASSERT_GT(fields.size(), 10U);
    const DrawnText drawn;
    window->draw_frames(2);
    EXPECT_EQ(drawn.count("Late hand-back"), 2);
    for (const DrawnText::Place& words : drawn.places())
      for (const ImRect& field : fields) {
        const bool is_label = words.left < field.Min.x && words.left > panel->Pos.x && words.top > field.Min.y - 2 &&
                              words.bottom < field.Max.y + 2;
        if (is_label) {
          EXPECT_LE(words.right, field.Min.x - 4 * scale) << words.text;
        }
      }
  }
}

}  // namespace
}  // namespace attn
