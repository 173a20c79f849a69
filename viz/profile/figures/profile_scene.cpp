#include "viz/profile/figures/profile_scene.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/exact_shared.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/sampled_lines.h"
#include "profiling/session/fairness.h"
#include "profiling/session/run.h"
#include "viz/bench/runs/subject.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

const Measurement* fastest(std::span<const Measurement* const> rows, const std::string& but) {
  const Measurement* best = nullptr;
  for (const Measurement* m : rows) {
    if (m->key.kernel == but || m->time.n == 0) continue;
    if (best == nullptr || m->time.median < best->time.median) best = m;
  }
  return best;
}

std::vector<const Measurement*> rows_at(const BenchSlice& slice, std::int64_t value) {
  std::vector<const Measurement*> rows;
  std::set<std::string> seen;
  for (const Measurement* m : slice.rows) {
    if (!seen.insert(m->key.kernel).second) continue;
    if (const Measurement* row = row_at(slice, m->key.kernel, value)) rows.push_back(row);
  }
  return rows;
}

const Measurement* row_of(std::span<const Measurement* const> rows, const std::string& kernel) {
  const auto found = std::ranges::find_if(rows, [&](const Measurement* m) { return m->key.kernel == kernel; });
  return found == rows.end() ? nullptr : *found;
}

// What the changes are over, and how it is called.
struct Against {
  const Measurement* row = nullptr;
  const BenchSlice* slice = nullptr;  // that it is of
  std::string words;                  // "naive", "flash_simt B, 11-24 22:46"
};

// The baseline of its processor, or, for the baseline itself, the fastest of the others.
const Measurement* usual_against(const State& state, std::span<const Measurement* const> rows, const Measurement& m) {
  const std::string baseline = baseline_shown(state, m);
  if (m.key.kernel != baseline) {
    const Measurement* row = row_of(rows, baseline);
    if (row != nullptr && row->state == RowState::done) return row;
  }
  return fastest(rows, m.key.kernel);
}

// "flash_simt B, 11-24 22:46": with the letter that the run has in Bench.
std::string with_run(const Measurement& m, const BenchSlice& slice) {
  const std::string label = label_of(slice, m.key.kernel);
  return slice.run == kPredictedRun ? label : fmt::format("{}, {}", label, slice.listed);
}

// Every other row at this value that was timed, of all runs that are shown; the usual one first.
Against choose_against(ProfileScene& scene, const State& state, const BenchSlices& slices, std::int64_t value,
                       std::span<const Measurement* const> rows, const Measurement& m) {
  const std::string& wanted = state.view.profile.against;
  Against against;
  const Measurement* usual = usual_against(state, rows, m);
  const auto named = [&](const Measurement& row) { return label_of(slices.front(), row.key.kernel); };
  scene.against_choices.push_back(
      {"", usual == nullptr ? tr("default: none") : phrase("default: {}", named(*usual)), false});
  for (const BenchSlice& slice : slices) {
    for (const Measurement* other : rows_at(slice, value)) {
      if (other == &m || other->state != RowState::done || other->time.n == 0) continue;
      const bool here = &slice == &slices.front();
      const std::string id = here ? other->key.kernel : slice.run + "/" + other->key.kernel;
      const std::string words = here ? named(*other) : with_run(*other, slice);
      scene.against_choices.push_back({id, words, id == wanted});
      if (id == wanted) against = {other, &slice, words};
    }
  }
  if (against.row != nullptr) return against;
  scene.against_choices.front().on = true;
  return {usual, &slices.front(), usual == nullptr ? "" : named(*usual)};
}

std::string text_of(const MetricRow& metric, const Figure& f) {
  constexpr double kExact = 1e6;  // counts below are spelt out
  if (!f.available()) return "–";
  std::string text = value_with_unit(f.value, unit_of(metric, f.value, f.value));
  if (metric.unit == "B") {
    // What fits a memory of powers of two is told in them, here as in the staircases.
    const bool of_memory = metric.id.starts_with("memory_") || metric.id.starts_with("shared_static") ||
                           metric.id.starts_with("shared_dynamic");
    text = of_memory ? format_bytes(static_cast<std::uint64_t>(f.value)) : bytes_text(f.value);
  }
  if (metric.unit == "1" && f.value == std::round(f.value) && f.value < kExact) text = fmt::format("{:.0f}", f.value);
  const bool all = metric.unit == "%" && f.value >= 99.95;  // more than all cannot be
  return (f.min_of_launches && !all ? "≥ " : "") + text;
}

