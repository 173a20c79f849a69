#include "app/ring/gpu/rank.h"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "app/ring/answering.h"
#include "app/ring/gpu/rank_run.h"
#include "app/worker/messages.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

using nlohmann::json;

class GpuRankProcess {
 public:
  explicit GpuRankProcess(Socket& asker) : asker_(asker), gpu_(parts_) {}

  int live() {
    const auto error_of = [this](const Error& why) {
      json error = error_json(why, gpu_.lost());
      error["neighbour"] = false;
      return error;
    };
    return answer_requests(
        asker_, [this](const Message& m) { return answer(m); }, error_of);
  }

 private:
  void send(const json& text, std::span<const std::byte> bytes) { answer_asker(asker_, text, bytes); }

  Result<void> answer(const Message& message) {
    const auto request = parse_message(message.text);
    if (!request) return tl::unexpected(request.error());
    const std::string what = request->value("do", "");
    if (what == "open") return open(*request, message.bytes);
    if (run_ == nullptr) return bad_input("a rank was started before it received any work");
    if (what == "connect") return connect(*request);
    if (what == "link") return link();
    if (what == "fetch") return fetch();
    return go();
  }

  Result<void> open(const json& request, std::span<const std::byte> rows) {
    auto read = gpu_open_from(request);
    if (!read) return tl::unexpected(read.error());
    auto run = RankRun::open(gpu_, *std::move(read), rows);
    if (!run) return tl::unexpected(run.error());
    run_ = *std::move(run);
    const auto opened = run_->opened();
    if (!opened) return tl::unexpected(opened.error());
    send(to_json(*opened), {});
    return ok();
  }

  Result<void> connect(const json& request) {
    const auto read = gpu_connect_from(request);
    if (!read) return tl::unexpected(read.error());
    if (auto done = run_->connect(*read); !done) return done;
    send({{"is", "ready"}}, {});
    return ok();
  }

  // Until the GPU has done what was enqueued; the asker may be gone meanwhile, and then so are we.
  Result<void> wait() {
    send({{"is", "news"}, {"turn", 0}, {"waits", true}}, {});
    while (true) {
      const auto done = run_->finished();
      if (!done) return tl::unexpected(done.error());
      if (*done) return ok();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Result<void> link() {
    auto done = run_->enqueue_link();
    if (done) done = wait();
    if (!done) return done;
    const auto times = run_->link_times();
    if (!times) return tl::unexpected(times.error());
    send({{"is", "done"}, {"us", times->us}, {"bytes", times->bytes}}, {});
    return ok();
  }

  Result<void> go() {
    auto done = run_->enqueue();
    if (done) done = wait();
    if (!done) return done;
    const auto times = run_->times();
    if (!times) return tl::unexpected(times.error());
    send(to_json(*times), {});
    return ok();
  }

  Result<void> fetch() {
    const auto bytes = run_->answer();
    if (!bytes) return tl::unexpected(bytes.error());
    send({{"is", "done"}}, *bytes);
    return ok();
  }

  Socket& asker_;
  WorkerParts parts_;
  OpenGpu gpu_;
  std::unique_ptr<RankRun> run_;
};

}  // namespace

int work_as_gpu_rank(Socket& asker) {
  return GpuRankProcess(asker).live();
}

}  // namespace attn
