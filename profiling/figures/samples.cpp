#include "profiling/figures/samples.h"

#include <algorithm>
#include <map>
#include <utility>

namespace attn {
namespace {

struct StateOfReason {
  std::string_view reason;
  WarpState state;
};

// CUPTI's reasons on the chips from Turing to Hopper; those that are not here are rare and have no state of their own.
constexpr auto kStates = std::to_array<StateOfReason>({
    {"selected", WarpState::issues},
    {"not_selected", WarpState::ready},
    {"dispatch_stall", WarpState::dispatch},
    {"wait", WarpState::last},
    {"math_pipe_throttle", WarpState::last},
    {"short_scoreboard", WarpState::shared},
    {"mio_throttle", WarpState::shared},
    {"long_scoreboard", WarpState::global},
    {"lg_throttle", WarpState::global},
    {"drain", WarpState::global},
    {"tex_throttle", WarpState::global},
    {"barrier", WarpState::barrier},
    {"membar", WarpState::barrier},
    {"gmma", WarpState::tensor},
});

// The phase with the most samples among those of a line's instructions.
class LineSum {
 public:
  void add(const KernelSamples& samples, const SampledInstruction& i) {
    const std::uint64_t before = counts_.all;
    counts_.add(samples, i);
    of_[static_cast<std::size_t>(i.phase)] += counts_.all - before;
  }
  SampledLine take(std::uint32_t file, std::uint32_t line) && {
    const auto most = std::ranges::max_element(of_);
    return {file, line, static_cast<gpu::CodePhase>(most - of_.begin()), std::move(counts_)};
  }

 private:
  SampleCounts counts_;
  std::array<std::uint64_t, gpu::kCodePhases> of_{};
};

}  // namespace

std::string_view name_of(WarpState state) {
  static constexpr std::array<std::string_view, kWarpStates> kNames{
      "issues", "ready", "dispatch", "last_result", "shared", "global", "barrier", "tensor", "fetch_and_other"};
  return kNames.at(static_cast<std::size_t>(state));
}

std::string_view words_of(WarpState state) {
  static constexpr std::array<std::string_view, kWarpStates> kWords{
      "issues",
      "ready, another warp issues",
      "held at dispatch",
      "waits for its last result",
      "waits for shared memory",
      "waits for device memory",
      "waits for the other warps",
      "waits for the tensor cores",
      "fetches instructions, and the rest",
  };
  return kWords.at(static_cast<std::size_t>(state));
}

WarpState warp_state_of(std::string_view reason) {
  const auto found = std::ranges::find(kStates, reason, &StateOfReason::reason);
  return found == kStates.end() ? WarpState::fetch : found->state;
}

void SampleCounts::add(const KernelSamples& samples, const SampledInstruction& instruction) {
  by_reason.resize(samples.reasons.size());
  for (const ReasonSamples& r : instruction.reasons) {
    const WarpState now = warp_state_of(samples.reasons.at(r.reason));
    const auto state = static_cast<std::size_t>(now);
    const std::uint64_t empty = now == WarpState::dispatch ? r.all : r.not_issued;
    all += r.all;
    not_issued += empty;
    of[state] += r.all;
    not_issued_of[state] += empty;
    by_reason[r.reason] += r.all;
  }
}

WarpState SampleCounts::main_state() const {
  return static_cast<WarpState>(std::ranges::max_element(of) - of.begin());
}

SampleCounts counts_of(const KernelSamples& samples) {
  SampleCounts counts;
  for (const SampledFunction& f : samples.functions)
    for (const SampledInstruction& i : f.instructions) counts.add(samples, i);
  return counts;
}

std::vector<SampledPhase> samples_by_phase(const KernelSamples& samples) {
  std::array<SampleCounts, gpu::kCodePhases> counts;
  for (const SampledFunction& f : samples.functions)
    for (const SampledInstruction& i : f.instructions) counts.at(static_cast<std::size_t>(i.phase)).add(samples, i);
  std::vector<SampledPhase> phases;
  for (const gpu::CodePhase phase : gpu::all_code_phases()) {
    SampleCounts& of = counts.at(static_cast<std::size_t>(phase));
    if (of.all > 0) phases.push_back({phase, std::move(of)});
  }
  return phases;
}

std::vector<SampledLine> samples_by_line(const KernelSamples& samples) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineSum> sums;
  for (const SampledFunction& f : samples.functions)
    for (const SampledInstruction& i : f.instructions)
      for (const gpu::SourceFrame& line : i.lines) sums[{line.file, line.line}].add(samples, i);
  std::vector<SampledLine> lines;
  lines.reserve(sums.size());
  for (auto& [at, sum] : sums) lines.push_back(std::move(sum).take(at.first, at.second));
  std::erase_if(lines, [](const SampledLine& line) { return line.counts.all == 0; });
  std::ranges::stable_sort(lines, [](const auto& a, const auto& b) { return a.counts.all > b.counts.all; });
  return lines;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace attn
