#include "profiling/figures/sampled_lines.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/queue_uses.h"

namespace attn {
namespace {

using gpu::KernelListing;
using gpu::SourceFrame;

// Of each instruction of each function its lines, in the order of the files.
using LinesOfCode = std::vector<std::vector<std::vector<SourceFrame>>>;
LinesOfCode lines_of(const KernelListing& listing) {
  LinesOfCode lines;
  for (const gpu::SassFunction& f : listing.sass.functions) lines.emplace_back(f.instructions.size());
  for (std::uint32_t file = 0; file < listing.files.size(); ++file) {
    const auto& listed = listing.files[file].lines;
    for (std::uint32_t n = 0; n < listed.size(); ++n)
      for (const gpu::InstructionPlace& at : listed[n].instructions)
        lines[at.function][at.place].push_back({file, n + 1});
  }
  return lines;
}

// `did`: "sampled" or "counted".
template <class Function>
Result<void> put_function(Function& sampled, const char* did, const KernelListing& listing, const LinesOfCode& lines) {
  const auto& functions = listing.sass.functions;
  const auto found = std::ranges::find(functions, sampled.name, &gpu::SassFunction::name);
  if (found == functions.end())
    return fail(ErrorKind::failed, phrase("the machine code of {} has no function {}", listing.label, sampled.name));
  const auto f = static_cast<std::size_t>(found - functions.begin());
  for (auto& i : sampled.instructions) {
    const auto at = std::ranges::lower_bound(found->instructions, i.address, {}, &gpu::Instruction::address);
    if (at == found->instructions.end() || at->address != i.address)
      return fail(ErrorKind::failed, phrase("{} was {} at {:#x}, where the listed machine code has no instruction",
                                            sampled.name, did, i.address));
    const auto place = static_cast<std::size_t>(at - found->instructions.begin());
    i.phase = listing.phases[f][place];
    i.lines = lines[f][place];
  }
  return ok();
}

template <class Kernel>
Result<void> put_all(Kernel& kernel, const char* did, const KernelListing& listing) {
  if (!listing.why_no_sass.empty()) return fail(ErrorKind::cannot_run, listing.why_no_sass);
  Kernel with = kernel;
  const LinesOfCode lines = lines_of(listing);
  for (auto& f : with.functions)
    if (auto put = put_function(f, did, listing, lines); !put) return put;
  with.files.clear();
  for (const gpu::ListedFile& file : listing.files) with.files.push_back(file.name);
  with.text_hash = listing.text_hash;
  with.no_lines.clear();
  kernel = std::move(with);
  return ok();
}

// Of each instruction the phase of the barrier that stands last before it; nothing where none does.
std::vector<std::optional<gpu::CodePhase>> barrier_phases(const KernelListing& listing, std::size_t function) {
  const auto& code = listing.sass.functions[function].instructions;
  std::vector<std::optional<gpu::CodePhase>> phases(code.size());
  std::optional<gpu::CodePhase> last;
  for (std::size_t n = 0; n < code.size(); ++n) {
    if (gpu::opcode_of(code[n].text) == "BAR") last = listing.phases[function][n];
    phases[n] = last;
  }
  return phases;
}

}  // namespace

KernelSamples with_machine_code(const KernelSamples& samples, const KernelListing& listing) {
  KernelSamples with = samples;
  if (samples.text_hash != listing.text_hash || samples.arch != listing.arch || !listing.why_no_sass.empty())
    return with;
  const auto& functions = listing.sass.functions;
  for (SampledFunction& sampled : with.functions) {
    const auto found = std::ranges::find(functions, sampled.name, &gpu::SassFunction::name);
    if (found == functions.end()) return samples;
    const std::vector<gpu::QueueUses> uses = gpu::queue_uses(*found);
    const auto barriers = barrier_phases(listing, static_cast<std::size_t>(found - functions.begin()));
    for (SampledInstruction& i : sampled.instructions) {
      const auto at = std::ranges::lower_bound(found->instructions, i.address, {}, &gpu::Instruction::address);
      if (at == found->instructions.end() || at->address != i.address) return samples;
      const auto place = static_cast<std::size_t>(at - found->instructions.begin());
      i.queues = uses[place].own;
      i.operands = uses[place].operands;
      i.barrier_phase = barriers[place];
    }
  }
  return with;
}

Result<void> put_lines(KernelSamples& samples, const KernelListing& listing) {
  return put_all(samples, "sampled", listing);
}

Result<void> put_lines(KernelCounts& counts, const KernelListing& listing) {
  return put_all(counts, "counted", listing);
}

}  // namespace attn
