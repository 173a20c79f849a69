// The lab and kernels of one's own in the window: built in the worker, kept as drafts, taken into Bench, saved with the
// session, and never run out of somebody's file before the user has allowed it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/session.h"
#include "tests/app/worker/double.h"
#include "tests/kernels/gpu/own_kernel/own_kernel_text.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Knows the entries of the test's kernels; a text with "wrong" in it does not compile.
class SayingCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "a double"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource& source, const std::vector<std::string>& options) override {
    if (source.text.find("wrong") != std::string::npos)
      return fail(ErrorKind::failed, source.name + " does not compile for sm_90a:\n" + source.name + ":3: it is wrong");
    const bool few = std::ranges::find(options, "--maxrregcount=64") != options.end();
    gpu::Cubin c;
    c.log = source.name + "(2): warning #177-D: a double warns\n";
    for (const char* entry : {"mine", "flash_simt"})
      c.log += std::string("ptxas info    : Compiling entry function '") + entry +
               "' for 'sm_90a'\nptxas info    : Used " + (few ? "64" : "200") + " registers\n";
    return c;
  }
};

class LabsTest : public ::testing::Test {
 protected:
  ControllerOptions options(bool driver = true, const Fault& fault = {}) const {
    ControllerOptions o;
    o.state = initial_state();
    SweepSpec& sweep = o.state.document.sweep;
    sweep.values = {64};
    sweep.base.D = sweep.base.Dv = 8;
    sweep.kernels = {"flash_simt"};
    o.state.view.bench.kernel = "flash_simt";
    o.state.view.workspace = Workspace::profile;
    o.state.view.profile.page = ProfilePage::lab;
    o.save_folder = folder_ / "saved";
    o.runs.recent = folder_ / "recent";
    o.drafts = folder_ / "drafts";
    const auto compiler = []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<SayingCompiler>(); };
    o.sweeps.gpu = std::make_shared<GpuBench>(
        [driver, compiler, fault] {
          WorkerParts parts = parts_with(fault);
          parts.compiler = compiler;
          if (!driver)
            parts.driver = []() -> Result<std::unique_ptr<gpu::Driver>> {
              return fail(ErrorKind::cannot_run, "no driver here");
            };
          return Child::copy([parts](Socket& socket) { return work(socket, parts); });
        },
        compiler, fs::path());
    return o;
  }
  // Frames until nothing is to be done: a draft is written by the frame after the one that typed it.
  static void settle(Controller& c) {
    for (int n = 0; n < 3; ++n) {
      c.update({});
      c.wait();
    }
  }
  static LabChange with(const Controller& c, const std::string& more) {
    LabChange change = c.model().lab.now;
    change.text += more;
    return change;
  }
  static std::string last_words(Controller& c) {
    const auto entries = c.log().after(0);
    return entries.empty() ? "" : entries.back().text;
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(LabsTest, AnEditIsBuiltInTheWorkerBesideTheOriginal) {
  Controller c(options());
  settle(c);
  const LabView& lab = c.model().lab;
  ASSERT_EQ(lab.kernel, "flash_simt");
  EXPECT_EQ(lab.now.text, gpu::kernel_source("flash_simt", {})->text);
  LabChange change = with(c, "// more\n");
  change.build.max_registers = 64;
  c.update({EditLab{change, c.model().lab.kernel}, BuildLab{}});
  EXPECT_FALSE(lab.building.empty());
  settle(c);
  ASSERT_NE(lab.built(), nullptr) << last_words(c);
  const Measurement& m = *lab.built()->row;
  EXPECT_EQ(lab.built()->name, m.key.kernel);
  EXPECT_EQ(gpu::own_stem(m.key.kernel), "flash_simt");
  EXPECT_EQ(m.compiled_with, "maxrregcount=64");
  EXPECT_DOUBLE_EQ(figure(m, "registers_count").value, 64) << m.reason;
  ASSERT_NE(lab.before, nullptr);
  EXPECT_EQ(lab.before->key.kernel, "flash_simt");
  EXPECT_DOUBLE_EQ(figure(*lab.before, "registers_count").value, 200);
  ASSERT_EQ(lab.marks.size(), 1U);
  EXPECT_EQ(lab.marks.front().line, 2);
  EXPECT_TRUE(lab.building.empty());
}

// The double's sampler finds three samples at the kernel's first instruction, of one launch.
TEST_F(LabsTest, TheLinesOfTheEditAndOfTheOriginalAreSampledAfterTheAnswer) {
  Controller c(options());
  settle(c);
  const LabView& lab = c.model().lab;
  c.update({EditLab{with(c, "// more\n"), c.model().lab.kernel}, BuildLab{}});
  settle(c);
  ASSERT_NE(lab.built(), nullptr) << last_words(c);
  const LabTry& edit = *lab.built();
  ASSERT_NE(edit.row->samples, nullptr) << edit.row->no_samples;
  EXPECT_EQ(counts_of(*edit.row->samples).all, 3U);
  ASSERT_NE(lab.before, nullptr);
  ASSERT_NE(lab.before->samples, nullptr) << lab.before->no_samples;
  EXPECT_NE(lab.before->samples, edit.row->samples);
  EXPECT_GT(edit.row_seconds, 0);
  EXPECT_GT(edit.lines_seconds, edit.row_seconds) << "nobody waits for the samples";
  EXPECT_TRUE(lab.sampling.empty());
  const auto sampled = lab.before;
  c.update({EditLab{with(c, "// and more\n"), c.model().lab.kernel}, BuildLab{}});
  settle(c);
  EXPECT_EQ(lab.before, sampled) << "the original is sampled once";
  ASSERT_NE(lab.built(), nullptr);
  EXPECT_NE(lab.built()->row->samples, nullptr) << lab.built()->row->no_samples;
}

TEST_F(LabsTest, WhereNothingCanBeSampledTheRowStaysAndSaysWhy) {
  Controller c(options(true, {"open_profiler"}));
  settle(c);
  c.update({EditLab{with(c, "// more\n"), c.model().lab.kernel}, BuildLab{}});
  settle(c);
  ASSERT_NE(c.model().lab.built(), nullptr) << last_words(c);
  const Measurement& m = *c.model().lab.built()->row;
  EXPECT_EQ(m.state, RowState::done);
  EXPECT_EQ(m.samples, nullptr);
  EXPECT_NE(m.no_samples.find("libcupti"), std::string::npos) << m.no_samples;
  EXPECT_DOUBLE_EQ(c.model().lab.built()->lines_seconds, 0);
}

TEST_F(LabsTest, WithoutAGpuTheWorkerCompilesAndSaysWhyThereIsNoTime) {
  Controller c(options(false));
  settle(c);
  c.update({EditLab{with(c, "// more\n"), c.model().lab.kernel}, BuildLab{}});
  settle(c);
  ASSERT_NE(c.model().lab.built(), nullptr) << last_words(c);
  const Measurement& m = *c.model().lab.built()->row;
  EXPECT_EQ(m.state, RowState::refused);
  EXPECT_NE(m.reason.find("no GPU: no driver here"), std::string::npos) << m.reason;
  EXPECT_DOUBLE_EQ(figure(m, "registers_count").value, 200);
}

TEST_F(LabsTest, ATextThatDoesNotCompileIsOneLineAndTheNextBuildIsRight) {
  Controller c(options(false));
  settle(c);
  c.update({EditLab{with(c, "wrong\n"), c.model().lab.kernel}, BuildLab{}});
  settle(c);
  const LabView& lab = c.model().lab;
  ASSERT_NE(lab.built(), nullptr);
  EXPECT_EQ(lab.built()->row->state, RowState::failed);
  ASSERT_EQ(lab.marks.size(), 1U);
  EXPECT_EQ(lab.marks.front().line, 3);
  EXPECT_TRUE(lab.marks.front().error);
  c.update({RevertLab{}, BuildLab{}});
  settle(c);
  ASSERT_NE(lab.built(), nullptr);
  EXPECT_DOUBLE_EQ(figure(*lab.built()->row, "registers_count").value, 200);
  EXPECT_EQ(lab.tries.size(), 2U);
  c.update({TakeTry{0}});
  EXPECT_NE(lab.now.text.find("wrong"), std::string::npos) << "an earlier try comes back";
}

TEST_F(LabsTest, WhatWasTypedIsOfferedAgainAfterACrash) {
  LabChange typed;
  {
    Controller c(options());
    settle(c);
    typed = with(c, "// typed and never built\n");
    typed.build.fast_math = true;
    typed.options.br = 64;
    c.update({EditLab{typed, c.model().lab.kernel}});
    settle(c);
  }
  Controller c(options());
  settle(c);
  const LabView& lab = c.model().lab;
  ASSERT_TRUE(lab.draft);
  EXPECT_EQ(lab.draft->change, typed);
  EXPECT_FALSE(lab.changed()) << "offered, not put there";
  c.update({AnswerDraft{true}});
  EXPECT_EQ(lab.now, typed);
  c.update({RevertLab{}});
  settle(c);
  EXPECT_TRUE(fs::is_empty(folder_ / "drafts")) << "who reverts has no draft";
}

TEST_F(LabsTest, ADraftThatIsThrownAwayIsNotOfferedAgain) {
  {
    Controller c(options());
    settle(c);
    c.update({EditLab{with(c, "// typed\n"), c.model().lab.kernel}});
    settle(c);
  }
  {
    Controller c(options());
    settle(c);
    ASSERT_TRUE(c.model().lab.draft);
    c.update({AnswerDraft{false}});
    settle(c);
  }
  Controller c(options());
  settle(c);
  EXPECT_FALSE(c.model().lab.draft);
}

TEST_F(LabsTest, AnExperimentPutsItsTextAndOptionsThere) {
  Controller c(options());
  settle(c);
  c.update({OpenExperiment{"one_stage"}});
  EXPECT_EQ(c.model().lab.kernel, "flash_mma");
  EXPECT_EQ(c.model().lab.now.options.stages, 1);
  EXPECT_EQ(c.model().lab.problem.dtype, DType::f16);
  c.update({OpenExperiment{"expf"}});
  EXPECT_EQ(c.model().lab.kernel, "flash_simt");
  EXPECT_NE(c.model().lab.now.text.find("expf((s[i][j]"), std::string::npos);
  c.update({OpenExperiment{"none"}});
  EXPECT_NE(last_words(c).find("unknown experiment 'none'"), std::string::npos) << last_words(c);
}

TEST_F(LabsTest, AnEditThatIsKeptIsAKernelOfBenchAndItsFileOpensAsIt) {
  Controller c(options());
  settle(c);
  c.update({EditLab{with(c, "// more\n"), c.model().lab.kernel}, KeepLab{}});
  const SweepSpec& sweep = c.state().document.sweep;
  ASSERT_EQ(sweep.own.size(), 1U);
  const std::string name(sweep.own.front()->id);
  EXPECT_NE(std::ranges::find(sweep.kernels, name), sweep.kernels.end());
  c.update({SaveLab{}});
  c.wait();
  fs::path file;
  for (const auto& entry : fs::directory_iterator(folder_ / "saved")) file = entry.path();
  const auto again = gpu::read_own_kernel(file);
  ASSERT_TRUE(again) << again.error().message << last_words(c);
  EXPECT_EQ((*again)->name, name);
  c.update({ChooseWorkspace{Workspace::bench}, Undo{}});  // in the lab it would be the text's
  EXPECT_TRUE(c.state().document.sweep.own.empty());
}

TEST_F(LabsTest, AFileOfOnesOwnOpensAsAKernelAndIsKeptAmongTheRecent) {
  Controller c(options());
  const fs::path file = write("my-kernel.cu", kOwnKernel);
  c.update({OpenFile{file.string()}});
  c.wait();
  const SweepSpec& sweep = c.state().document.sweep;
  ASSERT_EQ(sweep.own.size(), 1U) << last_words(c);
  EXPECT_EQ(gpu::own_stem(sweep.own.front()->id), "my-kernel");
  EXPECT_EQ(bench_kernel(c.state()), sweep.own.front()->id);
  ASSERT_FALSE(c.model().files.empty());
  EXPECT_EQ(c.model().files.front().path, file.string());
  write("my-kernel.cu", kOwnKernel + "// more\n");
  c.update({OpenFile{file.string()}});
  c.wait();
  EXPECT_EQ(sweep.own.size(), 1U) << "another text of the same file takes its place";
  EXPECT_EQ(sweep.kernels.size(), 2U);
}

TEST_F(LabsTest, ABadHeaderIsOneLineThatNamesTheLine) {
  Controller c(options());
  std::string text = kOwnKernel;
  text.replace(text.find("\"api\": 1"), 8, "\"api\": 7");
  c.update({OpenFile{write("bad.cu", text).string()}});
  c.wait();
  EXPECT_TRUE(c.state().document.sweep.own.empty());
  EXPECT_NE(last_words(c).find("bad.cu, line 1: \"api\" is 7"), std::string::npos) << last_words(c);
  EXPECT_EQ(last_words(c).find('\n'), std::string::npos);
}

TEST_F(LabsTest, AStateStringNamesNoKernelOfTheUsers) {
  Controller c(options());
  c.update({OpenFile{write("mine.cu", kOwnKernel).string()}});
  c.wait();
  const auto text = state_string(c.state());
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find('@'), std::string::npos) << *text;
  const auto again = open_state_string(*text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->document.sweep.kernels, std::vector<std::string>{"flash_simt"});
}

