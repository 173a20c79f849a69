#include "app/ring/rank.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/ring/answering.h"
#include "app/ring/dealt_rows.h"
#include "app/ring/messages.h"
#include "app/worker/messages.h"
#include "kernels/base/text.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/ring.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {
namespace {

using nlohmann::json;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Bytes 0xff are NaN in f32, f16 and bf16.
Array unknown(DType dtype, std::vector<std::int64_t> shape) {
  Array a(dtype, std::move(shape));
  std::memset(a.data(), 0xff, a.bytes());
  return a;
}

// What a rank was dealt, and the call that it works on.
class Dealt {
 public:
  static Result<std::unique_ptr<Dealt>> from(const DealRequest& r, std::span<const std::byte> block) {
    const auto row = find_kernel(r.kernel);
    if (!row) return tl::unexpected(row.error());
    if ((*row)->ring == nullptr) return bad_input(fmt::format("{} walks no ring", r.kernel));
    auto plan = (*row)->plan(**row, r.problem, r.options, cpu_device());
    if (!plan) return tl::unexpected(plan.error());
    return std::unique_ptr<Dealt>(new Dealt(*std::move(plan), r.rank, block));
  }

  const Ring& ring() const { return ring_; }
  std::int64_t rank() const { return rank_; }
  cpu::Team& team() { return team_; }
  const cpu::RingRank& work() const { return work_; }

  // K and V of its share, as it was dealt.
  const std::vector<std::byte>& own() const { return own_; }
  // K and V of a share, into memory.
  Result<void> put_share(std::int64_t of, std::span<const std::byte> block) {
    const auto rows = key_rows(of);
    const std::size_t k = dealt_bytes(in_.k, rows), v = dealt_bytes(in_.v, rows);
    if (block.size() != k + v)
      return fail(ErrorKind::failed, fmt::format("received a share of {} bytes instead of {}", block.size(), k + v));
    put_dealt(block.first(k), rows, in_.k);
    put_dealt(block.subspan(k), rows, in_.v);
    return ok();
  }
  std::vector<std::byte> answer() const {
    std::vector<std::byte> block;
    const auto rows = query_rows();
    take_dealt(out_.out, rows, block);
    take_dealt(out_.lse, rows, block);
    return block;
  }

 private:
  Dealt(Plan plan, std::int64_t rank, std::span<const std::byte> block)
      : plan_(std::move(plan)),
        in_{.q = unknown(plan_.problem.dtype, shape(plan_.problem.Hq, plan_.problem.Lq, plan_.problem.D)),
            .k = unknown(plan_.problem.dtype, shape(plan_.problem.Hkv, plan_.problem.Lk, plan_.problem.D)),
            .v = unknown(plan_.problem.dtype, shape(plan_.problem.Hkv, plan_.problem.Lk, plan_.problem.Dv))},
        bias_(plan_.problem.has_bias()),
        out_(empty_outputs(plan_.problem)),
        workspace_(static_cast<std::size_t>(plan_.workspace_bytes)),
        crew_(plan_.options.threads),
        team_(plan_.options.threads, Stream{{}, nullptr, &crew_}),
        rank_(rank),
        call_(plan_.problem, plan_.options, placed(block), plan_.kernel->order, Rules::vector),
        ring_(ring_of(call_.o, call_.at.ti, call_.at.tj)),
        work_(call_, *plan_.kernel->ring, rank) {
    const auto rows = query_rows();
    const std::size_t q = dealt_bytes(in_.q, rows);
    put_dealt(block.first(q), rows, in_.q);
    const std::size_t bias = bias_ ? in_.bias->bytes() : 0;
    own_.assign(block.begin() + static_cast<std::ptrdiff_t>(q), block.end() - static_cast<std::ptrdiff_t>(bias));
  }

  std::vector<std::int64_t> shape(std::int64_t heads, std::int64_t length, std::int64_t width) const {
    return {plan_.problem.B, heads, length, width};
  }
  // The bias comes last, whole.
  const Buffers& placed(std::span<const std::byte> block) {
    if (bias_) {
      in_.bias.emplace(DType::f32, plan_.problem.bias_shape);
      std::memcpy(in_.bias->data(), block.last(in_.bias->bytes()).data(), in_.bias->bytes());
    }
    buffers_ = buffers_of(in_, out_, workspace_.data());
    return buffers_;
  }
  std::vector<DealtRows> query_rows() const {
    return dealt_to(ring_, ring_.queries(), rank_, call_.at.br, plan_.problem.Lq);
  }
  std::vector<DealtRows> key_rows(std::int64_t of) const {
    return dealt_to(ring_, ring_.keys(), of, call_.at.bc, plan_.problem.Lk);
  }

  Plan plan_;
  Inputs in_;
  bool bias_;
  Outputs out_;
  cpu::AlignedBytes workspace_;
  Buffers buffers_;
  cpu::ThreadCrew crew_;
  cpu::Team team_;
  std::int64_t rank_;
  cpu::Call call_;
  Ring ring_;
  cpu::RingRank work_;
  std::vector<std::byte> own_;
};

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
    auto dealt = Dealt::from(*read, block);
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

  Result<void> go() {
    const Ring& ring = dealt_->ring();
    std::vector<RankSpan> spans;
    std::vector<std::byte> block = dealt_->own();
    std::size_t sent = 0;
    const auto timed = [&spans](std::int64_t turn, const auto& work) {
      const double begin = now_us();
      work();
      spans.push_back({RankWork::compute, turn, begin, now_us()});
    };
    for (std::int64_t turn = 0; turn < ring.ranks; ++turn) {
      const std::int64_t share = ring.share(dealt_->rank(), turn);
      send({{"is", "news"}, {"turn", turn}, {"waits", false}}, {});
      std::optional<Exchange> exchange;
      if (turn + 1 < ring.ranks) {
        exchange.emplace(left_, right_, share, block);
        sent += block.size();
      }
      if (auto put = dealt_->put_share(share, block); !put) return put;
      timed(turn, [&] {
        dealt_->work().pack(share, dealt_->team());
        dealt_->work().turn(turn, dealt_->team());
      });
      if (!exchange) continue;
      if (auto next = take_next(*exchange, turn, spans); next) {
        block = std::move(next->bytes);
      } else {
        return tl::unexpected(next.error());
      }
    }
    timed(ring.ranks - 1, [&] { dealt_->work().finish(dealt_->team()); });
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
                  fmt::format("expected share {} in turn {}, but received another", expected, turn + 1));
    return next;
  }

  Socket &asker_, &left_, &right_;
  bool neighbour_gone_ = false;
  std::unique_ptr<Dealt> dealt_;
};

}  // namespace

int work_as_rank(Socket& asker, Socket& left, Socket& right) {
  return RankProcess(asker, left, right).live();
}

}  // namespace attn
