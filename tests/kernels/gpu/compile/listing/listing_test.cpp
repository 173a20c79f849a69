// What nvdisasm prints is read right, and put beside the lines of the source.
#include "kernels/gpu/compile/listing/listing.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace attn::gpu {
namespace {

using K = InstructionKind;
using P = CodePhase;

constexpr const char* kSource =
    "__device__ inline float twice(float x) {\n"             // 1
    "  return x + x;\n"                                      // 2
    "}\n"                                                    // 3
    "extern \"C\" __global__ void k(float* p, float d) {\n"  // 4
    "  // @phase setup\n"                                    // 5
    "  p += threadIdx.x;\n"                                  // 6
    "  // @phase S\n"                                        // 7
    "  p[0] = twice(p[0]);\n"                                // 8
    "  // @phase P\n"                                        // 9
    "  p[1] = twice(p[1]) / d;\n"                            // 10
    "}\n";                                                   // 11

constexpr const char* kPrinted =
    "\t.target\tsm_90a\n\n"
    "//--------------------- .text.k          --------------------------\n"
    "\t.section\t.text.k,\"ax\",@progbits\n"
    "\t.sectioninfo\t@\"SHI_REGISTERS=254\"\n"
    "        .type           k,@function\n"
    ".text.k:\n"
    "\t//## File \"/a/folder/kernels/gpu/k.cu\", line 4\n"
    "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
    "\t//## File \"/a/folder/kernels/gpu/k.cu\", line 6\n"
    "\t//## File \".nv_debug_ptx_txt\", line 2\n"
    "        /*0010*/                   S2R R5, SR_TID.X ;\n"
    "\t//## File \"/a/folder/kernels/gpu/k.cu\", line 8\n"
    "        /*0020*/                   LDG.E R4, [R2] ;\n"
    "\t//## File \"/a/folder/kernels/gpu/k.cu\", line 2 inlined at \"/a/folder/kernels/gpu/k.cu\", line 8\n"
    "\t//## File \"/a/folder/kernels/gpu/k.cu\", line 8\n"
    "\t//## File \".nv_debug_ptx_txt\", line 3\n"
    "        /*0030*/               @P0 FADD R4, R4, R4 ;\n"
    ".L_x_0:\n"
    "\t//## File \".nv_debug_ptx_txt\", line 1\n"
    "        /*0040*/              @!P0 FFMA.FTZ R4, R4, R4, R4 ;\n"
    "\t//## File \"/usr/include/mma.hpp\", line 9 inlined at \"/a/folder/kernels/gpu/k.cu\", line 10\n"
    "\t//## File \"/a/folder/kernels/gpu/k.cu\", line 10\n"
    "        /*0050*/                   CALL.REL.NOINC `($__internal_0_$__cuda_div) ;\n"
    "        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;\n"
    "        .weak           $__internal_0_$__cuda_div\n"
    "        .type           $__internal_0_$__cuda_div,@function\n"
    "        .size           $__internal_0_$__cuda_div,(.L_x_1 - $__internal_0_$__cuda_div)\n"
    "$__internal_0_$__cuda_div:\n"
    "        /*0070*/                   MUFU.RCP R2, R2 ;\n"
    "\t.section\t.debug_frame,\"\",@progbits\n"
    "        /*0000*/ \t.byte\t0xff, 0xff ;\n";

KernelSource source() {
  return {"kernels/gpu/k.cu", kSource, "0011223344556677", false, "text"};
}
KernelListing listed(const std::string& printed = kPrinted) {
  auto listing = list_kernel(source(), "k", "sm_90a", {}, printed);
  EXPECT_TRUE(listing) << listing.error().message;
  return listing ? *std::move(listing) : KernelListing();
}

TEST(Sass, IsReadWithItsInlineChains) {
  const auto sass = parse_sass(kPrinted);
  ASSERT_TRUE(sass) << sass.error().message;
  ASSERT_EQ(sass->functions.size(), 1U);
  const SassFunction& k = sass->functions[0];
  EXPECT_EQ(k.name, "k");
  ASSERT_EQ(k.instructions.size(), 8U);
  EXPECT_EQ(k.instructions[3].address, 0x30U);
  EXPECT_EQ(k.instructions[3].text, "@P0 FADD R4, R4, R4");
  const auto& chain = sass->chains[k.instructions[3].chain];
  ASSERT_EQ(chain.size(), 2U);
  EXPECT_EQ(sass->files[chain[0].file], "/a/folder/kernels/gpu/k.cu");
  EXPECT_EQ(chain[0].line, 2U);
  EXPECT_EQ(chain[1].line, 8U);
  // The PTX's place changes alone: the lines of source stay.
  EXPECT_EQ(k.instructions[4].chain, k.instructions[3].chain);
  EXPECT_EQ(k.instructions[3].ptx, 3U);
  EXPECT_EQ(k.instructions[4].ptx, 1U);
  // A routine of the compiler's own stands for no line.
  ASSERT_EQ(k.routines.size(), 1U);
  EXPECT_EQ(k.routines[0].first, 7U);
  EXPECT_TRUE(sass->chains[k.instructions[7].chain].empty());
}

TEST(Sass, KnowsInstructionsByTheirOpcode) {
  EXPECT_EQ(opcode_of("@!UP0 FFMA.FTZ R1, R2, R3, R4"), "FFMA");
  EXPECT_EQ(opcode_of("EXIT"), "EXIT");
  EXPECT_EQ(kind_of("@!P0 FFMA.FTZ R1, R2, R3, R4"), K::fma);
  EXPECT_EQ(kind_of("HMMA.16816.F32 R4, R8, R12, R4"), K::tensor);
  EXPECT_EQ(kind_of("MUFU.EX2 R1, R2"), K::mufu);
  EXPECT_EQ(kind_of("LDSM.16.M88.4 R4, [R1]"), K::shared);
  EXPECT_EQ(kind_of("LDGSTS.E.BYPASS.LTC128B.128 [R1], [R2.64]"), K::global);
  EXPECT_EQ(kind_of("BAR.SYNC.DEFER_BLOCKING 0x0"), K::barrier);
  EXPECT_EQ(kind_of("LDGDEPBAR"), K::barrier);
  EXPECT_EQ(kind_of("IMAD.MOV.U32 R1, RZ, RZ, R2"), K::other);
  EXPECT_EQ(kind_of("HFMA2.MMA R2, -RZ, RZ, 0, 0"), K::other);  // a move: no tensor core, no fp32
  EXPECT_EQ(kind_of(""), K::other);
}

TEST(Sass, WithoutAnInstructionIsRefused) {
  EXPECT_FALSE(parse_sass(""));
  EXPECT_FALSE(parse_sass("\t.section\t.text.k,\"ax\"\n        /*0000*/ no semicolon\n"));
}

TEST(Listing, CountsAnInstructionForEachLineOfItsChain) {
  const KernelListing l = listed();
  ASSERT_EQ(l.files.size(), 1U);
  const auto& lines = l.files[0].lines;
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines[5].mix.total(), 1U);
  // The innermost line of the file: what was inlined from it counts there.
  EXPECT_EQ(lines[1].mix[K::fma], 2U);
  EXPECT_EQ(lines[7].mix.total(), 1U);
  EXPECT_EQ(lines[7].mix[K::global], 1U);
  // From a header of CUDA's own: the line that called it.
  EXPECT_EQ(lines[9].mix.total(), 2U);
  EXPECT_EQ(lines[9].mix[K::barrier], 1U);
  EXPECT_EQ(l.at(lines[9].instructions.at(1)).text, "BAR.SYNC.DEFER_BLOCKING 0x0");
  EXPECT_EQ(l.files[0].instructions, 7U);  // all but the routine's
}

