#include "profiling/measure/source_now.h"

#include <cstddef>

#include "attnscope_version.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"

namespace attn {

std::string source_hash_now(const KernelRow& row, const Problem& p) {
  if (row.processor == Processor::cpu) return ATTNSCOPE_COMMIT;
  return gpu::source_hash_of(row, p, gpu::edited_kernels_folder()).value_or("");
}

std::string SourcesNow::why_another(const Timeline& t) {
  constexpr std::size_t kLetters = 8;
  const auto row = find_kernel(t.kernel);
  if (!row || t.source_hash.empty()) return {};
  const auto [at, is_new] = hashes_.try_emplace({t.kernel, gpu::score_lines_for(t.problem)});
  if (is_new) at->second = source_hash_now(**row, t.problem);
  const std::string& now = at->second;
  if (now == t.source_hash) return {};
  return phrase(
      "This timeline was recorded with a different source of {}: {}, not {}. Record a new timeline with attnscope "
      "timeline {}.",
      t.kernel, t.source_hash.substr(0, kLetters), now.substr(0, kLetters), t.kernel);
}

}  // namespace attn
