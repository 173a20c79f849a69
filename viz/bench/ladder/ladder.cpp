#include "viz/bench/ladder/ladder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/sweep/sweep_presets.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

using Rows = std::vector<const Measurement*>;

bool timed(const Measurement& m) {
  return m.state == RowState::done && m.time.n > 0 && m.time.median > 0;
}

bool is_wrong(const Measurement& m) {
  return m.verdict && outcome_of(*m.verdict) == Outcome::wrong;
}

// One row a kernel at this value, in the order of the ladder: the GPU's rungs, its peers, the CPU's, its peers.
Rows rows_at(const BenchSlice& slice, std::int64_t value) {
  Rows rows;
  for (const std::string& kernel : kernels_of(slice))
    if (const Measurement* m = row_at(slice, kernel, value)) rows.push_back(m);
  // Peers by their times, the slowest first: so the ladder goes on.
  const auto place = [](const Measurement& m) {
    const double late = timed(m) ? -m.time.median : 0;
    return std::tuple(m.processor == Processor::cpu, is_not_ours(m), is_not_ours(m) ? late : 0.0);
  };
  std::ranges::stable_sort(rows, [&](const Measurement* a, const Measurement* b) { return place(*a) < place(*b); });
  return rows;
}

// ---- the columns

struct Number {
  std::string text;
  double value = 0;
  std::string tip;
  bool percent = false;
};
// Of all rungs, so that numbers in one column are compared at sight.
struct LadderUnits {
  BenchUnit time, bytes;
  double most_bytes = 0;  // that the unit is of
};
// One respect in which rungs differ. `number`: none where a figure is missing; then `why` has its reason.
struct Respect {
  LadderColumn head;
  Better better = Better::down;
  std::optional<Number> (*number)(const Measurement&, const LadderUnits&, std::string& why) = nullptr;
};

const Figure* available(const Measurement& m, std::string_view metric, std::string& why) {
  const Figure& f = figure(m, metric);
  if (f.available()) return &f;
  why = tr_of(f.reason);
  return nullptr;
}

std::string origin_words(const Figure& f) {
  return f.method.empty() ? std::string(name_of(f.origin)) : fmt::format("{}: {}", name_of(f.origin), f.method);
}

std::optional<Number> dram(const Measurement& m, const LadderUnits& units, std::string& why) {
  const Figure* read = available(m, "dram_read_bytes", why);
  const Figure* written = available(m, "dram_write_bytes", why);
  if (read == nullptr || written == nullptr) return std::nullopt;
  const double bytes = read->value + written->value;
  return Number{value_with_unit(bytes, units.bytes), bytes, origin_words(*read)};
}

std::optional<Number> warps(const Measurement& m, const LadderUnits&, std::string& why) {
  const Figure* f = available(m, "occupancy_achieved_pct", why);
  if (f == nullptr) return std::nullopt;
  return Number{percent_text(f->value), f->value, origin_words(*f), true};
}

std::optional<Number> registers(const Measurement& m, const LadderUnits&, std::string& why) {
  const Figure* f = available(m, "registers_count", why);
  if (f == nullptr) return std::nullopt;
  return Number{fmt::format("{:.0f}", f->value), f->value, origin_words(*f)};
}

std::optional<Number> conflicts(const Measurement& m, const LadderUnits&, std::string& why) {
  const Figure* turns = available(m, "shared_wavefronts_count", why);
  const Figure* lost = available(m, "shared_conflicts_count", why);
  if (turns == nullptr || lost == nullptr) return std::nullopt;
  const double share = turns->value > 0 ? 100 * lost->value / turns->value : 0;
  return Number{percent_text(share), share,
                phrase("{} of {} passes, {}", figure_text(lost->value), figure_text(turns->value), origin_words(*lost)),
                true};
}

std::optional<Number> tensor(const Measurement& m, const LadderUnits&, std::string& why) {
  const Figure* f = available(m, "tensor_pipe_pct", why);
  if (f == nullptr) return std::nullopt;
  return Number{percent_text(f->value), f->value, origin_words(*f), true};
}

// Counted where the table of metrics has them.
const MetricRow* instruction_metric() {
  const auto rows = metric_table();
  const auto at = std::ranges::find_if(rows, [](const MetricRow& m) { return m.id.starts_with("instructions"); });
  return at == rows.end() ? nullptr : &*at;
}

