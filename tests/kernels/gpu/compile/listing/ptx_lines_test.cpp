// Lines of PTX and the lines of source that they stand for: what the compiler (CUDA 13.0, -lineinfo, sm_90a) printed of
//   1 __device__ float inner(float a) {
//   2   return a * a + 1.0f;
//   4 __device__ float mid(float a) {
//   5   return inner(a) * 3.0f;
//   7 extern "C" __global__ void k(float* x) {
//   8   x[threadIdx.x] = mid(x[threadIdx.x + 1]);
#include "kernels/gpu/compile/listing/ptx_lines.h"

#include <gtest/gtest.h>

namespace attn::gpu {
namespace {

const std::vector<std::string>& printed() {
  static const std::vector<std::string> ptx{
      ".visible .entry k(",
      "\t.param .u64 k_param_0",
      "{",
      "\t.reg .f32 \t%f<4>;",
      "\t.loc\t1 7 0",
      "$L__func_begin0:",
      "\tld.param.u64 \t%rd1, [k_param_0];",
      "\t.loc\t1 8 3",
      "\tld.global.f32 \t%f1, [%rd4+4];",
      "\t.loc\t1 8 3",
      "\t.loc\t1 5 3, function_name $L__info_string0, inlined_at 1 8 3",
      "\t.loc\t1 2 3, function_name $L__info_string1, inlined_at 1 5 3",
      "\tfma.rn.f32 \t%f2, %f1, %f1, 0f3F800000;",
      "\t.loc\t1 5 3, function_name $L__info_string0, inlined_at 1 8 3",
      "\tmul.f32 \t%f3, %f2, 0f40400000;",
      "\t.loc\t1 8 3",
      "\tst.global.f32 \t[%rd4], %f3;",
      "\t.loc\t1 9 1",
      "\tret;",
      "}",
      "\t.file\t1 \"/a/kernels/gpu/k.cu\"",
  };
  return ptx;
}

std::vector<std::uint32_t> lines_of(const PtxLines& lines, std::size_t n) {
  std::vector<std::uint32_t> numbers;
  for (const SourceFrame& frame : lines.chains.at(n)) numbers.push_back(frame.line);
  return numbers;
}

TEST(PtxLines, AnInstructionHasTheChainOfLinesThatItWasInlinedThrough) {
  const PtxLines lines = ptx_lines(printed());
  EXPECT_EQ(lines.files, std::vector<std::string>{"/a/kernels/gpu/k.cu"});
  ASSERT_EQ(lines.chains.size(), printed().size());
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(lines_of(lines, 6), Numbers{7});
  EXPECT_EQ(lines_of(lines, 8), Numbers{8});
  EXPECT_EQ(lines_of(lines, 12), (Numbers{2, 5, 8}));
  EXPECT_EQ(lines_of(lines, 14), (Numbers{5, 8}));
  EXPECT_EQ(lines_of(lines, 16), Numbers{8});
  EXPECT_EQ(lines_of(lines, 18), Numbers{9});
  // Directives, labels and braces are no instructions.
  for (const std::size_t n : {0, 1, 3, 4, 5, 7, 19, 20}) EXPECT_TRUE(lines.chains.at(n).empty()) << printed().at(n);
}

TEST(PtxLines, WhatIsDamagedHasNoChain) {
  for (std::size_t n = 0; n < printed().size(); ++n) {
    for (std::size_t size = 0; size < printed()[n].size(); ++size) {
      std::vector<std::string> cut = printed();
      cut[n].resize(size);
      EXPECT_EQ(ptx_lines(cut).chains.size(), cut.size());
    }
  }
  std::vector<std::string> circle = printed();
  circle[9] = "\t.loc\t1 8 3, function_name $L__info_string0, inlined_at 1 2 3";
  EXPECT_LE(ptx_lines(circle).chains.at(12).size(), 32U);
  std::vector<std::string> unknown = printed();
  unknown.back() = "\t.file\t2 \"/a/other.cu\"";
  EXPECT_TRUE(ptx_lines(unknown).chains.at(12).empty()) << "file 1 has no name";
}

}  // namespace
}  // namespace attn::gpu
