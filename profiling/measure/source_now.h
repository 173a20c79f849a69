// The source of a kernel as it would be measured now.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "kernels/gpu/compile/score_lines.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/timeline.h"

namespace attn {

// What the figures of a kernel hang on besides problem and options: the program's commit for a CPU kernel, the hash of
// its text for a GPU kernel (an edited copy's, where there is one), which a problem with softcap or ALiBi has of its
// own. As MeasurementKey::source_hash.
std::string source_hash_now(const KernelRow& row, const Problem& p);

// Remembers the hashes of texts: many timelines are of one.
class SourcesNow {
 public:
  // Why a recorded timeline says nothing of its kernel any more: it was recorded from another text. Empty: it does, or
  // the kernel is none of the program's.
  std::string why_another(const Timeline& t);

 private:
  using Key = std::pair<std::string, gpu::ScoreLines>;  // kernel, and whether softcap or ALiBi is in its text
  std::map<Key, std::string> hashes_;
};

}  // namespace attn
