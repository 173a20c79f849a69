// Which rows may stand beside one another in a chart, and where.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>

#include "kernels/kernel.h"
#include "viz/bench_scene.h"

namespace attn {
namespace {

constexpr std::array<Axis, 7> kAxes{Axis::L, Axis::B, Axis::H, Axis::D, Axis::br, Axis::bc, Axis::threads};

// What must be equal for two rows to stand on one axis: the problem without the axis, the device, the L2 state.
std::string family(Axis a, Problem p, const std::string& device, L2State l2) {
  switch (a) {
    case Axis::L:
      p.Lq = p.Lk = 1;
      p.B = 1;  // follows L where the tokens are kept
      break;
    case Axis::B:
      p.B = 1;
      break;
    case Axis::H:
      p.Hq = p.Hkv = 1;
      break;
    case Axis::D:
      p.D = p.Dv = 1;
      break;
    case Axis::br:
    case Axis::bc:
    case Axis::threads:
      break;
  }
  if (p.has_bias()) p.bias_shape.assign(1, 1);  // its extents follow the axis
  return fmt::format("{}|{}|{}", describe(p), device, static_cast<int>(l2));
}

std::string family(Axis a, const Measurement& m) {
  return family(a, m.key.problem, m.key.device, m.key.l2);
}

// The axis along which rows differ: the wanted one first, since with kept tokens both L and B do.
Axis axis_of(Axis wanted, std::span<const Measurement> rows) {
  const auto differ = [&](Axis a) {
    std::set<std::int64_t> seen;
    for (const Measurement& m : rows) {
      if (const auto v = axis_value(a, m); v > 0) seen.insert(v);
    }
    return seen.size() > 1;
  };
  if (differ(wanted)) return wanted;
  for (const Axis a : kAxes) {
    if (differ(a)) return a;
  }
  return wanted;
}

// Does the axis change what this kernel does? Every kernel reads the problem's extents.
bool reads(const KernelRow& row, Axis a) {
  if (a != Axis::br && a != Axis::bc && a != Axis::threads) return true;
  const Option option = a == Axis::br ? Option::br : a == Axis::bc ? Option::bc : Option::threads;
  return std::any_of(row.options.begin(), row.options.end(),
                     [&](const OptionSpec& spec) { return spec.option == option && spec.least < spec.most; });
}

}  // namespace

std::int64_t axis_value(Axis a, const Measurement& m) {
  const Problem& p = m.key.problem;
  if (const auto row = find_kernel(m.key.kernel); row && !reads(**row, a)) return 0;
  switch (a) {
    case Axis::L:
      return p.Lq;
    case Axis::B:
      return p.B;
    case Axis::H:
      return p.Hq;
    case Axis::D:
      return p.D;
    case Axis::br:
      return m.key.options.br;
    case Axis::bc:
      return m.key.options.bc;
    case Axis::threads:
      return m.key.options.threads;
  }
  return 0;
}

BenchSlice slice_rows(const SweepSpec& sweep, std::span<const Measurement> rows, bool loaded) {
  BenchSlice slice;
  slice.loaded = loaded;
  slice.axis = rows.empty() ? sweep.axis : axis_of(sweep.axis, rows);
  if (rows.empty()) {
    slice.values = sweep.values;
    std::sort(slice.values.begin(), slice.values.end());
    return slice;
  }
  SweepSpec along = sweep;
  along.axis = slice.axis;
  const std::int64_t any = sweep.values.empty() ? 1 : sweep.values.back();
  const Problem planned = problem_at(along, any);
  // Of the devices that the rows were taken on, the last one's; of its problems the sweep's where there are any.
  const Measurement& last = rows.back();
  std::string chosen = family(slice.axis, planned, last.key.device, last.key.l2);
  slice.of_this_sweep =
      std::any_of(rows.begin(), rows.end(), [&](const Measurement& m) { return family(slice.axis, m) == chosen; });
  if (!slice.of_this_sweep) chosen = family(slice.axis, last);
  slice.of_this_sweep = slice.of_this_sweep && slice.axis == sweep.axis;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> place;
  std::set<std::int64_t> values;
  for (const Measurement& m : rows) {
    if (family(slice.axis, m) != chosen) {
      ++slice.left_out;
      continue;
    }
    const std::int64_t value = axis_value(slice.axis, m);
    if (value > 0) values.insert(value);
    const auto [at, is_new] = place.try_emplace({m.key.kernel, value}, slice.rows.size());
    if (is_new) {
      slice.rows.push_back(&m);
    } else {
      slice.rows[at->second] = &m;
    }
  }
  slice.values.assign(values.begin(), values.end());
  return slice;
}

const Measurement* row_at(const BenchSlice& s, std::string_view kernel, std::int64_t value) {
  const Measurement* constant = nullptr;
  for (const Measurement* m : s.rows) {
    if (m->key.kernel != kernel) continue;
    const std::int64_t at = axis_value(s.axis, *m);
    if (at == value) return m;
    if (at == 0) constant = m;
  }
  return constant;
}

std::optional<std::int64_t> chosen_value(const BenchSlice& slice, std::optional<std::int64_t> clicked) {
  if (clicked && std::find(slice.values.begin(), slice.values.end(), *clicked) != slice.values.end()) return clicked;
  std::optional<std::int64_t> best;
  std::ptrdiff_t most = 0;
  for (const std::int64_t value : slice.values) {
    const auto done = std::count_if(slice.rows.begin(), slice.rows.end(), [&](const Measurement* m) {
      return axis_value(slice.axis, *m) == value && m->time.n > 0;
    });
    if (done >= most && done > 0) {
      best = value;
      most = done;
    }
  }
  if (!best && !slice.rows.empty() && !slice.values.empty()) best = slice.values.back();
  return best;
}

std::uint64_t rows_fingerprint(const Model& model) {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL;
  const auto mix = [&](std::uint64_t x) { h = (h ^ x) * 0x100000001b3ULL + (h >> 29); };
  mix(model.measurements.size());
  for (const Measurement& m : model.measurements) {
    mix(std::hash<std::string>{}(m.key.kernel));
    mix(static_cast<std::uint64_t>(m.state));
    mix(std::bit_cast<std::uint64_t>(m.time.median));
    mix(std::bit_cast<std::uint64_t>(m.yardsticks.baseline_us));
    mix(static_cast<std::uint64_t>(m.key.problem.Lq * 31 + m.key.problem.B));
    mix(m.verdict ? std::bit_cast<std::uint64_t>(m.verdict->error) + 1 : 0);
  }
  mix(model.provenance.loaded ? 1 : 0);
  mix(std::hash<std::string>{}(model.provenance.file + model.provenance.date));
  mix(std::hash<std::string>{}(model.task.running ? "running" : model.task.error));
  return h;
}

}  // namespace attn
