// A kernel's source beside its machine code: of each line and each phase how many instructions it became, and which.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing_subject.h"
#include "kernels/gpu/compile/listing/sass.h"
#include "kernels/gpu/compile/phases.h"
#include "kernels/gpu/compile/ptx.h"
#include "kernels/gpu/compile/sources.h"

namespace attn::gpu {

// What two subjects must share to be compiled alike.
std::string key_of(const ListingSubject& subject);

// How many instructions of each kind. They are counted where they stand in the machine code, however often they run.
struct InstructionMix {
  std::array<std::uint32_t, kInstructionKinds> of{};
  std::uint32_t total() const;
  std::uint32_t operator[](InstructionKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  void add(InstructionKind kind) { ++of[static_cast<std::size_t>(kind)]; }
  bool operator==(const InstructionMix&) const = default;
};

// Where an instruction stands: which function of the machine code, which place in it.
struct InstructionPlace {
  std::uint32_t function = 0, place = 0;
};

struct ListedLine {
  std::string text;
  CodePhase phase = CodePhase::none;  // what the source says of the line
  InstructionMix mix;                 // of the instructions that stand for it, or for what was inlined into it
  std::vector<InstructionPlace> instructions;
  std::vector<std::uint32_t> ptx;  // lines of the PTX, from 0
};
struct ListedFile {
  std::string name;  // "kernels/gpu/flash_simt.cu"
  std::vector<ListedLine> lines;
  std::uint32_t instructions = 0;  // that stand for one of its lines
};

struct KernelListing {
  std::string label, arch, source_hash;        // "flash_simt", "sm_90a"
  std::string text_hash;                       // of every line: that in which the lines are counted
  std::vector<ListedFile> files;               // the kernel's own, then the headers that it has instructions of
  Sass sass;                                   // no function: `why_no_sass`
  std::vector<std::vector<CodePhase>> phases;  // of each function's instructions
  std::array<InstructionMix, kCodePhases> by_phase;
  std::vector<std::string> ptx;  // its lines; empty where the machine code holds none
  std::string why_no_sass;

  const Instruction& at(const InstructionPlace& p) const { return sass.functions[p.function].instructions[p.place]; }
  CodePhase phase_at(const InstructionPlace& p) const { return phases[p.function][p.place]; }
};

// The phase of a chain of lines: the first that has one, from the innermost outwards. `phases[file][line - 1]`; a file
// without phases is empty there.
CodePhase phase_of_chain(std::span<const SourceFrame> chain, std::span<const std::vector<CodePhase>> phases);

// The source and its headers with their phases alone, where there is no machine code to read: `why` says why.
Result<KernelListing> list_source(const KernelSource& source, std::string_view id, std::string_view arch,
                                  std::string why);
// The same with `ptx` by line, as CompileService::ptx() gives it, where the machine code cannot be read.
Result<KernelListing> list_ptx(const KernelSource& source, std::string_view id, std::string_view arch,
                               std::string_view ptx, std::string why);
// `cubin` for its PTX, `sass` as nvdisasm printed it.
Result<KernelListing> list_kernel(const KernelSource& source, std::string_view id, std::string_view arch,
                                  std::span<const std::byte> cubin, std::string_view sass);

}  // namespace attn::gpu
