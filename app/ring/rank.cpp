#include "app/ring/rank.h"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/ring/answering.h"
#include "app/ring/dealt_rank.h"
#include "app/ring/messages.h"
#include "app/worker/messages.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

using nlohmann::json;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One share on its way out and the next on its way in, each in a thread, while the caller computes.
class Exchange {
 public:
  Exchange(Socket& left, Socket& right, std::int64_t share, std::span<const std::byte> block) {
    sender_ = std::thread([this, &right, share, block] {
      sent_ = {now_us(), 0};
      const std::span<const std::byte> parts[] = {block};
      if (!right.send(json{{"share", share}}.dump(), parts, {})) gone_right_ = true;
      sent_.second = now_us();
    });
    receiver_ = std::thread([this, &left] {
      came_ = {now_us(), 0};
      if (auto message = left.receive({})) next_ = *std::move(message);
      came_.second = now_us();
    });
  }
  ~Exchange() { join(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The next share, once both ways are done; the error says who is gone.
  Result<Message> wait(std::int64_t turn, std::vector<RankSpan>& spans) {
    join();
    spans.push_back({RankWork::send, turn, sent_.first, sent_.second});
    spans.push_back({RankWork::receive, turn, came_.first, came_.second});
    if (gone_right_) return fail(ErrorKind::failed, phrase("its right neighbour disappeared in turn {}", turn));
    if (!next_) return fail(ErrorKind::failed, phrase("its left neighbour disappeared in turn {}", turn));
    return *std::move(next_);
  }

 private:
  void join() {
    if (sender_.joinable()) sender_.join();
    if (receiver_.joinable()) receiver_.join();
  }
  std::pair<double, double> sent_, came_;
  bool gone_right_ = false;
  std::optional<Message> next_;
  std::thread sender_, receiver_;  // last: they end before what they write
};

class RankProcess {
 public:
  RankProcess(Socket& asker, Socket& left, Socket& right) : asker_(asker), left_(left), right_(right) {}

  int live() {
    const auto error_of = [this](const Error& why) {
      json error = error_json(why, false);
      error["neighbour"] = neighbour_gone_;
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
    if (request->value("do", "") == "deal") return deal(*request, message.bytes);
    if (dealt_ == nullptr) return bad_input("a rank was started before it received any work");
    return request->value("do", "") == "link" ? link() : go();
  }

  Result<void> deal(const json& request, std::span<const std::byte> block) {
    const auto read = deal_request_from(request);
    if (!read) return tl::unexpected(read.error());
    auto dealt = DealtRank::from(*read, block);
    if (!dealt) return tl::unexpected(dealt.error());
    dealt_ = *std::move(dealt);
    send({{"is", "ready"}}, {});
    return ok();
  }

  // A rank alone has no neighbours.
  Result<void> link() {
    constexpr int kCopies = 7;
    std::vector<double> us;
    for (int n = 0; n < kCopies && dealt_->ring().ranks > 1; ++n) {
      std::vector<RankSpan> spans;
      Exchange exchange(left_, right_, dealt_->rank(), dealt_->own());
      if (auto next = exchange.wait(0, spans); !next) {
        neighbour_gone_ = true;
        return tl::unexpected(next.error());
      }
      if (n > 0) us.push_back(us_of(spans, RankWork::send));  // the first warms up
    }
    send({{"is", "done"}, {"us", us}, {"bytes", dealt_->own().size()}}, {});
    return ok();
  }

  // What goes to the right in a turn: K and V of its share, which the neighbour needs in the next one, and the sums of
  // the share that it had in the turn before, which the neighbour has now.
  Result<void> go() {
    const Ring& ring = dealt_->ring();
    std::vector<RankSpan> spans;
    std::vector<std::byte> keys = dealt_->own(), sums, came;
    std::size_t sent = 0;
    const auto timed = [&spans](std::int64_t turn, const auto& work) {
      const double begin = now_us();
      work();
      spans.push_back({RankWork::compute, turn, begin, now_us()});
    };
    for (std::int64_t turn = 0; turn < ring.ranks; ++turn) {
      const std::int64_t share = ring.share(dealt_->rank(), turn);
      const bool last = turn + 1 == ring.ranks;
      send({{"is", "news"}, {"turn", turn}, {"waits", false}}, {});
      std::vector<std::byte> block = last ? std::vector<std::byte>() : keys;
      block.insert(block.end(), sums.begin(), sums.end());
      std::optional<Exchange> exchange;
      if (!last || dealt_->has_sums()) {
        exchange.emplace(left_, right_, share, block);
        sent += block.size();
      }
      if (auto put = dealt_->put_share(share, keys); !put) return put;
      timed(turn, [&] {
        if (turn == 0) dealt_->work().begin();
        dealt_->work().turn(turn);
      });
      if (exchange) {
        auto next = take_next(*exchange, turn, spans);
        if (!next) return tl::unexpected(next.error());
        const std::size_t of_keys = last ? 0 : dealt_->share_bytes(ring.share(dealt_->rank(), turn + 1));
        if (next->bytes.size() < of_keys)
          return fail(ErrorKind::failed,
                      fmt::format("received {} bytes instead of at least {}", next->bytes.size(), of_keys));
        const auto split = next->bytes.begin() + static_cast<std::ptrdiff_t>(of_keys);
        keys.assign(next->bytes.begin(), split);
        came.assign(split, next->bytes.end());
      }
      if (!dealt_->has_sums()) continue;
      Result<std::vector<std::byte>> so_far = std::vector<std::byte>();
      timed(turn, [&] { so_far = dealt_->sums(turn, came); });
      if (!so_far) return tl::unexpected(so_far.error());
      sums = *std::move(so_far);
    }
    if (!dealt_->has_sums()) {
      timed(ring.ranks - 1, [&] { dealt_->work().finish(); });
    } else {
      // The last sums are the right neighbour's own: they go home.
      send({{"is", "news"}, {"turn", ring.ranks}, {"waits", false}}, {});
      Exchange exchange(left_, right_, ring.share(dealt_->rank(), ring.ranks), sums);
      sent += sums.size();
      timed(ring.ranks, [&] { dealt_->work().finish(); });
      const auto home = take_next(exchange, ring.ranks, spans);
      if (!home) return tl::unexpected(home.error());
      Result<void> stored = ok();
      timed(ring.ranks, [&] { stored = dealt_->sums_home(home->bytes); });
      if (!stored) return stored;
    }
    send({{"is", "done"}, {"spans", to_json(spans)}, {"sent", sent}}, dealt_->answer());
    return ok();
  }

  Result<Message> take_next(Exchange& exchange, std::int64_t turn, std::vector<RankSpan>& spans) {
    send({{"is", "news"}, {"turn", turn}, {"waits", true}}, {});
    const double begin = now_us();
    auto next = exchange.wait(turn, spans);
    spans.push_back({RankWork::wait, turn, begin, now_us()});
    if (!next) {
      neighbour_gone_ = true;
      return next;
    }
    const auto said = parse_message(next->text);
    const std::int64_t expected = dealt_->ring().share(dealt_->rank(), turn + 1);
    if (!said || said->value("share", std::int64_t{-1}) != expected)
      return fail(ErrorKind::failed,
                  fmt::format("expected share {} in turn {}, but received another share", expected, turn + 1));
    return next;
  }

  Socket &asker_, &left_, &right_;
  bool neighbour_gone_ = false;
  std::unique_ptr<DealtRank> dealt_;
};

}  // namespace

int work_as_rank(Socket& asker, Socket& left, Socket& right) {
  return RankProcess(asker, left, right).live();
}

}  // namespace attn
