// The machine code of the row that Profile shows against that of the row that its changes are over. Plain values, drawn
// where the machine code of a line is.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/gpu/compile/listing/listing_subject.h"
#include "profiling/figures/measurement.h"
#include "viz/profile/source/source.h"
#include "viz/state/model.h"

namespace attn {

// One of the two.
struct DiffSide {
  std::shared_ptr<const Measurement> row;      // null: there is none
  std::optional<gpu::ListingSubject> subject;  // nothing: it runs on the CPU
  std::string words;                           // "flash_simt of run B"
  const ListingView* listing = nullptr;        // where it is compiled and taken apart
};

// Whether it has to be compiled and taken apart: no session kept its code, and nobody asked for it yet.
bool must_be_listed(const DiffSide& side);

// Equal code that stands far from what differs is one row that says how much it is.
CodeScene code_diff_scene(const DiffSide& mine, const DiffSide& theirs);

}  // namespace attn
