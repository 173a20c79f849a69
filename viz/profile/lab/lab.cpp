#include "viz/profile/lab/lab.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/lab/experiments.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sources/source_pair.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/hands.h"
#include "viz/profile/figures/profile_scene.h"

namespace attn {
namespace {

constexpr std::string_view kUsual = "flash_simt";

std::string lines_words(std::size_t n) {
  return plural(n, "{} line", "{} lines");
}

// Lines of the edit that the original has not, or lines of the original that are gone.
std::size_t edited_lines(const std::vector<PairRow>& rows) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [](const PairRow& r) { return !r.same; }));
}

std::string option_words(const LabChange& change) {
  std::string words;
  for (const Option* option : declared_options())
    if (const auto value = chosen(change.options, *option); value && *value != chosen(Options(), *option))
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", tr_of(option->title), value_text(*option, *value));
  if (const std::string build = gpu::words_of(change.build); !build.empty())
    words += (words.empty() ? "" : ", ") + build;
  return words;
}

std::string change_words(const LabView& lab, const LabChange& change) {
  std::string words = option_words(change);
  const std::size_t lines = edited_lines(paired_lines(lab.original.text, change.text));
  if (lines > 0) words = lines_words(lines) + (words.empty() ? "" : ", ") + words;
  return words.empty() ? tr("unchanged") : words;
}

std::string time_words(double us) {
  return value_with_unit(us, time_unit(us, us));
}

