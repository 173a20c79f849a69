#include "app/ring/dealt_rank.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/ring.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {
namespace {

// Bytes 0xff are NaN in f32, f16 and bf16.
Array unknown(DType dtype, const std::vector<std::int64_t>& shape) {
  Array a(dtype, shape);
  std::memset(a.data(), 0xff, a.bytes());
  return a;
}

// Of the problem, with nothing in them yet. A bias comes with the deal.
Inputs unknown_inputs(const Problem& p) {
  Inputs in;
  for (const TensorSpec& spec : tensors_of(p)) {
    const auto dtype = dtype_of(spec.type);
    if (spec.role != Role::in || !dtype) continue;
    if (spec.tensor == Tensor::q) in.q = unknown(*dtype, spec.shape);
    if (spec.tensor == Tensor::k) in.k = unknown(*dtype, spec.shape);
    if (spec.tensor == Tensor::v) in.v = unknown(*dtype, spec.shape);
    if (spec.tensor == Tensor::o) in.o = unknown(*dtype, spec.shape);
    if (spec.tensor == Tensor::lse) in.lse = unknown(*dtype, spec.shape);
    if (spec.tensor == Tensor::d_o) in.d_o = unknown(*dtype, spec.shape);
    if (spec.tensor == Tensor::bias) in.bias = unknown(*dtype, spec.shape);
  }
  return in;
}

// The input that a rank is given rows of.
Array& given(Inputs& in, Tensor t) {
  switch (t) {
    case Tensor::o:
      return *in.o;
    case Tensor::lse:
      return *in.lse;
    case Tensor::d_o:
      return *in.d_o;
    default:
      return in.q;
  }
}

}  // namespace

Result<std::unique_ptr<DealtRank>> DealtRank::from(const DealRequest& r, std::span<const std::byte> block) {
  const auto row = find_kernel(r.kernel);
  if (!row) return tl::unexpected(row.error());
  if ((*row)->ring == nullptr) return bad_input(fmt::format("{} cannot walk a ring", r.kernel));
  auto plan = (*row)->plan(**row, r.problem, r.options, cpu_device());
  if (!plan) return tl::unexpected(plan.error());
  return std::unique_ptr<DealtRank>(new DealtRank(*std::move(plan), r.rank, block));
}

DealtRank::DealtRank(Plan plan, std::int64_t rank, std::span<const std::byte> block)
    : plan_(std::move(plan)),
      dealt_(plan_.problem, plan_.options),
      rank_(rank),
      in_(unknown_inputs(plan_.problem)),
      out_(empty_outputs(plan_.problem)),
      workspace_(static_cast<std::size_t>(plan_.workspace_bytes)),
      crew_(plan_.options.threads),
      team_(plan_.options.threads, Stream{{}, nullptr, &crew_}),
      work_(plan_.kernel->ring->rank(plan_, placed(block), rank, team_)) {}

const Buffers& DealtRank::placed(std::span<const std::byte> block) {
  for (const Tensor t : given_of_queries(plan_.problem.pass)) {
    Array& tensor = given(in_, t);
    const auto rows = dealt_.query_rows(rank_);
    const std::size_t bytes = dealt_bytes(tensor, rows);
    put_dealt(block.first(bytes), rows, tensor);
    block = block.subspan(bytes);
  }
  const std::size_t bias = in_.bias ? in_.bias->bytes() : 0;
  if (in_.bias) std::memcpy(in_.bias->data(), block.last(bias).data(), bias);
  own_.assign(block.begin(), block.end() - static_cast<std::ptrdiff_t>(bias));
  buffers_ = buffers_of(in_, out_, workspace_.data());
  return buffers_;
}

std::size_t DealtRank::share_bytes(std::int64_t share) const {
  const auto rows = dealt_.key_rows(share);
  return dealt_bytes(in_.k, rows) + dealt_bytes(in_.v, rows);
}

Result<void> DealtRank::put_share(std::int64_t share, std::span<const std::byte> block) {
  const auto rows = dealt_.key_rows(share);
  if (block.size() != share_bytes(share))
    return fail(ErrorKind::failed,
                fmt::format("received a share of {} bytes instead of {}", block.size(), share_bytes(share)));
  const std::size_t k = dealt_bytes(in_.k, rows);
  put_dealt(block.first(k), rows, in_.k);
  put_dealt(block.subspan(k), rows, in_.v);
  return ok();
}

bool DealtRank::has_sums() const {
  return !answered_of_keys(plan_.problem.pass).empty() && ring().ranks > 1;
}

Result<std::vector<float>> DealtRank::floats_of(std::int64_t share, std::span<const std::byte> came) const {
  std::vector<float> sums(work_->sums_of(share));
  if (came.size() != sums.size() * sizeof(float))
    return fail(ErrorKind::failed,
                fmt::format("received sums of {} bytes instead of {}", came.size(), sums.size() * sizeof(float)));
  if (!sums.empty()) std::memcpy(sums.data(), came.data(), came.size());
  return sums;
}

Result<std::vector<std::byte>> DealtRank::sums(std::int64_t turn, std::span<const std::byte> came) {
  if (!has_sums()) return std::vector<std::byte>();
  const std::int64_t share = ring().share(rank_, turn);
  if (turn > 0) {
    const auto before = floats_of(share, came);
    if (!before) return tl::unexpected(before.error());
    work_->add_sums(share, *before);
  }
  std::vector<float> sums(work_->sums_of(share));
  work_->take_sums(share, sums);
  const auto bytes = std::as_bytes(std::span(sums));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<void> DealtRank::sums_home(std::span<const std::byte> came) {
  const auto sums = floats_of(rank_, came);
  if (!sums) return tl::unexpected(sums.error());
  work_->put_sums(rank_, *sums);
  work_->sums_home();
  return ok();
}

std::vector<std::byte> DealtRank::answer() const {
  std::vector<std::byte> block;
  const auto arrays = arrays_of(out_);
  for (const Tensor t : answered_of_queries(plan_.problem.pass))
    take_dealt(*arrays[t], dealt_.query_rows(rank_), block);
  for (const Tensor t : answered_of_keys(plan_.problem.pass)) take_dealt(*arrays[t], dealt_.key_rows(rank_), block);
  return block;
}

}  // namespace attn
