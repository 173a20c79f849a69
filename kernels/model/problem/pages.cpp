#include "kernels/model/problem/pages.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

// Calls `copy(by key, in the pool)` with the rows of every key that a batch has, of every KV head.
template <class Copy>
void each_row(const Problem& p, const std::vector<std::int32_t>& table, Copy copy) {
  for (std::int64_t b = 0; b < p.B; ++b) {
    const std::int64_t keys = keys_of_batch(p, b);
    for (std::int64_t kv = 0; kv < p.Hkv; ++kv)
      for (std::int64_t c = 0; c < keys; ++c) copy((b * p.Hkv + kv) * p.Lk + c, pool_row(p, table, b, kv, c));
  }
}

// Row `from` of one array to row `to` of another; both have so many bytes a row.
void copy_row(Array& out, std::int64_t to, const Array& in, std::int64_t from, std::size_t row) {
  std::memcpy(out.data() + static_cast<std::size_t>(to) * row, in.data() + static_cast<std::size_t>(from) * row, row);
}

Array gathered_of(const Problem& p, const std::vector<std::int32_t>& table, const Array& pool, std::int64_t columns) {
  Array dense(pool.dtype(), {p.B, p.Hkv, p.Lk, columns});
  const std::size_t row = static_cast<std::size_t>(columns) * size_of(pool.dtype());
  each_row(p, table, [&](std::int64_t key, std::int64_t paged) { copy_row(dense, key, pool, paged, row); });
  return dense;
}

Array pool_of(const Problem& p, const std::vector<std::int32_t>& table, const Array& by_key, std::int64_t columns) {
  constexpr int kNan = 0xff;  // all bits set are a NaN in every type
  Array pool(by_key.dtype(), {p.storage.pages, p.Hkv, p.storage.page, columns});
  std::memset(pool.data(), kNan, pool.bytes());
  const std::size_t row = static_cast<std::size_t>(columns) * size_of(pool.dtype());
  each_row(p, table, [&](std::int64_t key, std::int64_t paged) { copy_row(pool, paged, by_key, key, row); });
  return pool;
}

std::vector<std::int32_t> all_pages(const Problem& p) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(p.storage.pages));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// To the entries that a key needs, a batch after the other.
std::vector<std::int32_t> dealt(const Problem& p, const std::vector<std::int32_t>& order) {
  const std::int64_t columns = pages_of_batch(p);
  std::vector<std::int32_t> table;
  std::size_t next = 0;
  for (std::int64_t n = 0; n < p.B * columns; ++n) {
    const bool reached = n % columns * p.storage.page < keys_of_batch(p, n / columns);
    table.push_back(reached ? order[next++ % order.size()] : -1);
  }
  return table;
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
        phrase("{}: the page table has {} entries, but the problem needs {} x {}.", where, table.size(), p.B, columns));
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
  std::vector<std::int32_t> order = all_pages(p);
  std::mt19937_64 engine(seed);
  // std::shuffle is not the same everywhere; the engine is.
  for (std::size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[engine() % n]);
  return dealt(p, order);
}

std::vector<std::int32_t> pages_in_order(const Problem& p) {
  return dealt(p, all_pages(p));
}

PageBytes page_bytes(const Problem& p, std::int64_t b, std::int64_t first, std::int64_t last) {
  const std::int64_t page = p.storage.page, end = std::min(last, keys_of_batch(p, b));
  if (first >= end) return {};
  const std::int64_t pages = (end - 1) / page - first / page + 1;
  const std::int64_t row = (p.D + p.Dv) * static_cast<std::int64_t>(size_of(p.dtype));
  return {.pages = static_cast<std::uint64_t>(pages),
          .fetched = saturating_product({{pages, page, row}}),
          .unused = saturating_product({{pages * page - (end - first), row}}),
          .table = saturating_product({{pages, static_cast<std::int64_t>(sizeof(std::int32_t))}})};
}

PageBytes page_bytes(const Problem& p) {
  PageBytes all;
  const bool alike = p.mask.key_lengths.empty();
  for (std::int64_t b = 0; b < (alike ? 1 : p.B); ++b) {
    const PageBytes one = page_bytes(p, b, 0, p.Lk);
    const auto batches = static_cast<std::uint64_t>(alike ? p.B : 1), heads = static_cast<std::uint64_t>(p.Hkv);
    all.pages += one.pages * batches;
    all.fetched += one.fetched * batches * heads;
    all.unused += one.unused * batches * heads;
    all.table += one.table * batches;
  }
  return all;
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

Problem with_pages(Problem p, std::int64_t page) {
  p.storage = {page, 0};
  // An impossible size is left to validate().
  if (page < 1) return p;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  p.storage.pages = static_cast<std::int64_t>(std::min(kMost, saturating_product({{p.B, pages_of_batch(p) + 1}})));
  return p;
}

Inputs laid_into_pages(const Problem& p, Inputs by_key, std::vector<std::int32_t> table) {
  by_key.k = pool_of(p, table, by_key.k, p.D);
  by_key.v = pool_of(p, table, by_key.v, p.Dv);
  by_key.page_table = std::move(table);
  return by_key;
}

std::int64_t keys_read(const Problem& p, std::int64_t b, PageTail tail) {
  const std::int64_t keys = keys_of_batch(p, b), page = p.storage.page;
  if (tail == PageTail::zeroed) return keys;
  return std::min((keys + page - 1) / page * page, p.Lk);
}

void read_keys(const Problem& p, const Inputs& in, const Array& from, KeyHead head, std::int64_t first,
               std::int64_t count, float* to, PageTail tail) {
  const std::int64_t columns = from.extent(3);
  if (p.storage.kind() == Storage::dense) {
    from.read(((head.b * p.Hkv + head.kv) * p.Lk + first) * columns, count * columns, to);
    return;
  }
  const std::int64_t there = std::clamp<std::int64_t>(keys_read(p, head.b, tail) - first, 0, count);
  for (std::int64_t n = 0; n < there; ++n)
    from.read(pool_row(p, in.page_table, head.b, head.kv, first + n) * columns, columns, to + n * columns);
  std::fill(to + there * columns, to + count * columns, 0.0F);
}

}  // namespace attn
