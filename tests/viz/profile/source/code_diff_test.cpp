// The machine code of two rows beside the source: kept by their sessions, else compiled here.
#include "viz/profile/source/code_diff.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_kernel.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::listed;
using profile_test::toy_listing;

std::shared_ptr<const gpu::MachineCode> code(const std::string& instruction) {
  return std::make_shared<const gpu::MachineCode>(
      gpu::MachineCode{"sm_90a", {{"toy", {"LDC R1, c[0x0][0x28]", instruction}}}});
}

DiffSide side(const char* kernel, std::shared_ptr<const gpu::MachineCode> code, const ListingView* listing) {
  Measurement m = h100_row(kernel, 100);
  m.code = std::move(code);
  const gpu::ListingSubject subject{m.key.kernel, m.key.problem, m.key.options, "sm_90a"};
  return {std::make_shared<const Measurement>(std::move(m)), subject, kernel, listing};
}

TEST(ProfileCodeDiff, TakesTheCodeThatSessionsKept) {
  const ListingView none;
  const DiffSide mine = side("flash_simt", code("HMMA R1, R2, R3"), &none),
                 theirs = side("naive", code("FADD R1, R2, R3"), &none);
  EXPECT_FALSE(must_be_listed(mine));
  const CodeScene scene = code_diff_scene(mine, theirs);
  EXPECT_EQ(scene.empty, "");
  EXPECT_EQ(scene.title, "SASS, flash_simt against naive");
  EXPECT_EQ(scene.words, "FMA −1 · tensor +1. In common: 1.");
  ASSERT_EQ(scene.rows.size(), 4U);
  EXPECT_TRUE(scene.rows[0].is_name);
  EXPECT_EQ(scene.rows[2].address, "−");
  EXPECT_EQ(scene.rows[2].text, "FADD R1, R2, R3") << "what the other had comes first";
  EXPECT_EQ(scene.rows[3].side, gpu::CodeSide::second);
}

TEST(ProfileCodeDiff, WhatNoSessionKeptIsListedHere) {
  ListingView view;
  const DiffSide theirs = side("naive", nullptr, &view), mine = side("flash_simt", code("EXIT"), &view);
  EXPECT_TRUE(must_be_listed(theirs));
  EXPECT_EQ(code_diff_scene(mine, theirs).empty, "naive is being compiled and disassembled.");
  view = listed(toy_listing(), gpu::key_of(*theirs.subject));
  EXPECT_FALSE(must_be_listed(theirs));
  const CodeScene scene = code_diff_scene(mine, theirs);
  EXPECT_EQ(scene.empty, "");
  EXPECT_NE(scene.words.find("−"), std::string::npos) << scene.words;
}

TEST(ProfileCodeDiff, SaysWhyThereIsNone) {
  ListingView view;
  const DiffSide mine = side("flash_simt", code("EXIT"), &view);
  EXPECT_NE(code_diff_scene(mine, {}).empty.find("no other measurement"), std::string::npos);
  DiffSide cpu = side("cpu_flash", nullptr, &view);
  cpu.subject.reset();
  EXPECT_FALSE(must_be_listed(cpu));
  EXPECT_NE(code_diff_scene(mine, cpu).empty.find("cpu_flash runs on the CPU"), std::string::npos);
  const DiffSide naive = side("naive", nullptr, &view);
  gpu::KernelListing without = toy_listing();
  without.sass = {};
  without.why_no_sass = "nvdisasm was not found";
  view = listed(without, gpu::key_of(*naive.subject));
  EXPECT_EQ(code_diff_scene(mine, naive).empty, "nvdisasm was not found");
}

TEST(ProfileCodeDiff, EqualCodeAndAnotherTextAreSaid) {
  ListingView view;
  DiffSide naive = side("naive", nullptr, &view);
  Measurement m = *naive.row;
  m.key.source_hash = "another";
  naive.row = std::make_shared<const Measurement>(m);
  view = listed(toy_listing(), gpu::key_of(*naive.subject));
  const auto same = gpu::machine_code_of(toy_listing().sass, "sm_90a");
  ASSERT_TRUE(same);
  const CodeScene scene = code_diff_scene(side("toy", std::make_shared<const gpu::MachineCode>(*same), &view), naive);
  EXPECT_NE(scene.words.find("The code is identical: 6 instructions."), std::string::npos) << scene.words;
  EXPECT_NE(scene.words.find("differs from the source measured"), std::string::npos) << scene.words;
}

}  // namespace
}  // namespace attn