std::string capitalised(std::string_view words) {
  std::string text(words);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string tip_of(const MetricRow& metric, const Figure& f) {
  std::string tip = std::string(tr_of(metric.help)) + "\n";
  if (!f.available()) return phrase("{}Not available: {}", tip, sentence(f.reason));
  return tip + fmt::format("{}: {}", name_of(f.origin), sentence(f.method));
}

std::string headline_of(const ProfileScene& scene, const BenchSlice& slice, const Measurement& m, std::int64_t value) {
  std::string where = fmt::format("{}, {} = {}", scene.name, scene.axis, value);
  if (!scene.run.empty()) where = phrase("Run {}, {}", slice.letter, where);
  if (m.state != RowState::done) return fmt::format("{}: {}, {}", where, name_of(m.state), sentence(m.reason));
  if (m.time.n == 0) return phrase("{}: what is known before it runs.", where);
  const std::string time = value_with_unit(m.time.median, time_unit(m.time.median, m.time.median));
  if (m.verdict && outcome_of(*m.verdict) == Outcome::wrong) return phrase("{}: wrong output in {}.", where, time);
  const Figure& rate = figure(m, "tflops");
  std::string words = fmt::format("{}: {}", where, time);
  if (rate.available()) words += fmt::format(", {}", value_with_unit(rate.value, rate_unit(rate.value)));
  return words + ".";
}

std::string reasons_of(const ProfileScene& scene, const Measurement& m) {
  std::string words = m.verdict && !m.verdict->pass ? capitalised(sentence(m.verdict->reason)) : std::string();
  const std::string* roof = scene.roof.empty.empty() ? &scene.roof.words : nullptr;
  for (const std::string* more :
       {roof, &scene.bytes.words, scene.occupancy.empty.empty() ? &scene.occupancy.words : nullptr})
    if (more != nullptr && !more->empty()) words += (words.empty() ? "" : " ") + *more;
  return words;
}

// Of the extents the length; the head's where the headline has the length.
std::vector<std::string> notes_of(const ProfileScene& scene, const BenchSlice& slice, const Measurement& m) {
  const Problem& p = m.key.problem;
  const bool length_told = scene.axis == "L";
  const std::string device = m.processor == Processor::gpu ? short_device(m.key.device) : "CPU";
  const std::string behind = device.empty() ? "" : ", " + device;
  std::vector<std::string> notes{
      scene.problem + behind,
      fmt::format("{} {}, {}{}", length_told ? "D" : "L", length_told ? p.D : p.Lq, name_of(p.dtype), behind)};
  if (!scene.run.empty()) notes.insert(notes.begin(), fmt::format("{}, {}", slice.listed, notes.front()));
  return notes;
}

// Where the row was taken; for a prediction, what it was made for.
struct Taken {
  std::string arch;
  std::int32_t sms = 0;
};
Taken taken(const State& state, const Model& model, const BenchSlice& slice) {
  const ListedRun* run = slice.run == kPredictedRun ? nullptr : find_run(model, slice.run);
  if (run != nullptr) return {run->run.provenance.device_arch, run->run.provenance.cores};
  return {state.document.sweep.arch, 0};
}

void choose(ProfileScene& scene, const BenchSlice& slice, std::span<const Measurement* const> rows,
            std::int64_t value) {
  for (const Measurement* m : rows)
    scene.kernels.push_back({m->key.kernel, label_of(slice, m->key.kernel), m->key.kernel == scene.kernel,
                             m->state == RowState::done ? "" : sentence(m->reason)});
  for (const std::int64_t v : slice.values) scene.values.push_back({v, fmt::format("{}", v), v == value});
}

// How much of it can be profiled: 3 = a row with samples, heartbeat and counts; 0 = none with any.
int collected_of(const SweepRun& run) {
  int most = 0;
  for (const Measurement& m : run.rows)
    most = std::max(most,
                    (m.samples != nullptr ? 1 : 0) + (m.heartbeat != nullptr ? 1 : 0) + (m.counts != nullptr ? 1 : 0));
  return most;
}

// Runs whose rows have samples: they came with the program, were opened or made here. Those with the most first.
std::vector<SampledOffer> offers_of(const State& state, const Model& model) {
  constexpr std::size_t kMost = 4;
  std::vector<const ListedRun*> runs;
  for (const ListedRun& r : model.runs)
    if (collected_of(r.run) > 0 && !state.document.runs.removed.contains(r.run.id)) runs.push_back(&r);
  std::ranges::stable_sort(runs, std::greater(), [](const ListedRun* r) { return collected_of(r->run); });
  std::vector<SampledOffer> offers;
  for (const ListedRun* r : runs)
    if (offers.size() < kMost) offers.push_back({r->run.id, phrase("Open {}", words_of(state.document.runs, r->run))});
  return offers;
}

// The runs that are shown, first of them that which timed the chosen kernel; as they are where none did.
ShownSlices profiled_slices(const State& state, const Model& model, std::span<const Measurement> planned) {
  ShownSlices shown;
  if (const ListedRun* run = profile_stand_in(state, model); run != nullptr) {
    State instead = state;
    show_run(instead.document.runs, run->run.id);
    shown = shown_slices(instead, model, planned);
  } else {
    shown = shown_slices(state, model, planned);
  }
  BenchSlices& slices = shown.slices;
  const auto timed = std::ranges::find_if(slices, [&](const BenchSlice& slice) {
    return std::ranges::any_of(
        slice.rows, [&](const Measurement* m) { return m->key.kernel == state.view.bench.kernel && m->time.n > 0; });
  });
  if (timed != slices.end()) std::rotate(slices.begin(), timed, timed + 1);
  // One that has no time at the value that was clicked says nothing there.
  if (const auto value = state.view.bench.value; value && !slices.empty()) {
    const auto has =
        std::ranges::find_if(slices, [&](const BenchSlice& slice) { return !timed_rows(slice, *value).empty(); });
    if (has != slices.end()) std::rotate(slices.begin(), has, has + 1);
  }
  return shown;
}

// Only what was measured here, on a GPU, can be sampled here.
void put_sampling(ProfileScene& scene, const Model& model, const BenchSlice& slice, const Measurement& row) {
  const ListedRun* run = slice.run == kPredictedRun ? nullptr : find_run(model, slice.run);
  if (row.processor != Processor::gpu) {
    scene.why_no_sampling = tr("CPU kernels cannot be sampled.");
  } else if (run == nullptr || row.time.n == 0) {
    scene.why_no_sampling = tr("Only a measured row can be sampled: run the sweep in Bench first.");
  } else if (!run->local) {
    scene.why_no_sampling =
        tr("This row was measured on another machine: to sample it here, run the sweep in Bench first.");
  } else if (model.gpu.looked && model.gpu.gpus.empty()) {
    scene.why_no_sampling = phrase("There is no GPU to sample on: {}", sentence(model.gpu.why_none));
  } else {
    scene.sample = SampleRow{slice.run, row.key.kernel, row.key.problem, row.key.options};
  }
}

// The SM clock by its cycles, where somebody listened: NVML's reading does not see it fall within a launch.
std::optional<ProfileFigure> heard_clock(const Measurement& m, const Measurement* against) {
  const auto clock = [](const Measurement& row) {
    return row.heartbeat == nullptr ? std::nullopt : mean_of(*row.heartbeat, "clock");
  };
  const auto mine = clock(m);
  if (!mine) return std::nullopt;
  ProfileFigure line;
  line.id = "heard_clock_mhz";
  line.label = tr("SM clock, by cycles");
  line.text = fmt::format("{:.0f} MHz", *mine);
  line.tip =
      tr("Multiprocessor cycles per second of one run, from the heartbeat: the clock at which the kernel "
         "actually ran. Busy tensor cores draw so much power that this clock drops below the clock that NVML reads "
         "between launches.");
  const auto theirs = against == nullptr ? std::nullopt : clock(*against);
  if (!theirs) return line;
  line.other = fmt::format("{:.0f} MHz", *theirs);
  const double ratio = *mine / *theirs;
  constexpr double kSame = 0.01;
  line.change.text = std::abs(ratio - 1) < kSame ? tr("same") : fmt::format("{}×", figure_text(ratio));
  line.change.noise_words = tr("one run each, so the noise is unknown");
  return line;
}

// As they were taken where the machine code is not there, or of another kernel.
SettledSamples settle(const Measurement& row, const std::optional<gpu::ListingSubject>& subject,
                      const ListingView& view, const ProfileScene* before) {
  SettledSamples s{row.samples, row.samples, nullptr};
  if (row.samples == nullptr || !subject || view.listing == nullptr || view.of != gpu::key_of(*subject)) return s;
  s.listing = view.listing;
  if (before != nullptr && before->samples.taken == s.taken && before->samples.listing == s.listing)
    return before->samples;
  s.settled = std::make_shared<const KernelSamples>(with_machine_code(*row.samples, *view.listing));
  return s;
}

// Of a GPU kernel; else the scene says why not.
void choose_source(ProfileScene& scene, const Measurement& row, const std::string& arch) {
  const auto known = find_kernel(row.key.kernel);
  if (row.processor == Processor::cpu)
    scene.why_no_source = phrase("{} runs on the CPU: it has no GPU machine code.", row.key.kernel);
  else if (scene.arch = arch; known && !(*known)->parts.empty())
    scene.why_no_source = phrase("{0} is {1} followed by {2} and has no source of its own; choose {1} or {2}.",
                                 (*known)->id, (*known)->parts.front()->id, (*known)->parts.back()->id);
  else
    scene.subject = {row.key.kernel, row.key.problem, row.key.options, arch};
}

}  // namespace

