#include "profiling/tune/tune.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/ptxas_log.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/validate.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"

namespace attn {
namespace {

constexpr double kTurnsShare = 0.3;      // of the budget: the best in turns with the usual one
constexpr std::int32_t kMaxRounds = 12;  // there and back
constexpr std::int32_t kRepeatsATurn = 10;

constexpr auto kFates = std::to_array<std::pair<TileFate, std::string_view>>({{TileFate::refused, "refused"},
                                                                              {TileFate::not_tried, "not tried"},
                                                                              {TileFate::failed, "failed"},
                                                                              {TileFate::wrong, "wrong"},
                                                                              {TileFate::timed, "timed"}});
constexpr auto kDecisions =
    std::to_array<std::pair<TuneDecision, std::string_view>>({{TuneDecision::faster, "faster"},
                                                              {TuneDecision::usual_best, "usual is best"},
                                                              {TuneDecision::cannot_tell, "can't tell"}});

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [v, name] : table)
    if (v == value) return name;
  return "?";
}

template <class Value, std::size_t N>
std::optional<Value> value_in(const std::array<std::pair<Value, std::string_view>, N>& table, std::string_view name) {
  for (const auto& [v, n] : table)
    if (n == name) return v;
  return std::nullopt;
}

// What the compiler gave this very row, where it is a GPU's.
std::optional<CompiledTile> compiled_of(const Measurement& m) {
  const Figure& registers = figure(m, "registers_count");
  if (!registers.available()) return std::nullopt;
  return CompiledTile{static_cast<std::int32_t>(registers.value),
                      static_cast<std::int64_t>(figure(m, "spill_bytes").value),
                      static_cast<std::int64_t>(figure(m, "shared_static_bytes").value)};
}

class Tuning {
 public:
  Tuning(const TuneSpec& s, const KernelRow& row, const TuneCallbacks& callbacks, TuneResult result)
      : spec_(s), row_(row), callbacks_(callbacks), r_(std::move(result)), begin_(callbacks.clock()) {}

  TuneResult run(const std::stop_token& stop) {
    order_ = order_to_try(r_);
    announce(0);
    try_all(stop);
    if (stop.stop_requested()) {
      r_.words = fmt::format("Cancelled after {} of {} tiles: no tile was chosen.", r_.tried(), r_.fitting());
    } else {
      time_best(stop);
    }
    r_.seconds = gone();
    if (callbacks_.changed) callbacks_.changed(r_);
    return std::move(r_);
  }

 private:
  double gone() const { return callbacks_.clock() - begin_; }

  void announce(std::size_t from) const {
    if (!callbacks_.announce) return;
    std::vector<Point> points;
    for (std::size_t n = from; n < order_.size(); ++n)
      points.push_back(point_of(spec_, r_.tiles[order_[n]].tile.options));
    callbacks_.announce(points);
  }

  void tell(std::size_t done, const std::string& now, double left) const {
    if (!callbacks_.progress) return;
    const double whole = gone() + std::max(left, 0.0);
    callbacks_.progress({done, order_.size(), now, whole > 0 ? gone() / whole : 0, left});
  }

  // What the tiles tried so far took on average, for those to come, but no longer than the budget; then the turns.
  double seconds_left(std::size_t done) const {
    if (done == 0) return -1;
    const double each = gone() / static_cast<double>(done), share = (1 - kTurnsShare) * spec_.budget_s;
    const double tiles = std::min(each * static_cast<double>(order_.size() - done), std::max(0.0, share - gone()));
    return tiles + kTurnsShare * spec_.budget_s;
  }

