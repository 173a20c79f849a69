// Recordings in .attn files. Format 1: one JSON object a recording under "recordings", and .npy entries that it names.
//
//   kernel, device, order, rules, score_reads, problem, options
//   phases, slots, traffic   the names that the tables' numbers stand for, in the order of their columns
//   q k v bias out lse       tensors; f2 or f4 (bf16 widened)
//   arena                    f4 [n]
//   events                   i4 [events, 6]: b, h, i, j, phase, pass
//   live                     u4 [events, slots]: the versions that are live after an event, 2^32 - 1 = none
//   hbm_bytes                u8 [events, traffic]: cumulative
//   versions                 i8 [versions, 8]: offset, rows, cols, first_row, first_col, made_by, slot, holds
//                            (1 scaled + 2 base 2 + 4 normalised + 8 masked + 16 partial)
// Format 2, of a GPU's recording besides (docs/attn.md): place, device_uuid, arithmetic, cut, and
//   makers                   i4 [versions, 2]: block and warp, -1 = several or not told
//
// Format 3 besides (docs/attn.md): tensors, splits, labels, timeline; and beside recordings sets and timelines.
//
// A reader trusts nothing: every index, extent and offset is checked against the arena and the problem.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"
#include "kernels/recording/file/entries.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/tensor_set.h"
#include "kernels/recording/timeline.h"

namespace attn {

// What a reader checks before it believes a recording: inputs and outputs fit the problem, every tile of the problem
// has an event, events, versions and arena fit each other. `where` is for messages.
Result<void> check_recording(const Recording& rec, const std::string& where);

// Adds recording `index` to the container's JSON object `session` and its tensors to `c.files`.
Result<void> add_recording(const Recording& rec, std::size_t index, nlohmann::json& session, Container& c);
// One recording as add_recording() wrote it, checked; `version` is the file's.
Result<Recording> recording_from_json(const nlohmann::json& j, const std::string& where, int version, Entries& entries);

// Those of version 3 beside recordings: sets "t0/..." and timelines "l0/...".
Result<void> add_beside(std::span<const TensorSet> tensors, std::span<const Timeline> timelines,
                        nlohmann::json& session, Container& c);

// The lowest version of a file that holds it.
int attn_version_of(const Recording& rec);

// What a container holds beside measurements.
struct Stored {
  std::vector<Recording> recordings;
  std::vector<TensorSet> tensors;   // version 3
  std::vector<Timeline> timelines;  // version 3
};
Result<Stored> stored_in(const Container& c, const std::string& name);

// The same in pieces: one recording, set or timeline at a time.
class StoredReading {
 public:
  // What session_object() gave of the container; both must outlive it.
  StoredReading(const nlohmann::json& session, const Container& c, std::string name);
  // Whether all is read.
  Result<bool> step();
  Stored take() { return std::move(stored_); }

 private:
  template <class Read>
  Result<void> one_of(const char* key, std::size_t most, Read read);

  const nlohmann::json& session_;
  const std::string name_;
  const int version_;
  Entries entries_;
  Stored stored_;
  std::size_t list_ = 0, next_ = 0;  // which list comes next, and which of its elements
};

// Its recordings alone; all of it is checked.
Result<std::vector<Recording>> recordings_of(const Container& c, const std::string& name);

Result<void> write_recording(const std::filesystem::path& file, const Recording& rec);
Result<Recording> read_recording(const std::filesystem::path& file);

}  // namespace attn
