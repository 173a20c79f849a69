#include "app/ring/ring.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/ring/listen.h"
#include "app/ring/rank.h"
#include "app/worker/messages.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

using nlohmann::json;

std::vector<std::byte> share_of(Pass pass, const DealtProblem& dealt, std::int64_t rank, const Inputs& in) {
  std::vector<std::byte> block;
  const auto arrays = arrays_of(in);
  for (const Tensor t : given_of_queries(pass)) take_dealt(*arrays[t], dealt.query_rows(rank), block);
  const auto keys = dealt.key_rows(rank);
  take_dealt(in.k, keys, block);
  take_dealt(in.v, keys, block);
  if (in.bias) block.insert(block.end(), in.bias->data(), in.bias->data() + in.bias->bytes());
  return block;
}

// Times from the first that began.
void count_from_first(std::vector<RankTimes>& ranks) {
  double first = 0;
  bool any = false;
  for (const RankTimes& r : ranks) {
    for (const RankSpan& s : r.spans) {
      first = any ? std::min(first, s.begin_us) : s.begin_us;
      any = true;
    }
  }
  for (RankTimes& r : ranks) {
    for (RankSpan& s : r.spans) s.begin_us -= first, s.end_us -= first;
  }
}

}  // namespace

Result<const KernelRow*> ring_kernel(Pass pass) {
  for (const Pass of : {pass, Pass::forward})
    for (const KernelRow* row : ladder_of(of))
      if (row->ring != nullptr) return row;
  return fail(ErrorKind::failed, "no kernel in the table can walk a ring");
}

double RingRun::us() const {
  double last = 0;
  for (const RankTimes& r : ranks) {
    for (const RankSpan& s : r.spans) last = std::max(last, s.end_us);
  }
  return last;
}

Result<Child> RingProcesses::start_program(const Socket& left, const Socket& right) {
  const Socket* const given[] = {&left, &right};
  return Child::start({"worker", "--rank"}, "", "", given);
}

Result<RingProcesses> RingProcesses::start(const KernelRow& row, const Problem& p, const Options& options,
                                           const Inputs& in, const RingLimits& limits, const Starter& start) {
  if (row.ring == nullptr)
    return bad_input(phrase("{} cannot walk a ring; {} can.", row.id, (*ring_kernel(p.pass))->id));
  const Device device = cpu_device();
  if (auto good = row.supports(row, p, options, device); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  Options asked = options;
  if (asked.threads == 0)
    asked.threads = std::max<std::int32_t>(1, device.cores / static_cast<std::int32_t>(ranks_of(options)));
  const auto plan = row.plan(row, p, asked, device);
  if (!plan) return tl::unexpected(plan.error());
  RingProcesses made(row, p, plan->options);

  const auto ranks = static_cast<std::size_t>(made.ring().ranks);
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
    if (auto sent =
            send_to(made.children_, n, to_json(request), share_of(p.pass, made.dealt_, request.rank, in), limits);
        !sent)
      return tl::unexpected(sent.error());
  }
  if (auto ready = gather(made.children_, limits); !ready) return tl::unexpected(ready.error());
  return made;
}

// What it answers follows one another.
Result<void> RingProcesses::put_answer(std::size_t rank, std::span<const std::byte> bytes, Outputs& out) const {
  const auto arrays = arrays_of(out);
  const auto queries = dealt_.query_rows(static_cast<std::int64_t>(rank)),
             keys = dealt_.key_rows(static_cast<std::int64_t>(rank));
  struct Piece {
    Array* tensor;
    const std::vector<DealtRows>* rows;
  };
  std::vector<Piece> pieces;
  for (const Tensor t : answered_of_queries(problem_.pass)) pieces.push_back({arrays[t], &queries});
  for (const Tensor t : answered_of_keys(problem_.pass)) pieces.push_back({arrays[t], &keys});
  std::size_t expected = 0;
  for (const Piece& p : pieces) expected += dealt_bytes(*p.tensor, *p.rows);
  if (bytes.size() != expected)
    return fail(ErrorKind::failed, phrase("{} returned {} bytes instead of {}.", part_of_ring(rank, children_.size()),
                                          bytes.size(), expected));
  for (const Piece& p : pieces) {
    const std::size_t count = dealt_bytes(*p.tensor, *p.rows);
    put_dealt(bytes.first(count), *p.rows, *p.tensor);
    bytes = bytes.subspan(count);
  }
  return ok();
}

Result<RingRun> RingProcesses::go(Outputs& out, const RingLimits& limits) {
  auto answers = ask_all(children_, "go", limits);
  if (!answers) return tl::unexpected(answers.error());
  out = empty_outputs(problem_);
  RingRun run;
  for (std::size_t n = 0; n < answers->size(); ++n) {
    const Message& m = (*answers)[n];
    const auto text = parse_message(m.text);
    if (!text) return tl::unexpected(text.error());
    auto spans = spans_from(text->value("spans", json::array()));
    if (!spans) return tl::unexpected(spans.error());
    if (auto put = put_answer(n, m.bytes, out); !put) return tl::unexpected(put.error());
    run.ranks.push_back({text->value("sent", std::uint64_t{0}), *std::move(spans)});
  }
  count_from_first(run.ranks);
  return run;
}

Result<double> RingProcesses::link(const RingLimits& limits) {
  if (children_.size() == 1) return 0.0;
  const auto answers = ask_all(children_, "link", limits);
  if (!answers) return tl::unexpected(answers.error());
  const auto slowest = slowest_link(*answers);
  return slowest && !std::isfinite(*slowest) ? Result<double>(0.0) : slowest;
}

}  // namespace attn
