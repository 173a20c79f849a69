// The page's headline, and what sets two recordings of one problem apart.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/profile/timeline/scene/comparison.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

constexpr double kLeastGain = 0.005;  // where no quartiles say how sure it is
constexpr double kUs = 1e-3;

std::int64_t step_of(const Timeline& t) {
  const auto at = std::ranges::find(t.options.further, std::string("step"), &Setting::name);
  return at == t.options.further.end() ? 0 : at->value;
}

// Steps of flash_hopper that add one idea to the one before.
std::pair<std::string, std::string> step_words(std::int64_t above, std::int64_t below) {
  if (above == 2 && below == 3) return {tr("turns off"), tr("turns on")};
  if (above == 6 && below == 7) return {tr("blocks that end"), tr("blocks that stay")};
  if (above == 7 && below == 8) return {tr("first rows first"), tr("last rows first")};
  return {phrase("step {}", above), phrase("step {}", below)};
}

double relative_spread(const Timeline& t) {
  return t.plain_us > 0 ? (t.plain_quartiles.q3 - t.plain_quartiles.q1) / t.plain_us : 0;
}

// As shown, so that a difference is that of the numbers beside it.
double shown(double us) {
  return std::round(10 * us) / 10;
}

// What two launches take, µs: without the recorder where both were measured so, else as recorded.
struct TwoLaunches {
  bool plain = false;
  double above = 0, below = 0;
  double gain() const { return 1 - below / above; }
};
TwoLaunches launches_of(const PipelineScene& a, const PipelineScene& b) {
  const bool plain = a.timeline->plain_us > 0 && b.timeline->plain_us > 0;
  return {plain, plain ? a.timeline->plain_us : a.launch_ns * kUs, plain ? b.timeline->plain_us : b.launch_ns * kUs};
}

std::string compared(const PipelineScene& a, const PipelineScene& b) {
  const TwoLaunches two = launches_of(a, b);
  const auto [first, second] = what_differs(*a.timeline, *b.timeline);
  const std::string what = first == second ? std::string(tr("The same launch, recorded twice"))
                                           : phrase("Above {}, below {}", first, second);
  std::string basis = two.plain ? tr("without the recorder") : tr("in these recordings");
  if (!on_same_card(*a.timeline, *b.timeline)) basis += std::string(", ") + tr("on two GPUs of one kind");
  const int later = later_below(a, b);
  if (later == 0) return phrase("{}: no difference {} ({:.1f} and {:.1f} µs).", what, basis, two.above, two.below);
  const std::string by =
      fmt::format("{:.1f} µs ({:.1f} %)", std::fabs(shown(two.above) - shown(two.below)), 100 * std::fabs(two.gain()));
  return later < 0 ? phrase("{}: {}, below ends {} sooner.", what, basis, by)
                   : phrase("{}: {}, below ends {} later.", what, basis, by);
}

}  // namespace

bool is_no_gain(const Timeline& above, const Timeline& below, double gain) {
  if (above.plain_quartiles.q1 <= 0 || below.plain_quartiles.q1 <= 0) return std::fabs(gain) < kLeastGain;
  return std::fabs(gain) <= 2 * std::hypot(relative_spread(above), relative_spread(below));
}

int later_below(const PipelineScene& above, const PipelineScene& below) {
  const double gain = launches_of(above, below).gain();
  if (is_no_gain(*above.timeline, *below.timeline, gain)) return 0;
  return gain > 0 ? -1 : 1;
}

std::pair<std::string, std::string> what_differs(const Timeline& above, const Timeline& below) {
  std::pair<std::string, std::string> words;
  const auto add = [&](const std::string& first, const std::string& second) {
    words.first += (words.first.empty() ? "" : ", ") + first;
    words.second += (words.second.empty() ? "" : ", ") + second;
  };
  if (step_of(above) != step_of(below)) {
    const bool down = step_of(above) > step_of(below);
    auto [first, second] =
        step_words(std::min(step_of(above), step_of(below)), std::max(step_of(above), step_of(below)));
    if (down) std::swap(first, second);
    add(first, second);
  }
  const Options &a = above.options, &b = below.options;
  if (a.stages != b.stages) add(phrase("{} slots", a.stages), phrase("{} slots", b.stages));
  if (a.br != b.br || a.bc != b.bc) add(phrase("tile {} × {}", a.br, a.bc), phrase("tile {} × {}", b.br, b.bc));
  if (words.first.empty()) return {recording_words(above, false), recording_words(below, false)};
  return words;
}

