#include "profiling/session/json/measurement_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/model/problem_json.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/json/beside_figures_json.h"
#include "profiling/session/json/counts_json.h"
#include "profiling/session/json/figures_json.h"
#include "profiling/session/json/heartbeat_json.h"
#include "profiling/session/json/number_in.h"
#include "profiling/session/json/ranks_json.h"
#include "profiling/session/json/samples_json.h"
#include "profiling/session/json/verdict_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;  // what a double, and so JSON everywhere, holds exactly
constexpr std::size_t kMaxSamples = 1 << 20;
constexpr std::size_t kMaxLaunches = 1024;
constexpr std::size_t kMaxStages = 64;
constexpr std::size_t kMaxBeside = 1024;
constexpr std::size_t kMaxWarnings = 256;

constexpr std::size_t kMaxText = 64 << 10;

// Finite times, none below 0.
std::vector<double> read_samples(JsonFields& fields, const char* key) {
  std::vector<double> values;
  const json& list = fields.array(key);
  if (list.size() > kMaxSamples) fields.refuse(key, phrase("has more than {} elements", kMaxSamples));
  for (const json& j : list) {
    const double value = j.is_number() ? j.get<double>() : -1;
    if (!std::isfinite(value) || value < 0 || values.size() >= kMaxSamples) {
      fields.refuse(key, phrase("has an element {} that is not a finite number, 0 or more", values.size()));
      return {};
    }
    values.push_back(value);
  }
  return values;
}

json extents(const std::int64_t (&e)[3]) {
  return json::array({e[0], e[1], e[2]});
}

// `us`: its median time; none where the clock could not tell launches apart.
json launch_to_json(const Launch& l, std::optional<double> us) {
  json j = {{"name", l.name}, {"grid", extents(l.grid)}, {"block", extents(l.block)}, {"shared_bytes", l.shared_bytes}};
  if (in_cluster(l)) j["cluster"] = extents(l.cluster);
  if (l.early_start) j["early_start"] = true;
  if (us) j["time_us"] = *us;
  return j;
}

void read_extents(JsonFields& fields, const char* key, std::int64_t (&e)[3]) {
  const std::vector<std::int64_t> list = fields.integers(key, 3);
  const bool fits = list.size() == 3 && std::all_of(list.begin(), list.end(), [](std::int64_t n) { return n >= 1; });
  if (!fits) return fields.refuse(key, marked("must be three integers, 1 or more"));
  std::copy(list.begin(), list.end(), e);
}

Result<Launch> launch_from_json(const json& j, const std::string& where, std::vector<double>& times) {
  JsonFields fields(j, where);
  Launch l;
  l.name = fields.text("name");
  read_extents(fields, "grid", l.grid);
  read_extents(fields, "block", l.block);
  l.shared_bytes = fields.integer("shared_bytes", 0, kMaxWhole);
  if (fields.has("cluster")) read_extents(fields, "cluster", l.cluster);
  if (fields.has("early_start")) l.early_start = fields.boolean("early_start");
  if (fields.has("time_us")) times.push_back(number_in(fields, "time_us", 0, kInfinity));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return l;
}

json stages_to_json(const Measurement& m) {
  json list = json::array();
  for (const Stage& s : m.stages)
    list.push_back({{"name", s.name}, {"start_us", s.start_us}, {"duration_us", s.duration_us}});
  return list;
}

// Missing in files from before stages were kept.
Result<void> read_stages(JsonFields& fields, Measurement& m) {
  if (!fields.has("stages")) return ok();
  m.begun_unix_us = fields.integer("begun_unix_us", 0, kMaxWhole);
  const json& list = fields.array("stages");
  if (list.size() > kMaxStages) fields.refuse("stages", phrase("has more than {}", kMaxStages));
  if (auto read = fields.result(); !read) return read;
  double before = 0;
  for (const json& j : list) {
    JsonFields stage(j, fields.where() + ", stage");
    Stage& s = m.stages.emplace_back();
    s.name = stage.text("name");
    s.start_us = number_in(stage, "start_us", before, 1e15);  // one after the other
    s.duration_us = number_in(stage, "duration_us", 0, 1e15);
    if (auto read = stage.result(); !read) return read;
    before = s.start_us;
  }
  return ok();
}

json time_to_json(const TimeStatistics& t) {
  return {{"n", t.n},
          {"median", number_to_json(t.median)},
          {"q1", number_to_json(t.q1)},
          {"q3", number_to_json(t.q3)},
          {"least", number_to_json(t.min)},
          {"most", number_to_json(t.max)},
          {"ci_low", number_to_json(t.ci_low)},
          {"ci_high", number_to_json(t.ci_high)},
          {"settled", t.settled},
          {"drifted", t.drifted}};
}

