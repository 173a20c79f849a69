// Q, K, V and the bias that an InputSpec asks for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "kernels/base/pieces.h"
#include "kernels/base/result.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn {

// Of a backward dO as well; its O and LSE are left to a forward (kernels/cpu/backward/forward.h).
// Of K and V in pages the same numbers by key, laid into a pool through a table that names its pages in no order, or
// one after the other; what no key fills is NaN. Files and edits are by key, too. The caller has validated the problem
// and checked memory.
// Refuses files whose shape does not fit the problem (naming both), unreadable files and edits out of range.
// `take`: who generates the numbers; they are the same by all.
Result<Inputs> make_inputs(const Problem& p, const InputSpec& spec, const TakePieces& take = in_turn);

// The same where nobody may wait for all of it: what it generates is made before, in steps of `mark`, and given to it.
struct Generated {
  std::array<Array, 5> tensors;  // by InputTensor; empty: it is made, or comes from a file
};
Result<void> generate_tensors(const Problem& p, const InputSpec& spec, Generated& to, WalkMark& mark);
Result<Inputs> make_inputs(const Problem& p, const InputSpec& spec, Generated generated);

// The table of a problem in pages, as the spec orders them.
std::vector<std::int32_t> made_table(const Problem& p, const InputSpec& spec);

// One tensor out of a file of its shape, or of its last axes where those before are 1, in its own dtype; it takes at
// most `max_bytes` (0 = the machine's free memory).
// `order`: of the file's axes, where the tensor has heads and rows; the array is [B, H, L, D] in either.
Result<Array> tensor_from_file(const TensorSpec& spec, const std::filesystem::path& file, std::uint64_t max_bytes,
                               AxisOrder order = AxisOrder::bhld);

// What a set of files describes.
struct FileInputs {
  Problem problem;  // no mask, default scale
  Inputs inputs;
  std::int64_t beyond = 0;  // numbers that are finite in their file and beyond the dtype
  // Of q: 4 = [B,H,L,D] or [B,L,H,D], 3 = [H,L,D] or [L,H,D], 2 = [L,D]; the axes that are missing are 1.
  std::size_t axes = 4;
};

// dtype: that of q unless `dtype` says otherwise; f8 is converted to f32, or to `dtype` in one rounding.
// Refused before the tensors are allocated when they take more than `max_bytes` (0 = the machine's free memory).
// `order`: of the axes of the files of Q, K and V; the arrays are [B, H, L, D] in either, LSE and bias always.
Result<FileInputs> inputs_from_files(const std::filesystem::path& q, const std::filesystem::path& k,
                                     const std::filesystem::path& v, const std::optional<std::filesystem::path>& bias,
                                     std::optional<DType> dtype, std::uint64_t max_bytes = 0,
                                     AxisOrder order = AxisOrder::bhld);

// K and V as a pool of pages, [P,Hkv,page,D] and [P,Hkv,page,Dv], and a table [B,T] of i4 or i8 that names a page for
// every `page` keys of a batch; Lk is T * page. Fewer keys are key lengths.
struct PageFiles {
  std::filesystem::path table;
  std::int64_t page = 0;
};
Result<FileInputs> inputs_from_pages(const std::filesystem::path& q, const std::filesystem::path& k,
                                     const std::filesystem::path& v, const std::optional<std::filesystem::path>& bias,
                                     const PageFiles& pages, std::optional<DType> dtype, std::uint64_t max_bytes = 0);

}  // namespace attn
