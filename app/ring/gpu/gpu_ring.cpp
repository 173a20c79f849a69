#include "app/ring/gpu/gpu_ring.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "app/worker/messages.h"
#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

using nlohmann::json;

std::size_t row_bytes_of(const Array& t) {
  const std::int64_t width = t.shape().size() > 3 ? t.extent(3) : 1;
  return static_cast<std::size_t>(width) * size_of(t.dtype());
}

// Calls use(offset in the tensor, offset in the block) for every row of every head, on all processors.
template <class Use>
void for_each_row(const Array& t, std::span<const DealtRows> rows, const DealtRows& heads, const Use& use) {
  const std::size_t row = row_bytes_of(t);
  std::int64_t before = 0;
  for (const DealtRows& r : rows) {
    on_threads(heads.count(), [&](std::int64_t n) {
      for (std::int64_t i = 0; i < r.count(); ++i) {
        const std::int64_t in_tensor = (heads.first + n) * t.extent(2) + r.first + i;
        const std::int64_t in_block = (before + i) * heads.count() + n;
        use(static_cast<std::size_t>(in_tensor) * row, static_cast<std::size_t>(in_block) * row);
      }
    });
    before += r.count();
  }
}

std::vector<std::byte> rows_for(const GpuTurns& turns, std::int64_t rank, const Inputs& in) {
  std::vector<std::byte> block;
  const auto rows = turns.rows_of(rank);
  take_rows(in.q, rows, turns.heads_of(rank), block);
  take_rows(in.k, rows, turns.kv_heads_of(rank), block);
  take_rows(in.v, rows, turns.kv_heads_of(rank), block);
  return block;
}

}  // namespace

double GpuRingRun::us() const {
  double first = std::numeric_limits<double>::infinity(), last = 0;
  for (const GpuRankTimes& r : ranks) {
    for (const RankSpan& s : r.spans) {
      first = std::min(first, s.begin_us);
      last = std::max(last, s.end_us);
    }
  }
  return last > first ? last - first : 0;
}

void take_rows(const Array& tensor, std::span<const DealtRows> rows, const DealtRows& heads,
               std::vector<std::byte>& block) {
  std::int64_t count = 0;
  for (const DealtRows& r : rows) count += r.count();
  const std::size_t row = row_bytes_of(tensor), at = block.size();
  block.resize(at + static_cast<std::size_t>(count * heads.count()) * row);
  for_each_row(tensor, rows, heads, [&](std::size_t in_tensor, std::size_t in_block) {
    std::memcpy(block.data() + at + in_block, tensor.data() + in_tensor, row);
  });
}

void put_rows(std::span<const std::byte> block, std::span<const DealtRows> rows, const DealtRows& heads,
              Array& tensor) {
  const std::size_t row = row_bytes_of(tensor);
  for_each_row(tensor, rows, heads, [&](std::size_t in_tensor, std::size_t in_block) {
    std::memcpy(tensor.data() + in_tensor, block.data() + in_block, row);
  });
}

GpuTurns turns_of(const Problem& p, const GpuRingRequest& r) {
  return {static_cast<std::int64_t>(r.gpus.size()), r.deal, p.mask.causal, p.Lq, p.Hq, p.Hkv};
}

Result<void> check_gpu_ring(const Problem& p, const GpuRingRequest& r) {
  const auto ranks = static_cast<std::int64_t>(r.gpus.size());
  if (ranks < 1) return bad_input(tr("A ring of GPUs needs at least one GPU."));
  if (std::set(r.gpus.begin(), r.gpus.end()).size() != r.gpus.size())
    return bad_input(tr("--gpus names a GPU twice; each rank needs its own GPU."));
  if (p.dtype == DType::f32) return bad_input(tr("A ring of GPUs supports only f16 and bf16; use --dtype."));
  if (p.B != 1) return bad_input(phrase("A ring of GPUs supports only one batch (B = 1), not {}.", p.B));
  if (p.Lq != p.Lk)
    return bad_input(phrase("A ring of GPUs needs the same number of keys as queries, not {} and {}.", p.Lk, p.Lq));
  if (p.D % 8 != 0 || p.Dv % 8 != 0)
    return bad_input(phrase("A ring of GPUs needs D and Dv that are multiples of 8, not {} and {}.", p.D, p.Dv));
  Mask plain;
  plain.causal = p.mask.causal;
  if (!(p.mask == plain) || p.has_bias() || p.alibi || p.storage.kind() != Storage::dense || p.pass != Pass::forward ||
      p.output != OutputType::as_inputs)
    return bad_input(
        tr("A ring of GPUs supports only a forward pass with a full or causal mask: omit window, key lengths, bias, "
           "ALiBi and pages."));
  const GpuTurns turns = turns_of(p, r);
  if (turns.most_pieces() < turns.pieces())
    return bad_input(r.deal == GpuDeal::heads ? phrase("{} KV heads cannot be divided among {} GPUs.", p.Hkv, ranks)
                                              : phrase("{} rows cannot be divided among {} GPUs in {} chunks.", p.Lq,
                                                       ranks, turns.pieces()));
  return ok();
}

