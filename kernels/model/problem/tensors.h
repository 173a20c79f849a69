// The tensors of a problem: their names, and what each is in the problem's pass and storage. Whatever runs over all
// of them (memory, a device's buffers, messages, files, verdicts) runs over this list.
//
// Letters: B batches, Hq and Hkv heads, Lq queries, Lk keys, D and Dv head dimensions (problem.h). `dtype` is the
// problem's, P its number of pages, T = ceil(Lk / page), N its splits.
//
//   name         shape, dense         type   forward  backward
//   q            [B, Hq, Lq, D]       dtype  in       in
//   k            [B, Hkv, Lk, D]      dtype  in       in        paged: [P, Hkv, page, D]
//   v            [B, Hkv, Lk, Dv]     dtype  in       in        paged: [P, Hkv, page, Dv]
//   bias         each 1 or the full   f32    in       in        where the problem has one; full: [B, Hq, Lq, Lk]
//   o            [B, Hq, Lq, Dv]      dtype  out      in        f32 where the problem's output is
//   lse          [B, Hq, Lq]          f32    out      in        natural logarithm
//   delta        [B, Hq, Lq]          f32             scratch   sum over a row of dO * O
//   do           [B, Hq, Lq, Dv]      dtype           in
//   dq           [B, Hq, Lq, D]       dtype           out
//   dk           [B, Hkv, Lk, D]      dtype           out
//   dv           [B, Hkv, Lk, Dv]     dtype           out
//   key_lengths  [B]                  i64    in       in        where the mask has them
//   slopes       [Hq] or [B, Hq]      f32    in       in        where the problem has ALiBi
//   page_table   [B, T]               i32    in                 paged: which page of the pool holds a batch's next keys
//   partial_o    [N, B, Hq, Lq, Dv]   f32    scratch            where keys are split: O of each part, divided by its l
//   partial_lse  [N, B, Hq, Lq]       f32    scratch            the LSE of each part
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/base/dtype.h"
#include "kernels/model/problem/problem.h"

namespace attn {

enum class Tensor : std::uint8_t {
  q,
  k,
  v,
  bias,
  o,
  lse,
  delta,
  d_o,
  d_q,
  d_k,
  d_v,
  key_lengths,
  slopes,
  page_table,
  partial_o,
  partial_lse,
};
constexpr std::size_t kTensors = 16;

// Files and the command line: "q", "do", "page_table".
std::string_view name_of(Tensor t);
std::optional<Tensor> tensor_from_name(std::string_view name);
// In sentences: "Q", "δ", "dO", "The page table".
std::string_view words_of(Tensor t);

// What a kernel does with a tensor. Scratch is its own: a plan counts it in its workspace, nobody outside fills or
// reads it.
enum class Role : std::uint8_t { in, out, scratch };
std::string_view name_of(Role role);  // "in", "out", "scratch"

struct TensorSpec {
  Tensor tensor = Tensor::q;
  Role role = Role::in;
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;
  // In elements, one an axis: of C order, or of the problem's layout where the tensor has axes of heads and rows (a
  // page counts as a batch); 0 along an axis that a bias repeats over. Saturate at 2^63 - 1.
  std::vector<std::int64_t> strides;
  // Its values stand in the Problem, on the host (key_lengths, slopes): a plan that wants them on the device counts
  // them in its workspace.
  bool in_problem = false;

  bool operator==(const TensorSpec&) const = default;
  std::string_view name() const { return name_of(tensor); }
  // Of the elements, without gaps; saturates at 2^63 - 1.
  std::uint64_t bytes() const;
};

// Those that the problem has in its pass and storage, in the order of the table above. The partial ones where
// `splits` is above 1.
std::vector<TensorSpec> tensors_of(const Problem& p, std::int64_t splits = 1);
// One of them; null where it is not there.
const TensorSpec* find(std::span<const TensorSpec> specs, Tensor t);

// A value for each tensor, found by its name. A T{} stands for none: a null pointer, an empty span, no array.
template <class T>
class ByTensor {
 public:
  T& operator[](Tensor t) { return values_[static_cast<std::size_t>(t)]; }
  const T& operator[](Tensor t) const { return values_[static_cast<std::size_t>(t)]; }
  bool has(Tensor t) const {
    if constexpr (requires(const T& value) { value.empty(); }) {
      return !(*this)[t].empty();
    } else {
      return static_cast<bool>((*this)[t]);
    }
  }

 private:
  std::array<T, kTensors> values_{};
};

// The arrays by their names; an input that is not given: null, an output of the other pass: without elements. They
// point into what is given.
ByTensor<const Array*> arrays_of(const Inputs& in);
ByTensor<Array*> arrays_of(Outputs& out);
ByTensor<const Array*> arrays_of(const Outputs& out);

}  // namespace attn
