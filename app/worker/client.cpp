#include "app/worker/client.h"

#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "app/worker/messages.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/recording/file/timeline_file.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/session/session.h"

namespace attn {

using nlohmann::json;

Provenance provenance_on(const GpuHello& hello, std::int32_t gpu) {
  Provenance p = provenance_here();
  p.driver = fmt::format("for CUDA {}.{}", hello.driver / 1000, hello.driver % 1000 / 10);
  p.cuda = hello.compiler;
  if (!hello.cupti.empty()) p.cuda += (p.cuda.empty() ? "" : ", ") + hello.cupti;
  for (const gpu::GpuProperties& g : hello.gpus) {
    if (g.index != gpu) continue;
    p.device = g.name;
    p.device_uuid = g.uuid;
    p.device_arch = g.arch();
    p.cores = g.sms;
  }
  return p;
}

struct GpuClient::Reply {
  json text;
  std::vector<std::byte> bytes;
};

json GpuClient::with_own(json request) const {
  for (const auto& kernel : own_)
    if (request.at("kernel") == kernel->id) request["own"] = to_json(*gpu::own_kernel(*kernel));
  return request;
}

Result<Child> GpuClient::start_program() {
  return Child::start({"worker"});
}

GpuClient::GpuClient(Starter start) : start_(std::move(start)) {}

// A worker that is let go frees what it holds; tools that watch it finish their reports.
GpuClient::~GpuClient() {
  constexpr double kSecondsToEnd = 5;
  if (child_) child_->finish(kSecondsToEnd);
}

Error GpuClient::lost(const NoMessage& why, const std::string& what) {
  const std::string end = child_ ? child_->kill() : std::string();
  child_.reset();
  switch (why.why) {
    case NoReply::stopped:
      return {ErrorKind::cancelled, fmt::format("{} was cancelled", what)};
    case NoReply::too_late:
      return {ErrorKind::failed,
              fmt::format("{}: {}; its worker was stopped. The next run gets a new worker.", what, why.words)};
    case NoReply::closed:
      return {ErrorKind::failed,
              fmt::format("{}: the worker exited ({}) before it replied. The next run gets a new worker.", what, end)};
    case NoReply::broken:
      break;
  }
  return {ErrorKind::failed, fmt::format("{}: {}; the worker was stopped.", what, why.words)};
}

Result<void> GpuClient::start() {
  if (child_) return ok();
  if (!starter_) starter_ = std::make_unique<LastingThread>();
  Result<Child> child = fail(ErrorKind::failed, "no worker was started");
  starter_->run([&] { child = start_(); });
  if (!child) return tl::unexpected(child.error());
  child_.emplace(std::move(*child));
  return ok();
}

Result<GpuClient::Reply> GpuClient::ask(const std::string& request, std::span<const std::span<const std::byte>> bytes,
                                        const std::string& what, const Deadline& deadline, const Progress& progress) {
  if (auto started = start(); !started) return tl::unexpected(started.error());
  const auto begin = std::chrono::steady_clock::now();
  if (auto sent = child_->socket().send(request, bytes, deadline); !sent) {
    return tl::unexpected(lost(sent.error(), what));
  }
  while (true) {
    Deadline left = deadline;
    if (deadline.seconds > 0) {
      const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      left.seconds = std::max(0.001, deadline.seconds - waited);
    }
    auto message = child_->socket().receive(left);
    if (!message) {
      NoMessage why = message.error();
      if (why.why == NoReply::too_late) why.words = fmt::format("no answer within {:g} s", deadline.seconds);
      return tl::unexpected(lost(why, what));
    }
    auto text = parse_message(message->text);
    if (!text) return tl::unexpected(lost({NoReply::broken, text.error().message}, what));
    const std::string is = text->value("is", "");
    if (is == "progress") {
      if (progress) progress(text->value("now", ""));
      continue;
    }
    if (is != "error") return Reply{std::move(*text), std::move(message->bytes)};
    const Error error = error_from(*text);
    if (text->value("lost", false)) detach();
    return tl::unexpected(error);
  }
}

void GpuClient::detach() {
  if (child_) child_->kill();
  child_.reset();
}

Result<GpuHello> GpuClient::hello(const Deadline& deadline, bool counters) {
  auto reply = ask(json{{"do", "hello"}, {"counters", counters}}.dump(), {}, "Looking for GPUs", deadline, {});
  if (!reply) return tl::unexpected(reply.error());
  return hello_from(reply->text);
}

namespace {

// The inputs as they travel; none where the worker makes them.
std::vector<std::span<const std::byte>> inputs_of(const GpuRunRequest& r) {
  if (r.inputs == nullptr) return {};
  return parts_of(tensor_bytes_of(*r.inputs, r.problem));
}

}  // namespace

Result<GpuRecordAnswer> GpuClient::record(const GpuRunRequest& r, const Deadline& deadline, const Progress& progress) {
  if (r.inputs == nullptr) return fail(ErrorKind::failed, "a recording was requested without inputs");
  const std::string what = fmt::format("{} on {}", r.kernel, describe(r.problem));
  json request = with_own(to_json(r));
  request["do"] = "record";
  const auto reply = ask(request.dump(), inputs_of(r), what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto answer = record_answer_from(reply->text);
  if (!answer) return answer;
  answer->outputs = empty_outputs(r.problem);
  const std::size_t before = take_outputs(reply->bytes, answer->outputs);
  if (before == 0 || (reply->bytes.size() - before) % sizeof(float) != 0) {
    return tl::unexpected(lost({NoReply::broken, "the size of the worker's output does not match the problem"}, what));
  }
  answer->trace.resize((reply->bytes.size() - before) / sizeof(float));
  std::memcpy(answer->trace.data(), reply->bytes.data() + before, reply->bytes.size() - before);
  return answer;
}

Result<GpuRunAnswer> GpuClient::run(const GpuRunRequest& r, const Deadline& deadline, const Progress& progress) {
  const std::vector<std::span<const std::byte>> parts = inputs_of(r);
  const std::string what = fmt::format("{} on {}", r.kernel, describe(r.problem));
  auto reply = ask(with_own(to_json(r)).dump(), parts, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto answer = run_answer_from(reply->text);
  if (!answer || r.inputs == nullptr) return answer;
  answer->outputs = empty_outputs(r.problem);
  if (reply->bytes.empty() || take_outputs(reply->bytes, answer->outputs) != reply->bytes.size()) {
    return tl::unexpected(lost({NoReply::broken, "the size of the worker's output does not match the problem"}, what));
  }
  return answer;
}

Result<Measurement> GpuClient::measure(const Point& p, const Deadline& deadline, const Progress& progress) {
  const std::string what = fmt::format("{} on {}", p.kernel, describe(p.problem));
  auto reply = ask(with_own(to_json(p)).dump(), {}, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto m = measurement_from(reply->text);
  if (!m) return tl::unexpected(lost({NoReply::broken, m.error().message}, what));
  if (reply->text.value("lost", false)) detach();
  return m;
}

Result<Measurement> GpuClient::compile(const Point& p, const Deadline& deadline, const Progress& progress) {
  const std::string what = fmt::format("Compiling {} for {}", p.kernel, p.arch);
  json request = with_own(to_json(p));
  request["do"] = "compile";
  auto reply = ask(request.dump(), {}, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto m = measurement_from(reply->text);
  if (!m) return tl::unexpected(lost({NoReply::broken, m.error().message}, what));
  return m;
}

Result<std::vector<double>> GpuClient::turn(const Point& p, const Turn& turn, const Deadline& deadline) {
  const std::string what = fmt::format("{} on {}, a turn", p.kernel, describe(p.problem));
  auto reply = ask(with_own(to_json(p, turn)).dump(), {}, what, deadline, {});
  if (!reply) return tl::unexpected(reply.error());
  return turn_samples_from(reply->text);
}

Result<void> GpuClient::let_go(const Deadline& deadline) {
  if (!child_) return ok();
  auto reply = ask(json{{"do", "let_go"}}.dump(), {}, "Freeing the GPU", deadline, {});
  if (!reply) return tl::unexpected(reply.error());
  return ok();
}

Result<KernelSamples> GpuClient::sample(const Point& p, const Deadline& deadline, const Progress& progress) {
  const std::string what = fmt::format("Sampling {} on {}", p.kernel, describe(p.problem));
  json request = with_own(to_json(p));
  request["do"] = "sample";
  auto reply = ask(request.dump(), {}, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto samples = samples_from(reply->text);
  if (!samples) return tl::unexpected(lost({NoReply::broken, samples.error().message}, what));
  if (reply->text.value("lost", false)) detach();
  return samples;
}

Result<Heartbeat> GpuClient::heartbeat(const Point& p, const Deadline& deadline, const Progress& progress) {
  const std::string what = fmt::format("Reading the heartbeat of {} on {}", p.kernel, describe(p.problem));
  json request = with_own(to_json(p));
  request["do"] = "heartbeat";
  auto reply = ask(request.dump(), {}, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto beat = heartbeat_from(reply->text);
  if (!beat) return tl::unexpected(lost({NoReply::broken, beat.error().message}, what));
  if (reply->text.value("lost", false)) detach();
  return beat;
}

Result<Timeline> GpuClient::timeline(const Point& p, const gpu::StampRequest& r, const Deadline& deadline,
                                     const Progress& progress) {
  const std::string what = fmt::format("The timeline of {} on {}", p.kernel, describe(p.problem));
  json request = with_own(to_json(p));
  request["do"] = "timeline";
  request["block"] = r.first;
  request["blocks"] = r.blocks;
  auto reply = ask(request.dump(), {}, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto timeline = timeline_from(reply->bytes, "the worker's answer");
  if (!timeline) return tl::unexpected(lost({NoReply::broken, timeline.error().message}, what));
  if (reply->text.value("lost", false)) detach();
  return timeline;
}

Result<KernelCounts> GpuClient::count_instructions(const Point& p, const Deadline& deadline, const Progress& progress) {
  const std::string what = fmt::format("Counting the instructions of {} on {}", p.kernel, describe(p.problem));
  json request = with_own(to_json(p));
  request["do"] = "count";
  auto reply = ask(request.dump(), {}, what, deadline, progress);
  if (!reply) return tl::unexpected(reply.error());
  auto counts = counts_from(reply->text);
  if (!counts) return tl::unexpected(lost({NoReply::broken, counts.error().message}, what));
  if (reply->text.value("lost", false)) detach();
  return counts;
}

}  // namespace attn
