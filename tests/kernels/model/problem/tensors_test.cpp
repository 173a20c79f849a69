// The tensors of a problem against shapes written out by hand.
#include "kernels/model/problem/tensors.h"

#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace attn {
namespace {

using Shape = std::vector<std::int64_t>;

Problem grouped() {
  Problem p;
  p.B = 2;
  p.Hq = 6;
  p.Hkv = 3;
  p.Lq = 5;
  p.Lk = 7;
  p.D = 8;
  p.Dv = 4;
  p.dtype = DType::f16;
  return p;
}

std::vector<std::string> names_of(const Problem& p, std::int64_t splits = 1) {
  std::vector<std::string> names;
  for (const TensorSpec& t : tensors_of(p, splits)) names.emplace_back(t.name());
  return names;
}

TensorSpec spec_of(const Problem& p, Tensor t, std::int64_t splits = 1) {
  const std::vector<TensorSpec> specs = tensors_of(p, splits);
  const TensorSpec* found = find(specs, t);
  EXPECT_NE(found, nullptr) << name_of(t);
  return found == nullptr ? TensorSpec{} : *found;
}

TEST(Tensors, EveryNameIsItsOwnAndReadsBack) {
  std::set<std::string_view> names;
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto t = static_cast<Tensor>(n);
    EXPECT_TRUE(names.insert(name_of(t)).second) << name_of(t);
    EXPECT_EQ(tensor_from_name(name_of(t)), t);
    EXPECT_FALSE(words_of(t).empty());
  }
  EXPECT_EQ(tensor_from_name("out"), std::nullopt);
  EXPECT_EQ(tensor_from_name(""), std::nullopt);
}

TEST(Tensors, AForwardReadsQKAndVAndWritesOAndLse) {
  const Problem p = grouped();
  EXPECT_EQ(names_of(p), (std::vector<std::string>{"q", "k", "v", "o", "lse"}));
  const TensorSpec q = spec_of(p, Tensor::q), v = spec_of(p, Tensor::v), lse = spec_of(p, Tensor::lse);
  EXPECT_EQ(q.shape, (Shape{2, 6, 5, 8}));
  EXPECT_EQ(q.strides, (Shape{240, 40, 8, 1}));
  EXPECT_EQ(q.type, ElementType::f16);
  EXPECT_EQ(q.role, Role::in);
  EXPECT_EQ(q.bytes(), 2U * 2 * 6 * 5 * 8);
  EXPECT_EQ(v.shape, (Shape{2, 3, 7, 4}));
  EXPECT_EQ(spec_of(p, Tensor::o).role, Role::out);
  EXPECT_EQ(lse.type, ElementType::f32);
  EXPECT_EQ(lse.bytes(), 4U * 2 * 6 * 5);
}

TEST(Tensors, ABackwardReadsTheAnswerAndWritesThreeGradients) {
  Problem p = grouped();
  p.pass = Pass::backward;
  EXPECT_EQ(names_of(p), (std::vector<std::string>{"q", "k", "v", "o", "lse", "delta", "do", "dq", "dk", "dv"}));
  EXPECT_EQ(spec_of(p, Tensor::o).role, Role::in);
  EXPECT_EQ(spec_of(p, Tensor::lse).role, Role::in);
  EXPECT_EQ(spec_of(p, Tensor::delta).role, Role::scratch);
  for (const auto& [gradient, of] : {std::pair{Tensor::d_o, Tensor::o}, std::pair{Tensor::d_q, Tensor::q},
                                     std::pair{Tensor::d_k, Tensor::k}, std::pair{Tensor::d_v, Tensor::v}}) {
    EXPECT_EQ(spec_of(p, gradient).shape, spec_of(p, of).shape) << name_of(gradient);
    EXPECT_EQ(spec_of(p, gradient).type, ElementType::f16);
  }
}

