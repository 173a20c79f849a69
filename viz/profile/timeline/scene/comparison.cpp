#include "viz/profile/timeline/scene/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr double kUs = 1e-3;
constexpr double kLeastChange = 0.01;  // of a key tile's time: below, a state is as it was
constexpr std::size_t kMostChanges = 3, kMostCauses = 2;
constexpr double kLeastCause = 0.1;     // of what two launches are apart
constexpr double kLeastFigure = 0.005;  // of a launch

double of_state(const PipelineScene& s, const std::string& words) {
  const auto at = std::ranges::find(s.states, words, &PipelineScene::StateTime::words);
  return at == s.states.end() ? 0 : at->ns;
}

// The states whose time differs most, by how much.
std::vector<std::string> state_causes(const PipelineScene& a, const PipelineScene& b) {
  std::vector<std::string> words;
  for (const auto* s : {&a, &b})
    for (const auto& state : s->states)
      if (std::ranges::find(words, state.words) == words.end()) words.push_back(state.words);
  const auto change = [&](const std::string& state) { return of_state(b, state) - of_state(a, state); };
  std::ranges::stable_sort(words, std::ranges::greater(), [&](const std::string& w) { return std::fabs(change(w)); });
  std::vector<std::string> told;
  for (const std::string& state : words) {
    if (told.size() == kMostChanges || std::fabs(change(state)) < kLeastChange * key_tile_ns(a)) break;
    told.push_back(phrase("{} {}, below {}", state, time_text(of_state(a, state)), time_text(of_state(b, state))));
  }
  return told;
}

std::string number(double x) {
  return fmt::format("{:.1f}", x);
}

double blocks_per_sm(const PipelineScene& s) {
  return s.band_rows > 0 ? static_cast<double>(s.timeline->grid_blocks) / s.band_rows : 0;
}

// A part of an SM's time that differs, µs, and how it is told.
struct LaunchFigure {
  double by = 0;
  std::string above, below, words, brief = {};
};

LaunchFigure of_blocks(const PipelineScene& a, const PipelineScene& b) {
  const double above = sm_time(a).blocks, below = sm_time(b).blocks;
  LaunchFigure f{below - above, number(above), number(below), {}};
  f.words = f.brief = phrase("in blocks {} µs per SM, below {} µs", f.above, f.below);
  const int rows = a.timeline->options.br, others = b.timeline->options.br;
  if (rows != others) f.words += " " + phrase("({} rows per query tile, below {})", rows, others);
  return f;
}

LaunchFigure of_gaps(const PipelineScene& a, const PipelineScene& b) {
  LaunchFigure f{
      sm_time(b).gaps - sm_time(a).gaps, number(100 * idle_before_end(a)), number(100 * idle_before_end(b)), {}};
  f.words = f.brief = phrase("gaps {} % of SM time, below {} %", f.above, f.below);
  const std::string blocks = number(blocks_per_sm(a)), others = number(blocks_per_sm(b));
  if (blocks != others) f.words += " " + phrase("({} blocks per SM, below {})", blocks, others);
  return f;
}

LaunchFigure of_tail(const PipelineScene& a, const PipelineScene& b) {
  LaunchFigure f{sm_time(b).tail - sm_time(a).tail, number(100 * idle_at_end(a)), number(100 * idle_at_end(b)), {}};
  f.words = f.brief = phrase("tail {} % of SM time, below {} %", f.above, f.below);
  return f;
}

std::size_t consumers_of(const PipelineScene& scene) {
  return static_cast<std::size_t>(std::ranges::count(scene.rows, RowKind::computes, &TimelineRow::kind));
}

// How many of them have a product S in flight in the block.
std::size_t computing_consumers(const PipelineScene& scene) {
  return static_cast<std::size_t>(std::ranges::count_if(scene.rows, [&](const TimelineRow& row) {
    return row.kind == RowKind::products &&
           std::ranges::any_of(row.stretches, [&](const TimelineStretch& x) { return x.ink == Ink(TensorColour::s); });
  }));
}

// Who takes the block's key tiles, where those are not all of its consumers with all of their rows, or where the other
// block has not as many: " (2 of 3 consumers compute)".
std::string takers_told(const PipelineScene& s, const PipelineScene& other) {
  constexpr double kFull = 0.995;
  const std::size_t computing = computing_consumers(s), all = consumers_of(s);
  if (computing == 0) return {};
  if (computing < all)
    return " (" + plural(computing, "{0} of {1} consumers computes", "{0} of {1} consumers compute", all) + ")";
  if (const double rows = s.work / static_cast<double>(s.key_tiles); rows < kFull * s.timeline->options.br)
    return " (" + phrase("on average {:.0f} of {} rows", rows, s.timeline->options.br) + ")";
  if (computing == computing_consumers(other)) return {};
  return " (" + plural(computing, "{0} consumer computes", "{0} consumers compute") + ")";
}