class OfferTest : public LabsTest {
 protected:
  // A session that holds a kernel, as the window writes it.
  std::string session() const {
    const std::string file = (folder_ / "s.attn").string();
    Controller c(options());
    c.update({OpenFile{write("mine.cu", kOwnKernel).string()}});
    c.wait();
    c.update({SaveSessionAs{file}});
    c.wait();
    return file;
  }
};

TEST_F(OfferTest, TheSessionHoldsTheTextAndNothingIsTakenBeforeItIsAllowed) {
  const std::string file = session();
  const auto read = read_session(file);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->kernels.size(), 1U);
  EXPECT_EQ(read->kernels.front(), (SessionKernel{"mine.cu", kOwnKernel}));
  Controller c(options());
  c.update({OpenFile{file}});
  c.wait();
  EXPECT_TRUE(c.state().document.sweep.own.empty()) << "nobody has allowed it";
  ASSERT_EQ(c.model().offered.kernels.size(), 1U);
  c.update({AnswerOffer{true}});
  EXPECT_TRUE(c.model().offered.kernels.empty());
  ASSERT_EQ(c.state().document.sweep.own.size(), 1U);
  EXPECT_EQ(c.state().document.sweep.kernels.size(), 1U) << "allowed is not ticked";
}

TEST_F(OfferTest, WhatWasLeftOutIsNotAskedForAgain) {
  const std::string file = session();
  Controller c(options());
  c.update({OpenFile{file}});
  c.wait();
  c.update({AnswerOffer{false}});
  EXPECT_TRUE(c.state().document.sweep.own.empty());
  c.update({OpenFile{file}});
  c.wait();
  EXPECT_TRUE(c.model().offered.kernels.empty());
}

