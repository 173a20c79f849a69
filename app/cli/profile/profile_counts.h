// The counted part of `attnscope profile`: what the instructions did in one run, told as text, JSON and columns of CSV.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "kernels/gpu/compile/listing/listing.h"
#include "profiling/figures/counts.h"

namespace attn::cli {

// `counts` null: `why` says why there are none. At most `lines` lines of source.
std::string counts_text(const KernelCounts* counts, const std::string& why, const gpu::KernelListing& listing,
                        std::int64_t lines);
nlohmann::json counts_figures(const KernelCounts* counts, const std::string& why);

// ",inst_executed,...": a column a counter, and those that are derived.
std::string count_columns();
// The same of each phase and of each line of a file; empty cells where there are no counts.
class CountTable {
 public:
  explicit CountTable(const KernelCounts* counts);
  std::string of(gpu::CodePhase phase) const;
  std::string of(const std::string& file, std::size_t line) const;

 private:
  const KernelCounts* counts_;  // null: there are none by line
  std::map<gpu::CodePhase, CounterSums> phases_;
  std::map<std::pair<std::string, std::size_t>, CounterSums> lines_;
};

}  // namespace attn::cli