  // First one of each tile (Br x Bc), the nearest to the usual first; then threads and stages of the fastest tiles.
  void try_all(const std::stop_token& stop) {
    bool resorted = false;
    for (std::size_t n = 0; n < order_.size() && !stop.stop_requested(); ++n) {
      if (n > 0 && gone() > (1 - kTurnsShare) * spec_.budget_s) return;
      if (!resorted && is_second_of_its_tile(n)) {
        resorted = true;
        fastest_tiles_first(n);
        announce(n);
      }
      TriedTile& t = r_.tiles[order_[n]];
      tell(n, tile_words(row_, t.tile.options), seconds_left(n));
      take(t, stop);
      if (callbacks_.changed) callbacks_.changed(r_);
    }
  }

  bool is_second_of_its_tile(std::size_t n) const {
    const Options& o = r_.tiles[order_[n]].tile.options;
    return std::any_of(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(n), [&](std::size_t other) {
      const Options& before = r_.tiles[other].tile.options;
      return before.br == o.br && before.bc == o.bc;
    });
  }

  void fastest_tiles_first(std::size_t from) {
    const auto best_of = [&](std::size_t at) {
      const Options& o = r_.tiles[at].tile.options;
      double best = 1e300;
      for (const TriedTile& t : r_.tiles)
        if (t.fate == TileFate::timed && t.tile.options.br == o.br && t.tile.options.bc == o.bc)
          best = std::min(best, t.time.median);
      return best;
    };
    std::stable_sort(order_.begin() + static_cast<std::ptrdiff_t>(from), order_.end(),
                     [&](std::size_t a, std::size_t b) { return best_of(a) < best_of(b); });
  }

  void take(TriedTile& t, const std::stop_token& stop) {
    const Measurement m = callbacks_.measure(point_of(spec_, t.tile.options), stop);
    if (m.state == RowState::cancelled) return;
    if (const auto compiled = compiled_of(m)) {
      put_compiled(t.tile, *compiled, callbacks_.device);
    }
    if (r_.clock.empty()) r_.clock = m.clock;
    t.time = m.time;
    t.fate = TileFate::timed;
    if (m.state != RowState::done || m.time.n == 0) {
      t.fate = TileFate::failed;
      t.why = m.reason.empty() ? "it was not timed" : m.reason;
      return;
    }
    if (const auto loss = std::ranges::find_if(m.warnings, gpu::is_loss); loss != m.warnings.end()) {
      t.fate = TileFate::failed;
      t.why = *loss;
      return;
    }
    if (!m.verdict) return;
    t.verdict = m.verdict->pass ? "pass" : m.verdict->reason;
    if (m.verdict->pass) return;
    t.fate = m.verdict->not_judged ? TileFate::failed : TileFate::wrong;
    t.why = m.verdict->reason;
  }

  // The fastest that passed, without the usual one.
  std::vector<std::size_t> best() const {
    std::vector<std::size_t> found;
    for (std::size_t n = 0; n < r_.tiles.size(); ++n)
      if (n != r_.usual && r_.tiles[n].fate == TileFate::timed && r_.tiles[n].verdict == "pass") found.push_back(n);
    std::ranges::sort(found, {}, [&](std::size_t n) { return r_.tiles[n].time.median; });
    if (found.size() > static_cast<std::size_t>(spec_.finalists))
      found.resize(static_cast<std::size_t>(spec_.finalists));
    return found;
  }

  void time_best(const std::stop_token& stop) {
    const TriedTile& usual = r_.tiles[r_.usual];
    if (usual.fate != TileFate::timed || usual.verdict != "pass") {
      r_.words = fmt::format("The usual tile {} could not be timed, so there is nothing to compare with: {}",
                             tile_words(row_, usual.tile.options), usual.why.empty() ? "not tried." : usual.why);
      return;
    }
    std::vector<std::size_t> sides = best();
    if (sides.empty()) {
      r_.words = "No other tile passed: there is nothing to choose from.";
      return;
    }
    sides.insert(sides.begin(), r_.usual);
    announce(order_.size());  // nothing more: what compiles ahead ends before it can disturb
    std::vector<std::vector<double>> samples(sides.size());
    const auto timed = take_turns(sides, samples, stop);
    if (callbacks_.let_go) callbacks_.let_go();
    if (!timed) {
      r_.words =
          fmt::format("The best tiles could not be timed again, so no tile was chosen: {}", timed.error().message);
      return;
    }
    for (std::size_t n = 0; n < sides.size(); ++n) r_.tiles[sides[n]].turns = statistics_of(samples[n]);
    decide(sides);
  }