TEST_F(OfferTest, AKernelThatIsNoneIsSaidAndTheRestIsShown) {
  Session s;
  s.kernels = {{"bad.cu", "int x;\n"}, {"mine.cu", kOwnKernel}};
  const fs::path file = folder_ / "mixed.attn";
  ASSERT_TRUE(write_session(file, s));
  Controller c(options());
  c.update({OpenFile{file.string()}});
  c.wait();
  EXPECT_EQ(c.model().offered.kernels.size(), 1U);
  const auto said = c.log().after(0);
  EXPECT_TRUE(std::ranges::any_of(
      said, [](const LogEntry& e) { return e.text.find("bad.cu has no header") != std::string::npos; }));
}

// Hands of all kinds in any order: every text that is put stands under a number of its own, so that no editor shows
// another kernel's; what was typed into a text that is gone goes nowhere; and undo leads back to the original.
TEST_F(LabsTest, WhateverIsDoneTheEditorKnowsWhoseTextItHas) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    Controller c(options());
    settle(c);
    const LabView& lab = c.model().lab;
    std::map<std::uint64_t, std::string> texts{{lab.put, lab.kernel}};
    LabChange hidden = lab.now;
    std::string hidden_of = lab.kernel;
    for (int n = 0; n < 40; ++n) {
      const std::string before = lab.kernel;
      const LabChange stood = lab.now;
      switch (random() % 7) {
        case 0:
          c.update({OpenExperiment{random() % 2 == 0 ? "one_stage" : "expf"}});
          break;
        case 1:
          c.update({ChooseBenchKernel{random() % 2 == 0 ? "flash_simt" : "flash_mma"}});
          break;
        case 2:
          c.update({EditLab{with(c, fmt::format("// {}\n", n)), lab.kernel}});
          break;
        case 3:
          hidden.text += "// typed where nobody sees it\n";
          c.update({EditLab{hidden, hidden_of}});
          EXPECT_TRUE(hidden_of == before || lab.now == stood);
          break;
        case 4:
          c.update({Undo{}});
          break;
        case 5:
          c.update({Redo{}});
          break;
        default:
          c.update({LimitRegisters{"flash_simt", 64}});
      }
      EXPECT_EQ(c.state().document.kernel, initial_state().document.kernel) << "Step stays";
      const auto [at, put] = texts.emplace(lab.put, lab.kernel);
      EXPECT_EQ(at->second, lab.kernel) << "two kernels' texts under one number";
      hidden = lab.now;
      hidden_of = lab.kernel;
      c.update({ChooseWorkspace{Workspace::bench}});
      c.update({ChooseWorkspace{Workspace::profile}});
    }
    const LabChange last = lab.now;
    const std::size_t steps = lab.back.size();
    for (std::size_t n = 0; n < steps; ++n) c.update({Undo{}});
    EXPECT_TRUE(lab.now == lab.original);
    for (std::size_t n = 0; n < steps; ++n) c.update({Redo{}});
    EXPECT_TRUE(lab.now == last);
    settle(c);
  }
}

}  // namespace
}  // namespace attn
