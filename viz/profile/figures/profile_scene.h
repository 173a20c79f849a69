// What Profile shows, as plain values with the text already in them: one row of the runs that Bench shows, looked at
// closely. The kernel and the value are those that are chosen in Bench, so the two share one measurement.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/compile/listing/listing.h"
#include "profiling/figures/measurement.h"
#include "viz/profile/figures/bytes_and_pipes.h"
#include "viz/profile/figures/diff.h"
#include "viz/profile/figures/findings.h"
#include "viz/profile/heartbeat/heartbeat.h"
#include "viz/profile/occupancy/occupancy.h"
#include "viz/profile/phases/mosaic.h"
#include "viz/profile/roofline/roofline.h"
#include "viz/state/commands_profile.h"
#include "viz/state/commands_step.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct ProfileChoice {
  std::string kernel, name;  // its id, and what it is called: label_of()
  bool on = false;
  std::string why_not;  // it has no figures here: refused, failed; it can be chosen all the same
};
struct ProfileValue {
  std::int64_t value = 0;
  std::string text;
  bool on = false;
};

// A measurement that changes can be over.
struct AgainstChoice {
  std::string id;  // as in ProfileView::against
  std::string words;
  bool on = false;
};

// How a figure stands to the other measurement's.
struct ProfileFigure {
  std::string id;     // of the metric
  std::string label;  // "Time, median"
  std::string text;   // "59.5 ms"; "–" where there is none
  std::string other;  // the same of the measurement that it is set against; empty = none
  FigureChange change;
  std::string tip;  // what it is, how it was taken, or why there is none
};
struct ProfileGroup {
  std::string title;
  std::vector<ProfileFigure> figures;
};

// Every figure that one of the two has; `against` may be null.
std::vector<ProfileGroup> figure_groups(const Measurement& m, const Measurement* against);

// A run with samples that can be looked at where nothing was measured yet.
struct SampledOffer {
  std::string id, words;
};

// The row's samples with what their machine code says besides, kept from scene to scene: that takes milliseconds.
struct SettledSamples {
  std::shared_ptr<const KernelSamples> taken, settled;
  std::shared_ptr<const gpu::KernelListing> listing;
};

struct ProfileScene {
  std::string empty;  // why nothing can be shown; then nothing below is set
  std::string kernel, name, against;
  // "flash_simt B" and "Run B: 11-24 22:46", as Bench has them, where several runs are shown; else the name, and empty.
  std::string label, run;
  std::string not_alike;  // what else differs between the two, a sentence; empty = nothing
  std::string axis;       // "L"
  std::vector<ProfileChoice> kernels;
  std::vector<ProfileValue> values;
  std::vector<AgainstChoice> against_choices;
  StepThrough to_step;          // what Step would show of the row, at no phase yet
  std::string problem, source;  // "f32, B 4, ...", "live: NVIDIA H100, 2026-11-21"
  // The problem and the device beside the headline, the longest first: "L 4096, f32, H100".
  std::vector<std::string> notes;
  std::string headline, reasons;  // of the strip
  std::string to_do;              // where no row was timed: how one comes by times
  std::vector<Finding> findings;  // what would make it faster, the most first
  std::string arch;               // that the row was compiled for; empty on a CPU
  bool predicted = false;         // no row was timed
  std::string stand_in;           // id of profile_stand_in(); empty: the user's own rows are shown
  // What its source is listed for; nothing: `why_no_source`.
  std::optional<gpu::ListingSubject> subject;
  std::string why_no_source;
  std::vector<ProfileGroup> groups;
  std::shared_ptr<const Measurement> row;  // that is shown; null: nothing is
  SettledSamples samples;                  // of it, with the listing where that is there
  // The measurement that changes are over, and what its machine code is listed for; null, nothing: there is none.
  std::shared_ptr<const Measurement> other;
  std::optional<gpu::ListingSubject> other_subject;
  MosaicScene mosaic;
  HeartbeatScene heartbeat;
  std::optional<SampleRow> sample;  // what would sample the row; nothing: `why_no_sampling`
  std::string why_no_sampling;
  std::vector<SampledOffer> offers;  // where no row was timed
  Roofline roof;
  OccupancyScene occupancy;
  BytesScene bytes;
};

// `planned`: what is known of the sweep before it runs (viz/bench/sweep/planned.h).
// `before`: the scene before this one, may be null; what takes long is taken from it where the row is the same.
ProfileScene profile_scene(const State& state, const Model& model, std::span<const Measurement> planned,
                           const ProfileScene* before = nullptr);

// What every change is over, in a line of its own: "Against naive"; empty where there is nothing to set it against.
std::string against_words(const ProfileScene& scene);

// Where the row is from, a line each: its run where several are shown, its problem, its device.
std::string where_words(const ProfileScene& scene);

// Profile has little of kernels of the CPU. Where no run is shown and the sweep has no others, a run that came with the
// program stands in, that of which most was collected. Null: the user's own rows, or what is predicted of them.
const ListedRun* profile_stand_in(const State& state, const Model& model);

// The problem of the row of `kernel` that Profile shows; nothing where none was measured.
std::optional<Problem> profiled_problem(const State& state, const Model& model, const std::string& kernel);

}  // namespace attn
