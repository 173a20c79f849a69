#include "kernels/gpu/rungs/own_kernel.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/files.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/formats/foreign_file.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/own_arguments.h"
#include "kernels/gpu/rungs/rows.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kEnding = ".cu";
constexpr std::uint64_t kMaxSourceBytes = 1 << 20;
constexpr std::size_t kMaxStem = 48, kHashDigits = 8;
// Along x, y, z (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
constexpr std::int64_t kMaxGrid[] = {2147483647, 65535, 65535};
constexpr std::int64_t kMaxBlock[] = {1024, 1024, 64};
constexpr std::int64_t kMaxCluster = 8;  // blocks, on every GPU that has clusters
constexpr Pass kBackwardAlone[] = {Pass::backward};
// With clusters and tensor maps.
constexpr std::string_view kSinceHopper[] = {"sm_90a", "sm_100", "sm_120"};

const OwnKernel& own_of(const KernelRow& row) {
  return static_cast<const OwnKernel&>(row);
}

// An expression's value from `min` to `max`, or which entry asks for what.
Result<std::int64_t> value_of(const OwnEntry& e, std::string_view what, const SizeExpression& x,
                              const SizeValues& sizes, std::int64_t min, std::int64_t max) {
  auto value = x.value(sizes);
  if (!value) return bad_input(phrase("{} of {} cannot be computed: {}.", what, e.name, value.error().message));
  if (*value >= min && *value <= max) return value;
  return bad_input(phrase("{} of {} is {} ('{}'); use {} to {}.", what, e.name, *value, x.text(), min, max));
}

// The launch's cluster; it divides the grid.
Result<void> cluster_of(const OwnEntry& e, const SizeValues& sizes, Launch& l) {
  std::int64_t blocks = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto cluster = value_of(e, tr("the cluster"), e.cluster.at(axis), sizes, 1, kMaxCluster);
    if (!cluster) return tl::unexpected(cluster.error());
    l.cluster[axis] = *cluster;
    blocks *= *cluster;
    if (l.grid[axis] % *cluster != 0)
      return bad_input(
          phrase("the cluster of {} has {} blocks along axis {}; the grid's {} must be a multiple of that number.",
                 e.name, *cluster, axis, l.grid[axis]));
  }
  if (blocks <= kMaxCluster) return ok();
  return bad_input(phrase("the cluster of {} has {} blocks; the limit is {}.", e.name, blocks, kMaxCluster));
}

// `name`: of the architecture as it was asked for.
Result<Launch> launch_of(const OwnEntry& e, const SizeValues& sizes, const ArchLimits& arch, std::string_view name) {
  Launch l;
  l.name = e.name;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto grid = value_of(e, tr("the grid"), e.grid.at(axis), sizes, 1, kMaxGrid[axis]);
    const auto block = value_of(e, tr("the block"), e.block.at(axis), sizes, 1, kMaxBlock[axis]);
    if (!grid) return tl::unexpected(grid.error());
    if (!block) return tl::unexpected(block.error());
    l.grid[axis] = *grid;
    l.block[axis] = *block;
  }
  const std::int64_t threads = l.block[0] * l.block[1] * l.block[2];
  if (threads > kMaxThreads)
    return bad_input(phrase("the block of {} has {} threads; the limit is {}.", e.name, threads, kMaxThreads));
  const auto shared = value_of(e, tr("the shared memory"), e.shared, sizes, 0, INT64_MAX);
  if (!shared) return tl::unexpected(shared.error());
  if (*shared > arch.shared_block)
    return bad_input(phrase("{} requests {} bytes of shared memory ('{}'); a block on {} can have at most {}.", e.name,
                            *shared, e.shared.text(), name, arch.shared_block));
  l.shared_bytes = *shared;
  if (auto good = cluster_of(e, sizes, l); !good) return tl::unexpected(good.error());
  return l;
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const auto arch = limits_for(row, d);
  if (!arch) return tl::unexpected(arch.error());
  const OwnHeader& header = own_of(row).header;
  if (auto declared = check_declared(header, p, row.id); !declared) return tl::unexpected(declared.error());
  const Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  std::vector<Launch> launches;
  for (const OwnEntry& e : header.entries) {
    auto launch = launch_of(e, sizes_of(p, *resolved), *arch, d.arch);
    if (!launch) return bad_input(fmt::format("{}: {}", row.id, launch.error().message));
    launches.push_back(*std::move(launch));
  }
  Plan plan = plan_of(row, p, *resolved, std::move(launches));
  if (header.api == 1) return plan;
  const auto rooms = rooms_of(header, row, p, *resolved);
  if (!rooms) return bad_input(fmt::format("{}: {}.", row.id, rooms.error().message));
  plan.workspace_bytes = rooms->total;
  if (auto good = check_arguments(header, plan); !good)
    return bad_input(fmt::format("{}: {}", row.id, good.error().message));
  return plan;
}

