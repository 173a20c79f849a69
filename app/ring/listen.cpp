#include "app/ring/listen.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/worker/messages.h"
#include "kernels/base/text.h"
#include "profiling/figures/statistics.h"

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
  bool stopped = false;  // by a signal
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

// Whose fault it is: one that is gone, one with an error of its own, one that is stopped, one that is silent though
// nobody keeps it waiting.
std::size_t first_to_blame(const std::vector<RankNews>& news) {
  const auto find = [&news](const auto& is) {
    return static_cast<std::size_t>(std::ranges::find_if(news, is) - news.begin());
  };
  std::size_t n = find([](const RankNews& r) { return r.ended; });
  if (n == news.size()) n = find([](const RankNews& r) { return r.error && !r.neighbour; });
  if (n == news.size()) n = find([](const RankNews& r) { return r.error.has_value(); });
  if (n == news.size()) n = find([](const RankNews& r) { return !r.answer && r.stopped; });
  if (n == news.size()) n = find([](const RankNews& r) { return !r.answer && !r.waits; });
  if (n == news.size()) n = find([](const RankNews& r) { return !r.answer; });
  return n;
}

}  // namespace

std::string part_of_ring(std::size_t rank, std::size_t ranks) {
  return phrase("Rank {} of {}", rank, ranks);
}

Result<void> send_to(std::vector<Child>& ranks, std::size_t rank, const json& text, std::span<const std::byte> bytes,
                     const RingLimits& limits) {
  const std::span<const std::byte> parts[] = {bytes};
  const auto sent = ranks[rank].socket().send(text.dump(), parts, {limits.seconds, limits.stop});
  if (sent) return ok();
  if (sent.error().why == NoReply::stopped) return fail(ErrorKind::cancelled, tr("The ring was cancelled."));
  const std::string who = part_of_ring(rank, ranks.size()), how = ranks[rank].kill();
  ranks.clear();
  return fail(ErrorKind::failed,
              sent.error().why == NoReply::too_late
                  ? phrase("{} accepted no data for {:g} s, so the ring was stopped.", who, limits.seconds)
                  : phrase("{} exited unexpectedly ({}), and the ring was stopped.", who, how));
}

Result<std::vector<Message>> gather(std::vector<Child>& ranks, const RingLimits& limits) {
  Listeners listeners(ranks);
  const bool good = listeners.wait(limits);
  std::vector<RankNews> news = listeners.stop();
  if (good) {
    std::vector<Message> answers;
    answers.reserve(news.size());
    for (RankNews& r : news) answers.push_back(*std::move(r.answer));
    return answers;
  }
  for (std::size_t n = 0; n < news.size(); ++n) news[n].stopped = is_stopped(ranks[n].id());
  const std::size_t n = first_to_blame(news);
  const std::string who = part_of_ring(n, news.size());
  const std::string how = news[n].ended ? ranks[n].kill() : "";
  ranks.clear();  // kills
  if (limits.stop.stop_requested()) return fail(ErrorKind::cancelled, tr("The ring was cancelled."));
  if (news[n].ended)
    return fail(ErrorKind::failed,
                phrase("{} exited unexpectedly in turn {} ({}), and the ring was stopped.", who, news[n].turn, how));
  if (news[n].error) {
    std::string words = news[n].error->message;
    if (words.ends_with('.')) words.pop_back();
    return fail(news[n].error->kind, phrase("{}: {}.", who, words));
  }
  if (news[n].stopped)
    return fail(ErrorKind::failed,
                phrase("{}, stopped by a signal, did not report for {:g} s in turn {}, so the ring was stopped.", who,
                       limits.seconds, news[n].turn));
  return fail(ErrorKind::failed, phrase("{} did not report for {:g} s in turn {}, so the ring was stopped.", who,
                                        limits.seconds, news[n].turn));
}

Result<std::vector<Message>> ask_all(std::vector<Child>& ranks, const char* what, const RingLimits& limits) {
  if (ranks.empty()) return fail(ErrorKind::failed, tr("The ring has ended; start another ring."));
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    if (auto sent = send_to(ranks, n, {{"do", what}}, {}, limits); !sent) return tl::unexpected(sent.error());
  }
  return gather(ranks, limits);
}

Result<double> slowest_link(std::span<const Message> answers) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const Message& m : answers) {
    const auto text = parse_message(m.text);
    if (!text) return tl::unexpected(text.error());
    const auto us = text->value("us", std::vector<double>{});
    const double median = us.empty() ? 0 : statistics_of(us).median;
    if (median > 0) slowest = std::min(slowest, text->value("bytes", 0.0) / median);
  }
  return slowest;
}

}  // namespace attn
