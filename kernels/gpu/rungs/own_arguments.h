// What the functions of a user's own kernel of api 2 are handed on a plan: the values of the parameters that its header
// lists. Pure: tensor maps are described, not encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/device/tensor_map.h"
#include "kernels/gpu/own_kernel/own_header.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// `plan.kernel` and `row` are the own kernel that the header is of.

// What a header's expressions may ask, of resolved options.
SizeValues sizes_of(const Problem& p, const Options& o);

// Where a kernel's own room lies in the workspace, from its beginning; each part starts at a multiple of 256 bytes.
struct OwnRoom {
  std::uint64_t at = 0, bytes = 0;
  bool zero = false;
};
struct OwnRooms {
  std::vector<OwnRoom> rooms;  // in the header's order
  std::uint64_t total = 0;     // of the workspace, all else included
};
Result<OwnRooms> rooms_of(const OwnHeader& header, const KernelRow& row, const Problem& p, const Options& resolved);

// By value, as the kernel declares it.
using OwnBytes = std::vector<std::byte>;
using OwnArgument = std::variant<OwnBytes, TensorTiles>;

// Those of each launch, in its order.
Result<std::vector<std::vector<OwnArgument>>> own_arguments(const OwnHeader& header, const Plan& plan,
                                                            const Buffers& buffers);
// The maps and values can be made, before anything is allocated: the error names the parameter.
Result<void> check_arguments(const OwnHeader& header, const Plan& plan);

// What was compiled declares what the header lists, or which parameter it does not. Nothing to say of a header of api 1
// and where the machine code does not tell.
Result<void> check_parameters(const OwnHeader& header, std::span<const std::byte> cubin);

}  // namespace attn::gpu
