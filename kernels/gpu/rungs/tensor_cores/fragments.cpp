#include "kernels/gpu/rungs/tensor_cores/fragments.h"

#include <fmt/format.h>

#include "kernels/gpu/rungs/tensor_cores/mma_layout.h"

namespace attn::gpu {
namespace {

constexpr std::int32_t kChunkBytes = 16, kRegisterBytes = 4, kLanes = 32;

}  // namespace

ElementPlace by_ldmatrix(OfLane row_of, OfLane chunk_of, std::int32_t row, std::int32_t column, std::int32_t bytes) {
  const std::int32_t chunk = column * bytes / kChunkBytes, at = column * bytes % kChunkBytes;
  for (int lane = 0; lane < kLanes; ++lane)
    if (row_of(lane) == row && chunk_of(lane) == chunk)
      return {lane % 8 * 4 + at / kRegisterBytes, lane / 8, at % kRegisterBytes / bytes % 2};
  return {-1, -1, -1};
}

ElementPlace by_ldmatrix_transposed(OfLane row_of, OfLane chunk_of, std::int32_t row, std::int32_t column) {
  constexpr std::int32_t kSide = 8;
  for (int lane = 0; lane < kLanes; ++lane)
    if (row_of(lane) == row && chunk_of(lane) == column / kSide)
      return {column % kSide * 4 + lane % 8 / 2, lane / 8, lane % 2};
  return {-1, -1, -1};
}

ElementPlace in_two_sums(std::int32_t row, std::int32_t column) {
  const FragmentPlace p = fragment_c(row, column % 8);
  return {p.lane, p.reg + 4 * (column / 8), 0};
}

std::int32_t byte_of(std::int32_t row, std::int32_t chunk, std::int32_t width, bool swizzle) {
  return kChunkBytes * (swizzle ? swizzled(row, chunk, width) : row * width + chunk);
}

SharedUse read_by_ldmatrix(OfLane row_of, OfLane chunk_of, std::int32_t width, bool swizzle) {
  SharedUse use{16, width, {}};
  for (int matrix = 0; matrix < 4; ++matrix) {
    auto& moment = use.moments.emplace_back();
    for (int lane = 8 * matrix; lane < 8 * matrix + 8; ++lane)
      moment.push_back({lane, byte_of(row_of(lane), chunk_of(lane), width, swizzle), kChunkBytes});
  }
  return use;
}

std::string register_of_a(const ElementPlace& place) {
  return fmt::format("a{}", place.reg);
}

std::string register_of_c(const ElementPlace& place) {
  return fmt::format("c{}{}", place.reg % 4, place.reg / 4 == 0 ? "" : "'");
}

FragmentRow two_sums(std::string_view operand, std::string_view words) {
  FragmentRow row;
  row.extent = {16, 16};
  row.place = in_two_sums;
  row.register_name = register_of_c;
  row.operand = operand;
  row.words = words;
  row.shared_words = kNeverShared;
  return row;
}

FragmentRow weights_in_a(std::string_view operand, std::string_view words) {
  FragmentRow row = two_sums(operand, words);
  row.place = [](std::int32_t r, std::int32_t c) {
    const FragmentPlace p = fragment_a(r, c);
    return ElementPlace{p.lane, p.reg, p.half};
  };
  row.register_name = register_of_a;
  row.halves = true;
  return row;
}

}  // namespace attn::gpu
