#include "app/worker/user_compiler.h"

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/system/confine.h"
#include "kernels/base/bytes.h"
#include "kernels/base/cuda_library.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/json_reading.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 4;
constexpr std::size_t kMaxText = 64ULL << 20;
constexpr double kReadySeconds = 60;  // a library of 110 MB from a slow disk
constexpr MessageLimit kMostAnswer{64ULL << 20, 512ULL << 20};

// Bytes of others in JSON: what is no UTF-8 does not travel as text.
std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The process, started when it is first needed. One text at a time; a second waits.
class CompileProcess {
 public:
  CompileProcess(std::function<Result<Child>()> start, const UserCompilerLimits& limits)
      : start_(std::move(start)), limits_(limits) {}

  Result<gpu::Cubin> compile(const gpu::KernelSource& source, const std::vector<std::string>& options,
                             const std::stop_token& stop) {
    const std::lock_guard lock(mutex_);
    if (auto ready = be_ready(stop); !ready) return tl::unexpected(ready.error());
    const json request{
        {"name", source.name}, {"with_score", source.score_lines == gpu::ScoreLines::in}, {"options", options}};
    const std::span<const std::byte> text = std::as_bytes(std::span(source.text));
    const std::span<const std::byte> parts[] = {text};
    const Deadline deadline{limits_.seconds, stop};
    if (auto sent = child_->socket().send(request.dump(), parts, deadline); !sent)
      return tl::unexpected(lost(sent.error(), source.name));
    const auto answer = child_->socket().receive(deadline, kMostAnswer);
    if (!answer) return tl::unexpected(lost(answer.error(), source.name));
    auto cubin = reading(source.name, [&] { return cubin_of(*answer); });
    return cubin;
  }

 private:
  Result<void> be_ready(const std::stop_token& stop) {
    if (child_) return ok();
    auto started = start_();
    if (!started) return tl::unexpected(started.error());
    child_.emplace(*std::move(started));
    const json limits{{"memory", limits_.memory_bytes}};
    const Deadline deadline{kReadySeconds, stop};
    if (auto sent = child_->socket().send(limits.dump(), {}, deadline); !sent)
      return tl::unexpected(lost(sent.error(), tr("the compiler")));
    const auto ready = child_->socket().receive(deadline, kMostAnswer);
    if (!ready) return tl::unexpected(lost(ready.error(), tr("the compiler")));
    const auto answer = reading(tr("the compiler's reply"), [&] { return said(*ready); });
    if (answer) return ok();
    child_.reset();
    return tl::unexpected(answer.error());
  }

  // What it says, where that is no error.
  static Result<json> said(const Message& message) {
    auto j = parse_json(message.text, tr("the compiler's reply"), kMaxDepth);
    if (!j) return j;
    JsonFields fields(*j, tr("the compiler's reply"));
    if (fields.has("error")) {
      const std::string words = fields.text("error", kMaxText);
      const auto kind = static_cast<ErrorKind>(fields.integer("kind", 0, static_cast<int>(ErrorKind::failed)));
      if (auto read = fields.result(); !read) return tl::unexpected(read.error());
      return fail(kind, words);
    }
    if (auto read = fields.result(); !read) return tl::unexpected(read.error());
    return j;
  }

  static Result<gpu::Cubin> cubin_of(const Message& message) {
    const auto j = said(message);
    if (!j) return tl::unexpected(j.error());
    JsonFields fields(*j, tr("the compiler's reply"));
    const auto most = static_cast<std::int64_t>(message.bytes.size());
    const auto code = static_cast<std::size_t>(fields.integer("code", 0, most));
    const auto log = static_cast<std::size_t>(fields.integer("log", 0, most - static_cast<std::int64_t>(code)));
    if (auto read = fields.result(); !read) return tl::unexpected(read.error());
    const std::span all(message.bytes);
    return gpu::Cubin{{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(code)},
                      text_of(all.subspan(code, log)),
                      text_of(all.subspan(code + log))};
  }

  Error lost(const NoMessage& why, const std::string& name) {
    const std::string end = child_ ? child_->kill() : std::string();
    child_.reset();
    switch (why.why) {
      case NoReply::stopped:
        return {ErrorKind::cancelled, phrase("{}: its compilation was cancelled.", name)};
      case NoReply::too_late:
        return {ErrorKind::failed,
                phrase("{} was not compiled within {:g} s, so the compiler was stopped.", name, limits_.seconds)};
      default:
        return {ErrorKind::failed, phrase("{} made the compiler exit ({}). The compiler's memory limit is {}.", name,
                                          end, format_bytes(limits_.memory_bytes))};
    }
  }

