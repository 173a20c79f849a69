#include "kernels/model/problem/pages.h"

#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "kernels/base/text.h"

namespace attn {
namespace {

Array gathered_of(const Problem& p, const std::vector<std::int32_t>& table, const Array& pool, std::int64_t columns) {
  Array dense(pool.dtype(), {p.B, p.Hkv, p.Lk, columns});
  const std::size_t row = static_cast<std::size_t>(columns) * size_of(pool.dtype());
  for (std::int64_t b = 0; b < p.B; ++b) {
    const std::int64_t keys = keys_of_batch(p, b);
    for (std::int64_t kv = 0; kv < p.Hkv; ++kv) {
      for (std::int64_t c = 0; c < keys; ++c) {
        const std::int64_t to = (b * p.Hkv + kv) * p.Lk + c, from = pool_row(p, table, b, kv, c);
        std::memcpy(dense.data() + static_cast<std::size_t>(to) * row,
                    pool.data() + static_cast<std::size_t>(from) * row, row);
      }
    }
  }
  return dense;
}

}  // namespace

std::int64_t pages_of_batch(const Problem& p) {
  return p.Lk / p.storage.page + (p.Lk % p.storage.page != 0 ? 1 : 0);
}

std::int64_t keys_of_batch(const Problem& p, std::int64_t b) {
  return p.mask.key_lengths.empty() ? p.Lk : p.mask.key_lengths[static_cast<std::size_t>(b)];
}

std::int64_t pool_row(const Problem& p, std::span<const std::int32_t> table, std::int64_t b, std::int64_t kv,
                      std::int64_t c) {
  const std::int64_t page = p.storage.page, entry = b * pages_of_batch(p) + c / page;
  return (table[static_cast<std::size_t>(entry)] * p.Hkv + kv) * page + c % page;
}

Result<void> check_page_table(const Problem& p, std::span<const std::int32_t> table, const std::string& where) {
  const std::int64_t columns = pages_of_batch(p);
  if (std::ssize(table) != p.B * columns) {
    return bad_input(
        phrase("{}: the page table has {} entries, the problem asks for {} x {}.", where, table.size(), p.B, columns));
  }
  for (std::int64_t n = 0; n < std::ssize(table); ++n) {
    const std::int64_t b = n / columns, at = n % columns;
    const bool reached = at * p.storage.page < keys_of_batch(p, b);
    const std::int32_t entry = table[static_cast<std::size_t>(n)];
    if (entry >= (reached ? 0 : -1) && entry < p.storage.pages) continue;
    return bad_input(phrase("{}: entry {} of batch {} in the page table is {}; the pool has pages 0 to {}.", where, at,
                            b, entry, p.storage.pages - 1));
  }
  return ok();
}

std::vector<std::int32_t> shuffled_pages(const Problem& p, std::uint64_t seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(p.storage.pages));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 engine(seed);
  // std::shuffle is not the same everywhere; the engine is.
  for (std::size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[engine() % n]);
  const std::int64_t columns = pages_of_batch(p);
  std::vector<std::int32_t> table;
  std::size_t next = 0;
  for (std::int64_t n = 0; n < p.B * columns; ++n) {
    const bool reached = n % columns * p.storage.page < keys_of_batch(p, n / columns);
    table.push_back(reached ? order[next++ % order.size()] : -1);
  }
  return table;
}

Problem without_pages(Problem p) {
  p.storage = {};
  return p;
}

Inputs gathered(const Problem& p, const Inputs& in) {
  Inputs dense = in;
  dense.page_table.clear();
  dense.k = gathered_of(p, in.page_table, in.k, p.D);
  dense.v = gathered_of(p, in.page_table, in.v, p.Dv);
  return dense;
}

}  // namespace attn
