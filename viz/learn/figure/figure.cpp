#include "viz/learn/figure/figure.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/sources.h"

namespace attn {
namespace {

struct FoundRow {
  const Measurement* row = nullptr;  // null: there is none
  OccupancyScene occupancy;
};

// The last row of the kernel that was measured on this problem.
FoundRow row_of(const Session& session, const LessonFigure& figure) {
  FoundRow found;
  found.occupancy.empty = phrase("The session has no row for {} at L = {}, D = {}.", figure.kernel, figure.L, figure.D);
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const Problem& p = m.key.problem;
      if (m.key.kernel == figure.kernel && p.Lq == figure.L && p.Lk == figure.L && p.D == figure.D)
        found = {&m, occupancy_scene(m, run.provenance.device_arch, run.provenance.cores)};
    }
  }
  return found;
}

HeartbeatScene heartbeat_of(const FoundRow& found) {
  HeartbeatScene scene;
  scene.empty = found.occupancy.empty;
  if (found.row == nullptr) return scene;
  return heartbeat_scene(*found.row, nullptr, {}, block_waves(found.occupancy));
}

MosaicScene phases_of(const FoundRow& found) {
  MosaicScene scene;
  if (found.row != nullptr) scene = mosaic_scene(*found.row, nullptr);
  if (!scene.there && scene.empty.empty())
    scene.empty = found.row == nullptr ? found.occupancy.empty : tr("The row has no samples.");
  return scene;
}

// The text in which the row was sampled: as it is in the program. Another one is refused by source_scene().
SourceScene lines_of(const FoundRow& found, const std::string& kernel) {
  SourceScene scene;
  scene.empty = found.row == nullptr ? found.occupancy.empty : "";
  if (found.row == nullptr) return scene;
  const auto source = gpu::kernel_source(kernel, {});
  auto listing =
      source ? gpu::list_source(*source, kernel, "", "") : Result<gpu::KernelListing>(tl::unexpected(source.error()));
  if (!listing) {
    scene.empty = listing.error().message;
    return scene;
  }
  const ListingView view{kernel, false, std::make_shared<const gpu::KernelListing>(*std::move(listing)), ""};
  scene = source_scene(view, kernel, {}, {found.row->samples.get(), found.row->counts.get(), ""});
  if (!scene.sampled && scene.empty.empty())
    scene.empty = scene.why_no_samples.empty() ? tr("The row has no samples.") : scene.why_no_samples;
  scene.title = phrase("{}: share of samples per line", kernel);
  return scene;
}

// Why the scene of the kind shows nothing.
const std::string& empty_of(FigureKind kind, const FigureScenes& scenes) {
  switch (kind) {
    case FigureKind::roofline:
    case FigureKind::levels:
      return scenes.roof.empty;
    case FigureKind::occupancy:
      return scenes.occupancy.empty;
    case FigureKind::heartbeat:
      return scenes.heartbeat.empty;
    case FigureKind::phases:
      return scenes.phases.empty;
    case FigureKind::wall:
      return scenes.wall.empty;
    case FigureKind::lines:
      break;
  }
  return scenes.lines.empty;
}

void keep(StageFigure& figure, FigureScenes scenes) {
  figure.empty = empty_of(figure.kind, scenes);
  figure.scenes = std::make_shared<const FigureScenes>(std::move(scenes));
}

SourceScene text_alone(SourceScene scene) {
  for (SourceRow& row : scene.rows) {
    row.samples = {};
    row.sample_share = 0;
    row.counts = {};
  }
  scene.sampled = scene.counted = false;
  scene.samples = scene.most_samples = 0;
  scene.hot.clear();
  for (auto& lines : scene.most_counted) lines.clear();
  scene.title = tr("Source");
  return scene;
}

// Roofs and the other kernels: the one that is asked about gets its mark with the answer.
Roofline roofs_alone(Roofline roof) {
  std::erase_if(roof.dots, [](const RoofDot& dot) { return dot.chosen; });
  roof.levels.clear();
  roof.words.clear();
  return roof;
}