std::vector<ProfileGroup> figure_groups(const Measurement& m, const Measurement* against) {
  std::vector<ProfileGroup> groups;
  for (const MetricRow& metric : metric_table()) {
    const Figure& mine = figure(m, metric.id);
    const bool there = mine.available() || (against != nullptr && figure(*against, metric.id).available());
    if (!there) continue;
    const std::string group = capitalised(tr_of(name_of(metric.group)));
    if (groups.empty() || groups.back().title != group) groups.push_back({group, {}});
    ProfileFigure line;
    line.id = metric.id;
    line.label = tr_of(metric.label);
    line.text = text_of(metric, mine);
    line.tip = tip_of(metric, mine);
    if (against != nullptr) {
      if (const Figure& other = figure(*against, metric.id); other.available()) line.other = text_of(metric, other);
      line.change = change_of(metric, m, *against);
    }
    groups.back().figures.push_back(std::move(line));
    if (metric.id == "sm_clock_mhz")
      if (auto heard = heard_clock(m, against)) groups.back().figures.push_back(std::move(*heard));
  }
  return groups;
}

// Where a row was taken, as far as its slice says.
Provenance where_of(const Measurement& m, const BenchSlices& slices) {
  Provenance where;
  for (const BenchSlice& slice : slices)
    if (std::ranges::find(slice.rows, &m) != slice.rows.end()) where.driver = slice.driver;
  return where;
}

