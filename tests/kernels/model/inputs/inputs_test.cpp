#include "kernels/model/inputs/inputs.h"

#include <filesystem>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "kernels/formats/npy.h"
#include "kernels/model/problem/validate.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

Problem square(std::int64_t length, std::int64_t dim) {
  Problem p;
  p.Lq = p.Lk = length;
  p.D = p.Dv = dim;
  return p;
}

std::vector<float> numbers(const Array& a) {
  std::vector<float> values(static_cast<std::size_t>(a.size()));
  a.read(0, a.size(), values.data());
  return values;
}

TEST(Presets, AreValidAndSmallEnoughToStepThrough) {
  ASSERT_EQ(presets()[0].id, "blackboard");
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(validate(preset.problem)) << preset.id;
    EXPECT_GT(preset.br, 0) << preset.id;
    EXPECT_GT(preset.bc, 0) << preset.id;
    EXPECT_LE(preset.problem.Lk / preset.bc, 6) << preset.id;
    EXPECT_TRUE(preset.what.ends_with('.')) << preset.id;
    EXPECT_EQ(*find_preset(preset.id), &preset);
  }
}

TEST(Presets, ShowWhatTheirNamesSay) {
  const Problem& masked = (*find_preset("masked_row"))->problem;
  EXPECT_GE(masked.visible_keys(0, 0).first, masked.visible_keys(0, 0).last);
  EXPECT_LT(masked.visible_keys(0, 1).first, masked.visible_keys(0, 1).last);
  const Preset& ragged = **find_preset("ragged");
  EXPECT_NE(ragged.problem.Lq % ragged.br, 0);
  const Preset& causal = **find_preset("causal");
  EXPECT_EQ(causal.problem.cover(0, 0, 4, 4, 8), TileCover::skipped);
  EXPECT_EQ(causal.problem.cover(0, 4, 8, 4, 8), TileCover::partial);
  EXPECT_EQ(causal.problem.cover(0, 4, 8, 0, 4), TileCover::full);
  EXPECT_EQ((*find_preset("heads"))->problem.kv_head(3), 1);
}

TEST(Presets, UnknownNameListsThoseThereAre) {
  const auto r = find_preset("blackbord");
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("'blackbord'; use blackboard, words, random, late_outlier"), std::string::npos);
}

TEST(MakeInputs, EditsOverrideSingleCells) {
  Problem p = square(4, 2);
  InputSpec spec;
  spec.edits = {{InputTensor::q, 3, 9.5F}, {InputTensor::v, 0, -1}};
  const Inputs in = *make_inputs(p, spec);
  EXPECT_EQ(numbers(in.q), (std::vector<float>{1, 2, 3, 9.5F, 5, 6, 7, 8}));
  EXPECT_EQ(in.v.get(0), -1);
  spec.edits = {{InputTensor::k, 8, 1}};
  EXPECT_EQ(make_inputs(p, spec).error().message, "Cell 8 of K does not exist; the tensor has 8 elements.");
  spec.edits = {{InputTensor::k, -1, 1}};
  EXPECT_FALSE(make_inputs(p, spec));
  spec.edits = {{InputTensor::bias, 0, 1}};
  EXPECT_EQ(make_inputs(p, spec).error().message, "A cell of the bias was edited, but this problem has no bias.");
}

// Writes `shape` filled with 1, 2, 3 ...
std::filesystem::path put_array(const std::filesystem::path& file, std::vector<std::int64_t> shape,
                                DType t = DType::f32) {
  Array a(t, std::move(shape));
  for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, static_cast<float>(i + 1));
  EXPECT_TRUE(write_npy(file, a, a.shape()));
  return file;
}

TEST(MakeInputs, FilesWinOverTheGeneratorAndMustFit) {
  const TempFolder folder;
  Problem p = square(4, 2);
  p.dtype = DType::f16;
  InputSpec spec;
  spec.k_file = put_array(folder / "k.npy", {4, 2}).string();
  const Inputs in = *make_inputs(p, spec);
  EXPECT_EQ(numbers(in.k), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(in.k.dtype(), DType::f16);
  EXPECT_EQ(in.k.shape(), (std::vector<std::int64_t>{1, 1, 4, 2}));
  put_array(folder / "k.npy", {5, 2});
  EXPECT_EQ(make_inputs(p, spec).error().message,
            spec.k_file + " has shape [5, 2], but K of this problem has [1, 1, 4, 2]; change the problem or the file.");
  spec.k_file.clear();
  spec.bias_file = (folder / "k.npy").string();
  EXPECT_NE(make_inputs(p, spec).error().message.find("no bias"), std::string::npos);
}

TEST(InputsFromFiles, DescribeTheProblemInEveryNumberOfAxes) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {2, 6, 3, 4}), k = put_array(folder / "k.npy", {2, 2, 5, 4}),
             v = put_array(folder / "v.npy", {2, 2, 5, 7}), bias = put_array(folder / "b.npy", {6, 3, 5});
  const auto four = inputs_from_files(q, k, v, bias, {});
  ASSERT_TRUE(four) << four.error().message;
  EXPECT_EQ(describe(four->problem), "B=2 H=6/2 L=3x5 D=4x7 f32 bias=1x6x3x5");
  EXPECT_EQ(four->axes, 4U);
  EXPECT_TRUE(validate(four->problem, four->inputs));
  EXPECT_EQ(four->inputs.v.get(10), 11);

  const auto q2 = put_array(folder / "q2.npy", {3, 4}), k2 = put_array(folder / "k2.npy", {5, 4});
  const auto two = inputs_from_files(q2, k2, k2, {}, {});
  ASSERT_TRUE(two);
  EXPECT_EQ(describe(two->problem), "B=1 H=1 L=3x5 D=4 f32");
  EXPECT_EQ(two->axes, 2U);
}

