#include "app/worker/messages.h"

#include "kernels/formats/container.h"
#include "kernels/model/problem_json.h"
#include "profiling/session/json/counts_json.h"
#include "profiling/session/json/heartbeat_json.h"
#include "profiling/session/json/measurement_json.h"
#include "profiling/session/json/samples_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 16;

gpu::GpuProperties gpu_from(const json& j) {
  gpu::GpuProperties p;
  p.index = j.at("index");
  p.name = j.at("name");
  p.uuid = j.at("uuid");
  p.pci = j.at("pci");
  p.major = j.at("major");
  p.minor = j.at("minor");
  p.sms = j.at("sms");
  p.clock_khz = j.at("clock_khz");
  p.memory_bytes = j.at("memory_bytes");
  p.l2_bytes = j.at("l2_bytes");
  p.shared_bytes_a_block = j.at("shared_bytes_a_block");
  return p;
}

}  // namespace

json to_json(const GpuRunRequest& r) {
  json j{{"do", "run"},
         {"gpu", r.gpu},
         {"kernel", r.kernel},
         {"problem", problem_to_json(r.problem)},
         {"options", options_to_json(r.options)},
         {"repeats", r.repeats},
         {"memory_limit", r.memory_limit},
         {"time", {{"seconds", r.timing.seconds}, {"least", r.timing.min}, {"cold", r.timing.cold}}}};
  if (r.inputs == nullptr) j["generate"] = {{"generator", std::string(name_of(r.generator))}, {"seed", r.seed}};
  return j;
}

Result<ReadRequest> run_request_from(const json& j) {
  return guarded<ReadRequest>([&]() -> Result<ReadRequest> {
    ReadRequest read;
    GpuRunRequest& r = read.request;
    r.gpu = j.at("gpu");
    r.kernel = j.at("kernel");
    auto problem = problem_from_json(j.at("problem"), "problem");
    auto options = options_from_json(j.at("options"), "options");
    if (!problem) return tl::unexpected(problem.error());
    if (!options) return tl::unexpected(options.error());
    r.problem = std::move(*problem);
    r.options = *options;
    r.repeats = j.at("repeats");
    r.memory_limit = j.at("memory_limit");
    r.timing = {j.at("time").at("seconds"), j.at("time").at("least"), j.at("time").at("cold")};
    read.generate = j.contains("generate");
    if (read.generate) {
      const auto generator = generator_from_name(j.at("generate").at("generator").get<std::string>());
      if (!generator) return bad_input("the request names an unknown generator");
      r.generator = *generator;
      r.seed = j.at("generate").at("seed");
    }
    return read;
  });
}

json to_json(const Point& p) {
  return {{"do", "measure"},
          {"gpu", p.gpu},
          {"arch", p.arch},
          {"kernel", p.kernel},
          {"problem", problem_to_json(p.problem)},
          {"options", options_to_json(p.options)},
          {"generator", name_of(p.generator)},
          {"seed", p.seed},
          {"seconds", p.seconds_per_point},
          {"least", p.min_repeats},
          {"l2", name_of(p.l2)},
          {"counters", p.counters},
          {"verify", p.verify},
          {"verify_full", p.verify_full},
          {"memory_limit", p.memory_limit}};
}

Result<Point> point_from(const json& j) {
  return guarded<Point>([&]() -> Result<Point> {
    Point p;
    p.gpu = j.at("gpu");
    p.arch = j.at("arch");
    p.kernel = j.at("kernel");
    auto problem = problem_from_json(j.at("problem"), "problem");
    auto options = options_from_json(j.at("options"), "options");
    if (!problem) return tl::unexpected(problem.error());
    if (!options) return tl::unexpected(options.error());
    p.problem = std::move(*problem);
    p.options = *options;
    const auto generator = generator_from_name(j.at("generator").get<std::string>());
    if (!generator) return bad_input("the request names an unknown generator");
    p.generator = *generator;
    p.seed = j.at("seed");
    p.seconds_per_point = j.at("seconds");
    p.min_repeats = j.at("least");
    const auto l2 = l2_state_from_name(j.at("l2").get<std::string>());
    if (!l2) return bad_input("the request names an unknown state of the L2 cache");
    p.l2 = *l2;
    p.counters = j.at("counters");
    p.verify = j.at("verify");
    p.verify_full = j.at("verify_full");
    p.memory_limit = j.at("memory_limit");
    return p;
  });
}

json to_json(const Point& p, const Turn& turn) {
  json j = to_json(p);
  j["do"] = "turn";
  j["warm_up"] = turn.warm_up;
  j["repeats"] = turn.repeats;
  j["pause_us"] = turn.pause_us;
  j["flushes"] = turn.flushes;
  return j;
}

Result<std::vector<double>> turn_samples_from(const json& j) {
  return guarded<std::vector<double>>(
      [&]() -> Result<std::vector<double>> { return j.at("samples_us").get<std::vector<double>>(); });
}

Result<Turn> turn_from(const json& j) {
  return guarded<Turn>([&]() -> Result<Turn> {
    return Turn{j.at("warm_up"), j.at("repeats"), j.at("pause_us"), j.at("flushes")};
  });
}

json to_json(const Measurement& m, bool lost) {
  return {{"is", "measured"}, {"measurement", measurement_to_json(m, true)}, {"lost", lost}};
}

json to_json(const KernelSamples& s, bool lost) {
  return {{"is", "sampled"}, {"samples", samples_to_json(s)}, {"lost", lost}};
}

Result<KernelSamples> samples_from(const json& j) {
  return guarded<KernelSamples>([&] { return samples_from_json(j.at("samples"), "the worker's answer"); });
}