std::optional<Number> instructions(const Measurement& m, const LadderUnits&, std::string& why) {
  const Figure* f = available(m, instruction_metric()->id, why);
  if (f == nullptr) return std::nullopt;
  return Number{figure_text(f->value), f->value, origin_words(*f)};
}

// Their titles are the leads of the sentences.
std::vector<Respect> respects() {
  std::vector<Respect> all{
      {{"dram", tr("DRAM"), tr("Bytes read from and written to main memory.")}, Better::down, dram},
      {{"warps", tr("Occupancy"), tr("Active warps as a fraction of what an SM can hold.")}, Better::neither, warps},
      {{"registers", tr("Registers"), tr("Registers per thread, as assigned by the compiler.")},
       Better::neither,
       registers},
      {{"conflicts", tr("Bank conflicts"),
        tr("Extra passes through shared memory, caused by threads of a warp accessing the same bank, as a fraction of "
           "all passes. The hardware also counts some passes that wide reads need anyway.")},
       Better::down,
       conflicts},
      {{"tensor", tr("Tensor cores"), tr("Fraction of the time during which the tensor cores were busy.")},
       Better::neither,
       tensor},
  };
  if (instruction_metric() != nullptr)
    all.push_back(
        {{"instructions", tr("Instructions"), tr("Instructions executed by warps.")}, Better::down, instructions});
  return all;
}

void set_change(LadderFigure& figure, const Number& mine, const Number& before, Better better) {
  constexpr double kClose = 0.01;  // neither better nor worse, though it may read otherwise: 254 and 255 registers
  if (mine.value == before.value || std::abs(mine.value - before.value) < kClose * std::abs(before.value)) {
    figure.change = mine.text == before.text ? tr("same") : phrase("from {}", before.text);
    return;
  }
  figure.up = mine.value > before.value;
  // A ratio of two small shares says nothing: of percents what it was before.
  constexpr double kPoint = 1;
  const bool small = mine.percent && std::abs(mine.value - before.value) < kPoint;
  figure.better = !small && better == (figure.up ? Better::up : Better::down);
  figure.worse = !small && better == (figure.up ? Better::down : Better::up);
  const bool as_ratio = !mine.percent && mine.value > 0 && before.value > 0;
  figure.change =
      as_ratio ? fmt::format("{}×", figure_text(mine.value / before.value)) : phrase("from {}", before.text);
}

LadderFigure figure_of(const Respect& respect, const Measurement& m, const Measurement* before,
                       const LadderUnits& units) {
  LadderFigure figure;
  std::string why, unused;
  const auto mine = respect.number(m, units, why);
  if (!mine) {
    figure.tip = why.empty() ? tr("Not available.") : sentence(phrase("Not available: {}", why));
    return figure;
  }
  figure.text = mine->text;
  figure.tip = fmt::format("{}\n{}: {} ({})", respect.head.tip, shown_name(m), mine->text, mine->tip);
  if (before == nullptr) return figure;
  const auto other = respect.number(*before, units, unused);
  if (!other) return figure;
  set_change(figure, *mine, *other, respect.better);
  figure.tip += fmt::format("\n{}: {}", before->key.kernel, other->text);
  return figure;
}

// ---- one rung

// The rung before: the last one of the same device that has figures at all.
const Measurement* before_of(const Rows& rows, std::size_t n) {
  for (std::size_t i = n; i-- > 0;) {
    const Measurement& m = *rows[i];
    if (m.processor == rows[n]->processor && !is_not_ours(m) && !m.figures.empty() && m.state == RowState::done)
      return &m;
  }
  return nullptr;
}

// How fast it is against the reference: a peer's own turns say so where the reference is one. Nothing where a kernel of
// ours took no turn there.
std::optional<double> share_of(const Measurement& m, const Measurement& reference) {
  if (is_not_ours(reference) && !is_not_ours(m)) return share_of_peer(m, reference);
  return reference.time.median / m.time.median;
}

std::string share_words(double share) {
  return share >= 0.995 && share < 1.005 ? "1.00" : figure_text(share);
}

