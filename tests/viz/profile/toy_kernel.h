// A kernel of a few lines with what nvdisasm would print of it, and one as large as the largest of ours.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/gpu/compile/listing/listing.h"
#include "viz/state/model.h"

namespace attn::profile_test {

// Line 5 (S): two FFMA and a load; line 7 (P): one MUFU; line 3 (set-up) and line 1: one each.
inline gpu::KernelListing toy_listing() {
  const gpu::KernelSource source{"kernels/gpu/toy.cu",
                                 "extern \"C\" __global__ void toy(float* p) {\n"
                                 "  // @phase setup\n"
                                 "  p += threadIdx.x;\n"
                                 "  // @phase S\n"
                                 "  p[0] = p[1] * p[0] + p[0];\n"
                                 "  // @phase P\n"
                                 "\tp[1] = exp2f(p[0]);\n"
                                 "}\n",
                                 "00112233", false, "44556677"};
  const std::string printed =
      "\t.section\t.text.toy,\"ax\"\n"
      "\t//## File \"/a/kernels/gpu/toy.cu\", line 1\n"
      "        /*0000*/ LDC R1, c[0x0][0x28] ;\n"
      "\t//## File \"/a/kernels/gpu/toy.cu\", line 3\n"
      "        /*0010*/ S2R R5, SR_TID.X ;\n"
      "\t//## File \"/a/kernels/gpu/toy.cu\", line 5\n"
      "        /*0020*/ LDG.E R4, [R2] ;\n"
      "        /*0030*/ FFMA R4, R4, R4, R4 ;\n"
      "        /*0040*/ FFMA R4, R4, R4, R4 ;\n"
      "\t//## File \"/a/kernels/gpu/toy.cu\", line 7\n"
      "        /*0050*/ MUFU.EX2 R4, R4 ;\n";
  return gpu::list_kernel(source, "toy", "sm_90a", {}, printed).value_or(gpu::KernelListing());
}

// `lines` of source, `instructions` of machine code, a tenth of them of one line.
inline gpu::KernelListing large_listing(int lines, int instructions) {
  std::string text = "extern \"C\" __global__ void large(float* p) {\n";
  const char* phases[] = {"Q", "K", "S", "mask", "m", "alpha", "P", "l", "O", "store"};
  for (int n = 0; n < lines / 2; ++n)
    text += fmt::format("  // @phase {}\n  p[{}] = fmaf(p[{}], p[{}], p[{}]);  // as long as lines of ours are\n",
                        phases[n % 10], n, n + 1, n + 2, n + 3);
  std::string printed = "\t.section\t.text.large,\"ax\"\n";
  for (int n = 0; n < instructions; ++n) {
    const int line = n % 10 == 0 ? 3 : 3 + 2 * (n % (lines / 2));
    printed += fmt::format(
        "\t//## File \"/a/kernels/gpu/large.cu\", line {}\n        /*{:04x}*/ {} R{}, R2, R3, R4 ;\n", line, 16 * n,
        n % 3 == 0   ? "FFMA"
        : n % 3 == 1 ? "LDS"
                     : "IMAD",
        n % 255);
  }
  const gpu::KernelSource source{"kernels/gpu/large.cu", text + "}\n", "0", false, "1"};
  return gpu::list_kernel(source, "large", "sm_90a", {}, printed).value_or(gpu::KernelListing());
}

inline ListingView listed(gpu::KernelListing listing, const std::string& key) {
  return {key, false, std::make_shared<const gpu::KernelListing>(std::move(listing)), ""};
}

}  // namespace attn::profile_test