  // There and back, so that a clock that drifts evenly favours none; until every median is settled or the time is over.
  Result<void> take_turns(const std::vector<std::size_t>& sides, std::vector<std::vector<double>>& samples,
                          const std::stop_token& stop) {
    const double from = gone(), limit = std::max(kTurnsShare * spec_.budget_s, spec_.budget_s - from);
    for (std::int32_t round = 0; round < kMaxRounds; ++round) {
      if (round > 0 && (gone() - from > limit || (round > 1 && all_settled(samples)))) return ok();
      for (std::size_t n = 0; n < 2 * sides.size(); ++n) {
        const std::size_t side = n < sides.size() ? n : 2 * sides.size() - 1 - n;
        const TriedTile& t = r_.tiles[sides[side]];
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "cancelled");
        const double spent = gone() - from;
        tell(order_.size(), "in turns: " + tile_words(row_, t.tile.options), std::max(0.0, limit - spent));
        const double seconds = limit / kMaxRounds / static_cast<double>(sides.size());
        Turn turn = turn_for(t.time.median, seconds, kRepeatsATurn);
        turn.repeats = std::min(turn.repeats, 4 * kRepeatsATurn);
        const auto times = callbacks_.turn(point_of(spec_, t.tile.options), turn, stop);
        if (!times) return tl::unexpected(times.error());
        samples[side].insert(samples[side].end(), times->begin(), times->end());
      }
    }
    return ok();
  }

  static bool all_settled(const std::vector<std::vector<double>>& samples) {
    return std::ranges::all_of(samples, [](const auto& s) { return statistics_of(s).settled; });
  }

  void decide(const std::vector<std::size_t>& sides) {
    std::vector<TimeStatistics> others;
    for (std::size_t n = 1; n < sides.size(); ++n) others.push_back(r_.tiles[sides[n]].turns);
    const TurnsVerdict verdict = judge_turns(r_.tiles[r_.usual].turns, others);
    r_.decision = verdict.decision;
    const std::size_t at = sides[verdict.best + 1];
    r_.chosen = verdict.decision == TuneDecision::faster ? at : r_.usual;
    r_.words = fmt::format("{}: {}", tile_words(row_, r_.tiles[at].tile.options), verdict.words);
    if (r_.tried() < r_.fitting())
      r_.words += fmt::format(" {} of {} tiles were tried within the budget of {:.0f} s.", r_.tried(), r_.fitting(),
                              spec_.budget_s);
  }

  const TuneSpec& spec_;
  const KernelRow& row_;
  const TuneCallbacks& callbacks_;
  TuneResult r_;
  double begin_;
  std::vector<std::size_t> order_;
};

}  // namespace

TuneSpec::TuneSpec() {
  seconds_per_point = 0.05;
  counters = false;
}

std::string_view name_of(TileFate f) {
  return name_in(kFates, f);
}
std::optional<TileFate> tile_fate_from_name(std::string_view name) {
  return value_in(kFates, name);
}
std::string_view name_of(TuneDecision d) {
  return name_in(kDecisions, d);
}
std::optional<TuneDecision> tune_decision_from_name(std::string_view name) {
  return value_in(kDecisions, name);
}

std::size_t TuneResult::tried() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      tiles, [](const TriedTile& t) { return t.fate != TileFate::refused && t.fate != TileFate::not_tried; }));
}
std::size_t TuneResult::fitting() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(tiles, [](const TriedTile& t) { return t.fate != TileFate::refused; }));
}

