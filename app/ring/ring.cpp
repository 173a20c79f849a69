#include "app/ring/ring.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/ring/rank.h"
#include "app/worker/messages.h"
#include "kernels/base/text.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/ring.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

using nlohmann::json;

// How long the others are listened to after the first that failed: the one that is gone is not always heard first.
constexpr double kAfterAFailure = 0.3;

// What is known of a rank while it works.
struct RankNews {
  std::optional<Message> answer;
  std::optional<Error> error;
  bool ended = false;      // its process is gone
  bool neighbour = false;  // its error is that a neighbour is gone
  bool waits = false;
  std::int64_t turn = 0;
  bool over() const { return answer || error || ended; }
};

// Listens to all ranks at once, a thread each.
class Listeners {
 public:
  explicit Listeners(std::vector<Child>& children) : news_(children.size()) {
    for (std::size_t n = 0; n < children.size(); ++n)
      threads_.emplace_back(
          [this, n, &socket = children[n].socket()](const std::stop_token& stop) { listen(n, socket, stop); });
  }

  // Until all have answered, one has failed, or nothing was heard for so long. True: all have answered.
  bool wait(const RingLimits& limits) {
    std::unique_lock lock(mutex_);
    const auto all = [this] { return std::ranges::all_of(news_, &RankNews::over); };
    const auto failed = [this] {
      return std::ranges::any_of(news_, [](const RankNews& r) { return r.over() && !r.answer; });
    };
    while (!all() && !failed() && !limits.stop.stop_requested()) {
      const std::uint64_t heard = heard_;
      const auto look_again = std::chrono::milliseconds(50);
      const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(limits.seconds);
      while (heard == heard_ && !limits.stop.stop_requested() && std::chrono::steady_clock::now() < until)
        changed_.wait_for(lock, look_again);
      if (heard == heard_) break;
    }
    if (failed())
      changed_.wait_for(lock, std::chrono::duration<double>(kAfterAFailure),
                        [this] { return std::ranges::any_of(news_, &RankNews::ended); });
    return all() && !failed();
  }

  // Ends all threads; then what they heard is the caller's.
  std::vector<RankNews> stop() {
    threads_.clear();  // asks each to stop, and joins
    return std::move(news_);
  }

 private:
  void listen(std::size_t n, Socket& socket, const std::stop_token& stop) {
    while (true) {
      auto message = socket.receive({0, stop});
      const std::scoped_lock lock(mutex_);
      RankNews& r = news_[n];
      ++heard_;
      changed_.notify_all();
      if (!message) {
        r.ended = message.error().why != NoReply::stopped;
        return;
      }
      const auto text = parse_message(message->text);
      const std::string is = text ? text->value("is", "") : "";
      if (is == "news") {
        r.turn = text->value("turn", std::int64_t{0});
        r.waits = text->value("waits", false);
        continue;
      }
      if (is == "error") {
        r.error = error_from(*text);
        r.neighbour = text->value("neighbour", false);
      } else {
        r.answer = *std::move(message);
      }
      return;
    }
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<RankNews> news_;
  std::uint64_t heard_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before what they write
};

// Whose fault it is: one that is gone, one with an error of its own, one that is silent though nobody keeps it waiting.
std::size_t first_to_blame(const std::vector<RankNews>& news) {
  const auto find = [&news](const auto& is) {
    return static_cast<std::size_t>(std::ranges::find_if(news, is) - news.begin());
  };
  std::size_t n = find([](const RankNews& r) { return r.ended; });
  if (n == news.size()) n = find([](const RankNews& r) { return r.error && !r.neighbour; });
  if (n == news.size()) n = find([](const RankNews& r) { return r.error.has_value(); });
  if (n == news.size()) n = find([](const RankNews& r) { return !r.answer && !r.waits; });
  if (n == news.size()) n = find([](const RankNews& r) { return !r.answer; });
  return n;
}

std::string part_of_ring(std::size_t rank, std::size_t ranks) {
  return phrase("Rank {} of {}", rank, ranks);
}

std::vector<std::byte> share_of(const Problem& p, const Ring& ring, std::int64_t rank, const cpu::Layout& at,
                                const Inputs& in) {
  std::vector<std::byte> block;
  take_dealt(in.q, dealt_to(ring, ring.queries(), rank, at.br, p.Lq), block);
  const auto keys = dealt_to(ring, ring.keys(), rank, at.bc, p.Lk);
  take_dealt(in.k, keys, block);
  take_dealt(in.v, keys, block);
  if (in.bias) block.insert(block.end(), in.bias->data(), in.bias->data() + in.bias->bytes());
  return block;
}

// Times from the first that began.
void count_from_first(std::vector<RankRun>& ranks) {
  double first = 0;
  bool any = false;
  for (const RankRun& r : ranks) {
    for (const RankSpan& s : r.spans) {
      first = any ? std::min(first, s.begin_us) : s.begin_us;
      any = true;
    }
  }
  for (RankRun& r : ranks) {
    for (RankSpan& s : r.spans) s.begin_us -= first, s.end_us -= first;
  }
}

}  // namespace

