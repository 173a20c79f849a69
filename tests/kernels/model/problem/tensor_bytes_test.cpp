// Tensors as bytes: what one side sends in a block the other finds by its name.
#include "kernels/model/problem/tensor_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

Problem with_bias() {
  Problem p;
  p.Lq = p.Lk = 5;
  p.D = 8;
  p.Dv = 4;
  p.dtype = DType::f16;
  p.bias_shape = {1, 1, 5, 5};
  p.mask.key_lengths = {3};
  return p;
}

std::vector<std::byte> joined(const std::vector<std::span<const std::byte>>& parts) {
  std::vector<std::byte> block;
  for (const auto& part : parts) block.insert(block.end(), part.begin(), part.end());
  return block;
}

TEST(TensorBlock, InputsAreFoundAgainByTheirNames) {
  const Problem p = with_bias();
  InputSpec spec;
  spec.generator = Generator::normal;
  const Inputs in = *make_inputs(p, spec);
  const auto block = joined(parts_of(tensor_bytes_of(in)));
  const auto found = split_inputs(p, block);
  ASSERT_TRUE(found) << found.error().message;
  const auto is = [&](Tensor t, const Array& a) {
    return std::ranges::equal((*found)[t], std::span(a.data(), a.bytes()));
  };
  EXPECT_TRUE(is(Tensor::q, in.q) && is(Tensor::k, in.k) && is(Tensor::v, in.v) && is(Tensor::bias, *in.bias));
  EXPECT_FALSE(found->has(Tensor::key_lengths)) << "they stand in the problem";
  EXPECT_FALSE(found->has(Tensor::o));
}

TEST(TensorBlock, OfATrainingStepIsWithoutWhatItMakesItself) {
  Problem p = with_bias();
  p.pass = Pass::backward;
  Inputs in = *make_inputs(p, {});
  const Outputs forward = empty_outputs(with_bias());
  in.o = forward.out;
  in.lse = forward.lse;
  p.pass = Pass::training;
  EXPECT_FALSE(split_inputs(p, joined(parts_of(tensor_bytes_of(in)))));
  const auto found = split_inputs(p, joined(parts_of(tensor_bytes_of(in, p))));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->has(Tensor::d_o) && found->has(Tensor::bias));
  EXPECT_FALSE(found->has(Tensor::o) || found->has(Tensor::lse));
}

TEST(TensorBlock, OfAnotherSizeIsRefused) {
  Problem p = with_bias();
  const std::vector<std::byte> block(2 * 5 * 8 * 2 + 5 * 4 * 2 + 5 * 5 * 4);
  EXPECT_TRUE(split_inputs(p, block));
  EXPECT_EQ(split_inputs(p, std::span(block).subspan(1)).error().message,
            "the request's tensors have fewer bytes than the problem needs");
  p.bias_shape.clear();
  EXPECT_EQ(split_inputs(p, block).error().message, "the request's tensors have more bytes than the problem needs");
}

TEST(TensorBlock, OutputsComeBackAndTheRestOfTheBlockIsLeft) {
  const Problem p = with_bias();
  Outputs out = empty_outputs(p), back = empty_outputs(p);
  EXPECT_EQ(out.out.shape(), (std::vector<std::int64_t>{1, 1, 5, 4}));
  EXPECT_EQ(out.out.dtype(), DType::f16);
  EXPECT_EQ(out.lse.dtype(), DType::f32);
  out.out.set(7, 1.5F);
  out.lse.set(4, -2);
  EXPECT_FALSE(same_bits(out, back));
  std::vector<std::byte> block = joined(parts_of(out));
  const std::size_t outputs = block.size();
  EXPECT_EQ(take_outputs(std::span(block).first(outputs - 1), back), 0U);
  block.resize(outputs + 8);
  EXPECT_EQ(take_outputs(block, back), outputs);
  EXPECT_TRUE(same_bits(out, back));
}

}  // namespace
}  // namespace attn