// A query tile is a block: what each takes is in nobody's record.
StampSizes stamps(const Plan& plan) {
  const OwnTimeline& t = own_of(*plan.kernel).header.timeline;
  return {t.lanes, 0, true, 1, 1, t.entry, t.states};
}

// An edited rung is launched as the rung is: by the same entries, tile and shared memory.
Result<Plan> plan_as_the_rung(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  const KernelRow& rung = *own_of(row).edits;
  if (score_lines_for(p) == ScoreLines::in && !has_score_lines(own_of(row).cu.text)) {
    const auto shipped = kernel_source(rung.id, {}, ScoreLines::in);
    if (shipped && has_score_lines(shipped->text))
      return fail(
          ErrorKind::cannot_run,
          phrase("{} does not support softcap or ALiBi: its source lacks the lines of the original {}.cu that end "
                 "in \"// @score\".",
                 row.id, rung.id));
  }
  auto plan = rung.plan(rung, p, o, d);
  if (plan) plan->kernel = &row;
  return plan;
}

// It becomes part of an id, which stands in CSV, state strings and the names of files.
Result<std::string> stem_of(std::string_view file) {
  const std::string_view stem = file.substr(0, file.size() - std::min(file.size(), kEnding.size()));
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!is_own_file(file) || stem.empty() || stem.size() > kMaxStem || !std::ranges::all_of(stem, good))
    return bad_input(
        phrase("{0}: a kernel's file name must end in {2} and have at most {1} letters, digits, _ and - before it.",
               file, kMaxStem, kEnding));
  return std::string(stem);
}

// The text travels as JSON and stands on screen; to the compiler it ends at the first zero byte.
bool is_plain_text(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  return text.find('\0') == std::string::npos;
}

Result<const KernelRow*> rung_named(std::string_view id, std::string_view file) {
  std::vector<std::string_view> ids;
  for (const KernelRow& row : gpu_kernel_table()) {
    if (row.id == id) return &row;
    ids.push_back(row.id);
  }
  return bad_input(
      phrase("{}, line 1: \"edits\" does not name a GPU rung: '{}'; use {}.", file, id, fmt::join(ids, ", ")));
}

void fill_row(OwnKernel& k) {
  static_cast<KernelRow&>(k) = k.edits != nullptr ? *k.edits : common_row();
  k.id = k.name;
  k.title = k.name;
  k.rung = kOwnRung;
  if (k.edits != nullptr) {
    k.record = nullptr;
    k.plan = plan_as_the_rung;
    return;
  }
  k.order = Order::flash;
  k.dtypes = k.header.dtypes;
  k.options = k.header.options;
  k.what = marked("Your own kernel.");
  k.teaches = marked("Whatever the kernel's author wanted to know.");
  k.source = k.cu.name;
  k.stores_scores = k.header.stores_scores;
  k.passes = k.header.pass == Pass::forward ? std::span(kForwardAlone) : std::span(kBackwardAlone);
  k.layouts = k.header.layouts;
  if (k.header.wants_hopper()) {
    k.architectures = kSinceHopper;
    k.elsewhere = marked("its header requests clusters or tensor maps");
  }
  k.plan = plan;
  if (k.header.timeline.lanes > 0) k.stamps = stamps;
}

}  // namespace