// "254 registers, no spills, 96256 bytes of shared memory, occupancy 12.5 %".
std::string compiled_words(const Measurement& m) {
  std::vector<std::string> parts;
  const Figure &registers = figure(m, "registers_count"), &spills = figure(m, "spill_bytes"),
               &occupancy = figure(m, "occupancy_theoretical_pct");
  if (registers.available()) parts.push_back(phrase("{:.0f} registers", registers.value));
  if (spills.available())
    parts.push_back(spills.value == 0 ? tr("no spills") : phrase("{:.0f} bytes of spills", spills.value));
  if (occupancy.available()) parts.push_back(phrase("occupancy {:.3g} %", occupancy.value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string verdict_words(const Measurement& m) {
  if (!m.verdict) return {};
  const Verdict& v = *m.verdict;
  if (outcome_of(v) != Outcome::pass) return sentence(v.reason);
  return phrase("Correct: the largest error is {:.2g} ({:.2g} is allowed) in {}.", v.error(), v.allowed(), v.sample);
}

// How the edit stands to the original, and whether that is more than the noise.
std::string ratio_words(const Measurement& now, const Measurement* before) {
  if (before == nullptr || before->time.n == 0) return phrase("It takes {}.", time_words(now.time.median));
  const TimeStatistics &a = now.time, &b = before->time;
  const bool apart = a.ci_low > b.ci_high || b.ci_low > a.ci_high;
  const std::string both = phrase("{} against {}", time_words(a.median), time_words(b.median));
  if (!apart) return phrase("As fast as the original: {}, within the noise.", both);
  const double ratio = b.median / a.median;
  constexpr double kAlike = 0.01;  // the two are measured a moment apart, and clocks drift
  if (std::abs(ratio - 1) < kAlike) return phrase("Within 1 % of the original's speed: {}.", both);
  return ratio >= 1 ? phrase("{} times as fast as the original: {}.", times_text(ratio), both)
                    : phrase("Takes {} times as long as the original: {}.", times_text(1 / ratio), both);
}

std::string first_error(const LabView& lab) {
  for (const gpu::SourceMark& mark : lab.marks)
    if (mark.error) return mark.line > 0 ? phrase("line {}: {}", mark.line, mark.words) : mark.words;
  return {};
}

std::string first_line(const std::string& words) {
  return words.substr(0, words.find('\n'));
}

void tell_of(LabScene& scene, const LabView& lab, const Measurement& m) {
  if (const std::string error = first_error(lab); !error.empty() && m.state == RowState::failed) {
    scene.headline = phrase("It does not compile: {}", sentence(error));
    scene.words.emplace_back(
        for_hands(tr("Nothing was run. F8 goes to the next marked line."), tr("Nothing was run.")));
    return;
  }
  const bool registers = figure(m, "registers_count").available();
  if (m.state == RowState::done) {
    const bool wrong = m.verdict && outcome_of(*m.verdict) == Outcome::wrong;
    scene.headline = wrong ? tr("The output is wrong.") : ratio_words(m, lab.before.get());
    scene.words.push_back(verdict_words(m));
    if (wrong) scene.words.push_back(ratio_words(m, lab.before.get()));
    scene.words.push_back(sentence(compiled_words(m)));
  } else if (registers && m.state == RowState::refused) {
    scene.headline = phrase("It compiles for {}: {}.", lab.arch, compiled_words(m));
    scene.words.push_back(phrase("Not checked and not timed: {}", sentence(m.reason)));
  } else {
    scene.headline = sentence(first_line(m.reason));
    if (m.reason.find('\n') != std::string::npos) scene.words.push_back(m.reason.substr(m.reason.find('\n') + 1));
  }
}

// A limit that ptxas did not keep, of which it says nothing; empty: it was kept, or none was asked for.
std::string limit_words(const LabView& lab, const Measurement& m) {
  const std::int32_t limit = lab.now.build.max_registers;
  const Figure& registers = figure(m, "registers_count");
  if (limit == 0 || !registers.available() || registers.value <= limit) return {};
  return phrase(
      "{:.0f} registers despite -maxrregcount={}, because __launch_bounds__ in the source takes precedence. Remove "
      "__launch_bounds__, or specify more blocks in it.",
      registers.value, limit);
}

// How long was waited, and for what is waited still.
std::string wait_words(const LabView& lab, const LabTry& built) {
  const Measurement& m = *built.row;
  if (m.state != RowState::done) return {};
  std::string words = built.row_seconds > 0 ? phrase("Done in {:.2f} s", built.row_seconds) : tr("Done");
  if (m.samples != nullptr && m.samples->no_lines.empty())
    words += built.lines_seconds > 0 ? phrase(", its lines sampled after {:.2f} s.", built.lines_seconds) : ".";
  else if (m.samples != nullptr)
    words = phrase("{}; its samples have no line numbers: {}", words, sentence(m.samples->no_lines));
  else if (!m.no_samples.empty())
    words = phrase("{}; its lines are not sampled: {}", words, sentence(m.no_samples));
  else
    words += lab.sampling.empty() ? "." : tr("; sampling its lines.");
  return words;
}

void tell(LabScene& scene, const LabView& lab, const GpuView& gpu) {
  const LabTry* built = lab.built();
  if (!lab.building.empty()) {
    scene.headline = sentence(lab.building);
    scene.headline[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(scene.headline[0])));
  } else if (built != nullptr) {
    tell_of(scene, lab, *built->row);
  } else if (lab.changed()) {
    scene.headline = for_hands(tr("Edited but not built yet; press Ctrl+Enter."), tr("Edited but not built yet."));
  } else {
    scene.headline = for_hands(tr("Edit the source or change an option, then press Ctrl+Enter."),
                               tr("Edit the source or change an option, then build it."));
    scene.words.emplace_back(
        gpu.looked && gpu.gpus.empty()
            ? phrase("The edit is built for {}. There is no GPU to check and time the edit on: {}", lab.arch,
                     sentence(gpu.why_none))
            : tr("Your edit is built, checked against fp64, timed, and compared with the original."));
  }
  if (built != nullptr) scene.words.push_back(limit_words(lab, *built->row));
  if (built != nullptr && !built->row->warnings.empty())
    scene.words.push_back(phrase("Compiler warning: {}", sentence(first_line(built->row->warnings.front()))));
  if (built != nullptr) scene.words.push_back(wait_words(lab, *built));
}

// What an edit will be held against, before there is one.
void tell_of_original(LabScene& scene, const LabView& lab, const Measurement* shown) {
  if (lab.built() != nullptr || !lab.building.empty() || shown == nullptr || shown->time.n == 0) return;
  if (shown->key.kernel != lab.kernel || !(shown->key.problem == lab.problem)) return;
  scene.words.push_back(
      sentence(phrase("The original takes {}: {}", time_words(shown->time.median), compiled_words(*shown))));
}

// The line a mark stands at in the text that is shown; those of headers stand at none.
std::int32_t line_of(const gpu::SourceMark& mark, const std::string& kernel) {
  return mark.file.empty() || is_text_of(mark.file, kernel) ? mark.line : 0;
}

void put_marks(LabScene& scene, const LabView& lab) {
  if (lab.built() == nullptr) return;
  for (const gpu::SourceMark& mark : lab.marks) {
    const std::int32_t line = line_of(mark, lab.kernel);
    if (line == 0) continue;
    LabMarkLine& at = scene.marks[line];
    at.error |= mark.error;
    at.words += (at.words.empty() ? "" : "\n") + mark.words;
  }
}

LabTryRow try_row(const LabView& lab, std::size_t n) {
  const LabTry& t = lab.tries[n];
  const Measurement& m = *t.row;
  LabTryRow row;
  row.number = n;
  row.name = t.name.substr(t.name.rfind('@') + 1);
  row.what = change_words(lab, t.change);
  row.on = t.change == lab.now;
  if (m.time.n > 0) row.time = time_words(m.time.median);
  const Figure &registers = figure(m, "registers_count"), &spills = figure(m, "spill_bytes");
  if (registers.available()) row.registers = fmt::format("{:.0f}", registers.value);
  if (spills.available()) row.spills = fmt::format("{:.0f}", spills.value);
  const bool done = m.state == RowState::done, compiled = m.state == RowState::refused && registers.available();
  row.good = done ? m.verdict && outcome_of(*m.verdict) == Outcome::pass : compiled;
  if (done)
    row.outcome = m.verdict ? name_of(outcome_of(*m.verdict)) : tr("not checked");
  else if (compiled)
    row.outcome = tr("compiled");
  else
    row.outcome = m.reason.find("does not compile") != std::string::npos ? tr("does not compile") : name_of(m.state);
  const std::string name = t.name.empty() ? std::string(tr("no kernel")) : t.name,
                    why = m.reason.empty() ? "" : "\n" + first_line(m.reason);
  row.tip = by_touch() ? phrase("{}\n{}{}\nTap to load this build into the editor.", name, row.what, why)
                       : phrase("{}\n{}{}\nClick to load this build into the editor.", name, row.what, why);
  return row;
}

std::vector<LabDiffRow> difference_of(const std::vector<PairRow>& rows) {
  constexpr std::size_t kAround = 3;
  std::vector<bool> near(rows.size(), false);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (rows[n].same) continue;
    for (std::size_t i = n < kAround ? 0 : n - kAround; i < std::min(rows.size(), n + kAround + 1); ++i) near[i] = true;
  }
  std::vector<LabDiffRow> out;
  for (std::size_t n = 0; n < rows.size();) {
    if (!near[n]) {
      if (!out.empty() && out.back().sign != '.') out.push_back({'.', 0, "..."});
      ++n;
      continue;
    }
    if (rows[n].same) {
      out.push_back({' ', rows[n].line[1], rows[n].text[1]});
      ++n;
      continue;
    }
    std::size_t end = n;
    while (end < rows.size() && !rows[end].same) ++end;
    for (std::size_t i = n; i < end; ++i)
      if (rows[i].line[0] > 0) out.push_back({'-', rows[i].line[0], rows[i].text[0]});
    for (std::size_t i = n; i < end; ++i)
      if (rows[i].line[1] > 0) out.push_back({'+', rows[i].line[1], rows[i].text[1]});
    n = end;
  }
  if (!out.empty() && out.back().sign == '.') out.pop_back();
  return out;
}

// As the original is launched; noughts where its plan cannot be made here.
Options shipped_options(const LabView& lab) {
  const auto row = find_kernel(lab.kernel);
  const auto device = gpu::device_for(lab.arch);
  if (!row || !device) return {};
  const auto plan = (*row)->plan(**row, lab.problem, lab.original.options, *device);
  return plan ? plan->options : Options();
}

std::string question_words(const Experiment& e) {
  std::string words = fmt::format("{} {}", tr_of(e.question), tr_of(e.change));
  return e.answer.empty() ? words : fmt::format("{} {}", words, tr_of(e.answer));
}

}  // namespace

