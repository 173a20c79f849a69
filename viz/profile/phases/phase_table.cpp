#include "viz/profile/phases/phase_table.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/phases.h"

namespace attn {
namespace {

constexpr std::array<const char*, gpu::kInstructionKinds + 1> kKinds{
    marked("all"),     "FMA",          marked("tensor"), "MUFU", marked("shared"), marked("global"),
    marked("barrier"), marked("other")};

double time_of(const MosaicScene& mosaic, gpu::CodePhase phase) {
  const auto column = std::ranges::find(mosaic.columns, phase, &MosaicColumn::phase);
  return column == mosaic.columns.end() ? 0 : column->to - column->from;
}

// An empty place reads faster than a nought.
std::string count_text(std::uint32_t count) {
  return count == 0 ? std::string() : fmt::format("{}", count);
}

}  // namespace

PhaseTable phase_table(const SourceScene& scene, const MosaicScene& mosaic, bool counts, bool brief) {
  PhaseTable table;
  table.timed = mosaic.there && !mosaic.columns.empty();
  if (table.timed) table.heads.emplace_back(tr("time %"));
  // Of what was executed the share says little beside that of the time.
  const std::size_t left_out = table.timed && brief ? 1 : kPhaseCountColumns;
  if (counts) {
    for (std::size_t n = 0; n < kPhaseCountColumns; ++n)
      if (n != left_out) table.heads.emplace_back(tr_of(phase_count_heads(brief).at(n)));
  } else {
    for (const char* const kind : kKinds) table.heads.emplace_back(tr_of(kind));
  }
  for (std::size_t row = 0; row < scene.phases.size(); ++row) {
    const PhaseRow& phase = scene.phases[row];
    PhaseLine line{row, {}};
    if (table.timed) {
      const double time = time_of(mosaic, phase.phase);
      line.cells.push_back(time > 0 ? share_text(time) : std::string());
    }
    for (std::size_t n = 0; counts && n < kPhaseCountColumns; ++n)
      if (n != left_out) line.cells.push_back(phase.counts.text.at(n));
    if (!counts) line.cells.push_back(count_text(phase.total));
    for (const gpu::InstructionKind kind : gpu::all_instruction_kinds())
      if (!counts) line.cells.push_back(count_text(phase.mix[kind]));
    table.lines.push_back(std::move(line));
  }
  if (table.timed)
    std::ranges::stable_sort(table.lines, std::ranges::greater(),
                             [&](const PhaseLine& line) { return time_of(mosaic, scene.phases[line.row].phase); });
  return table;
}

std::size_t line_of(const PhaseTable& table, const SourceScene& scene, gpu::CodePhase phase) {
  const auto at =
      std::ranges::find(table.lines, phase, [&](const PhaseLine& line) { return scene.phases[line.row].phase; });
  return static_cast<std::size_t>(at - table.lines.begin());
}

SharedHeight share_height(float height, float first_needs, float second_needs) {
  const float first = std::min(std::max(height - second_needs, height / 2), first_needs);
  return {first, std::min(height - first, second_needs)};
}

}  // namespace attn
