#include "kernels/model/problem/tensor_bytes.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/base/text.h"

namespace attn {
namespace {

std::span<const std::byte> bytes_of(const Array& a) {
  return {a.data(), a.bytes()};
}

TensorBytes bytes_of(const ByTensor<const Array*>& arrays) {
  TensorBytes all;
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto t = static_cast<Tensor>(n);
    if (arrays.has(t)) all[t] = bytes_of(*arrays[t]);
  }
  return all;
}

}  // namespace

TensorBytes tensor_bytes_of(const Inputs& in) {
  TensorBytes all = bytes_of(arrays_of(in));
  all[Tensor::page_table] = std::as_bytes(std::span(in.page_table));
  return all;
}

TensorBytes tensor_bytes_of(const Inputs& in, const Problem& p) {
  const TensorBytes all = tensor_bytes_of(in);
  TensorBytes read;
  for (const TensorSpec& spec : tensors_of(p))
    if (spec.role == Role::in && !spec.in_problem) read[spec.tensor] = all[spec.tensor];
  return read;
}

Result<TensorBytes> split_inputs(const Problem& p, std::span<const std::byte> block) {
  TensorBytes parts;
  for (const TensorSpec& spec : tensors_of(p)) {
    if (spec.role != Role::in || spec.in_problem) continue;
    if (spec.bytes() > block.size())
      return bad_input(tr("the request's tensors have fewer bytes than the problem needs"));
    parts[spec.tensor] = block.first(static_cast<std::size_t>(spec.bytes()));
    block = block.subspan(parts[spec.tensor].size());
  }
  if (!block.empty()) return bad_input(tr("the request's tensors have more bytes than the problem needs"));
  return parts;
}

std::vector<std::span<const std::byte>> parts_of(const TensorBytes& tensors) {
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto t = static_cast<Tensor>(n);
    if (tensors.has(t)) parts.push_back(tensors[t]);
  }
  return parts;
}

std::vector<std::span<const std::byte>> parts_of(const Outputs& out) {
  return parts_of(bytes_of(arrays_of(out)));
}

Outputs empty_outputs(const Problem& p) {
  Outputs out;
  const ByTensor<Array*> arrays = arrays_of(out);
  for (const TensorSpec& spec : tensors_of(p)) {
    const auto dtype = dtype_of(spec.type);
    const bool kept = spec.role == Role::out || spec.tensor == Tensor::delta;
    if (kept && arrays.has(spec.tensor) && dtype) *arrays[spec.tensor] = Array(*dtype, spec.shape);
  }
  return out;
}

std::size_t take_outputs(std::span<const std::byte> block, Outputs& out) {
  const ByTensor<Array*> arrays = arrays_of(out);
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < kTensors; ++n)
    if (const Array* array = arrays[static_cast<Tensor>(n)]; array != nullptr) bytes += array->bytes();
  if (bytes > block.size()) return 0;
  std::size_t at = 0;
  for (std::size_t n = 0; n < kTensors; ++n) {
    Array* array = arrays[static_cast<Tensor>(n)];
    if (array == nullptr || array->bytes() == 0) continue;
    std::memcpy(array->data(), block.data() + at, array->bytes());
    at += array->bytes();
  }
  return bytes;
}

bool same_bits(const Outputs& a, const Outputs& b) {
  const ByTensor<const Array*> left = arrays_of(a), right = arrays_of(b);
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto t = static_cast<Tensor>(n);
    if (left.has(t) != right.has(t) || (left.has(t) && *left[t] != *right[t])) return false;
  }
  return true;
}

}  // namespace attn
