#include "viz/profile/phases/phase_table.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/phases.h"

namespace attn {
namespace {

struct KindHead {
  const char *text, *tip;
};
constexpr std::array<KindHead, gpu::kInstructionKinds + 1> kKinds{{
    {marked("all"), marked("All instructions of the phase")},
    {"FMA", marked("fp32 arithmetic: FFMA, FADD, FMUL")},
    {marked("tensor"), marked("Tensor cores: HMMA, HGMMA, IMMA")},
    {"MUFU", marked("Special functions: exponentials and reciprocals")},
    {marked("shared"), marked("Shared memory: LDS, LDSM, STS")},
    {marked("global"), marked("Device memory and copies from it: LDG, STG, LDGSTS, UTMALDG")},
    {marked("barrier"), marked("Barriers: BAR, DEPBAR, WARPSYNC, SYNCS")},
    {marked("other"), marked("Integers, moves, conditions and branches")},
}};

constexpr const char* kTime = marked("time %");

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
  const auto add = [&](const char* text, const char* less, const char* tip) {
    table.heads.push_back({std::string(tr_of(text)), std::string(tr_of(less)), std::string(tr_of(tip))});
  };
  if (table.timed) add(kTime, kTime, marked("The phase's share of the warps' time, from the samples"));
  // Of what was executed the share says little beside that of the time.
  const std::size_t left_out = table.timed && brief ? 1 : kPhaseCountColumns;
  if (counts) {
    for (std::size_t n = 0; n < kPhaseCountColumns; ++n)
      if (const PhaseCountHead& head = phase_count_heads().at(n); n != left_out) add(head.text, head.brief, head.tip);
  } else {
    for (const KindHead& kind : kKinds) add(kind.text, kind.text, kind.tip);
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