Result<Child> GpuRingProcesses::start_program() {
  return Child::start({"worker", "--gpu-rank"});
}

Result<GpuRingProcesses> GpuRingProcesses::start(const Problem& p, const GpuRingRequest& r, const Inputs& in,
                                                 const RingLimits& limits, const Starter& start) {
  if (auto good = check_gpu_ring(p, r); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  GpuRingProcesses made(p, r, turns_of(p, r));
  const std::size_t ranks = r.gpus.size();
  for (std::size_t n = 0; n < ranks; ++n) {
    auto child = start();
    if (!child) return tl::unexpected(child.error());
    made.children_.push_back(*std::move(child));
  }
  for (std::size_t n = 0; n < ranks; ++n) {
    GpuOpenRequest request;
    request.rank = static_cast<std::int32_t>(n);
    request.gpu = r.gpus[n];
    request.kernel = r.kernel;
    request.problem = p;
    request.options = r.options;
    request.turns = made.turns_;
    request.travel = r.travel;
    request.spared_sms = r.travel == Travel::nccl && made.turns_.turns() > 1 ? r.spared_sms : 0;
    request.nccl_folder = r.nccl_folder;
    if (auto sent = send_to(made.children_, n, to_json(request), rows_for(made.turns_, request.rank, in), limits);
        !sent)
      return tl::unexpected(sent.error());
  }
  if (auto connected = made.connect(limits); !connected) return tl::unexpected(connected.error());
  return made;
}

Result<void> GpuRingProcesses::connect(const RingLimits& limits) {
  const auto answers = gather(children_, limits);
  if (!answers) return tl::unexpected(answers.error());
  for (const Message& m : *answers) {
    auto opened = parse_message(m.text).and_then(gpu_opened_from);
    if (!opened) return tl::unexpected(opened.error());
    opened_.push_back(*std::move(opened));
  }
  const std::size_t ranks = opened_.size();
  for (std::size_t n = 0; n < ranks; ++n) {
    const GpuConnectRequest request{opened_[(n + ranks - 1) % ranks].handles, opened_[(n + 1) % ranks].handles,
                                    opened_[0].id};
    if (auto sent = send_to(children_, n, to_json(request), {}, limits); !sent) return sent;
  }
  if (auto ready = gather(children_, limits); !ready) return tl::unexpected(ready.error());
  return ok();
}

Result<GpuRingRun> GpuRingProcesses::go(const RingLimits& limits) {
  const auto answers = ask_all(children_, "go", limits);
  if (!answers) return tl::unexpected(answers.error());
  GpuRingRun run;
  for (const Message& m : *answers) {
    auto times = parse_message(m.text).and_then(gpu_times_from);
    if (!times) return tl::unexpected(times.error());
    run.ranks.push_back(*std::move(times));
  }
  // A rank begins when the word reaches it: so far round the ring as its place says.
  const double round = run.ranks.front().barrier_us;
  for (std::size_t n = 0; n < run.ranks.size(); ++n) {
    const double later = round * static_cast<double>(n) / static_cast<double>(run.ranks.size());
    for (RankSpan& s : run.ranks[n].spans) s.begin_us += later, s.end_us += later;
  }
  return run;
}

Result<double> GpuRingProcesses::link(const RingLimits& limits) {
  const auto answers = ask_all(children_, "link", limits);
  if (!answers) return tl::unexpected(answers.error());
  return slowest_link(*answers);
}

Result<Outputs> GpuRingProcesses::fetch(const RingLimits& limits) {
  const auto answers = ask_all(children_, "fetch", limits);
  if (!answers) return tl::unexpected(answers.error());
  Outputs out = empty_outputs(problem_);
  for (std::size_t n = 0; n < answers->size(); ++n) {
    const auto rank = static_cast<std::int64_t>(n);
    const auto rows = turns_.rows_of(rank);
    const DealtRows heads = turns_.heads_of(rank);
    const std::int64_t elements = turns_.count_of(rank) * heads.count();
    const std::size_t o = static_cast<std::size_t>(elements) * row_bytes_of(out.out);
    const std::size_t lse = static_cast<std::size_t>(elements) * sizeof(float);
    const std::span<const std::byte> bytes = (*answers)[n].bytes;
    if (bytes.size() != o + lse)
      return fail(ErrorKind::failed, phrase("{} returned {} bytes instead of {}.", part_of_ring(n, answers->size()),
                                            bytes.size(), o + lse));
    put_rows(bytes.first(o), rows, heads, out.out);
    // LSE is [heads, rows].
    std::size_t at = o;
    for (std::int64_t h = heads.first; h < heads.last; ++h) {
      for (const DealtRows& r : rows) {
        const std::size_t count = static_cast<std::size_t>(r.count()) * sizeof(float);
        const auto to = static_cast<std::size_t>(h * problem_.Lq + r.first) * sizeof(float);
        std::memcpy(out.lse.data() + to, bytes.data() + at, count);
        at += count;
      }
    }
  }
  return out;
}

}  // namespace attn