Result<TimeStatistics> time_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  const double max = std::numeric_limits<double>::max();
  TimeStatistics t;
  t.n = static_cast<std::int32_t>(fields.integer("n", 0, std::numeric_limits<std::int32_t>::max()));
  t.min = number_in(fields, "least", 0, max);
  t.q1 = number_in(fields, "q1", t.min, max);
  t.median = number_in(fields, "median", t.q1, max);
  t.q3 = number_in(fields, "q3", t.median, max);
  t.max = number_in(fields, "most", t.q3, max);
  t.ci_low = number_in(fields, "ci_low", t.min, t.median);
  t.ci_high = number_in(fields, "ci_high", t.median, t.max);
  t.settled = fields.boolean("settled");
  t.drifted = fields.boolean("drifted");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return t;
}

json peer_to_json(const PeerFacts& p) {
  json beside = json::array();
  for (const TimedBeside& b : p.beside)
    beside.push_back({{"kernel", b.kernel}, {"options", options_to_json(b.options)}, {"time", time_to_json(b.time)}});
  return {{"title", p.title}, {"software", p.software}, {"how", p.how}, {"beside", std::move(beside)}};
}

Result<PeerFacts> peer_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  PeerFacts p;
  p.title = fields.text("title");
  p.software = fields.text("software", kMaxText);
  p.how = fields.text("how", kMaxText);
  const json& list = fields.array("beside");
  if (list.size() > kMaxBeside) fields.refuse("beside", phrase("has more than {}", kMaxBeside));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  for (const json& each : list) {
    JsonFields one(each, where + ", beside");
    TimedBeside b;
    b.kernel = one.text("kernel");
    const json& options = one.object("options");
    const json& time = one.object("time");
    if (auto read = one.result(); !read) return tl::unexpected(read.error());
    auto read_options = options_from_json(options, one.where() + ", options");
    if (!read_options) return tl::unexpected(read_options.error());
    auto read_time = time_from_json(time, one.where() + ", time");
    if (!read_time) return tl::unexpected(read_time.error());
    b.options = *read_options;
    b.time = *read_time;
    p.beside.push_back(std::move(b));
  }
  return p;
}

json peaks_to_json(const Peaks& y) {
  json j = {{"peak_gflops", number_to_json(y.peak_gflops)},
            {"copy_gb_per_s", number_to_json(y.copy_gb_per_s)},
            {"baseline", y.baseline},
            {"baseline_us", number_to_json(y.baseline_us)}};
  if (y.read_gb_per_s > 0) j["read_gb_per_s"] = number_to_json(y.read_gb_per_s);
  if (y.l2_gb_per_s > 0) j["l2_gb_per_s"] = number_to_json(y.l2_gb_per_s);
  if (y.shared_gb_per_s > 0) j["shared_gb_per_s"] = number_to_json(y.shared_gb_per_s);
  if (y.tensor_gflops > 0) {
    j["tensor_gflops"] = number_to_json(y.tensor_gflops);
    j["products_each"] = y.products_each;
  }
  if (!y.why_not.empty()) j["why_not"] = y.why_not;
  return j;
}

Result<Peaks> peaks_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  const double max = std::numeric_limits<double>::max();
  Peaks y;
  y.peak_gflops = number_in(fields, "peak_gflops", 0, max);
  y.copy_gb_per_s = number_in(fields, "copy_gb_per_s", 0, max);
  y.baseline = fields.text("baseline");
  y.baseline_us = number_in(fields, "baseline_us", 0, max);
  if (fields.has("read_gb_per_s")) y.read_gb_per_s = number_in(fields, "read_gb_per_s", 0, max);
  if (fields.has("l2_gb_per_s")) y.l2_gb_per_s = number_in(fields, "l2_gb_per_s", 0, max);
  if (fields.has("shared_gb_per_s")) y.shared_gb_per_s = number_in(fields, "shared_gb_per_s", 0, max);
  if (fields.has("tensor_gflops")) y.tensor_gflops = number_in(fields, "tensor_gflops", 0, max);
  if (fields.has("products_each")) y.products_each = static_cast<std::int32_t>(fields.integer("products_each", 1, 8));
  if (fields.has("why_not")) {
    JsonFields reasons(fields.object("why_not"), where + ", why_not");
    for (const char* id : {kMultiplyAddPeak, kCopyPeak, kReadPeak, kL2Peak, kSharedPeak, kTensorPeak})
      if (reasons.has(id)) y.why_not[id] = reasons.text(id, kMaxText);
    if (auto read = reasons.result(); !read) return tl::unexpected(read.error());
  }
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return y;
}