TEST(Listing, TakesThePhaseOfTheFirstTaggedFrame) {
  const KernelListing l = listed();
  const std::vector<P> expected{P::none, P::setup, P::s, P::s, P::s, P::p, P::p, P::p};
  EXPECT_EQ(l.phases.at(0), expected);  // the last: a routine has its only caller's
  EXPECT_EQ(l.by_phase.at(static_cast<std::size_t>(P::s)).total(), 3U);
  EXPECT_EQ(l.by_phase.at(static_cast<std::size_t>(P::p))[K::mufu], 1U);
  EXPECT_EQ(l.by_phase.at(static_cast<std::size_t>(P::none)).total(), 1U);
}

TEST(Listing, LeavesARoutineOfTwoPhasesUntagged) {
  std::string printed = kPrinted;
  const std::string load = "LDG.E R4, [R2] ;";
  printed.replace(printed.find(load), load.size(), "CALL.REL.NOINC `($__internal_0_$__cuda_div) ;");
  EXPECT_EQ(listed(printed).phases.at(0).back(), P::none);
}

TEST(Listing, WithoutMachineCodeIsTheSourceWithItsPhases) {
  const auto l = list_source(source(), "k", "sm_90a", "there is no compiler");
  ASSERT_TRUE(l);
  EXPECT_EQ(l->why_no_sass, "there is no compiler");
  EXPECT_TRUE(l->sass.functions.empty());
  EXPECT_EQ(l->files.at(0).lines.at(7).phase, P::s);
}

// An ELF file with one section of PTX, two lines of it.
std::vector<std::byte> cubin_with_ptx() {
  std::vector<std::byte> code(64 + 2 * 64 + 64);
  const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1};
  const auto put = [&](std::size_t at, auto value) { std::memcpy(code.data() + at, &value, sizeof value); };
  std::memcpy(code.data(), elf, sizeof elf);
  put(18, std::uint16_t{190});
  put(40, std::uint64_t{64});  // sections
  put(58, std::uint16_t{64});  // bytes each
  put(60, std::uint16_t{2});   // how many
  put(62, std::uint16_t{0});   // which has the names
  const std::string names = ".nv_debug_ptx_txt";
  const std::string text("add.f32;\0mul.f32;\0", 18);
  put(64 + 24, std::uint64_t{192});
  put(64 + 32, std::uint64_t{names.size()});
  put(128 + 24, std::uint64_t{192 + 32});
  put(128 + 32, std::uint64_t{text.size()});
  std::memcpy(code.data() + 192, names.data(), names.size());
  std::memcpy(code.data() + 224, text.data(), text.size());
  return code;
}

TEST(Ptx, IsTakenOutOfACubinLineByLine) {
  const std::vector<std::byte> cubin = cubin_with_ptx();
  // Section 0 holds the names, and its own name is the first of them as well: it comes first.
  std::vector<std::byte> named = cubin;
  const std::uint32_t nowhere = 0xffffffff;
  std::memcpy(named.data() + 64, &nowhere, sizeof nowhere);
  EXPECT_EQ(ptx_of(named), (std::vector<std::string>{"add.f32;", "mul.f32;"}));
}

TEST(Ptx, OfADamagedCubinIsNone) {
  std::vector<std::byte> cubin = cubin_with_ptx();
  for (std::size_t size = 0; size < cubin.size(); ++size)
    EXPECT_LE(ptx_of(std::span(cubin).first(size)).size(), 2U) << size;
  const std::uint64_t far = ~0ULL - 3;
  std::memcpy(cubin.data() + 40, &far, sizeof far);
  EXPECT_TRUE(ptx_of(cubin).empty());
}

}  // namespace
}  // namespace attn::gpu
