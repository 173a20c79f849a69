#include "viz/profile/lab/lab_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "viz/profile/source/source.h"

namespace attn {
namespace {

// Lines of the kernel's own text that have samples, from 1; nothing where it was not sampled.
std::map<std::int32_t, SampledLine> sampled_lines(const Measurement* row, const std::string& kernel) {
  std::map<std::int32_t, SampledLine> lines;
  if (row == nullptr || row->samples == nullptr) return lines;
  for (SampledLine& line : samples_by_line(*row->samples))
    if (is_text_of(row->samples->files.at(line.file), kernel))
      lines.emplace(static_cast<std::int32_t>(line.line), std::move(line));
  return lines;
}

std::uint64_t all_samples(const Measurement* row) {
  return row == nullptr || row->samples == nullptr ? 0 : counts_of(*row->samples).all;
}

constexpr double kSeen = 0.05;  // percent: what the text of a share shows

std::map<gpu::CodePhase, double> phase_shares(const Measurement* row) {
  std::map<gpu::CodePhase, double> shares;
  if (row == nullptr || row->samples == nullptr || !row->samples->no_lines.empty()) return shares;
  const std::uint64_t all = all_samples(row);
  for (const SampledPhase& phase : samples_by_phase(*row->samples))
    shares[phase.phase] = share_of(phase.counts.all, all);
  return shares;
}

ProfileFigure phase_figure(gpu::CodePhase phase, const std::map<gpu::CodePhase, double>& now,
                           const std::map<gpu::CodePhase, double>& before) {
  const auto of = [&](const auto& shares) { return shares.contains(phase) ? shares.at(phase) : 0.0; };
  ProfileFigure f;
  f.id = fmt::format("phase_{}", gpu::name_of(phase));
  f.label = gpu::name_of(phase);
  f.text = share_text(of(now)) + " %";
  f.tip = phrase(
      "{}.\n"
      "This phase's share of the samples of all warps. The share is relative to the total "
      "time above.",
      gpu::words_of(phase));
  if (before.empty()) return f;
  f.other = share_text(of(before)) + " %";
  const double points = 100 * (of(now) - of(before));
  if (std::abs(points) < kSeen)
    f.change.text = tr("same");
  else
    f.change.text = fmt::format("{}{:.1f}", points < 0 ? "−" : "+", std::abs(points));
  f.change.noise_words = tr("percentage points; samples have no confidence interval");
  return f;
}

}  // namespace

bool is_text_of(std::string_view file, const std::string& kernel) {
  const std::string_view own = gpu::own_stem(kernel);
  const std::string mine = std::string(own.empty() ? std::string_view(kernel) : own) + ".cu";
  return file.substr(file.rfind('/') + 1) == mine;
}

LabLines lab_lines(const LabView& lab, std::span<const PairRow> rows) {
  LabLines lines;
  const LabTry* built = lab.built();
  const Measurement* mine = built != nullptr ? built->row.get() : nullptr;
  const auto now = sampled_lines(mine, lab.kernel), before = sampled_lines(lab.before.get(), lab.kernel);
  const std::uint64_t all = all_samples(mine), all_before = all_samples(lab.before.get());
  const bool of_edit = !now.empty();
  if (!of_edit && (before.empty() || built != nullptr)) return lines;  // a build's answer comes before its lines
  for (const PairRow& row : rows) {
    if (row.line[1] == 0) continue;
    const auto mine_at = now.find(row.line[1]);
    const auto other_at = row.same ? before.find(row.line[0]) : before.end();
    const SampledLine* const shown = of_edit ? (mine_at == now.end() ? nullptr : &mine_at->second)
                                             : (other_at == before.end() ? nullptr : &other_at->second);
    if (shown == nullptr) continue;
    LabLine line;
    line.share = share_of(shown->counts.all, of_edit ? all : all_before);
    line.phase = shown->phase;
    line.text = share_text(line.share);
    line.tip = samples_words(shown->counts, line.share);
    if (of_edit && other_at != before.end()) {
      line.before = share_of(other_at->second.counts.all, all_before);
      line.tip += phrase("\nIn the original: {}", samples_words(other_at->second.counts, *line.before));
    } else if (of_edit && !before.empty()) {
      line.tip += tr("\nThe original has no samples on a matching line.");
    }
    lines.most = std::max(lines.most, line.share);
    lines.by_line.emplace(row.line[1], std::move(line));
  }
  lines.heading = tr("% of warp time");
  lines.tip = of_edit
                  ? phrase("Samples of {} by line: how often the hardware sampled a warp at each line.", built->name)
                  : tr("Samples of the original on the unchanged lines.");
  return lines;
}

std::optional<ProfileGroup> phase_group(const Measurement& now, const Measurement* before) {
  const auto mine = phase_shares(&now), other = phase_shares(before);
  if (mine.empty()) return std::nullopt;
  const auto seen = [](const auto& shares, gpu::CodePhase phase) {
    return shares.contains(phase) && 100 * shares.at(phase) >= kSeen;
  };
  ProfileGroup group{tr("Warp time by phase"), {}};
  for (const gpu::CodePhase phase : gpu::all_code_phases())
    if (seen(mine, phase) || seen(other, phase)) group.figures.push_back(phase_figure(phase, mine, other));
  return group;
}

}  // namespace attn