// How much more a key tile takes in the lower block, for as many rows and keys, as a share.
double tile_more_below(const PipelineScene& a, const PipelineScene& b) {
  const auto per_work = [](const PipelineScene& s) {
    const auto all = static_cast<double>(std::max<std::size_t>(1, consumers_of(s)));
    const double rows = s.timeline->options.br * static_cast<double>(computing_consumers(s)) / all;
    return rows > 0 ? key_tile_ns(s) / (rows * s.timeline->options.bc) : 0;
  };
  return per_work(a) > 0 && per_work(b) > 0 ? per_work(b) / per_work(a) - 1 : 0;
}

// The same of how many there are, of blocks that are each all that an SM does.
double tiles_more_below(const PipelineScene& a, const PipelineScene& b) {
  const Options &o = a.timeline->options, &other = b.timeline->options;
  const auto stays = [](const PipelineScene& s) { return s.timeline->grid_blocks <= s.band_rows; };
  if (!stays(a) || !stays(b) || o.br != other.br || o.bc != other.bc || a.key_tiles <= 0 || b.key_tiles <= 0) return 0;
  return static_cast<double>(b.key_tiles) / static_cast<double>(a.key_tiles) - 1;
}

// Whether such a share is much of what the launches are apart, and as they are.
bool explains(const PipelineScene& s, double more) {
  constexpr double kMuch = 0.3;
  const int later = later_below(s, *s.beside);
  if (sign_against_spread(s, *s.beside, more) != later) return false;
  return later == 0 || std::fabs(more) >= kMuch * std::fabs(later_share(s, *s.beside));
}

}  // namespace

SmTime sm_time(const PipelineScene& s) {
  const double gaps = idle_before_end(s), tail = idle_at_end(s), us = s.launch_ns * kUs;
  return {us * (1 - gaps - tail), us * gaps, us * tail};
}

namespace {

// Those that are much of what the launches are apart, the largest first.
std::vector<LaunchFigure> large_figures(const PipelineScene& a, const PipelineScene& b) {
  std::vector<LaunchFigure> figures{of_blocks(a, b), of_gaps(a, b), of_tail(a, b)};
  const double apart = std::fabs(b.launch_ns - a.launch_ns) * kUs;
  std::erase_if(figures, [&](const LaunchFigure& f) {
    return f.above == f.below || std::fabs(f.by) < std::max(kLeastCause * apart, kLeastFigure * a.launch_ns * kUs);
  });
  std::ranges::stable_sort(figures, std::ranges::greater(), [](const LaunchFigure& f) { return std::fabs(f.by); });
  return figures;
}

}  // namespace

std::vector<std::string> launch_causes(const PipelineScene& a, const PipelineScene& b) {
  std::vector<LaunchFigure> figures = large_figures(a, b);
  const int later = later_below(a, b);
  const auto explains = [&](const LaunchFigure& f) { return later == 0 || (f.by > 0) == (later > 0); };
  std::ranges::stable_partition(figures, explains);
  std::vector<std::string> told;
  for (const LaunchFigure& f : figures) {
    // What points the other way is told where nothing explains.
    if (told.size() == kMostCauses || (!told.empty() && !explains(f))) continue;
    told.push_back(f.words);
  }
  return told;
}

std::vector<std::string> launch_cause_towards(const PipelineScene& a, const PipelineScene& b, double way) {
  for (const LaunchFigure& f : large_figures(a, b))
    if ((f.by > 0) == (way > 0)) return {f.words, f.brief};
  return {};
}

double key_tile_ns(const PipelineScene& s) {
  if (s.states.empty()) return static_cast<double>(s.tile_clocks) * s.ns_a_clock;
  return std::accumulate(s.states.begin(), s.states.end(), 0.0,
                         [](double sum, const PipelineScene::StateTime& state) { return sum + state.ns; });
}

int sign_against_spread(const PipelineScene& above, const PipelineScene& below, double more) {
  if (is_no_gain(*above.timeline, *below.timeline, more)) return 0;
  return more > 0 ? 1 : -1;
}