Result<void> validate(const TuneSpec& s) {
  const auto row = find_kernel(s.kernel);
  if (!row) return tl::unexpected(row.error());
  if (!has_tiles(**row)) return bad_input(why_no_tiles(**row));
  if (auto valid = validate(s.problem); !valid) return valid;
  if (auto takes = check_takes(**row, s.problem); !takes) return takes;
  if (!(s.budget_s >= 0.1 && s.budget_s <= 86400))
    return bad_input(fmt::format("Invalid budget: {} s; use 0.1 to 86400.", s.budget_s));
  if (s.finalists < 1 || s.finalists > 16)
    return bad_input(fmt::format("Invalid number of finalists: {}; use 1 to 16.", s.finalists));
  if (!s.verify) return bad_input("Tuning requires checked outputs: the check cannot be off.");
  return ok();
}

std::vector<std::size_t> order_to_try(const TuneResult& r) {
  std::vector<TileCandidate> tiles;
  tiles.reserve(r.tiles.size());
  for (const TriedTile& t : r.tiles) tiles.push_back(t.tile);
  return order_to_try(std::span<const TileCandidate>(tiles));
}

Point point_of(const TuneSpec& s, const Options& o) {
  return {s, s.kernel, s.problem, o};
}

Result<TuneResult> tune_plan(const TuneSpec& s, const Device& device) {
  const InEnglish recorded;
  if (auto valid = validate(s); !valid) return tl::unexpected(valid.error());
  const auto row = find_kernel(s.kernel);
  auto candidates = tile_candidates(**row, s.problem, s.options, device);
  if (!candidates) return tl::unexpected(candidates.error());
  TuneResult r;
  r.kernel = s.kernel;
  r.problem = s.problem;
  r.device = device.name;
  for (TileCandidate& c : *candidates) {
    if (c.usual) r.usual = r.chosen = r.tiles.size();
    TriedTile t;
    t.fate = c.why_not.empty() ? TileFate::not_tried : TileFate::refused;
    t.why = c.why_not;
    t.tile = std::move(c);
    r.tiles.push_back(std::move(t));
  }
  return r;
}

Result<TuneResult> tune(const TuneSpec& s, const TuneCallbacks& callbacks, std::stop_token stop) {
  const InEnglish recorded;
  auto plan = tune_plan(s, callbacks.device);
  if (!plan) return plan;
  const auto row = find_kernel(s.kernel);
  return Tuning(s, **row, callbacks, *std::move(plan)).run(stop);
}

TurnsVerdict judge_turns(const TimeStatistics& usual, std::span<const TimeStatistics> others) {
  TurnsVerdict v;
  if (others.empty()) return v;
  const auto best = std::ranges::min_element(others, {}, &TimeStatistics::median);
  v.best = static_cast<std::size_t>(best - others.begin());
  const double gain = best->median > 0 ? usual.median / best->median : 0;
  const bool enough = median_interval(usual.n).enough && median_interval(best->n).enough;
  const std::string times = fmt::format("{:.1f} µs against {:.1f} µs for the usual tile", best->median, usual.median);
  if (!enough) {
    v.words =
        fmt::format("{}, with {} and {} repeats: too few to tell, so the usual tile is kept.", times, best->n, usual.n);
  } else if (best->ci_high < usual.ci_low) {
    v.decision = TuneDecision::faster;
    v.words = fmt::format("{}, {:.3f} times as fast; the 95 % intervals of the medians do not overlap.", times, gain);
  } else if (best->median >= usual.median) {
    v.decision = TuneDecision::usual_best;
    v.words = fmt::format("{}, which no tile beats, so it is kept.", times);
  } else {
    v.words = fmt::format(
        "{}, {:.3f} times as fast, but the 95 % intervals of the medians overlap: can't tell, so the "
        "usual tile is kept.",
        times, gain);
  }
  return v;
}

}  // namespace attn
