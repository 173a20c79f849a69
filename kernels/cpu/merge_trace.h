// What a recording sees of a merge of two parts of a row's keys: the parts' m, l and O as they stand, then m, both
// factors, l and O of the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/arithmetic/merge.h"
#include "kernels/cpu/call.h"
#include "kernels/model/options.h"
#include "kernels/recording/recorder.h"

namespace attn::cpu {

// m, l and O of a part, by version.
struct PartVersions {
  VersionId m = kNoVersion, l = kNoVersion, o = kNoVersion;
};
// Those on show: the newest of each.
PartVersions shown_part(const Recorder& to);
// These alone are on show: the first of two, and the second where there is one.
void show_parts(Recorder& to, const PartVersions& first, const PartVersions* second);

// By row, what both are multiplied by; taken before their numbers become one.
struct MergeFactors {
  MergeFactors(const Call::PartRows& a, const Call::PartRows& b, std::int64_t rows);
  std::vector<float> first, second;
};

// After merge_rows(): `both` holds the whole. Events of the tile (i, j); what the whole's versions are.
PartVersions record_merge(Recorder& to, const Place2d& rows, std::int64_t i, std::int64_t j,
                          const MergeFactors& factors, const Call::PartRows& both, std::int64_t Dv);

// How the keys of a call are split.
KeyParts parts_of(const Call& call);

// A recording's side of the merges of a query tile: what comes from memory, then the merge.
class MergeTrace {
 public:
  MergeTrace(const Call& call, const Place2d& rows, std::int64_t i, Recorder& to);

  // What is on show is this part.
  void made(std::int64_t part) { at(part) = shown_part(to_); }
  // Before the numbers of both become one.
  void begin(const MergeStep& step);
  // And after it.
  void end(const MergeStep& step);

 private:
  PartVersions& at(std::int64_t part) { return parts_[static_cast<std::size_t>(part)]; }
  void show(std::int64_t into, std::optional<std::int64_t> from);
  // A part comes from memory once; what was merged is on chip.
  void load(std::int64_t into, std::optional<std::int64_t> from);

  const Call& call_;
  Place2d rows_;
  std::int64_t i_;
  std::vector<PartVersions> parts_;
  std::vector<bool> loaded_;
  Recorder& to_;
  std::optional<MergeFactors> factors_;
};

}  // namespace attn::cpu