std::string lab_subject_key(const State& state, const Model& model) {
  const SweepSpec& sweep = state.document.sweep;
  return fmt::format("{}|{:x}|{}|{}|{}|{}|{}|{}", sweep_key(sweep), rows_fingerprint(state, model), bench_kernel(state),
                     state.view.bench.kernel, state.view.bench.value ? *state.view.bench.value : 0, sweep.own.size(),
                     model.gpu.looked, model.gpu.gpus.size());
}

LabSubject lab_subject(const State& state, const Model& model) {
  const SweepSpec& sweep = state.document.sweep;
  LabSubject subject;
  auto row = find_kernel(bench_kernel(state), sweep.own);
  if (!row || (*row)->processor != Processor::gpu) row = find_kernel(kUsual, {});
  if (!row) return subject;
  subject.kernel = (*row)->id;
  const auto& gpus = model.gpu.gpus;
  const auto here = std::ranges::find(gpus, sweep.gpu, &GpuChoice::index);
  subject.arch = here != gpus.end() ? here->arch : sweep.arch;
  // The problem that was looked at; where nothing was measured the sweep's.
  const auto profiled = profiled_problem(state, model, subject.kernel);
  const bool known =
      state.view.bench.value && std::ranges::find(sweep.values, *state.view.bench.value) != sweep.values.end();
  subject.problem = profiled               ? *profiled
                    : sweep.values.empty() ? sweep.base
                                           : problem_at(sweep, known ? *state.view.bench.value : sweep.values.back());
  if (std::ranges::find((*row)->dtypes, subject.problem.dtype) == (*row)->dtypes.end() && !(*row)->dtypes.empty())
    subject.problem.dtype = (*row)->dtypes.front();
  if (const gpu::OwnKernel* own = gpu::own_kernel(**row)) {
    if (own->edits == nullptr) subject.problem = fitted(own->header, subject.problem);
  }
  return subject;
}