json to_json(const Heartbeat& h, bool lost) {
  return {{"is", "heartbeat"}, {"heartbeat", heartbeat_to_json(h)}, {"lost", lost}};
}

Result<Heartbeat> heartbeat_from(const json& j) {
  return guarded<Heartbeat>([&] { return heartbeat_from_json(j.at("heartbeat"), "the worker's answer"); });
}

gpu::StampRequest stamp_request_from(const json& j) {
  return {j.value("block", std::int64_t{0}), j.value("blocks", std::int64_t{1})};
}

json to_json(const KernelCounts& c, bool lost) {
  return {{"is", "counted"}, {"counts", counts_to_json(c)}, {"lost", lost}};
}

Result<KernelCounts> counts_from(const json& j) {
  return guarded<KernelCounts>([&] { return counts_from_json(j.at("counts"), "the worker's answer"); });
}

Result<Measurement> measurement_from(const json& j) {
  return guarded<Measurement>([&]() -> Result<Measurement> {
    std::vector<std::string> unknown;  // none: both sides are this program
    return measurement_from_json(j.at("measurement"), "the worker's answer", unknown);
  });
}

json to_json(const GpuRunAnswer& a) {
  return {{"is", "done"},
          {"same_bits", a.same_bits},
          {"options", options_to_json(a.options)},
          {"workspace_bytes", a.workspace_bytes},
          {"source", a.source},
          {"source_hash", a.source_hash},
          {"samples_us", a.samples_us}};
}

Result<GpuRunAnswer> run_answer_from(const json& j) {
  return guarded<GpuRunAnswer>([&]() -> Result<GpuRunAnswer> {
    GpuRunAnswer a;
    a.same_bits = j.at("same_bits");
    auto options = options_from_json(j.at("options"), "options");
    if (!options) return tl::unexpected(options.error());
    a.options = *options;
    a.workspace_bytes = j.at("workspace_bytes");
    a.source = j.at("source");
    a.source_hash = j.at("source_hash");
    a.samples_us = j.at("samples_us").get<std::vector<double>>();
    return a;
  });
}

json to_json(const GpuRecordAnswer& a) {
  return {{"is", "recorded"},       {"same_bits", a.same_bits},
          {"plain_us", a.plain_us}, {"traced_us", a.traced_us},
          {"source", a.source},     {"device", a.device},
          {"uuid", a.uuid},         {"options", options_to_json(a.options)}};
}

Result<GpuRecordAnswer> record_answer_from(const json& j) {
  return guarded<GpuRecordAnswer>([&]() -> Result<GpuRecordAnswer> {
    GpuRecordAnswer a;
    a.same_bits = j.at("same_bits");
    a.plain_us = j.at("plain_us");
    a.traced_us = j.at("traced_us");
    a.source = j.at("source");
    a.device = j.at("device");
    a.uuid = j.at("uuid");
    auto options = options_from_json(j.at("options"), "options");
    if (!options) return tl::unexpected(options.error());
    a.options = *options;
    return a;
  });
}

json to_json(const GpuHello& h) {
  json gpus = json::array();
  for (const gpu::GpuProperties& p : h.gpus) {
    gpus.push_back({{"index", p.index},
                    {"name", p.name},
                    {"uuid", p.uuid},
                    {"pci", p.pci},
                    {"major", p.major},
                    {"minor", p.minor},
                    {"sms", p.sms},
                    {"clock_khz", p.clock_khz},
                    {"memory_bytes", p.memory_bytes},
                    {"l2_bytes", p.l2_bytes},
                    {"shared_bytes_a_block", p.shared_bytes_a_block}});
  }
  return {{"is", "hello"},
          {"driver", h.driver},
          {"compiler", h.compiler},
          {"compiler_error", h.compiler_error},
          {"cupti", h.cupti},
          {"cupti_error", h.cupti_error},
          {"sensors", h.sensors},
          {"sensors_error", h.sensors_error},
          {"counters_error", h.counters_error},
          {"gpus", std::move(gpus)}};
}

Result<GpuHello> hello_from(const json& j) {
  return guarded<GpuHello>([&]() -> Result<GpuHello> {
    GpuHello h;
    h.driver = j.at("driver");
    h.compiler = j.at("compiler");
    h.compiler_error = j.at("compiler_error");
    h.cupti = j.at("cupti");
    h.cupti_error = j.at("cupti_error");
    h.sensors = j.at("sensors");
    h.sensors_error = j.at("sensors_error");
    h.counters_error = j.at("counters_error");
    for (const json& p : j.at("gpus")) h.gpus.push_back(gpu_from(p));
    return h;
  });
}

json to_json(const gpu::OwnKernel& own) {
  return {{"file", own.cu.name}, {"text", gpu::file_text(own)}};
}

Result<std::shared_ptr<const gpu::OwnKernel>> own_kernel_from(const json& j) {
  using Kernel = std::shared_ptr<const gpu::OwnKernel>;
  return guarded<Kernel>([&]() -> Result<Kernel> {
    return gpu::own_kernel_from(j.at("file").get<std::string>(), j.at("text").get<std::string>());
  });
}

json error_json(const Error& e, bool lost) {
  return {{"is", "error"}, {"kind", static_cast<int>(e.kind)}, {"message", e.message}, {"lost", lost}};
}

Error error_from(const json& j) {
  const auto kind = guarded<Error>([&]() -> Result<Error> {
    const int number = j.at("kind");
    const bool known = number >= 0 && number <= static_cast<int>(ErrorKind::failed);
    return Error{known ? static_cast<ErrorKind>(number) : ErrorKind::failed, j.at("message")};
  });
  return kind ? *kind : kind.error();
}

Result<json> parse_message(const std::string& text) {
  return parse_json(text, "a message between program and worker", kMaxDepth);
}

}  // namespace attn
