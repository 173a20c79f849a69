// K and V in pages (problem.h): where a key lies, and a table of whole pages checked, made and undone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// Entries of a batch in the table; the problem is paged.
std::int64_t pages_of_batch(const Problem& p);
// Keys of the batch that are there: its key length.
std::int64_t keys_of_batch(const Problem& p, std::int64_t b);
// The row of K and V, of all pages and heads of the pool, that holds key c of KV head `kv` of batch b. The table has
// an entry for it.
std::int64_t pool_row(const Problem& p, std::span<const std::int32_t> table, std::int64_t b, std::int64_t kv,
                      std::int64_t c);

// As many numbers as the problem asks for; those that key lengths reach name pages of the pool, the others may be -1.
// `where` is for messages.
Result<void> check_page_table(const Problem& p, std::span<const std::int32_t> table, const std::string& where);

// Pages in an order of which nothing follows, each once while the pool has some; -1 beyond a batch's key length. The
// same for the same seed.
std::vector<std::int32_t> shuffled_pages(const Problem& p, std::uint64_t seed);

// The same as far as the table goes, but in the order of the keys, a batch after the other.
std::vector<std::int32_t> pages_in_order(const Problem& p);

// What whole pages cost of one KV head's keys [first, last) of a batch, or of all heads and keys, a batch's pages once
// each: from shapes alone. A kernel that reads rows one by one leaves out the unused ones.
struct PageBytes {
  std::uint64_t pages = 0, fetched = 0, unused = 0, table = 0;  // entries; bytes of K and V; of the table's entries

  bool operator==(const PageBytes&) const = default;
};
PageBytes page_bytes(const Problem& p, std::int64_t b, std::int64_t first, std::int64_t last);
PageBytes page_bytes(const Problem& p);

// The same problem, and its numbers, without pages: keys side by side, zeros beyond a batch's key length.
Problem without_pages(Problem p);
Inputs gathered(const Problem& p, const Inputs& in);

// The same problem in pages of `page` keys, in a pool that holds every batch's keys apart and a page a batch besides;
// 0: without pages.
Problem with_pages(Problem p, std::int64_t page);
// The same pages over the keys that it has now.
inline Problem paged_anew(Problem p) {
  const std::int64_t page = p.storage.page;
  return with_pages(std::move(p), page);
}
// K and V by key, laid into the pages that the table names. NaN where no key of a batch lies: such rows were never
// written, and who reads them shows.
Inputs laid_into_pages(const Problem& p, Inputs by_key, std::vector<std::int32_t> table);

// What a tile holds beyond a batch's last key: zeros, or what lies in the rest of its last page. Beyond that page it
// holds zeros, since the table names no other.
enum class PageTail : std::uint8_t { zeroed, as_it_lies };
// Keys of a batch that are read out of its pages: its own, or all rows of the pages that hold them.
std::int64_t keys_read(const Problem& p, std::int64_t b, PageTail tail);

// Keys [first, first + count) of a KV head, rows of `from`, which is K or V of these inputs; in fp32.
struct KeyHead {
  std::int64_t b = 0, kv = 0;
};
void read_keys(const Problem& p, const Inputs& in, const Array& from, KeyHead head, std::int64_t first,
               std::int64_t count, float* to, PageTail tail = PageTail::zeroed);

}  // namespace attn