std::int32_t header_line(std::string_view message) {
  constexpr std::string_view kLine = ", line ";
  const std::size_t at = message.find(kLine);
  if (at == message.npos) return 0;
  std::int32_t line = 0;
  std::from_chars(message.data() + at + kLine.size(), message.data() + message.size(), line);
  return line;
}

// The line of the text with the most samples; 0 = none fell on it.
static std::int32_t hottest_of(const KernelSamples& samples, const std::string& kernel) {
  for (const SampledLine& line : samples_by_line(samples))
    if (is_text_of(samples.files.at(line.file), kernel)) return static_cast<std::int32_t>(line.line);
  return 0;
}

LabScene lab_scene(const LabView& lab, const GpuView& gpu, const Measurement* profiled) {
  LabScene scene;
  // Those of another kernel say so, and come behind.
  std::vector<const Experiment*> prepared = experiments();
  std::ranges::stable_partition(prepared, [&](const Experiment* e) { return e->rung == lab.kernel; });
  for (const Experiment* e : prepared)
    scene.experiments.push_back(
        {std::string(e->id),
         e->rung == lab.kernel ? std::string(tr_of(e->title)) : fmt::format("{}: {}", e->rung, tr_of(e->title)),
         fmt::format("{}\n{}", e->rung, question_words(*e)), e->id == lab.experiment});
  if (lab.kernel.empty() || !lab.error.empty()) {
    scene.empty = lab.kernel.empty() ? tr("No kernel is open in the lab.") : sentence(lab.error);
    return scene;
  }
  scene.changed = lab.changed();
  scene.shipped = shipped_options(lab);
  scene.building = !lab.building.empty();
  tell(scene, lab, gpu);
  tell_of_original(scene, lab, profiled);
  if (profiled != nullptr && profiled->samples && !scene.changed)
    scene.profiled_line = hottest_of(*profiled->samples, lab.kernel);
  put_marks(scene, lab);
  scene.problem = fmt::format("{}, {}", describe(lab.problem), lab.arch);
  const auto rows = paired_lines(lab.original.text, lab.now.text);
  const std::size_t edited = edited_lines(rows);
  const std::string_view own = gpu::own_stem(lab.kernel);
  scene.title = fmt::format("{}.cu: {}", own.empty() ? std::string_view(lab.kernel) : own,
                            edited == 0 ? tr("unchanged") : phrase("{} edited", lines_words(edited)));
  scene.difference = difference_of(rows);
  for (const PairRow& row : rows)
    if (!row.same && row.line[1] > 0) scene.edited.insert(row.line[1]);
  if (const auto experiment = find_experiment(lab.experiment); experiment && scene.changed)
    scene.question = question_words(**experiment);
  const LabTry* built = lab.built();
  if (built != nullptr) scene.name = built->name;
  const Measurement* now = built != nullptr ? built->row.get() : nullptr;
  if (now != nullptr && now->launches.empty()) now = nullptr;  // nothing was planned, nothing is known
  if (now != nullptr)
    scene.groups = figure_groups(*now, lab.before.get());
  else if (lab.before != nullptr)
    scene.groups = figure_groups(*lab.before, nullptr);
  const Measurement* const shown = now != nullptr ? now : lab.before.get();
  if (auto phases = shown == nullptr ? std::nullopt : phase_group(*shown, now == nullptr ? nullptr : lab.before.get());
      phases && !scene.groups.empty())
    scene.groups.insert(scene.groups.begin() + 1, *std::move(phases));
  scene.lines = lab_lines(lab, rows);
  for (std::size_t n = lab.tries.size(); n-- > 0;) scene.tries.push_back(try_row(lab, n));
  if (lab.draft)
    scene.draft = phrase("Your earlier edit is saved ({} of {}, {}).", change_words(lab, lab.draft->change), lab.kernel,
                         lab.draft->when);
  return scene;
}

std::int32_t hottest_line(const LabScene& scene) {
  const auto most =
      std::ranges::max_element(scene.lines.by_line, {}, [](const auto& line) { return line.second.share; });
  return most == scene.lines.by_line.end() ? 0 : most->first;
}

std::int32_t first_look(const LabScene& scene) {
  if (!scene.edited.empty()) return *scene.edited.begin();
  const std::int32_t hottest = hottest_line(scene);
  return hottest > 0 ? hottest : scene.profiled_line;
}

std::int32_t next_mark(const LabScene& scene, std::int32_t line, int direction) {
  if (scene.marks.empty()) return 0;
  if (direction > 0) {
    const auto after = scene.marks.upper_bound(line);
    return after == scene.marks.end() ? scene.marks.begin()->first : after->first;
  }
  const auto at = scene.marks.lower_bound(line);
  return at == scene.marks.begin() ? scene.marks.rbegin()->first : std::prev(at)->first;
}

}  // namespace attn
