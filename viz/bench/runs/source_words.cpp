#include "viz/bench/runs/source_words.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

// "NVIDIA H100 80GB HBM3, 2026-11-20 to 2026-11-24": of the runs that have rows of the device.
struct DeviceDays {
  std::string device, first, last;
  std::string words() const {
    const std::string days = first == last ? first : phrase("{} to {}", first, last);
    return device + (days.empty() ? "" : ", " + days);
  }
};

void add_days(std::vector<DeviceDays>& all, const BenchSlice& slice) {
  const std::string day = slice.date.substr(0, 10);
  for (const Measurement* m : slice.rows) {
    if (m->state != RowState::done || m->key.device.empty()) continue;
    auto at = std::ranges::find(all, m->key.device, &DeviceDays::device);
    if (at == all.end()) at = all.insert(all.end(), DeviceDays{m->key.device, day, day});
    at->first = std::min(at->first, day);
    at->last = std::max(at->last, day);
  }
}

}  // namespace

std::string source_words(const BenchSlices& slices) {
  if (slices.size() == 1) {
    const std::string own = source_words(slices.front());
    return own.empty() || slices.front().rule.empty() ? own : slices.front().rule + "; " + own;
  }
  std::vector<const BenchSlice*> order;
  for (const BenchSlice& slice : slices)
    if (!slice.planned) order.push_back(&slice);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->letter < b->letter; });
  const bool differ = std::any_of(slices.begin(), slices.end(),
                                  [&](const BenchSlice& s) { return differ_in_problem(slices.front(), s); });
  // What all that is shown follows is said of all, predictions among them.
  const std::string& rule = slices.front().rule;
  const bool shared =
      std::all_of(slices.begin(), slices.end(), [&](const BenchSlice& s) { return s.rows.empty() || s.rule == rule; });
  std::string words = shared && !differ && !rule.empty() ? rule : "";
  for (const BenchSlice* slice : order) {
    const std::string own = source_words(*slice);
    if (own.empty()) continue;
    if (!words.empty()) words += "; ";
    if (differ)
      words += fmt::format("{}, {}", problem_words(*slice), own);
    else
      words += slice->letter.empty() ? own : phrase("run {} {}", slice->letter, own);
  }
  return words;
}

std::string short_source_words(const BenchSlices& slices) {
  constexpr std::ptrdiff_t kSpelledOut = 3;
  const auto is_run = [](const BenchSlice& s) { return !s.planned && !s.rows.empty(); };
  const std::ptrdiff_t runs = std::ranges::count_if(slices, is_run);
  std::vector<DeviceDays> devices;
  for (const BenchSlice& slice : slices)
    if (is_run(slice)) add_days(devices, slice);
  if (runs <= kSpelledOut || devices.empty()) return source_words(slices);
  const std::ptrdiff_t live =
      std::ranges::count_if(slices, [&](const BenchSlice& s) { return is_run(s) && !s.loaded; });
  const std::string how = live == 0 ? tr("loaded") : live == runs ? tr("live") : phrase("{} of them live", live);
  std::vector<std::string> words;
  words.reserve(devices.size());
  for (const DeviceDays& d : devices) words.push_back(d.words());
  return phrase("{} runs, {}: {}", runs, how, fmt::join(words, "; "));
}

}  // namespace attn
