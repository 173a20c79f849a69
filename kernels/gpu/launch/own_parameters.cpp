#include "kernels/gpu/launch/own_parameters.h"

#include <variant>

#include "kernels/gpu/rungs/own_arguments.h"
#include "kernels/gpu/rungs/own_kernel.h"

namespace attn::gpu {

bool has_own_parameters(const KernelRow& row) {
  const OwnKernel* own = own_kernel(row);
  return own != nullptr && own->edits == nullptr && own->header.api > 1;
}

Result<std::vector<Parameters>> own_parameters(const Plan& plan, const Buffers& buffers, Queue& queue) {
  const auto lists = own_arguments(own_kernel(*plan.kernel)->header, plan, buffers);
  if (!lists) return tl::unexpected(lists.error());
  std::vector<Parameters> all;
  for (const std::vector<OwnArgument>& list : *lists) {
    Parameters& parameters = all.emplace_back();
    for (const OwnArgument& one : list) {
      if (const auto* const tiles = std::get_if<TensorTiles>(&one)) {
        auto map = queue.driver().encode(*tiles);
        if (!map) return tl::unexpected(map.error());
        parameters.add(*map);
      } else {
        parameters.add_bytes(std::get<OwnBytes>(one));
      }
    }
  }
  return all;
}

Result<void> clear_rooms(const Plan& plan, const Buffers& buffers, Queue& queue) {
  if (!has_own_parameters(*plan.kernel)) return ok();
  const auto rooms = rooms_of(own_kernel(*plan.kernel)->header, *plan.kernel, plan.problem, plan.options);
  if (!rooms) return tl::unexpected(rooms.error());
  for (const OwnRoom& room : rooms->rooms) {
    if (!room.zero || room.bytes == 0) continue;
    auto done = queue.driver().fill(reinterpret_cast<DevicePointer>(buffers.workspace) + room.at, 0, room.bytes,
                                    queue.stream());
    if (!done) return tl::unexpected(done.error());
  }
  return ok();
}

}  // namespace attn::gpu
