// The patches that make wrong kernels out of right ones. The list is made by CMake from kernels/museum/pieces
// (patch.cmake), which also compiles the patched CPU kernels, each in a namespace of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"

namespace attn {

struct Patch {
  std::string_view id;             // "alpha_on_l_only": the name of its file
  std::string_view source;         // "kernels/cpu/flash.cpp"
  std::string_view find, replace;  // whole lines
  KernelRow (*row)() = nullptr;    // of a CPU kernel: the patched source's own; null for CUDA
};
std::span<const Patch> museum_patches();

// `text` with the patch applied; refused where the text to find does not stand in it exactly once.
Result<std::string> patched(const Patch& patch, std::string_view text);
// As a diff shows it: each line with "- " or "+ " before it.
std::string patch_text(const Patch& patch);

}  // namespace attn