std::string few_consumers_cause(const PipelineScene& s, double way) {
  const PipelineScene& b = *s.beside;
  const auto few = [](const PipelineScene& x) {
    const std::size_t computing = computing_consumers(x);
    return computing > 0 && computing < consumers_of(x);
  };
  if (few(s) == few(b) || few(b) != (way > 0)) return {};
  const PipelineScene& of = few(b) ? b : s;
  const std::string consumers = plural(computing_consumers(of), "{0} of {1} consumers computes",
                                       "{0} of {1} consumers compute", consumers_of(of));
  return few(b) ? phrase("only {} below", consumers) : phrase("only {} above", consumers);
}

std::string key_tiles_cause(const PipelineScene& s) {
  const PipelineScene& b = *s.beside;
  if (later_below(s, b) == 0 || !explains(s, tiles_more_below(s, b))) return {};
  return phrase("key tiles of a consumer {}, below {}", s.key_tiles, b.key_tiles);
}

std::string not_typical(const PipelineScene& a, const PipelineScene& b) {
  if (!a.typical && !b.typical) return tr("neither block is typical of its launch");
  if (!a.typical) return phrase("block {} above is not typical of its launch", a.block);
  if (!b.typical) return phrase("block {} below is not typical of its launch", b.block);
  return {};
}

std::vector<std::string> why_no_bracket(const PipelineScene& s) {
  if (ahead_of(s)) return {};
  const std::size_t both = std::min(s.issues.size(), s.beside->issues.size());
  if (both == 0) return {tr("no bracket: no key tiles are known of both blocks"), tr("no key tiles in common")};
  if (both == 1)
    return {tr("no bracket: the blocks have only their first key tile in common"), tr("one key tile in common")};
  return {tr("no bracket: no two key tiles of both blocks are in sight"), tr("no two key tiles in sight")};
}

