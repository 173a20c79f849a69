#include "kernels/gpu/rungs/hopper/hopper_copy.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/hopper/hopper_args.h"

namespace attn::gpu {
namespace {

constexpr std::int64_t kUnit = 8;          // elements of 16 bytes
constexpr std::uint64_t kAlignment = 256;  // bytes, of each copy in the workspace
constexpr std::int64_t kCopyThreads = 256;
constexpr std::array kMapped = {Tensor::q, Tensor::k, Tensor::v, Tensor::o};

// O in fp32 leaves without a map.
bool has_map(const Problem& p, Tensor t) {
  return t != Tensor::o || p.output_dtype() != DType::f32;
}

bool has_rows_on_16_bytes(const TensorSpec& spec) {
  return std::all_of(spec.strides.begin(), spec.strides.end() - 1, [](std::int64_t s) { return s % kUnit == 0; });
}

std::uint64_t rounded_up(std::uint64_t n) {
  return (n + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t bytes_of(const TensorCopy& c) {
  const std::int64_t factors[] = {2, c.spec.shape[0], c.strides[0]};
  return saturating_product(factors);
}

}  // namespace

std::int64_t padded_columns(std::int64_t columns) {
  return (columns + kUnit - 1) / kUnit * kUnit;
}

bool needs_copies(const Problem& p) {
  const std::vector<TensorSpec> specs = tensors_of(p);
  return std::ranges::any_of(kMapped,
                             [&](Tensor t) { return has_map(p, t) && !has_rows_on_16_bytes(*attn::find(specs, t)); });
}

std::vector<TensorCopy> copies_of(const Problem& p, Copies copies, std::uint64_t from) {
  std::vector<TensorCopy> all;
  if (copies == Copies::none) return all;
  const std::vector<TensorSpec> specs = tensors_of(p);
  for (const Tensor t : kMapped) {
    if (!has_map(p, t)) continue;
    const TensorSpec& spec = *attn::find(specs, t);
    if (copies == Copies::needed && has_rows_on_16_bytes(spec)) continue;
    const std::int64_t row = padded_columns(spec.shape[3]), head = row * spec.shape[2];
    all.push_back({spec, {head * spec.shape[1], head, row, 1}, rounded_up(from)});
    from = all.back().at + bytes_of(all.back());
  }
  return all;
}

const TensorCopy* find(const std::vector<TensorCopy>& copies, Tensor t) {
  const auto at = std::ranges::find_if(copies, [&](const TensorCopy& c) { return c.spec.tensor == t; });
  return at == copies.end() ? nullptr : &*at;
}

std::uint64_t end_of(const std::vector<TensorCopy>& copies, std::uint64_t from) {
  return copies.empty() ? from : copies.back().at + bytes_of(copies.back());
}

std::vector<Launch> copy_launches(const std::vector<TensorCopy>& copies, Role role) {
  std::int64_t blocks = 0, count = 0;
  for (const TensorCopy& c : copies) {
    if (c.spec.role != role) continue;
    blocks = std::max(blocks, c.spec.shape[0] * c.spec.shape[1] * tiles(c.spec.shape[2], kCopyRows));
    ++count;
  }
  if (count == 0) return {};
  Launch l = launch_of(role == Role::in ? "hopper_copy_in" : "hopper_copy_out", blocks, kCopyThreads, 1, 0);
  l.grid[1] = count;
  return {l};
}

std::string words_of(const Problem& p, Copies copies) {
  std::string names;
  std::uint64_t bytes = 0;
  for (const TensorCopy& c : copies_of(p, copies, 0)) {
    names += (names.empty() ? "" : ", ") + std::string(attn::words_of(c.spec.tensor));
    bytes += bytes_of(c);
  }
  if (names.empty()) return names;
  return phrase("; copies of {} with rows aligned to 16 bytes, {} in total", names, format_bytes(bytes));
}

}  // namespace attn::gpu
