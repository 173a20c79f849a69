// What a recording sees of a merge of two parts of a row's keys: the parts' m, l and O as they stand, then m, both
// factors, l and O of the whole.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/call.h"
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

}  // namespace attn::cpu