TEST(InputsFromFiles, DtypeIsThatOfQUnlessSaid) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {3, 4}, DType::f16), k = put_array(folder / "k.npy", {5, 4});
  const auto defaults = inputs_from_files(q, k, k, {}, {});
  EXPECT_EQ(defaults->problem.dtype, DType::f16);
  EXPECT_EQ(defaults->inputs.k.dtype(), DType::f16);
  EXPECT_EQ(inputs_from_files(q, k, k, {}, DType::bf16)->inputs.q.dtype(), DType::bf16);
}

TEST(InputsFromFiles, NameTheExtentsThatDoNotAgree) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {3, 4}), k = put_array(folder / "k.npy", {5, 4}),
             k6 = put_array(folder / "k6.npy", {6, 4}), d3 = put_array(folder / "d3.npy", {5, 3}),
             flat = put_array(folder / "flat.npy", {4}), wide = put_array(folder / "wide.npy", {1, 300}),
             three = put_array(folder / "three.npy", {3, 3, 4}), two = put_array(folder / "two.npy", {2, 5, 4});
  const auto refusal = [&](const auto& a, const auto& b, const auto& c) {
    const auto r = inputs_from_files(a, b, c, {}, {});
    return r ? std::string("accepted") : r.error().message;
  };
  EXPECT_EQ(refusal(q, k, k6),
            "Lk is 5 in " + k.string() + ", but Lk is 6 in " + k6.string() + "; the two must be equal.");
  EXPECT_NE(refusal(q, d3, d3).find("D is 4 in"), std::string::npos);
  EXPECT_NE(refusal(flat, k, k).find("has shape [4]; it must be [B, H, L, D]"), std::string::npos);
  EXPECT_NE(refusal(wide, wide, wide).find("D is 300; the limit for head dimensions is 256"), std::string::npos);
  EXPECT_NE(refusal(three, two, two).find("Hq = 3 is not a multiple of Hkv = 2"), std::string::npos);
  EXPECT_EQ(refusal(q, k, k), "accepted");
}

// A double of another shape takes the file's name again and again while it is read: what comes is one of the two as a
// whole, or an error.
TEST(InputsFromFiles, AFileThatIsSwappedWhileItIsReadIsOneOrTheOther) {
  const TempFolder folder;
  const auto k = put_array(folder / "k.npy", {4, 2}), small = put_array(folder / "small.npy", {1, 2}),
             large = put_array(folder / "large.npy", {40000, 2}), q = put_array(folder / "q.npy", {1, 2});
  std::jthread swapper([&](const std::stop_token& stop) {
    for (bool which = false; !stop.stop_requested(); which = !which) {
      std::filesystem::copy_file(which ? small : large, folder / "next.npy",
                                 std::filesystem::copy_options::overwrite_existing);
      std::filesystem::rename(folder / "next.npy", q);
    }
  });
  Problem one = square(4, 2);
  one.Lq = 1;
  InputSpec spec;
  spec.q_file = q.string();
  int lengths[2] = {0, 0};
  for (int n = 0; n < 2000 && (n < 200 || lengths[0] == 0 || lengths[1] == 0); ++n) {
    const auto in = inputs_from_files(q, k, k, {}, {});
    ASSERT_TRUE(in) << in.error().message;
    const Array& got = in->inputs.q;
    ASSERT_TRUE(in->problem.Lq == 1 || in->problem.Lq == 40000);
    ASSERT_EQ(got.size(), in->problem.Lq * 2);
    ASSERT_EQ(got.get(got.size() - 1), static_cast<float>(got.size()));
    ++lengths[in->problem.Lq == 1 ? 0 : 1];
    if (const auto made = make_inputs(one, spec)) {
      ASSERT_EQ(made->q.size(), 2);
      ASSERT_EQ(made->q.get(1), 2);
    }
  }
  EXPECT_GT(lengths[0], 0);
  EXPECT_GT(lengths[1], 0);
}

TEST(InputsFromFiles, RefuseWhatDoesNotFitTheMemoryGiven) {
  const TempFolder folder;
  const auto q = put_array(folder / "q.npy", {3, 4});
  EXPECT_TRUE(inputs_from_files(q, q, q, {}, {}, 144));
  const auto r = inputs_from_files(q, q, q, {}, {}, 143);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().kind, ErrorKind::cannot_run);
}

}  // namespace
}  // namespace attn