  std::mutex mutex_;
  std::function<Result<Child>()> start_;
  UserCompilerLimits limits_;
  std::optional<Child> child_;
};

class UserCompiler final : public gpu::Compiler {
 public:
  UserCompiler(std::unique_ptr<gpu::Compiler> own, std::shared_ptr<CompileProcess> process)
      : own_(std::move(own)), process_(std::move(process)) {}
  std::string version() override { return own_->version(); }
  Result<gpu::Cubin> compile(const gpu::KernelSource& source, const std::vector<std::string>& options) override {
    return source.of_user ? process_->compile(source, options, stop_) : own_->compile(source, options);
  }
  void heed(std::stop_token stop) override { stop_ = std::move(stop); }

 private:
  std::unique_ptr<gpu::Compiler> own_;
  std::shared_ptr<CompileProcess> process_;
  std::stop_token stop_;
};

bool answer(Socket& socket, const json& j, std::span<const std::span<const std::byte>> bytes = {}) {
  return socket.send(j.dump(-1, ' ', false, json::error_handler_t::replace), bytes, {}).has_value();
}

bool answer(Socket& socket, const Error& error) {
  return answer(socket, json{{"error", error.message}, {"kind", static_cast<int>(error.kind)}});
}

// What it opens only when it compiles, it opens now: later it can open CUDA's headers alone.
Result<std::unique_ptr<gpu::Compiler>> warm_compiler(const CompilerOpener& open) {
  auto compiler = open();
  if (!compiler) return compiler;
  gpu::KernelSource source;
  source.name = "warm.cu";
  source.text = "#include \"kernels/gpu/device.cuh\"\nextern \"C\" __global__ void warm(float* x) { *x = 1; }\n";
  (void)(*compiler)->compile(
      source, {"--gpu-architecture=sm_90", "--std=c++17", "-default-device", "-lineinfo", "--ptxas-options=-v"});
  return compiler;
}

Result<gpu::Cubin> compiled(gpu::Compiler& compiler, const Message& message) {
  const auto j = parse_json(message.text, tr("a request"), kMaxDepth);
  if (!j) return tl::unexpected(j.error());
  JsonFields fields(*j, tr("a request"));
  gpu::KernelSource source;
  source.name = fields.text("name", 4096);
  source.score_lines = fields.boolean("with_score") ? gpu::ScoreLines::in : gpu::ScoreLines::out;
  const std::vector<std::string> options = fields.texts("options", 256);
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  source.text = text_of(message.bytes);
  return compiler.compile(source, options);
}

}  // namespace

CompilerOpener compilers(std::function<Result<Child>()> start, const CompilerOpener& own,
                         const UserCompilerLimits& limits) {
  const auto process = std::make_shared<CompileProcess>(std::move(start), limits);
  return [own, process]() -> Result<std::unique_ptr<gpu::Compiler>> {
    auto compiler = own();
    if (!compiler) return compiler;
    return std::make_unique<UserCompiler>(*std::move(compiler), process);
  };
}

CompilerOpener compilers_here() {
  return compilers([] { return Child::start({"worker", "--compile"}); });
}

int compile_for_users(Socket& socket, const CompilerOpener& open) {
  const auto begin = socket.receive({});
  if (!begin) return 0;
  const auto limits = parse_json(begin->text, tr("a request"), kMaxDepth);
  std::uint64_t memory = UserCompilerLimits{}.memory_bytes;
  if (limits) memory = static_cast<std::uint64_t>(JsonFields(*limits, "").integer("memory", 1 << 20, INT64_MAX / 4));
  const auto compiler = warm_compiler(open);
  if (!compiler) return answer(socket, compiler.error()) ? 0 : 1;
  const Confinement how = confine_to(gpu::cuda_include_folders());
  limit_memory(memory);
  if (!answer(socket, json{{"confined", how != Confinement::nothing}})) return 0;
  while (true) {
    const auto message = socket.receive({});
    if (!message) return 0;
    const auto cubin = reading("a text", [&] { return compiled(**compiler, *message); });
    if (!cubin) {
      if (!answer(socket, cubin.error())) return 0;
      continue;
    }
    const std::vector<std::byte> log = bytes_of(cubin->log), ptx = bytes_of(cubin->ptx);
    const std::span<const std::byte> parts[] = {cubin->code, log, ptx};
    if (!answer(socket, json{{"code", cubin->code.size()}, {"log", log.size()}}, parts)) return 0;
  }
}

}  // namespace attn