const OwnKernel* own_kernel(const KernelRow& row) {
  return row.rung == kOwnRung ? &own_of(row) : nullptr;
}

std::shared_ptr<const OwnKernel> own_kernel(const std::shared_ptr<const KernelRow>& row) {
  return row != nullptr && row->rung == kOwnRung ? std::static_pointer_cast<const OwnKernel>(row) : nullptr;
}

bool is_own_file(std::string_view name) {
  return name.size() > kEnding.size() && name.ends_with(kEnding);
}

std::string_view own_stem(std::string_view id) {
  const std::size_t at = id.rfind('@');
  return at == std::string_view::npos || id.size() - at - 1 != kHashDigits ? std::string_view() : id.substr(0, at);
}

Result<std::shared_ptr<const OwnKernel>> own_kernel_from(std::string_view file, std::string_view text) {
  auto built = split_build_line(text, file);
  if (!built) return tl::unexpected(built.error());
  return own_kernel_from(file, *std::move(built));
}

Result<std::shared_ptr<const OwnKernel>> own_kernel_from(std::string_view file, BuiltText built) {
  auto stem = stem_of(file);
  if (!stem) return tl::unexpected(stem.error());
  std::string& text = built.text;
  if (const std::string foreign = foreign_file(std::as_bytes(std::span(text)), file); !foreign.empty())
    return bad_input(fmt::format("{}: {}.", file, foreign));
  if (!is_plain_text(text)) return bad_input(phrase("{} is not a text file: it must be UTF-8.", file));
  if (auto good = check_build(built.line.build); !good)
    return bad_input(fmt::format("{}: {}.", file, good.error().message));
  auto k = std::make_shared<OwnKernel>();
  k->build = built.line.build;
  if (!built.line.edits.empty()) {
    const auto rung = rung_named(built.line.edits, file);
    if (!rung) return tl::unexpected(rung.error());
    k->edits = *rung;
    stem = std::string((*rung)->id);  // the same edit has the same name, however its file is called
  } else {
    auto header = parse_own_header(text, file);
    if (!header) return tl::unexpected(header.error());
    k->header = *std::move(header);
  }
  k->cu.name = k->edits == nullptr ? std::string(file) : fmt::format("{}{}", *stem, kEnding);
  k->cu.hash = source_hash(*stem, text, embedded_sources());
  if (k->build.any()) k->cu.hash = hash_of(k->cu.hash + words_of(k->build));
  k->cu.text_hash = text_hash(*stem, text, embedded_sources());
  k->cu.flags = flags_of(k->build);
  k->cu.hooked = text;
  k->cu.of_user = true;
  k->cu.text = std::move(text);
  k->name = fmt::format("{}@{}", *stem, k->cu.hash.substr(0, kHashDigits));
  fill_row(*k);
  return k;
}