void set_time(LadderRung& rung, const Measurement& m, const Measurement* reference, const BenchUnit& unit) {
  if (!timed(m)) {
    const std::string_view state = m.state == RowState::done ? tr("not measured yet") : name_of(m.state);
    rung.reason = sentence(m.reason.empty() ? std::string(state) : fmt::format("{}: {}", state, m.reason));
    return;
  }
  rung.time = value_with_unit(m.time.median, unit);
  rung.wrong = is_wrong(m);
  if (reference == nullptr || reference->processor != m.processor) return;
  const auto share = share_of(m, *reference);
  rung.share = share.value_or(0);
  rung.share_text = share ? share_words(*share) : "–";
}

LadderRung rung_of(const State& state, const Measurement& m, const Measurement* before, const Measurement* reference,
                   const LadderUnits& units) {
  LadderRung rung;
  rung.kernel = m.key.kernel;
  rung.name = shown_name(m);
  rung.peer = is_not_ours(m);
  rung.cpu = m.processor == Processor::cpu;
  rung.chosen = m.key.kernel == bench_kernel(state);
  rung.reference = &m == reference;
  if (const auto row = find_kernel(m.key.kernel)) {
    rung.rung = (*row)->rung;
    rung.idea = tr_of((*row)->teaches);
  }
  set_time(rung, m, reference, units.time);
  if (!rung.peer && before != nullptr) {
    rung.before = before->key.kernel;
    rung.sentences = ladder_sentences(*before, m, units.most_bytes);
  }
  for (const Respect& respect : respects())
    rung.figures.push_back(figure_of(respect, m, rung.peer ? nullptr : before, units));
  return rung;
}

// ---- the whole

LadderUnits units_of(const Rows& rows) {
  double least = 0, most = 0, bytes = 0;
  for (const Measurement* m : rows) {
    if (timed(*m)) {
      least = most > 0 ? std::min(least, m->time.median) : m->time.median;
      most = std::max(most, m->time.median);
    }
    const Figure &read = figure(*m, "dram_read_bytes"), &written = figure(*m, "dram_write_bytes");
    if (read.available() && written.available()) bytes = std::max(bytes, read.value + written.value);
  }
  return {time_unit(least, most), bytes_unit(bytes), bytes};
}

// Columns that no rung has go, and the sentences that miss their figures; what went.
std::vector<std::string> drop_empty_columns(LadderScene& scene) {
  std::vector<std::string> gone;
  for (std::size_t c = scene.columns.size(); c-- > 0;) {
    const bool any =
        std::ranges::any_of(scene.rungs, [&](const LadderRung& r) { return r.figures[c].text != LadderFigure().text; });
    if (any) continue;
    const std::string title = scene.columns[c].title;
    scene.columns.erase(scene.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (LadderRung& r : scene.rungs) {
      r.figures.erase(r.figures.begin() + static_cast<std::ptrdiff_t>(c));
      std::erase_if(r.sentences, [&](const LadderSentence& s) { return s.lead == title; });
    }
    gone.insert(gone.begin(), title);
  }
  return gone;
}

void set_headline(LadderScene& scene, const Rows& rows, const Measurement* reference, const std::string& at,
                  const BenchUnit& unit) {
  const Measurement *first = nullptr, *best = nullptr;
  for (const Measurement* m : rows) {
    if (is_not_ours(*m) || !timed(*m) || is_wrong(*m)) continue;
    if (reference != nullptr && m->processor != reference->processor) continue;
    if (first == nullptr) first = m;
    if (best == nullptr || m->time.median < best->time.median) best = m;
  }
  scene.headline = phrase("{}, no rung has a time.", at);
  if (best == nullptr) return;
  scene.subject = best->key.kernel;
  const std::string takes = value_with_unit(best->time.median, unit);
  const std::string& id = best->key.kernel;
  const std::string faster = times_text(first->time.median / best->time.median);
  const auto share = reference != nullptr && is_not_ours(*reference) ? share_of(*best, *reference) : std::nullopt;
  if (share && first != best)
    scene.headline = phrase("{}, {} takes {} and is {} times as fast as {} and {} times as fast as {}.", at, id, takes,
                            faster, first->key.kernel, share_words(*share), shown_name(*reference));
  else if (share)
    scene.headline = phrase("{}, {} takes {} and is {} times as fast as {}.", at, id, takes, share_words(*share),
                            shown_name(*reference));
  else if (first != best)
    scene.headline = phrase("{}, {} takes {} and is {} times as fast as {}.", at, id, takes, faster, first->key.kernel);
  else
    scene.headline = phrase("{}, {} takes {}.", at, id, takes);
}

std::string note_of(const LadderScene& scene, const Rows& rows, const BenchSlice& slice,
                    const std::vector<std::string>& gone) {
  std::string note = describe(rows.front()->key.problem) + ".";
  if (std::string source = source_words(slice); !source.empty()) {
    if (source[0] >= 'a' && source[0] <= 'z') source[0] = static_cast<char>(source[0] - 'a' + 'A');
    note += " " + sentence(source);
  }
  if (!scene.share_title.empty()) note += phrase(" Bars: {}.", scene.share_title);
  if (!gone.empty()) note += phrase(" No row has values for {}.", fmt::join(gone, ", "));
  return note;
}

}  // namespace

