// What a state string says of Bench.
#include <algorithm>

#include <fmt/format.h>

#include "app/state/string/key_makers.h"
#include "app/state/string/key_values.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/ragged.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "viz/bench/runs/row_filter.h"
#include "viz/bench/scene/bench_scene.h"

namespace attn {
namespace {

Result<void> read_sweep_kernels(State& s, std::string_view text) {
  auto& kernels = s.document.sweep.kernels;
  kernels.clear();
  if (text == "none") return ok();
  for (const std::string_view id : split(text, '/')) {
    if (const auto row = find_kernel(id); !row) return tl::unexpected(row.error());
    kernels.emplace_back(id);
  }
  return ok();
}

// Ids of the program's own table: a file of the user's is never named by a state.
Result<void> read_sweep_peers(State& s, std::string_view text) {
  auto& peers = s.document.sweep.peers;
  peers.clear();
  if (text == "none") return ok();
  for (const std::string_view id : split(text, '/')) {
    if (find_peer(id) == nullptr) return bad_input(phrase("unknown peer '{}'", id));
    if (std::ranges::find(peers, id) != peers.end()) return bad_input(phrase("the peer {} appears twice", id));
    peers.emplace_back(id);
  }
  return ok();
}

Result<void> read_sweep_values(State& s, std::string_view text) {
  s.document.sweep.values.clear();
  if (text == "none") return ok();
  auto values = whole_list(text, 1, kMaxItems);
  if (!values) return tl::unexpected(values.error());
  s.document.sweep.values = std::move(*values);
  return ok();
}

// Without those of the user's own: a kernel is a text, and no state string holds one.
std::string sweep_kernels_text(const State& s) {
  std::vector<std::string> ids = s.document.sweep.kernels;
  std::erase_if(ids, [](const std::string& id) { return !gpu::own_stem(id).empty(); });
  return list_text(ids);
}

constexpr std::string_view kUsualChart = "usual";
constexpr std::size_t kOtherCharts = kBenchCharts - 1;  // the last has a key of its own, which came first

std::string chart_text(const std::string& metric) {
  return metric.empty() ? std::string(kUsualChart) : percent_encoded(metric);
}

Result<void> read_chart(std::string_view text, std::string& metric) {
  metric.clear();
  if (text == kUsualChart) return ok();
  if (auto known = check_chart_metric(text); !known) return known;
  metric = text;
  return ok();
}

std::string charts_text(const State& s) {
  std::string text;
  for (std::size_t i = 0; i < kOtherCharts; ++i) text += (i == 0 ? "" : "/") + chart_text(s.view.bench.charts.at(i));
  return text;
}

Result<void> read_charts(State& s, std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != kOtherCharts)
    return bad_input(phrase("use {} metrics, one for each chart except the last", kOtherCharts));
  for (std::size_t i = 0; i < kOtherCharts; ++i)
    if (auto read = read_chart(parts[i], s.view.bench.charts.at(i)); !read) return read;
  return ok();
}

}  // namespace