std::string not_alike(const Measurement& m, const Measurement& against, const BenchSlices& slices) {
  const auto all = unfair(m, where_of(m, slices), against, where_of(against, slices));
  return all.empty() ? "" : phrase("Differences: {}.", fmt::join(all, "; "));
}

std::string against_words(const ProfileScene& scene) {
  return scene.against.empty() ? "" : phrase("Against {}", scene.against);
}

std::string where_words(const ProfileScene& scene) {
  return (scene.run.empty() ? "" : scene.run + "\n") + scene.problem + "\n" + scene.source;
}

const ListedRun* profile_stand_in(const State& state, const Model& model) {
  const std::vector<std::string>& own = state.document.sweep.kernels;
  const std::string& chosen = state.view.bench.kernel;
  const bool of_sweep = std::ranges::find(own, chosen) != own.end();
  const auto has_rows = [](const ListedRun* r) { return !r->run.rows.empty(); };
  if (of_sweep || runs_on_gpu(state.document.sweep) ||
      std::ranges::any_of(shown_runs(state.document.runs, model), has_rows))
    return nullptr;
  const ListedRun* most = nullptr;
  for (const ListedRun& r : model.runs)
    if (r.from == RunFrom::bundled && !state.document.runs.removed.contains(r.run.id) &&
        collected_of(r.run) > (most == nullptr ? 0 : collected_of(most->run)))
      most = &r;
  return most;
}

std::optional<Problem> profiled_problem(const State& state, const Model& model, const std::string& kernel) {
  const ShownSlices shown = profiled_slices(state, model, {});
  if (shown.slices.empty()) return std::nullopt;
  const BenchSlice& slice = shown.slices.front();
  const auto value = chosen_value(slice, state.view.bench.value);
  const Measurement* row = value ? row_of(rows_at(slice, *value), kernel) : nullptr;
  return row != nullptr ? std::optional(row->key.problem) : std::nullopt;
}

