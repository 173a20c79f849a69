// Samples and counts of instructions set beside the listing of the same machine code: from then on they know their
// lines and phases, and need neither compiler nor nvdisasm.
#pragma once

#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/samples.h"

namespace attn {

// An instruction gets one line of each file that counts it (ListedLine::instructions) and the listing's phase. Refused
// where an instruction was sampled or counted that the listing has not: it is of other machine code.
Result<void> put_lines(KernelSamples& samples, const gpu::KernelListing& listing);
Result<void> put_lines(KernelCounts& counts, const gpu::KernelListing& listing);

// The samples with what only their machine code says (SampledInstruction::queues, operands, barrier_phase), so that
// their waits have their right names and phases. As they are where the listing is of another text or has none.
KernelSamples with_machine_code(const KernelSamples& samples, const gpu::KernelListing& listing);

}  // namespace attn