std::optional<std::size_t> aligned_product(const PipelineScene& above, const PipelineScene& below) {
  const std::size_t both = std::min(above.issues.size(), below.issues.size());
  if (both == 0) return std::nullopt;
  const auto first = std::ranges::lower_bound(above.issues, above.from) - above.issues.begin();
  return std::min(static_cast<std::size_t>(first), both - 1);
}

std::optional<Alignment> alignment_of(const PipelineScene& s) {
  if (s.beside == nullptr) return std::nullopt;
  const PipelineScene& b = *s.beside;
  const auto nth = aligned_product(s, b);
  if (!nth) return std::nullopt;
  Alignment a{s.issues[*nth], b.issues[*nth], s.issue_tiles[*nth], b.issue_tiles[*nth]};
  a.in_sight = a.above >= s.from && a.above < s.to;
  return a;
}

TextRuns alignment_words(const PipelineScene& s) {
  const auto a = alignment_of(s);
  if (!a) return {word(tr("aligned at the start of each block"))};
  TextRuns pieces;
  const auto product = [&](std::int32_t tile) {
    pieces.push_back(letter("S", TensorColour::s));
    pieces.push_back(subscript(tile < 0 ? "" : fmt::format("{}", tile), TensorColour::s));
    return place(pieces.size() - 2) + place(pieces.size() - 1);
  };
  const std::string above = product(a->tile_above), by = s.issues_by, by_below = s.beside->issues_by;
  std::string what = phrase("{} issues {}", by, above);
  if (by != by_below)
    what = phrase("{} issues {} above, {} {} below", by, above, by_below, product(a->tile_below));
  else if (a->tile_above != a->tile_below)
    what = phrase("{} issues {} above, {} below", by, above, product(a->tile_below));
  return woven(a->in_sight ? phrase("aligned at the dotted line, where {}", what)
                           : phrase("aligned where {}, at {}, out of sight", what, duration_text(s, a->above)),
               pieces);
}

std::optional<Ahead> ahead_of(const PipelineScene& s) {
  if (s.beside == nullptr) return std::nullopt;
  const PipelineScene& b = *s.beside;
  const auto nth = aligned_product(s, b);
  if (!nth || s.issues[*nth] < s.from) return std::nullopt;
  const auto first = static_cast<std::ptrdiff_t>(*nth);
  std::ptrdiff_t last = first;
  const auto in_sight = [](const PipelineScene& x, std::ptrdiff_t n) {
    return n < std::ssize(x.issues) && x.issues[static_cast<std::size_t>(n)] < x.to;
  };
  while (in_sight(s, last + 1) && in_sight(b, last + 1)) ++last;
  if (last <= first) return std::nullopt;
  const auto at = [](const PipelineScene& x, std::ptrdiff_t n) { return x.issues[static_cast<std::size_t>(n)]; };
  Ahead a{at(s, first), at(s, last), at(b, first), at(b, last), static_cast<std::size_t>(last - first)};
  a.above_ns = static_cast<double>(a.above - a.from_above) * s.ns_a_clock;
  a.below_ns = static_cast<double>(a.below - a.from_below) * b.ns_a_clock;
  const auto work = [&](const PipelineScene& x) {
    return std::accumulate(x.issue_rows.begin() + first, x.issue_rows.begin() + last, 0.0);
  };
  a.above_work = work(s);
  a.below_work = work(b);
  return a;
}

std::string ends_words(const PipelineScene& above, const PipelineScene& below) {
  const double sooner = above.launch_ns - below.launch_ns;
  const std::string by = time_text(std::fabs(sooner));
  if (is_no_gain(*above.timeline, *below.timeline, sooner / above.launch_ns))
    return phrase("in these recordings, both end together: {} apart", by);
  return sooner > 0 ? phrase("in these recordings, ends {} sooner", by)
                    : phrase("in these recordings, ends {} later", by);
}

std::string verdict_of(const PipelineScene& s) {
  if (s.beside != nullptr) return compared(s, *s.beside);
  if (s.sms_shown) {
    const PipelineScene::Answer tail = tail_answer(s);
    return fmt::format("{} {}", tail.question, tail.answer);
  }
  if (s.typical) return s.headline;
  return phrase("Block {}, not typical: {}", s.block, s.headline);
}

}  // namespace attn