// The members of one measurement that are objects of their own: the first that could not be read is kept.
class NestedReader {
 public:
  template <class T>
  void take(Result<T> from, T& to) {
    if (from) {
      to = std::move(*from);
    } else {
      take(tl::unexpected(from.error()));
    }
  }
  void take(const Result<void>& step) {
    if (first_ && !step) first_ = step;
  }
  const Result<void>& result() const { return first_; }

 private:
  Result<void> first_ = ok();
};

template <class T>
T named(JsonFields& fields, const char* key, std::optional<T> (*from_name)(std::string_view)) {
  const std::string name = fields.text(key);
  const auto value = from_name(name);
  if (!value) fields.refuse(key, phrase("is '{}', which is unknown", name));
  return value.value_or(T{});
}

std::optional<Processor> processor_from_name(std::string_view name) {
  if (name == "cpu") return Processor::cpu;
  if (name == "gpu") return Processor::gpu;
  return std::nullopt;
}

// The samples are the truth where the file has them.
Result<void> read_time(JsonFields& fields, Measurement& m) {
  auto time = time_from_json(fields.object("time"), fields.where() + ", time");
  if (!time) return tl::unexpected(time.error());
  m.time = *time;
  if (!fields.has("samples_us")) return ok();
  m.samples_us = read_samples(fields, "samples_us");
  if (static_cast<std::size_t>(m.time.n) != m.samples_us.size())
    fields.refuse("samples_us", phrase("has {} elements, but n is {}", m.samples_us.size(), m.time.n));
  if (auto read = fields.result(); !read) return read;
  m.time = statistics_of(m.samples_us);
  return ok();
}

// Missing in files from before there were any, and of kernels that nobody sampled.
}  // namespace

json provenance_to_json(const Provenance& p) {
  json j = {{"device", p.device},
            {"device_arch", p.device_arch},
            {"driver", p.driver},
            {"cuda", p.cuda},
            {"host", p.host},
            {"os", p.os},
            {"program_version", p.program_version},
            {"commit", p.commit},
            {"date", p.date},
            {"cores", p.cores},
            {"peak_gflops", number_to_json(p.peak_gflops)},
            {"copy_gb_per_s", number_to_json(p.copy_gb_per_s)}};
  if (!p.device_uuid.empty()) j["device_uuid"] = p.device_uuid;
  return j;
}

Result<Provenance> provenance_from_json(const json& j) {
  JsonFields fields(j, "provenance");
  const double max = std::numeric_limits<double>::max();
  Provenance p;
  p.device = fields.text("device");
  if (fields.has("device_uuid")) p.device_uuid = fields.text("device_uuid");
  p.device_arch = fields.text("device_arch");
  p.driver = fields.text("driver");
  p.cuda = fields.text("cuda");
  p.host = fields.text("host");
  p.os = fields.text("os");
  p.program_version = fields.text("program_version");
  p.commit = fields.text("commit");
  p.date = fields.text("date");
  p.cores = static_cast<std::int32_t>(fields.integer("cores", 0, std::numeric_limits<std::int32_t>::max()));
  p.peak_gflops = number_in(fields, "peak_gflops", 0, max);
  p.copy_gb_per_s = number_in(fields, "copy_gb_per_s", 0, max);
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return p;
}

