// The page's headline, and what sets two recordings of one problem apart.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
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

// Of the time without the recorder; less than twice what the quartiles of both leave open is none.
bool is_none(const Timeline& above, const Timeline& below, double gain) {
  if (above.plain_quartiles.q1 <= 0 || below.plain_quartiles.q1 <= 0) return std::fabs(gain) < kLeastGain;
  return std::fabs(gain) <= 2 * std::hypot(relative_spread(above), relative_spread(below));
}

std::string compared(const PipelineScene& a, const PipelineScene& b) {
  const bool plain = a.timeline->plain_us > 0 && b.timeline->plain_us > 0;
  const double above = plain ? a.timeline->plain_us : a.launch_ns * kUs;
  const double below = plain ? b.timeline->plain_us : b.launch_ns * kUs;
  const double gain = 1 - below / above;
  const auto [first, second] = what_differs(*a.timeline, *b.timeline);
  const std::string what = first == second ? std::string(tr("The same launch, recorded twice"))
                                           : phrase("Above {}, below {}", first, second);
  if (is_none(*a.timeline, *b.timeline, gain))
    return phrase("{}: no difference ({:.1f} and {:.1f} µs).", what, above, below);
  const std::string by = fmt::format("{:.1f} µs ({:.1f} %)", std::fabs(above - below), 100 * std::fabs(gain));
  return gain > 0 ? phrase("{}: below ends {} sooner.", what, by) : phrase("{}: below ends {} later.", what, by);
}

}  // namespace

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

std::string ahead_words(const PipelineScene& s) {
  if (s.beside == nullptr) return {};
  const PipelineScene& b = *s.beside;
  // Both are aligned at the first of these.
  const auto first = std::ranges::lower_bound(s.issues, s.from) - s.issues.begin();
  std::ptrdiff_t last = first;
  const auto in_sight = [](const PipelineScene& x, std::ptrdiff_t n) {
    return n < std::ssize(x.issues) && x.issues[static_cast<std::size_t>(n)] < x.to;
  };
  while (in_sight(s, last + 1) && in_sight(b, last + 1)) ++last;
  if (last <= first) return {};
  const auto took = [&](const PipelineScene& x) {
    return static_cast<double>(x.issues[static_cast<std::size_t>(last)] - x.issues[static_cast<std::size_t>(first)]) *
           x.ns_a_clock;
  };
  const double sooner = took(s) - took(b);
  const auto tiles = static_cast<std::size_t>(last - first);
  const std::string by = time_text(std::fabs(sooner));
  return sooner >= 0 ? plural(tiles, "Below, consumer 0 is {1} ahead after {0} key tile",
                              "Below, consumer 0 is {1} ahead after {0} key tiles", by)
                     : plural(tiles, "Below, consumer 0 is {1} behind after {0} key tile",
                              "Below, consumer 0 is {1} behind after {0} key tiles", by);
}

std::string verdict_of(const PipelineScene& s) {
  if (s.beside != nullptr) return compared(s, *s.beside);
  if (s.sms_shown && !s.answers.empty())
    return fmt::format("{} {}", s.answers.back().question, s.answers.back().answer);
  if (s.typical || s.sms_shown) return s.headline;
  return phrase("Block {} is not typical. {}", s.block, s.headline);
}

}  // namespace attn
