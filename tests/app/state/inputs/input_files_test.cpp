// Q, K, V and the bias out of .npy files, and the path field's completion.
#include "app/state/inputs/input_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/control/controller.h"
#include "app/shell/widgets/path_field.h"
#include "app/state/apply/apply.h"
#include "kernels/formats/npy.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using Paths = std::array<std::string, 4>;

class InputFiles : public ::testing::Test {
 protected:
  // Numbers 0.5, 1, 1.5 ... of the shape.
  std::string file(const std::string& name, std::vector<std::int64_t> shape, DType type = DType::f32) const {
    Array a(type, shape);
    for (std::int64_t n = 0; n < a.size(); ++n) a.set(n, 0.5F * static_cast<float>(n % 40 + 1));
    const fs::path path = folder_ / name;
    EXPECT_TRUE(write_npy(path, a, shape));
    return path.string();
  }
  static std::string error_of(const Paths& paths) {
    const auto with = with_input_files(initial_state(), paths);
    return with ? "" : with.error().message;
  }
  static Controller controller() {
    ControllerOptions options;
    options.state = initial_state();
    return Controller(std::move(options));
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(InputFiles, TheProblemTakesTheirShapes) {
  Controller c = controller();
  c.update({SetInputFiles{
      {file("q.npy", {2, 6, 3}), file("k.npy", {1, 5, 3}), file("v.npy", {1, 5, 4}), file("bias.npy", {6, 5})}}});
  c.wait();
  EXPECT_EQ(c.input_files_answer().error, "");
  const Problem& p = c.state().document.problem;
  EXPECT_EQ(p.Hq, 2);
  EXPECT_EQ(p.Hkv, 1);
  EXPECT_EQ(p.Lq, 6);
  EXPECT_EQ(p.Lk, 5);
  EXPECT_EQ(p.D, 3);
  EXPECT_EQ(p.Dv, 4);
  EXPECT_EQ(p.bias_shape, (std::vector<std::int64_t>{1, 1, 6, 5}));
  ASSERT_NE(c.model().recording, nullptr) << c.model().recording_error;
  EXPECT_EQ(c.model().recording->inputs.q.get(7), 4);
  EXPECT_EQ(c.model().recording->inputs.bias->get(29), 15);
  c.update({Undo{}});
  EXPECT_EQ(c.state().document.preset, "blackboard");
}

TEST_F(InputFiles, WhatHasNoFileStaysGenerated) {
  Controller c = controller();
  c.update({SetInputFiles{{"", "", file("v.npy", {9, 2}), ""}}});
  c.wait();
  const Problem& p = c.state().document.problem;
  EXPECT_EQ(p.Lq, 4);
  EXPECT_EQ(p.Lk, 9);
  EXPECT_EQ(p.Dv, 2);
  ASSERT_NE(c.model().recording, nullptr) << c.model().recording_error;
  EXPECT_EQ(c.model().recording->inputs.q.get(3), 4);   // the blackboard's Q
  EXPECT_EQ(c.model().recording->inputs.v.get(17), 9);  // the file's V
  c.update({SetInputFiles{{"", "", "", ""}}});
  c.wait();
  EXPECT_TRUE(c.state().document.inputs.v_file.empty());
}

TEST_F(InputFiles, WhatDoesNotFitIsToldWithBothFilesAndChangesNothing) {
  const std::string q = file("q.npy", {6, 3}), k = file("k.npy", {5, 8}), v = file("v.npy", {7, 3});
  EXPECT_NE(error_of({q, k, "", ""}).find("k.npy has head dim 8, but " + q + " has 3"), std::string::npos)
      << error_of({q, k, "", ""});
  EXPECT_NE(error_of({"", k, v, ""}).find("length"), std::string::npos);
  EXPECT_NE(error_of({file("flat.npy", {6}), "", "", ""}).find("2 to 4"), std::string::npos);
  EXPECT_NE(error_of({(folder_ / "none.npy").string(), "", "", ""}).find("none.npy"), std::string::npos);
  EXPECT_NE(error_of({q, "", "", file("bias.npy", {9, 9})}).find("bias"), std::string::npos);

  Controller c = controller();
  const auto recording = c.model().recording;
  std::ofstream(folder_ / "text.npy") << "no array";
  for (const Paths& paths : {Paths{q, k, "", ""}, Paths{(folder_ / "text.npy").string(), "", "", ""},
                             Paths{file("huge.npy", {40000, 3}), "", "", ""}}) {
    const auto before = c.input_files_answer().number;
    c.update({SetInputFiles{paths}});
    c.wait();
    EXPECT_EQ(c.input_files_answer().number, before + 1);
    EXPECT_NE(c.input_files_answer().error, "");
    EXPECT_EQ(c.model().recording, recording);
    EXPECT_EQ(c.state().document.preset, "blackboard");
  }
}

TEST_F(InputFiles, TypedCellsOfAChangedTensorGo) {
  State s = initial_state();
  s.document.inputs.edits = {{InputTensor::q, 1, 5}, {InputTensor::v, 1, 6}};
  const auto with = with_input_files(s, {file("q.npy", {4, 2}), "", "", ""});
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->document.inputs.edits, (std::vector<CellEdit>{{InputTensor::v, 1, 6}}));
}

TEST_F(InputFiles, TabCompletesAPath) {
  file("query.npy", {2, 2});
  file("queue.npy", {2, 2});
  std::ofstream(folder_ / "quiet.txt") << "x";
  fs::create_directories(folder_ / "more");
  const std::string at = folder_.string() + "/";
  EXPECT_EQ(completed_path(at + "q", ".npy"), at + "que");
  EXPECT_EQ(completed_path(at + "q", ""), at + "qu");
  EXPECT_EQ(completed_path(at + "quer", ".npy"), at + "query.npy");
  EXPECT_EQ(completed_path(at + "m", ".npy"), at + "more/");
  EXPECT_EQ(completed_path(at + "zebra", ".npy"), at + "zebra");
  EXPECT_EQ(completed_path("/no/such/folder/x", ""), "/no/such/folder/x");
}

}  // namespace
}  // namespace attn
