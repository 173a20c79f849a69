#include "app/ring/gpu/gpu_ring.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "app/worker/messages.h"
#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/gpu/ring/ring_gradients.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
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

std::vector<std::byte> rows_for(const Problem& p, const GpuTurns& turns, std::int64_t rank, const Inputs& in) {
  std::vector<std::byte> block;
  const auto rows = turns.rows_of(rank);
  take_rows(in.q, rows, turns.heads_of(rank), block);
  take_rows(in.k, rows, turns.kv_heads_of(rank), block);
  take_rows(in.v, rows, turns.kv_heads_of(rank), block);
  if (p.pass == Pass::forward) return block;
  take_rows(*in.d_o, rows, turns.heads_of(rank), block);
  take_rows(*in.o, rows, turns.heads_of(rank), block);
  take_heads(*in.lse, rows, turns.heads_of(rank), block);
  return block;
}

// Calls use(offset in the tensor, bytes) for each chunk of each head.
template <class Use>
void for_each_chunk(const Array& t, std::span<const DealtRows> rows, const DealtRows& heads, const Use& use) {
  const std::size_t row = row_bytes_of(t);
  for (std::int64_t head = heads.first; head < heads.last; ++head)
    for (const DealtRows& r : rows)
      use(static_cast<std::size_t>(head * t.extent(2) + r.first) * row, static_cast<std::size_t>(r.count()) * row);
}

std::size_t bytes_of_rows(const Array& t, std::span<const DealtRows> rows, const DealtRows& heads) {
  std::size_t bytes = 0;
  for_each_chunk(t, rows, heads, [&](std::size_t, std::size_t count) { bytes += count; });
  return bytes;
}

// Its sums can leave in fp32, and it takes the problem.
Result<void> check_backward(const Problem& p, const GpuRingRequest& r) {
  const auto row = find_kernel(r.kernel);
  if (!row) return tl::unexpected(row.error());
  if (!gpu::has_ring_gradients(**row))
    return bad_input(phrase("{} cannot run a backward ring of GPUs; use {}.", r.kernel, kGpuBackwardRingKernel));
  const auto device = gpu::device_for((*row)->architectures.front());
  if (!device) return tl::unexpected(device.error());
  auto good = (*row)->supports(**row, p, r.options, *device);
  if (good || good.error().kind != ErrorKind::cannot_run) return good;
  return fail(ErrorKind::cannot_run,
              phrase("{} No other kernel can run a backward ring of GPUs.", good.error().message));
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

void take_heads(const Array& tensor, std::span<const DealtRows> rows, const DealtRows& heads,
                std::vector<std::byte>& block) {
  for_each_chunk(tensor, rows, heads, [&](std::size_t at, std::size_t count) {
    block.insert(block.end(), tensor.data() + at, tensor.data() + at + count);
  });
}

void put_heads(std::span<const std::byte>& block, std::span<const DealtRows> rows, const DealtRows& heads,
               Array& tensor) {
  for_each_chunk(tensor, rows, heads, [&](std::size_t at, std::size_t count) {
    std::memcpy(tensor.data() + at, block.data(), count);
    block = block.subspan(count);
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
  if (!(p.mask == plain) || p.has_bias() || p.alibi || p.storage.kind() != Storage::dense ||
      p.output != OutputType::as_inputs)
    return bad_input(
        tr("A ring of GPUs supports only a full or causal mask; omit window, key lengths, bias, ALiBi and pages."));
  if (p.pass == Pass::training)
    return bad_input(tr("A ring of GPUs supports a forward or a backward pass, not a training step."));
  const GpuTurns turns = turns_of(p, r);
  if (turns.most_pieces() < turns.pieces())
    return bad_input(r.deal == GpuDeal::heads ? phrase("{} KV heads cannot be divided among {} GPUs.", p.Hkv, ranks)
                                              : phrase("{} rows cannot be divided among {} GPUs in {} chunks.", p.Lq,
                                                       ranks, turns.pieces()));
  return p.pass == Pass::backward ? check_backward(p, r) : ok();
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
    if (auto sent = send_to(made.children_, n, to_json(request), rows_for(p, made.turns_, request.rank, in), limits);
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
  for (std::size_t n = 0; n < answers->size(); ++n)
    if (auto put = put_answer(n, (*answers)[n].bytes, out); !put) return tl::unexpected(put.error());
  return out;
}

Result<void> GpuRingProcesses::put_answer(std::size_t rank, std::span<const std::byte> bytes, Outputs& out) const {
  const auto n = static_cast<std::int64_t>(rank);
  const auto rows = turns_.rows_of(n);
  const DealtRows heads = turns_.heads_of(n), kv_heads = turns_.kv_heads_of(n);
  const bool backward = problem_.pass == Pass::backward;
  const std::size_t of_queries = backward ? bytes_of_rows(out.d_q, rows, heads) + bytes_of_rows(out.delta, rows, heads)
                                          : bytes_of_rows(out.out, rows, heads) + bytes_of_rows(out.lse, rows, heads);
  const std::size_t of_keys =
      backward ? bytes_of_rows(out.d_k, rows, kv_heads) + bytes_of_rows(out.d_v, rows, kv_heads) : 0;
  if (bytes.size() != of_queries + of_keys)
    return fail(ErrorKind::failed, phrase("{} returned {} bytes instead of {}.", part_of_ring(rank, opened_.size()),
                                          bytes.size(), of_queries + of_keys));
  if (backward) {
    put_heads(bytes, rows, heads, out.d_q);
    put_heads(bytes, rows, heads, out.delta);
    put_heads(bytes, rows, kv_heads, out.d_k);
    put_heads(bytes, rows, kv_heads, out.d_v);
    return ok();
  }
  const std::size_t o = bytes_of_rows(out.out, rows, heads);
  put_rows(bytes.first(o), rows, heads, out.out);
  bytes = bytes.subspan(o);
  put_heads(bytes, rows, heads, out.lse);
  return ok();
}

}  // namespace attn
