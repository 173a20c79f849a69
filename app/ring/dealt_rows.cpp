#include "app/ring/dealt_rows.h"

#include <algorithm>

namespace attn {
namespace {

// Axes before and after the rows. LSE [B, H, L] has none after them.
std::int64_t heads_of(const Array& t) {
  return t.extent(0) * t.extent(1);
}
std::size_t row_bytes(const Array& t) {
  const std::int64_t width = t.shape().size() > 3 ? t.extent(3) : 1;
  return static_cast<std::size_t>(width) * size_of(t.dtype());
}

// Calls use(offset in the tensor, bytes) for each run of rows.
template <class Use>
void for_each_run(const Array& t, std::span<const DealtRows> rows, const Use& use) {
  const std::size_t row = row_bytes(t);
  for (std::int64_t head = 0; head < heads_of(t); ++head) {
    for (const DealtRows& r : rows)
      use(static_cast<std::size_t>(head * t.extent(2) + r.first) * row, static_cast<std::size_t>(r.count()) * row);
  }
}

}  // namespace

std::vector<DealtRows> dealt_to(const Ring& ring, const KeyParts& tiles, std::int64_t rank, std::int64_t side,
                                std::int64_t length) {
  std::vector<DealtRows> rows;
  for (std::int64_t n = 0; n < ring.chunks_each(); ++n) {
    const std::int64_t chunk = ring.chunk(rank, n);
    rows.push_back({std::min(tiles.first(chunk) * side, length), std::min(tiles.end(chunk) * side, length)});
  }
  return rows;
}

DealtProblem::DealtProblem(const Problem& p, const Options& o)
    : tiles(tiling_of(p, o)), ring(ring_of(o, tiles.ti, tiles.tj)), queries(p.Lq), keys(p.Lk) {}

std::span<const Tensor> given_of_queries(Pass pass) {
  static constexpr Tensor kForward[] = {Tensor::q}, kBackward[] = {Tensor::q, Tensor::o, Tensor::lse, Tensor::d_o};
  return pass == Pass::forward ? std::span<const Tensor>(kForward) : kBackward;
}

std::span<const Tensor> answered_of_queries(Pass pass) {
  static constexpr Tensor kForward[] = {Tensor::o, Tensor::lse}, kBackward[] = {Tensor::d_q, Tensor::delta};
  return pass == Pass::forward ? kForward : kBackward;
}

std::span<const Tensor> answered_of_keys(Pass pass) {
  static constexpr Tensor kBackward[] = {Tensor::d_k, Tensor::d_v};
  return pass == Pass::forward ? std::span<const Tensor>() : kBackward;
}

std::size_t dealt_bytes(const Array& tensor, std::span<const DealtRows> rows) {
  std::size_t bytes = 0;
  for_each_run(tensor, rows, [&](std::size_t, std::size_t count) { bytes += count; });
  return bytes;
}

void take_dealt(const Array& tensor, std::span<const DealtRows> rows, std::vector<std::byte>& block) {
  for_each_run(tensor, rows, [&](std::size_t at, std::size_t count) {
    block.insert(block.end(), tensor.data() + at, tensor.data() + at + count);
  });
}

void put_dealt(std::span<const std::byte> block, std::span<const DealtRows> rows, Array& tensor) {
  for_each_run(tensor, rows, [&](std::size_t at, std::size_t count) {
    std::ranges::copy(block.first(count), tensor.data() + at);
    block = block.subspan(count);
  });
}

}  // namespace attn
