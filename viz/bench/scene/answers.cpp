#include "viz/bench/scene/answers.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/traffic.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/tune/tune.h"
#include "viz/bench/ranks/rank_lanes.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/tiles/tile_map.h"
#include "viz/bench/tiles/tile_occupancy_words.h"
#include "viz/draw/figure_text.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

// A GPU to plan for: its architecture, and how much it holds.
struct Room {
  Device device;
  std::uint64_t bytes = 0;
  std::string name;  // "NVIDIA H100 80GB HBM3 (79.6 GiB)"
};

std::vector<Room> rooms(const State& state, const Model& model) {
  const SweepSpec& sweep = state.document.sweep;
  const Device here = gpu_device(sweep, model.gpu);
  if (here.memory_bytes > 0)
    return {{here, here.memory_bytes, fmt::format("{} ({})", here.name, format_bytes(here.memory_bytes))}};
  const auto planned = gpu::device_for(sweep.arch);
  if (!planned) return {};
  for (const ListedRun* r : shown_runs(state.document.runs, model)) {
    const std::string& name = r->run.provenance.device;
    if (const std::uint64_t bytes = memory_in_name(name); bytes > 0)
      return {{*planned, bytes, phrase("{} (about {})", name, format_bytes(bytes))}};
  }
  std::vector<Room> usual;
  for (const std::uint64_t gib : {24, 80}) usual.push_back({*planned, gib * kGiB, phrase("a GPU of {} GiB", gib)});
  return usual;
}

Result<Plan> plan_of(const KernelRow& row, const Problem& p, const Device& device) {
  if (auto can = row.supports(row, p, {}, device); !can) return tl::unexpected(can.error());
  return row.plan(row, p, {}, device);
}

std::string room_words(const Problem& p, const Room& room) {
  std::vector<std::string> stores, keeps;
  for (const KernelRow* row : ladder_of(p.pass)) {
    if (row->processor != Processor::gpu) continue;
    const auto plan = plan_of(*row, p, room.device);
    if (!plan) continue;
    const std::int64_t longest = longest_that_fits(*plan, room.device, room.bytes);
    if (row->stores_scores)
      stores.push_back(phrase("{} from L = {} upwards", row->id, grouped_count(longest + 1)));
    else if (keeps.empty())
      keeps.push_back(
          phrase("{}, which stores neither S nor P, from L = {} upwards", row->id, grouped_count(longest + 1)));
  }
  if (stores.empty()) return phrase("No kernel that stores S supports {}.", describe(p));
  stores.insert(stores.end(), keeps.begin(), keeps.end());
  return phrase("The memory of {} is too small for {}.", room.name, fmt::join(stores, ", "));
}

// Which extent saves bytes is the order's: with the key tile outside, it is the queries that come again and again.
std::string extent_words(const KernelRow& row, Pass pass) {
  Problem p;
  p.pass = pass;
  p.Lq = p.Lk = 64;
  p.D = p.Dv = 16;
  const auto loads = [&](std::int32_t br, std::int32_t bc) {
    Options o;
    o.br = br, o.bc = bc;
    return tile_loads(row, p, o).total();
  };
  const std::uint64_t now = loads(8, 8);
  const bool br = loads(16, 8) < now, bc = loads(8, 16) < now;
  if (br && bc) return tr("A larger Br reads K and V fewer times. A larger Bc reads Q fewer times.");
  if (br) return tr("A larger Br reads K and V fewer times. A larger Bc needs fewer steps per row.");
  if (bc) return tr("A larger Bc moves the query tiles fewer times. A larger Br needs fewer steps per key tile.");
  return tr("Bytes do not depend on the tile.");
}

}  // namespace

std::string memory_answer(const State& state, const Model& model) {
  const SweepSpec& sweep = state.document.sweep;
  if (sweep.values.empty()) return tr("The sweep has no values, so there is no problem to plan for.");
  const auto& looked = state.view.bench.value;
  const bool there = looked && std::ranges::find(sweep.values, *looked) != sweep.values.end();
  const Problem p = problem_at(sweep, there ? *looked : sweep.values.back());
  std::string words = phrase("{}, varying only L. ", describe(p));
  const std::vector<Room> all = rooms(state, model);
  if (all.empty()) return phrase("{}No target architecture is set.", words);
  for (const Room& room : all) words += room_words(p, room) + " ";
  const auto naive = find_kernel(baseline_of(Processor::gpu, Pass::forward));
  if (const auto plan = naive ? plan_of(**naive, p, all.front().device) : Result<Plan>(tl::unexpected(naive.error()));
      plan)
    words += phrase(
        "{} keeps S and P in memory, with B × H × L × L numbers each: {} here, and four times as much at twice the "
        "length. Q, K, V and O grow linearly with L and take {} here.",
        (*naive)->id, format_bytes(plan->workspace_bytes), format_bytes(tensor_bytes(p)));
  return phrase("{} These sizes come from the kernels' plans. GPU memory that other programs use is not included.",
                words);
}

std::string tile_answer(const State& state, const Model& model) {
  const std::string kernel = tiles_kernel(state, model);
  const auto spec = tune_of(state, kernel);
  if (!spec) return spec.error().message;
  const TuneMap map = tune_map(state, model);
  if (!map.empty.empty()) return map.empty;
  const std::string words = phrase("{} on {}: {}", kernel, describe(spec->problem), map.tile);
  const KernelRow& row = **find_kernel(kernel);
  const std::string extents = extent_words(row, spec->problem.pass);
  if (row.processor == Processor::cpu) return phrase("{} {} A larger Br or Bc needs more cache.", words, extents);
  return phrase(
      "{} {} A larger Br or Bc needs more registers and shared memory. If an SM holds fewer warps, less latency is "
      "hidden.",
      words, extents);
}

std::string ranks_answer(const State& state, const Model& model) {
  const RankLanesScene scene = rank_lanes(state, model);
  return scene.empty.empty() ? fmt::format("{}. {}", scene.headline, scene.reason) : scene.empty;
}

std::string versions_words(const Provenance& p) {
  std::vector<std::string> lines;
  if (!p.driver.empty()) lines.push_back("Driver " + p.driver);
  if (!p.cuda.empty()) lines.push_back(p.cuda);
  if (!p.program_version.empty())
    lines.push_back(phrase("AttnScope {}{}", p.program_version,
                           p.commit.empty() ? "" : phrase(", commit {}", p.commit.substr(0, 12))));
  if (!p.os.empty()) lines.push_back(p.os);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string versions_answer(const State& state, const Model& model) {
  const std::vector<const ListedRun*> runs = shown_runs(state.document.runs, model);
  if (runs.empty())
    return phrase("No run is selected. This machine, now: {}.\n{}\n{}", model.here.device, versions_words(model.here),
                  model.gpu.compiler);
  std::string words;
  for (const ListedRun* r : runs) {
    const Provenance& p = r->run.provenance;
    std::set<std::string> peers;
    for (const Measurement& m : r->run.rows)
      if (m.peer && !m.peer->software.empty()) peers.insert(m.peer->software);
    words += fmt::format("{}{}\n{}", words.empty() ? "" : "\n\n", words_of(state.document.runs, r->run),
                         p.device.empty() ? "" : p.device + "\n");
    words += versions_words(p);
    if (p.driver.empty() && p.cuda.empty())
      words +=
          tr("\n"
             "No GPU is involved, so there is no driver or CUDA version.");
    for (const std::string& peer : peers) words += "\nPeers: " + peer;
  }
  return words;
}

}  // namespace attn