bool is_not_ours(const Measurement& m) {
  return gpu::own_stem(m.key.kernel).empty() && !find_kernel(m.key.kernel);
}

const Measurement* ladder_reference(std::span<const Measurement* const> rows) {
  const Measurement* best = nullptr;
  const auto rank = [](const Measurement& m) { return std::pair(!is_not_ours(m), m.time.median); };
  for (const Measurement* m : rows)
    if (timed(*m) && !is_wrong(*m) && (best == nullptr || rank(*m) < rank(*best))) best = m;
  return best;
}

std::string recorded_words(const State& state, const BenchSlice& slice, std::int64_t value) {
  const BenchPreset* preset = preset_of(state.document.sweep);
  if (preset == nullptr || preset->published.whose.empty() || !slice.of_this_sweep) return {};
  const PublishedShare& share = preset->published;
  std::string words = phrase("Recorded: {} was reported to reach {} to {} times the speed of torch at these lengths",
                             share.whose, share.low, share.high);
  const Measurement* ours = row_at(slice, share.kernel, value);
  Rows rows = rows_at(slice, value);
  std::erase_if(rows, [&](const auto* m) { return ours == nullptr || m->processor != ours->processor; });
  const Measurement* peer = ladder_reference(rows);
  if (ours == nullptr || !timed(*ours) || is_wrong(*ours)) return words + ".";
  const bool there = peer != nullptr && is_not_ours(*peer);
  const auto reached = there ? share_of(*ours, *peer) : std::nullopt;
  if (!reached) return phrase("{}. No peer for {} was timed here.", words, share.kernel);
  return phrase("{}. Here, {} is {} times as fast as {}.", words, share.kernel, share_words(*reached),
                shown_name(*peer));
}

LadderScene ladder_scene(const State& state, const Model& model, std::span<const Measurement> planned) {
  LadderScene scene;
  const ShownSlices shown = shown_slices(state, model, planned);
  const BenchSlice& slice = shown.slices.front();
  const auto value = chosen_value(slice, state.view.bench.value);
  const Rows rows = value ? rows_at(slice, *value) : Rows();
  if (rows.empty()) {
    scene.empty = tr("Nothing has been measured yet. Run the sweep, or tick a run on the left to see its rungs.");
    return scene;
  }
  scene.value = *value;
  for (const Respect& respect : respects()) scene.columns.push_back(respect.head);
  std::map<Processor, const Measurement*> references;
  for (const Processor processor : {Processor::gpu, Processor::cpu}) {
    Rows own;
    std::ranges::copy_if(rows, std::back_inserter(own), [&](const auto* m) { return m->processor == processor; });
    references[processor] = ladder_reference(own);
  }
  const LadderUnits units = units_of(rows);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const Measurement& m = *rows[n];
    scene.rungs.push_back(
        rung_of(state, m, is_not_ours(m) ? nullptr : before_of(rows, n), references[m.processor], units));
    scene.rungs.back().hollow = slice.loaded;
    scene.most = std::max(scene.most, scene.rungs.back().share);
  }
  const Measurement* lead = references[rows.front()->processor];
  if (lead != nullptr)
    scene.share_title =
        phrase("of {}", is_not_ours(*lead) ? shown_name(*lead) : phrase("the fastest, {}", lead->key.kernel));
  const std::vector<std::string> gone = drop_empty_columns(scene);
  set_headline(scene, rows, lead, phrase("At {} = {}", axis_letter(slice.axis), *value), units.time);
  scene.note = note_of(scene, rows, slice, gone);
  scene.recorded = recorded_words(state, slice, *value);
  return scene;
}

}  // namespace attn