TEST(Tensors, ListsOfTheProblemItselfAreMarked) {
  Problem p = grouped();
  p.mask.key_lengths = {7, 3};
  p.alibi.emplace();
  p.bias_shape = {1, 6, 5, 1};
  EXPECT_EQ(names_of(p), (std::vector<std::string>{"q", "k", "v", "bias", "o", "lse", "key_lengths", "slopes"}));
  EXPECT_TRUE(spec_of(p, Tensor::key_lengths).in_problem);
  EXPECT_EQ(spec_of(p, Tensor::key_lengths).bytes(), 16U);
  EXPECT_EQ(spec_of(p, Tensor::slopes).shape, (Shape{6}));
  EXPECT_EQ(spec_of(p, Tensor::bias).strides, (Shape{0, 5, 1, 0}));
  EXPECT_EQ(spec_of(p, Tensor::bias).type, ElementType::f32);
  p.alibi->assign(12, 0.25F);
  EXPECT_EQ(spec_of(p, Tensor::slopes).shape, (Shape{2, 6}));
}

TEST(Tensors, PagesArePartsOfAPoolThatATableFinds) {
  Problem p = grouped();
  p.storage = {4, 9};
  EXPECT_EQ(names_of(p), (std::vector<std::string>{"q", "k", "v", "o", "lse", "page_table"}));
  EXPECT_EQ(spec_of(p, Tensor::k).shape, (Shape{9, 3, 4, 8}));
  EXPECT_EQ(spec_of(p, Tensor::v).shape, (Shape{9, 3, 4, 4}));
  EXPECT_EQ(spec_of(p, Tensor::page_table).shape, (Shape{2, 2}));
  EXPECT_EQ(spec_of(p, Tensor::page_table).type, ElementType::i32);
  EXPECT_FALSE(spec_of(p, Tensor::page_table).in_problem);
}

TEST(Tensors, ALayoutMovesStridesAndNotShapes) {
  Problem p = grouped();
  p.layout = AxisOrder::blhd;
  EXPECT_EQ(spec_of(p, Tensor::q).shape, (Shape{2, 6, 5, 8}));
  EXPECT_EQ(spec_of(p, Tensor::q).strides, (Shape{240, 8, 48, 1}));
  EXPECT_EQ(spec_of(p, Tensor::lse).strides, (Shape{30, 5, 1}));
  p.storage = {4, 9};
  EXPECT_EQ(spec_of(p, Tensor::k).strides, (Shape{96, 8, 24, 1}));
}

TEST(Tensors, TheOutputTypeIsThatOfOAlone) {
  Problem p = grouped();
  p.dtype = DType::f16;
  EXPECT_EQ(spec_of(p, Tensor::o).type, ElementType::f16);
  p.output = OutputType::f32;
  EXPECT_EQ(spec_of(p, Tensor::o).type, ElementType::f32);
  EXPECT_EQ(spec_of(p, Tensor::v).type, ElementType::f16);
}

TEST(Tensors, PartsStandInFrontWhereKeysAreSplit) {
  const Problem p = grouped();
  EXPECT_EQ(names_of(p, 3), (std::vector<std::string>{"q", "k", "v", "o", "lse", "partial_o", "partial_lse"}));
  EXPECT_EQ(spec_of(p, Tensor::partial_o, 3).shape, (Shape{3, 2, 6, 5, 4}));
  EXPECT_EQ(spec_of(p, Tensor::partial_o, 3).type, ElementType::f32);
  EXPECT_EQ(spec_of(p, Tensor::partial_lse, 3).shape, (Shape{3, 2, 6, 5}));
}

TEST(Tensors, BytesSaturateInsteadOfWrapping) {
  Problem p = grouped();
  p.Lq = std::numeric_limits<std::int64_t>::max();
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(spec_of(p, Tensor::q).bytes(), most);
  EXPECT_EQ(spec_of(p, Tensor::lse).bytes(), most);
}

TEST(Tensors, AValueForEachTensorIsFoundByName) {
  ByTensor<std::span<const int>> spans;
  const int numbers[] = {1, 2};
  spans[Tensor::d_v] = numbers;
  EXPECT_TRUE(spans.has(Tensor::d_v));
  EXPECT_FALSE(spans.has(Tensor::d_k));
  Inputs in;
  EXPECT_FALSE(arrays_of(in).has(Tensor::bias));
  in.bias.emplace();
  EXPECT_EQ(arrays_of(in)[Tensor::bias], &*in.bias);
  EXPECT_EQ(arrays_of(in)[Tensor::k], &in.k);
  Outputs out;
  EXPECT_EQ(arrays_of(out)[Tensor::lse], &out.lse);
}

}  // namespace
}  // namespace attn