Result<std::shared_ptr<const OwnKernel>> read_own_kernel(const std::filesystem::path& file) {
  const auto bytes = read_file(file, kMaxSourceBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  return own_kernel_from(file.filename().string(),
                         std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
}

Result<std::shared_ptr<const OwnKernel>> edit_of(const KernelRow& row, std::string text, const BuildChoices& build) {
  if (row.processor != Processor::gpu)
    return bad_input(phrase("{} runs on the CPU, so it has no source that is compiled here.", row.id));
  BuiltText built{{"", build}, std::move(text)};
  if (own_source(row) == nullptr) {
    built.line.edits = row.id;
    return own_kernel_from(fmt::format("{}{}", row.id, kEnding), std::move(built));
  }
  const OwnKernel& own = own_of(row);
  if (own.edits != nullptr) built.line.edits = own.edits->id;
  return own_kernel_from(fmt::format("{}{}", own_stem(own.name), kEnding), std::move(built));
}

std::string file_text(const OwnKernel& k) {
  return with_build_line({k.edits == nullptr ? std::string() : std::string(k.edits->id), k.build}, k.cu.text);
}

std::string build_words(const KernelRow& row) {
  return row.rung == kOwnRung ? words_of(own_of(row).build) : std::string();
}

const KernelSource* own_source(const KernelRow& row) {
  return row.rung == kOwnRung ? &own_of(row).cu : nullptr;
}

Result<KernelSource> source_of(const KernelRow& row, const Problem& p, const std::filesystem::path& edited_kernels) {
  if (!row.parts.empty())
    return fail(ErrorKind::cannot_run,
                phrase("{0} is {1} followed by {2} and has no source of its own; choose {1} or {2}.", row.id,
                       row.parts.front()->id, row.parts.back()->id));
  const KernelSource* own = own_source(row);
  if (own == nullptr) return kernel_source(row.id, edited_kernels, score_lines_for(p));
  KernelSource source = *own;
  source.score_lines = score_lines_for(p);
  return source;
}

Result<std::string> source_hash_of(const KernelRow& row, const Problem& p,
                                   const std::filesystem::path& edited_kernels) {
  if (row.parts.empty()) {
    auto source = source_of(row, p, edited_kernels);
    if (!source) return tl::unexpected(source.error());
    return std::move(source->hash);
  }
  std::string all;
  for (const KernelRow* part : row.parts) {
    const auto hash = source_hash_of(*part, p, edited_kernels);
    if (!hash) return tl::unexpected(hash.error());
    all += *hash;
  }
  return hash_of(all);
}

Result<KernelSource> text_to_edit(const KernelRow& row) {
  return source_of(row, Problem{}, edited_kernels_folder());
}

Result<void> check_parameters(const Plan& plan, std::span<const std::byte> cubin) {
  const OwnKernel* own = own_kernel(*plan.kernel);
  if (own == nullptr || own->edits != nullptr) return ok();
  if (auto good = check_parameters(own->header, cubin); !good)
    return bad_input(fmt::format("{}: {}.", own->cu.name, good.error().message));
  return ok();
}

Result<void> check_compiled(const Plan& plan, const std::vector<EntryFigures>& entries, std::string_view arch) {
  const KernelSource* own = own_source(*plan.kernel);
  const auto limits = limits_of(arch);
  if (own == nullptr || !limits) return ok();
  for (const Launch& l : plan.launches) {
    const auto at = std::ranges::find(entries, l.name, &EntryFigures::name);
    if (at == entries.end())
      return bad_input(
          phrase("{}: {} names the entry {}, but the source has no extern \"C\" __global__ function of that name.",
                 own->name, own_of(*plan.kernel).edits != nullptr ? tr("the rung") : tr("the header"), l.name));
    const std::int64_t shared = at->shared_bytes + l.shared_bytes;
    if (shared > limits->shared_block)
      return bad_input(
          phrase("{}: {} needs {} bytes of shared memory, {} of them static; a block on {} can have at most {}.",
                 own->name, l.name, shared, at->shared_bytes, arch, limits->shared_block));
    const std::int64_t threads = l.block[0] * l.block[1] * l.block[2];
    if (occupancy(*limits, static_cast<std::int32_t>(threads), at->registers, shared).blocks == 0)
      return bad_input(
          phrase("{}: {} needs {} registers per thread, too many for a block of {} threads; __launch_bounds__({}) "
                 "lets the compiler use fewer.",
                 own->name, l.name, at->registers, threads, threads));
  }
  return ok();
}

}  // namespace attn::gpu