ProfileScene profile_scene(const State& state, const Model& model, std::span<const Measurement> planned,
                           const ProfileScene* before) {
  ProfileScene scene;
  const ShownSlices shown = profiled_slices(state, model, planned);
  if (shown.slices.empty() || shown.slices.front().rows.empty()) {
    scene.empty = tr("Nothing has been measured or planned yet. Set up a sweep in Bench, or open a run there.");
    return scene;
  }
  const BenchSlice& slice = shown.slices.front();
  const auto value = chosen_value(slice, state.view.bench.value);
  if (!value) {
    scene.empty = tr("No kernel in this sweep has results at any of the sweep's values.");
    return scene;
  }
  const auto rows = rows_at(slice, *value);
  const Measurement* row = row_of(rows, bench_kernel(state));
  if (row == nullptr) row = fastest(rows, "");
  if (row == nullptr && !rows.empty()) row = rows.front();
  if (row == nullptr) {
    scene.empty = phrase("No kernel has a row at {} = {}.", axis_letter(slice.axis), *value);
    return scene;
  }
  const Against against = choose_against(scene, state, shown.slices, *value, rows, *row);
  scene.kernel = row->key.kernel;
  scene.name = shown_name(*row);
  scene.label = label_of(slice, row->key.kernel);
  if (!slice.letter.empty() && slice.run != kPredictedRun)
    scene.run = phrase("Run {} of {}: {}", slice.letter, shown_runs(state.document.runs, model).size(), slice.listed);
  scene.against = against.words;
  if (against.row != nullptr) scene.not_alike = not_alike(*row, *against.row, shown.slices);
  scene.axis = axis_letter(slice.axis);
  scene.to_step = {row->key.kernel, row->key.problem, row->key.options};
  scene.problem = describe(row->key.problem);
  scene.source = source_words(slice);
  scene.predicted = slice.planned;
  choose(scene, slice, rows, *value);
  const Taken where = taken(state, model, slice);
  choose_source(scene, *row, where.arch);
  if (against.row != nullptr) {
    scene.other = std::make_shared<const Measurement>(*against.row);
    if (against.row->processor == Processor::gpu)
      scene.other_subject = {against.row->key.kernel, against.row->key.problem, against.row->key.options,
                             taken(state, model, *against.slice).arch};
  }
  std::vector<const Measurement*> same_device_rows;
  for (const Measurement* m : rows)
    if (m->processor == row->processor && same_device(m->key, row->key)) same_device_rows.push_back(m);
  const Measurement exact_row = with_exact_shared(*row);
  const std::optional<Measurement> exact_against =
      against.row == nullptr ? std::nullopt : std::optional(with_exact_shared(*against.row));
  std::ranges::replace(same_device_rows, row, &exact_row);
  scene.roof = roofline(same_device_rows, scene.kernel);
  scene.occupancy = occupancy_scene(*row, scene.arch, where.sms);
  const ListedRun* run = slice.run == kPredictedRun ? nullptr : find_run(model, slice.run);
  const bool here = slice.planned || (run != nullptr && run->local);
  scene.bytes = bytes_scene(exact_row, where.sms,
                            here ? std::span<const CacheLevel>(model.caches) : std::span<const CacheLevel>());
  scene.groups = figure_groups(exact_row, exact_against ? &*exact_against : nullptr);
  scene.samples = settle(*row, scene.subject, model.listing, before);
  Measurement shown_row = exact_row;
  shown_row.samples = scene.samples.settled;
  scene.row = std::make_shared<const Measurement>(std::move(shown_row));
  scene.mosaic = mosaic_scene(*scene.row, against.row);
  scene.heartbeat = heartbeat_scene(*row, against.row, state.view.profile, block_waves(scene.occupancy),
                                    before == nullptr ? nullptr : &before->heartbeat);
  put_sampling(scene, model, slice, *row);
  if (scene.predicted) scene.offers = offers_of(state, model);
  scene.findings = findings_of(*scene.row, {scene.arch, where.sms, same_device_rows});
  scene.headline = headline_of(scene, slice, *row, *value);
  scene.reasons = reasons_of(scene, *row);
  scene.notes = notes_of(scene, slice, *row);
  if (scene.predicted) scene.to_do = tr("For times and counters, run the sweep in Bench or open a run there.");
  if (const ListedRun* bundled = profile_stand_in(state, model); bundled != nullptr) {
    scene.stand_in = bundled->run.id;
    scene.to_do =
        tr("Nothing has been measured here yet: this run is bundled. To measure your own rows, run a sweep in Bench.");
  }
  return scene;
}

}  // namespace attn