Result<const KernelRow*> ring_kernel() {
  for (const KernelRow* row : ladder_of(Pass::forward))
    if (row->ring != nullptr) return row;
  return fail(ErrorKind::failed, "no kernel in the table can walk a ring");
}

double RankRun::us(RankWork work) const {
  double sum = 0;
  for (const RankSpan& s : spans)
    if (s.work == work) sum += s.length_us();
  return sum;
}

double RingRun::us() const {
  double last = 0;
  for (const RankRun& r : ranks) {
    for (const RankSpan& s : r.spans) last = std::max(last, s.end_us);
  }
  return last;
}

Result<Child> RingProcesses::start_program(const Socket& left, const Socket& right) {
  const Socket* const given[] = {&left, &right};
  return Child::start({"worker", "--rank"}, "", "", given);
}

std::vector<DealtRows> RingProcesses::query_rows(std::int64_t rank) const {
  const cpu::Layout at = cpu::layout_of(kernel_->order, Rules::vector, problem_, options_);
  return dealt_to(ring_, ring_.queries(), rank, at.br, problem_.Lq);
}

Result<RingProcesses> RingProcesses::start(const KernelRow& row, const Problem& p, const Options& options,
                                           const Inputs& in, const RingLimits& limits, const Starter& start) {
  if (row.ring == nullptr) return bad_input(phrase("{} cannot walk a ring; {} can.", row.id, (*ring_kernel())->id));
  const Device device = cpu_device();
  if (auto good = row.supports(row, p, options, device); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  Options asked = options;
  if (asked.threads == 0)
    asked.threads = std::max<std::int32_t>(1, device.cores / static_cast<std::int32_t>(ranks_of(options)));
  const auto plan = row.plan(row, p, asked, device);
  if (!plan) return tl::unexpected(plan.error());
  const cpu::Layout at = cpu::layout_of(row.order, Rules::vector, p, plan->options);
  const Ring ring = ring_of(plan->options, at.ti, at.tj);
  RingProcesses made(row, p, plan->options, ring);

  const auto ranks = static_cast<std::size_t>(ring.ranks);
  // The connection from a rank to the next: its right end, and the next one's left.
  std::vector<std::pair<Socket, Socket>> links;
  for (std::size_t n = 0; n < ranks; ++n) {
    auto link = Socket::pair();
    if (!link) return tl::unexpected(link.error());
    links.push_back(*std::move(link));
  }
  for (std::size_t n = 0; n < ranks; ++n) {
    auto child = start(links[(n + ranks - 1) % ranks].second, links[n].first);
    if (!child) return tl::unexpected(child.error());
    made.children_.push_back(*std::move(child));
  }
  links.clear();  // a rank that is gone leaves no end open
  for (std::size_t n = 0; n < ranks; ++n) {
    const DealRequest request{static_cast<std::int64_t>(n), std::string(row.id), p, plan->options};
    if (auto sent = made.send(n, to_json(request), share_of(p, ring, request.rank, at, in), limits); !sent)
      return tl::unexpected(sent.error());
  }
  if (auto ready = made.gather(limits); !ready) return tl::unexpected(ready.error());
  return made;
}

Result<void> RingProcesses::send(std::size_t rank, const json& text, std::span<const std::byte> bytes,
                                 const RingLimits& limits) {
  const std::span<const std::byte> parts[] = {bytes};
  const auto sent = children_[rank].socket().send(text.dump(), parts, {limits.seconds, limits.stop});
  if (sent) return ok();
  if (sent.error().why == NoReply::stopped) return fail(ErrorKind::cancelled, tr("The ring was cancelled."));
  const std::string who = part_of_ring(rank, children_.size()), how = children_[rank].kill();
  children_.clear();
  return fail(ErrorKind::failed,
              sent.error().why == NoReply::too_late
                  ? phrase("{} accepted nothing for {:g} s, so the ring was stopped.", who, limits.seconds)
                  : phrase("{} exited unexpectedly ({}), and the ring was stopped.", who, how));
}

Result<std::vector<Message>> RingProcesses::gather(const RingLimits& limits) {
  Listeners listeners(children_);
  const bool good = listeners.wait(limits);
  std::vector<RankNews> news = listeners.stop();
  if (good) {
    std::vector<Message> answers;
    answers.reserve(news.size());
    for (RankNews& r : news) answers.push_back(*std::move(r.answer));
    return answers;
  }
  const std::size_t n = first_to_blame(news);
  const std::string who = part_of_ring(n, news.size());
  const std::string how = news[n].ended ? children_[n].kill() : "";
  children_.clear();  // kills
  if (limits.stop.stop_requested()) return fail(ErrorKind::cancelled, tr("The ring was cancelled."));
  if (news[n].ended)
    return fail(ErrorKind::failed,
                phrase("{} exited unexpectedly in turn {} ({}), and the ring was stopped.", who, news[n].turn, how));
  if (news[n].error) return fail(news[n].error->kind, phrase("{}: {}.", who, news[n].error->message));
  return fail(ErrorKind::failed, phrase("{} did not report for {:g} s in turn {}, so the ring was stopped.", who,
                                        limits.seconds, news[n].turn));
}

Result<RingRun> RingProcesses::go(Outputs& out, const RingLimits& limits) {
  if (children_.empty()) return fail(ErrorKind::failed, tr("The ring has ended; start another one."));
  for (std::size_t n = 0; n < children_.size(); ++n) {
    if (auto sent = send(n, {{"do", "go"}}, {}, limits); !sent) return tl::unexpected(sent.error());
  }
  auto answers = gather(limits);
  if (!answers) return tl::unexpected(answers.error());
  out = empty_outputs(problem_);
  RingRun run;
  for (std::size_t n = 0; n < answers->size(); ++n) {
    const Message& m = (*answers)[n];
    const auto text = parse_message(m.text);
    if (!text) return tl::unexpected(text.error());
    auto spans = spans_from(text->value("spans", json::array()));
    if (!spans) return tl::unexpected(spans.error());
    const auto rows = query_rows(static_cast<std::int64_t>(n));
    const std::size_t o = dealt_bytes(out.out, rows), lse = dealt_bytes(out.lse, rows);
    if (m.bytes.size() != o + lse)
      return fail(ErrorKind::failed, phrase("{} returned {} bytes instead of {}.", part_of_ring(n, answers->size()),
                                            m.bytes.size(), o + lse));
    put_dealt(std::span(m.bytes).first(o), rows, out.out);
    put_dealt(std::span(m.bytes).subspan(o), rows, out.lse);
    run.ranks.push_back({text->value("sent", std::uint64_t{0}), *std::move(spans)});
  }
  count_from_first(run.ranks);
  return run;
}

}  // namespace attn