void add_bench_document_keys(std::vector<StateKey>& keys) {
  keys.push_back({"sweep_kernels", sweep_kernels_text, read_sweep_kernels});
  keys.push_back({"sweep_axis", [](const State& s) { return std::string(name_of(s.document.sweep.axis)); },
                  [](State& s, std::string_view text) -> Result<void> {
                    const auto axis = axis_from_name(text);
                    if (!axis) return tl::unexpected(axis.error());
                    s.document.sweep.axis = *axis;
                    return ok();
                  }});
  keys.push_back(
      {"sweep_values", [](const State& s) { return list_text(s.document.sweep.values); }, read_sweep_values});
  add_problem_keys(
      keys, "sweep_", [](auto& s) -> auto& { return s.document.sweep.base; });
  add_option_keys(
      keys, "sweep_", [](auto& s) -> auto& { return s.document.sweep.options; });
  keys.push_back(choice_key(
      "sweep_layout",
      std::vector<std::pair<std::string, AxisOrder>>{{"bhld", AxisOrder::bhld}, {"blhd", AxisOrder::blhd}},
      [](auto& s) -> auto& { return s.document.sweep.base.layout; }));
  keys.push_back(choice_key(
      "sweep_output", named<OutputType>(std::vector{OutputType::as_inputs, OutputType::f32}),
      [](auto& s) -> auto& { return s.document.sweep.base.output; }));
  // As sweep_br and sweep_bc say, or what tuning kept for each point.
  keys.push_back(choice_key(
      "sweep_tile", std::vector<std::pair<std::string, bool>>{{"default", false}, {"tuned", true}},
      [](auto& s) -> auto& { return s.document.sweep.tuned; }));
  keys.push_back(number_key(
      "sweep_gpu", 0, 1023, [](auto& s) -> auto& { return s.document.sweep.gpu; }));
  keys.push_back({"sweep_arch", [](const State& s) { return s.document.sweep.arch; },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (const auto device = gpu::device_for(text); !device) return tl::unexpected(device.error());
                    s.document.sweep.arch = text;
                    return ok();
                  }});
  keys.push_back(choice_key(
      "sweep_l2", named<L2State>(std::vector{L2State::cold, L2State::warm}),
      [](auto& s) -> auto& { return s.document.sweep.l2; }));
  keys.push_back(flag_key(
      "sweep_counters", [](auto& s) -> auto& { return s.document.sweep.counters; }));
  keys.push_back(number_key(
      "sweep_tokens", 0, kMax, [](auto& s) -> auto& { return s.document.sweep.tokens; }));
  keys.push_back(choice_key(
      "sweep_ragged", named<Ragged>(all_ragged()), [](auto& s) -> auto& { return s.document.sweep.ragged; }));
  keys.push_back(choice_key(
      "sweep_generator", named<Generator>(all_generators()),
      [](auto& s) -> auto& { return s.document.sweep.generator; }));
  keys.push_back(number_key(
      "sweep_seed", 0, kMax, [](auto& s) -> auto& { return s.document.sweep.seed; }));
  keys.push_back({"sweep_peers", [](const State& s) { return list_text(s.document.sweep.peers); }, read_sweep_peers});
  keys.push_back({"sweep_seconds", [](const State& s) { return fmt::format("{}", s.document.sweep.seconds_per_point); },
                  [](State& s, std::string_view text) -> Result<void> {
                    const auto value = number(text, true);
                    if (!value) return tl::unexpected(value.error());
                    if (*value <= 0 || *value > 3600) return bad_input(tr("seconds must be above 0 and at most 3600"));
                    s.document.sweep.seconds_per_point = *value;
                    return ok();
                  }});
  keys.push_back(number_key(
      "sweep_repeats", 1, 1000000, [](auto& s) -> auto& { return s.document.sweep.min_repeats; }));
  keys.push_back(number_key(
      "sweep_memory", 0, kMax, [](auto& s) -> auto& { return s.document.sweep.memory_limit; }));
  keys.push_back(flag_key(
      "sweep_verify", [](auto& s) -> auto& { return s.document.sweep.verify; }));
  keys.push_back(flag_key(
      "sweep_verify_full", [](auto& s) -> auto& { return s.document.sweep.verify_full; }));
}

void add_bench_view_keys(std::vector<StateKey>& keys) {
  keys.push_back({"metric", [](const State& s) { return chart_text(s.view.bench.charts.back()); },
                  [](State& s, std::string_view text) { return read_chart(text, s.view.bench.charts.back()); }});
  keys.push_back({"charts", charts_text, read_charts});
  keys.push_back(kernel_key(
      "bench_kernel", [](auto& s) -> auto& { return s.view.bench.kernel; }));
  keys.push_back(kernel_key(
      "baseline", [](auto& s) -> auto& { return s.view.bench.baseline; }));
  keys.push_back(
      {"at",
       [](const State& s) { return s.view.bench.value ? fmt::format("{}", *s.view.bench.value) : std::string("none"); },
       [](State& s, std::string_view text) -> Result<void> {
         s.view.bench.value.reset();
         if (text == "none") return ok();
         const auto value = whole(text, 1, kMax);
         if (!value) return tl::unexpected(value.error());
         s.view.bench.value = *value;
         return ok();
       }});
  keys.push_back(choice_key(
      "bench_page",
      named<BenchPage>(
          std::vector{BenchPage::charts, BenchPage::ladder, BenchPage::sources, BenchPage::tiles, BenchPage::ranks}),
      [](auto& s) -> auto& { return s.view.bench.page; }));
  keys.push_back({"filter",
                  [](const State& s) {
                    return s.view.bench.filter.empty() ? std::string("none") : percent_encoded(s.view.bench.filter);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    s.view.bench.filter.clear();
                    if (text == "none") return ok();
                    auto filter = percent_decoded(text);
                    if (!filter) return tl::unexpected(filter.error());
                    if (auto read = check_row_filter(*filter); !read) return read;
                    s.view.bench.filter = *std::move(filter);
                    return ok();
                  }});
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    keys.push_back(kernel_key(
        side == 0 ? "source_left" : "source_right", [side](auto& s) -> auto& {
          return s.view.bench.sources.at(side);
        }));
}

}  // namespace attn
