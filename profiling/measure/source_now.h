// The source of a kernel as it would be measured now.
#pragma once

#include <string>

#include "kernels/model/kernel.h"
#include "kernels/recording/timeline.h"

namespace attn {

// What the figures of a kernel hang on besides problem and options: the program's commit for a CPU kernel, the hash of
// its text for a GPU kernel (an edited copy's, where there is one), which a problem with softcap or ALiBi has of its
// own. As MeasurementKey::source_hash.
std::string source_hash_now(const KernelRow& row, const Problem& p);

// Why a recorded timeline says nothing of its kernel any more: it was recorded from another text. Empty: it does, or
// the kernel is none of the program's.
std::string why_of_another_source(const Timeline& t);

}  // namespace attn