namespace {

// Sentences in the order in which they are read; `lasts`: in a short form those go first that last least.
struct Sentence {
  int lasts = 0;
  std::string words;
};

std::string joined(const std::vector<Sentence>& sentences, int least) {
  std::string words;
  for (const Sentence& s : sentences)
    if (s.lasts >= least && !s.words.empty()) words += (words.empty() ? "" : " ") + s.words;
  return words;
}

enum Lasts : int { kTimes, kTile, kDoor, kSecond, kCause };

std::string times_words(const PipelineScene& a, const PipelineScene& b) {
  const double from = a.timeline->plain_us, to = b.timeline->plain_us;
  if (from <= 0 || to <= 0 || later_below(a, b) == 0) return {};  // the headline has both times
  return phrase("Without the recorder, the upper launch takes {:.1f} µs and the lower one {:.1f} µs.", from, to);
}

std::string states_sentence(std::span<const std::string> states) {
  return states.empty() ? "" : phrase("What differs most in a consumer's key tile: {}.", fmt::join(states, "; "));
}
std::string launches_sentence(std::span<const std::string> figures) {
  return figures.empty() ? "" : phrase("What differs most between the launches: {}.", fmt::join(figures, "; "));
}

// A block far from the median, of one key tile maybe, says nothing of its launch's key tiles.
std::string not_typical_sentence(const PipelineScene& s) {
  const PipelineScene& b = *s.beside;
  const bool bracket = ahead_of(s).has_value();
  if (!s.typical && !b.typical)
    return bracket ? tr("Neither block is typical of its launch, so the bracket speaks of these two blocks alone.")
                   : tr("Neither block is typical of its launch, so key tiles are not compared.");
  const std::int64_t block = s.typical ? b.block : s.block;
  if (s.typical)
    return bracket ? phrase(
                         "Block {} below is not typical of its launch, so the bracket speaks of these two blocks "
                         "alone.",
                         block)
                   : phrase("Block {} below is not typical of its launch, so key tiles are not compared.", block);
  return bracket ? phrase(
                       "Block {} above is not typical of its launch, so the bracket speaks of these two blocks "
                       "alone.",
                       block)
                 : phrase("Block {} above is not typical of its launch, so key tiles are not compared.", block);
}

// How much more a key tile takes below for each of the rows that take it, as both are told.
double row_more_below(const PipelineScene& a, const PipelineScene& b) {
  if (a.work <= 0 || b.work <= 0) return 0;
  const auto per_row = [](const PipelineScene& s) { return static_cast<double>(s.length) * s.ns_a_clock / s.work; };
  return per_row(b) / per_row(a) - 1;
}

// Whether a key tile's time is why one launch ends sooner; `per_row`: only for as many rows.
enum class TileTime : std::uint8_t { why, per_row, not_why };

TileTime tile_time(const PipelineScene& a, const PipelineScene& b) {
  if (!explains(a, tile_more_below(a, b))) return later_below(a, b) == 0 ? TileTime::per_row : TileTime::not_why;
  const auto as_launches = [&](double more) { return sign_against_spread(a, b, more) == later_below(a, b); };
  if (as_launches(key_tile_ns(b) / key_tile_ns(a) - 1)) return TileTime::why;
  return as_launches(row_more_below(a, b)) ? TileTime::per_row : TileTime::not_why;
}

std::string tile_sentence(const PipelineScene& s, TileTime time) {
  const PipelineScene& b = *s.beside;
  const std::string above = time_text(key_tile_ns(s)) + takers_told(s, b),
                    below = time_text(key_tile_ns(b)) + takers_told(b, s);
  const int later = later_below(s, b);
  if (time == TileTime::per_row && later != 0) {
    const double more = row_more_below(s, b);
    const std::string share = fmt::format("{:.1f} %", 100 * std::fabs(more));
    return later < 0 ? phrase("A key tile takes {} in the block above and {} in the block below: per row {} less.",
                              above, below, share)
                     : phrase("A key tile takes {} in the block above and {} in the block below: per row {} more.",
                              above, below, share);
  }
  if (time != TileTime::not_why)
    return phrase("A key tile takes {} in the block above and {} in the block below.", above, below);
  return phrase(
      "A key tile takes {} in the block above and {} in the block below, which does not explain the launches' "
      "difference.",
      above, below);
}

// What is told of why the launches differ.
struct Causes {
  std::vector<std::string> states, figures;
  std::string tiles;  // how many of them the blocks have
  TileTime time = TileTime::not_why;
  Lasts of_states = kSecond, of_tiles = kSecond, of_figures = kSecond;
};
Causes causes_of(const PipelineScene& a, const PipelineScene& b) {
  Causes c{{}, launch_causes(a, b), {}};
  if (!not_typical(a, b).empty()) {
    c.of_figures = kCause;
    return c;
  }
  const double time = tile_more_below(a, b), tiles = tiles_more_below(a, b);
  const bool differ = later_below(a, b) != 0;
  c.time = tile_time(a, b);
  if (c.time == TileTime::why || !differ) c.states = state_causes(a, b);
  if (const std::string words = key_tiles_cause(a); !words.empty())
    c.tiles = phrase("What differs most between the blocks: {}.", words);
  if (!c.tiles.empty() && (c.states.empty() || std::fabs(tiles) > std::fabs(time)))
    c.of_tiles = kCause;
  else if ((c.time != TileTime::why || c.states.empty()) && !c.figures.empty())
    c.of_figures = kCause;
  else
    c.of_states = kCause;
  return c;
}

}  // namespace

void tell_comparison(PipelineScene& s) {
  const PipelineScene &a = s, &b = *s.beside;
  const Causes c = causes_of(a, b);
  const bool typical = not_typical(a, b).empty();
  std::vector<Sentence> told{{kTimes, times_words(a, b)}};
  told.push_back({kTile, typical ? tile_sentence(s, c.time) : not_typical_sentence(s)});
  told.push_back({c.of_states, states_sentence(c.states)});
  told.push_back({c.of_tiles, c.tiles});
  told.push_back({c.of_figures, launches_sentence(c.figures)});
  if (!c.figures.empty()) told.push_back({kDoor, tr("All SMs shows gaps and tail.")});
  s.beside_words = joined(told, kTimes);
  s.beside_forms.clear();
  for (int least = kTile; least <= kCause; ++least)
    if (std::string form = joined(told, least);
        !form.empty() && (s.beside_forms.empty() || form != s.beside_forms.back()))
      s.beside_forms.push_back(std::move(form));
  const bool by_launch = c.of_figures == kCause;
  const std::vector<std::string>& causes = by_launch ? c.figures : c.states;
  if (c.of_tiles != kCause)
    for (std::size_t n = causes.size(); n-- > 1;) {
      const std::span few(causes.data(), n);
      s.beside_forms.push_back(by_launch ? launches_sentence(few) : states_sentence(few));
    }
  if (s.beside_forms.empty()) s.beside_forms.push_back(s.beside_words);
}

}  // namespace attn
