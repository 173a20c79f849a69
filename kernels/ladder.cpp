#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include "kernels/arithmetic/vector_ops.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/rows.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/kernel.h"

namespace attn {

std::span<const KernelRow> cpu_kernel_table() {
  // The ladder's rungs on the CPU, in its order.
  static const std::array<KernelRow, 5> kTable = {cpu::cpu_sequential_row(), cpu::cpu_multicore_row(),
                                                  cpu::cpu_tiled_row(), cpu::cpu_flash1_row(), cpu::cpu_flash_row()};
  return kTable;
}

std::vector<const KernelRow*> ladder() {
  std::vector<const KernelRow*> rows;
  for (const std::span<const KernelRow> table : {cpu_kernel_table(), gpu::gpu_kernel_table()}) {
    for (const KernelRow& row : table) rows.push_back(&row);
  }
  return rows;
}

std::size_t ladder_rank(std::string_view id) {
  const auto rows = ladder();
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const KernelRow* row) { return row->id == id; });
  return static_cast<std::size_t>(at - rows.begin());
}

Result<const KernelRow*> find_kernel(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const KernelRow* row : ladder()) {
    if (row->id == id) return row;
    ids.push_back(row->id);
  }
  return bad_input(fmt::format("there is no kernel '{}'; there are {}", id, fmt::join(ids, ", ")));
}

namespace {

// What `model name` says in /proc/cpuinfo; "CPU" where it says nothing.
std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return "CPU";
}

// Logical processors this process may use; containers often allow fewer than there are.
std::int32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
}

std::uint64_t physical_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  while (info >> key >> kib) {
    if (key == "MemTotal:") return kib * 1024;
    info.ignore(64, '\n');
  }
  return 0;
}

std::int32_t* whole_number(Options& o, Option option) {
  switch (option) {
    case Option::br:
      return &o.br;
    case Option::bc:
      return &o.bc;
    case Option::threads:
      return &o.threads;
    case Option::stages:
      return &o.stages;
    default:
      return nullptr;
  }
}

Result<void> resolve_one(const KernelRow& row, const OptionSpec& spec, Options& o, const Device& d) {
  std::int32_t* value = whole_number(o, spec.option);
  if (value == nullptr) return ok();
  if (*value == 0) *value = spec.default_value != 0 ? spec.default_value : std::clamp(d.cores, spec.min, spec.max);
  if (*value < spec.min || *value > spec.max || (*value - spec.min) % spec.step != 0) {
    return bad_input(fmt::format("{} takes {} from {} to {}{}, not {}", row.id, name_of(spec.option), spec.min,
                                 spec.max, spec.step == 1 ? "" : fmt::format(" in steps of {}", spec.step), *value));
  }
  return ok();
}

}  // namespace

Device cpu_device() {
  Device d;
  d.processor = Processor::cpu;
  d.name = cpu_name();
  d.arch = cpu::target_name();
  d.cores = usable_cores();
  d.memory_bytes = physical_memory();
  return d;
}

Result<Options> resolve(const KernelRow& row, const Options& o, const Device& d) {
  Options out;  // what the kernel does not read stays at its default
  for (const OptionSpec& spec : row.options) {
    switch (spec.option) {
      case Option::br:
        out.br = o.br;
        break;
      case Option::bc:
        out.bc = o.bc;
        break;
      case Option::threads:
        out.threads = spec.max == 1 ? 1 : o.threads;
        break;
      case Option::stages:
        out.stages = o.stages;
        break;
      case Option::subtract_max:
        out.subtract_max = o.subtract_max;
        break;
      case Option::key_order:
        out.key_order = o.key_order;
        break;
      case Option::accumulate:
        out.accumulate = o.accumulate;
        break;
    }
    if (auto good = resolve_one(row, spec, out, d); !good) return tl::unexpected(good.error());
  }
  return out;
}

Result<Outputs> run_on_cpu(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in,
                           std::uint64_t memory_limit, std::stop_token stop) {
  const Device device = cpu_device();
  if (auto good = row.supports(p, o, device); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  Result<Plan> plan = row.plan(row, p, o, device);
  if (!plan) return tl::unexpected(plan.error());
  if (auto good = check_memory(*plan, device, memory_limit); !good) return tl::unexpected(good.error());

  Outputs out;
  out.out = Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv});
  out.lse = Array(DType::f32, {p.B, p.Hq, p.Lq});
  cpu::AlignedBytes workspace(static_cast<std::size_t>(plan->workspace_bytes));
  Buffers b;
  b.q = in.q.data();
  b.k = in.k.data();
  b.v = in.v.data();
  b.bias = in.bias ? reinterpret_cast<const float*>(in.bias->data()) : nullptr;
  b.out = out.out.data();
  b.lse = reinterpret_cast<float*>(out.lse.data());
  b.workspace = workspace.data();
  if (auto good = row.enqueue(*plan, b, Stream{std::move(stop), nullptr}); !good) return tl::unexpected(good.error());
  return out;
}

}  // namespace attn
