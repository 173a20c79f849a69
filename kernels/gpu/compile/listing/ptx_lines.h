// Which lines of source each line of PTX stands for, by the .loc and .file directives that -lineinfo leaves in it (PTX
// ISA, "Debugging Directives"). It needs no machine code and no disassembler.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/gpu/compile/listing/sass.h"

namespace attn::gpu {

struct PtxLines {
  std::vector<std::string> files;  // as the compiler names them
  // Of each line of the PTX its chain, innermost first, as Sass::chains has it; empty where the line is no instruction.
  std::vector<std::vector<SourceFrame>> chains;
};
// What is damaged is left out: a line whose directive cannot be read has no chain.
PtxLines ptx_lines(std::span<const std::string> ptx);

}  // namespace attn::gpu