// How each resource limits warps, without what this kernel takes of it.
OccupancyScene stairs_alone(OccupancyScene scene) {
  if (!scene.empty.empty()) return scene;
  scene.words = tr("The kernel's own resource use appears after your answer.");
  scene.more.clear();
  scene.registers.clear();
  scene.waves.clear();
  scene.theoretical = 0;
  scene.achieved.reset();
  scene.achieved_text.clear();
  for (Staircase& stair : scene.stairs) {
    stair.here = -1;
    stair.limits = false;
    stair.here_text.clear();
    stair.next.clear();
  }
  return scene;
}

}  // namespace

StageFigure without_shares(StageFigure figure) {
  if (!figure.asks_with_part() || figure.scenes == nullptr) return figure;
  FigureScenes scenes = *figure.scenes;
  scenes.lines = text_alone(std::move(scenes.lines));
  scenes.wall.between_bytes = 0;
  scenes.roof = roofs_alone(std::move(scenes.roof));
  scenes.roof.note = phrase("The mark for {} appears after your answer. {}", figure.of, scenes.roof.note);
  scenes.occupancy = stairs_alone(std::move(scenes.occupancy));
  keep(figure, std::move(scenes));
  return figure;
}

StageFigure no_figure(FigureKind kind, const std::string& why) {
  FigureScenes scenes;
  scenes.roof.empty = scenes.occupancy.empty = scenes.heartbeat.empty = scenes.phases.empty = scenes.lines.empty =
      scenes.wall.empty = why;
  StageFigure figure;
  figure.kind = kind;
  keep(figure, std::move(scenes));
  return figure;
}

Result<std::vector<NamedLine>> named_lines(const Session& session, const LessonFigure& figure,
                                           std::span<const std::string> words) {
  const SourceScene scene = lines_of(row_of(session, figure), figure.kernel);
  if (!scene.empty.empty()) return bad_input(scene.empty);
  std::vector<NamedLine> lines;
  for (const std::string& wanted : words) {
    int found = 0;
    for (std::size_t n = 0; n < scene.rows.size(); ++n) {
      const SourceRow& row = scene.rows[n];
      if (row.text.find(wanted) == std::string::npos || ++found > 1) continue;
      lines.push_back({static_cast<std::int32_t>(n) + 1, wanted, row.samples.all});
    }
    if (found != 1)
      return bad_input(phrase("'{}' appears in {} lines of {} instead of one", wanted, found, figure.kernel));
  }
  return lines;
}

StageFigure figure_of(const Session& session, const LessonFigure& figure) {
  StageFigure out;
  FigureScenes scenes;
  out.kind = figure.kind;
  out.of = fmt::format("{} at L = {}, D = {}", figure.kernel, figure.L, figure.D);
  if (figure.kind == FigureKind::wall) {
    scenes.wall = wall_scene(session, figure.L, figure.D);
    scenes.wall.roads = figure.wall == WallPart::roads;
    scenes.wall.written = figure.wall != WallPart::unwritten;
    keep(out, std::move(scenes));
    return out;
  }
  if (!out.is_roof()) {
    FoundRow found = row_of(session, figure);
    if (figure.kind == FigureKind::heartbeat) scenes.heartbeat = heartbeat_of(found);
    if (figure.kind == FigureKind::phases) scenes.phases = phases_of(found);
    if (figure.kind == FigureKind::lines) scenes.lines = lines_of(found, figure.kernel);
    scenes.occupancy = std::move(found.occupancy);
    keep(out, std::move(scenes));
    return out;
  }
  std::vector<const Measurement*> rows;
  for (const SweepRun& run : session.runs) {
    for (const Measurement& m : run.rows) {
      const Problem& p = m.key.problem;
      if (p.Lq == figure.L && p.Lk == figure.L && p.D == figure.D) rows.push_back(&m);
    }
  }
  scenes.roof = roofline(rows, figure.kernel);
  if (scenes.roof.empty.empty() && figure.kind == FigureKind::levels && scenes.roof.levels.empty())
    scenes.roof.empty = scenes.roof.level_words;
  keep(out, std::move(scenes));
  return out;
}

}  // namespace attn