json measurement_to_json(const Measurement& m, bool with_samples) {
  json launches = json::array();
  const bool timed = m.launch_us.size() == m.launches.size();
  for (std::size_t n = 0; n < m.launches.size(); ++n)
    launches.push_back(launch_to_json(m.launches[n], timed ? std::optional(m.launch_us[n]) : std::nullopt));
  json j = {{"kernel", m.key.kernel},
            {"source_hash", m.key.source_hash},
            {"options", options_to_json(m.key.options)},
            {"problem", problem_to_json(m.key.problem)},
            {"l2", name_of(m.key.l2)},
            {"device", m.key.device},
            {"place", m.processor == Processor::cpu ? "cpu" : "gpu"},
            {"state", name_of(m.state)},
            {"reason", m.reason},
            {"time", time_to_json(m.time)},
            {"clock", m.clock},
            {"figures", figures_to_json(m)},
            {"verdict", m.verdict ? verdict_to_json(*m.verdict) : json()},
            {"launches", std::move(launches)},
            {"workspace_bytes", m.workspace_bytes},
            {"yardsticks", peaks_to_json(m.peaks)}};
  if (!m.key.device_uuid.empty()) j["device_uuid"] = m.key.device_uuid;
  if (!m.tile_from.empty()) j["tile_from"] = m.tile_from;
  if (!m.compiled_with.empty()) j["compiled_with"] = m.compiled_with;
  if (!m.warnings.empty()) j["warnings"] = m.warnings;
  if (m.peer) j["peer"] = peer_to_json(*m.peer);
  if (m.ranks) j["ranks"] = ranks_to_json(*m.ranks);
  if (!m.stages.empty()) {
    j["begun_unix_us"] = m.begun_unix_us;
    j["stages"] = stages_to_json(m);
  }
  if (with_samples && !(m.samples_us.empty() && m.time.n > 0)) j["samples_us"] = m.samples_us;
  if (m.samples != nullptr) j["samples"] = samples_to_json(*m.samples);
  if (!m.no_samples.empty()) j["no_samples"] = m.no_samples;
  if (m.heartbeat != nullptr) j["heartbeat"] = heartbeat_to_json(*m.heartbeat);
  if (!m.no_heartbeat.empty()) j["no_heartbeat"] = m.no_heartbeat;
  if (m.counts != nullptr) j["instruction_counts"] = counts_to_json(*m.counts);
  if (!m.no_counts.empty()) j["no_instruction_counts"] = m.no_counts;
  return j;
}

int attn_version_of(const Measurement& m) {
  if (m.ranks || (m.verdict && judges_others(*m.verdict))) return 3;
  return std::max(attn_version_of(m.key.problem), attn_version_of(m.key.options));
}

Result<Measurement> figures_of_measurement(const json& j, const std::string& where,
                                           std::vector<std::string>& unknown_metrics) {
  JsonFields fields(j, where);
  Measurement m;
  m.key.kernel = fields.text("kernel");
  m.key.source_hash = fields.text("source_hash");
  m.key.l2 = named(fields, "l2", l2_state_from_name);
  m.key.device = fields.text("device");
  if (fields.has("device_uuid")) m.key.device_uuid = fields.text("device_uuid");
  if (fields.has("tile_from")) m.tile_from = fields.text("tile_from");
  if (fields.has("compiled_with")) m.compiled_with = fields.text("compiled_with");
  if (fields.has("warnings")) m.warnings = fields.texts("warnings", kMaxWarnings);
  m.processor = named(fields, "place", processor_from_name);
  m.state = named(fields, "state", row_state_from_name);
  m.reason = fields.text("reason", kMaxText);
  m.clock = fields.text("clock");
  m.workspace_bytes = static_cast<std::uint64_t>(fields.integer("workspace_bytes", 0, kMaxWhole));
  const json& options = fields.object("options");
  const json& problem = fields.object("problem");
  const json& figures = fields.object("figures");
  const json& launches = fields.array("launches");
  if (launches.size() > kMaxLaunches) fields.refuse("launches", phrase("has more than {}", kMaxLaunches));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());

  NestedReader nested;
  nested.take(options_from_json(options, where + ", options"), m.key.options);
  nested.take(problem_from_json(problem, where + ", problem"), m.key.problem);
  nested.take(read_time(fields, m));
  nested.take(read_stages(fields, m));
  nested.take(read_figures(figures, where, m, unknown_metrics));
  nested.take(peaks_from_json(fields.object("yardsticks"), where + ", yardsticks"), m.peaks);
  for (const json& l : launches)
    nested.take(launch_from_json(l, where + ", launch", m.launch_us), m.launches.emplace_back());
  if (m.launch_us.size() != m.launches.size() && !m.launch_us.empty())
    nested.take(
        Result<void>(fail(ErrorKind::bad_input, phrase("{}: some launches have a time, and others do not", where))));
  if (fields.has("peer")) nested.take(peer_from_json(j.at("peer"), where + ", peer"), m.peer.emplace());
  if (fields.has("verdict") && !j.at("verdict").is_null())
    nested.take(verdict_from_json(j.at("verdict"), where + ", verdict"), m.verdict.emplace());
  if (fields.has("ranks")) {
    nested.take(ranks_from_json(j.at("ranks"), m.key.problem, where + ", ranks"), m.ranks.emplace());
  }
  if (!nested.result()) return tl::unexpected(nested.result().error());
  return m;
}

Result<Measurement> measurement_from_json(const json& j, const std::string& where,
                                          std::vector<std::string>& unknown_metrics) {
  auto m = figures_of_measurement(j, where, unknown_metrics);
  BesideFigures beside;
  while (m) {
    const auto all = beside.step(j, where, *m);
    if (!all) return tl::unexpected(all.error());
    if (*all) break;
  }
  return m;
}

}  // namespace attn
