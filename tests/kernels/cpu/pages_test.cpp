// K and V in pages: cpu_flash and the reference answer as they do without pages, however the pages lie; what the table
// or a page holds beyond a batch's key length is not read.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"
#include "kernels/recording/recording.h"

namespace attn {
namespace {

constexpr std::int64_t kPages[] = {1, 3, 16, 64, 256};

const KernelRow& flash() {
  return **find_kernel("cpu_flash");
}

Problem in_pages(std::int64_t page, std::int64_t spare = 2) {
  Problem p;
  p.B = 3;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 2;
  p.Lk = 150;
  p.D = 12;
  p.Dv = 20;
  p.storage.page = page;
  p.storage.pages = p.B * pages_of_batch(p) + spare;
  return p;
}

Inputs inputs(const Problem& p) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 3;
  return *make_inputs(p, spec);
}

// NaN in every row of the pools that no key of the problem lies in, and no page for keys that are not there.
void poison(const Problem& p, Inputs& in) {
  std::vector<std::uint8_t> used(static_cast<std::size_t>(p.storage.pages * p.Hkv * p.storage.page));
  for (std::int64_t b = 0; b < p.B; ++b)
    for (std::int64_t kv = 0; kv < p.Hkv; ++kv)
      for (std::int64_t c = 0; c < keys_of_batch(p, b); ++c)
        used[static_cast<std::size_t>(pool_row(p, in.page_table, b, kv, c))] = 1;
  for (std::int64_t row = 0; row < std::ssize(used); ++row) {
    if (used[static_cast<std::size_t>(row)] != 0) continue;
    for (std::int64_t d = 0; d < p.D; ++d) in.k.set(row * p.D + d, std::nanf(""));
    for (std::int64_t d = 0; d < p.Dv; ++d) in.v.set(row * p.Dv + d, std::nanf(""));
  }
}

TEST(Pages, GiveTheBitsOfDenseKeysAndPassTheRule) {
  for (const std::int64_t page : kPages) {
    for (const std::int64_t splits : {1, 5}) {
      for (const DType dtype : {DType::f32, DType::f16}) {
        Problem p = in_pages(page);
        p.dtype = dtype;
        p.mask.key_lengths = {150, 0, 67};
        p.mask.causal = true;
        Inputs in = inputs(p);
        poison(p, in);
        Options o;
        o.bc = 16;
        choose(o, kSplits, splits);
        const auto out = run_on_cpu(flash(), p, o, in, 0, {});
        ASSERT_TRUE(out) << out.error().message;
        const Inputs dense = gathered(p, in);
        EXPECT_TRUE(same_bits(*out, *run_on_cpu(flash(), without_pages(p), o, dense, 0, {}))) << "page " << page;
        const RowSample sample = choose_rows(p, true);
        const auto reference = reference_rows(p, in, sample.rows, 2, {});
        ASSERT_TRUE(reference) << reference.error().message;
        const Verdict v = judge(p, in, *reference, *out, sample);
        EXPECT_TRUE(v.pass) << "page " << page << ": " << v.reason;
        const auto plain = reference_rows(without_pages(p), dense, sample.rows, 2, {});
        EXPECT_EQ(reference->out, plain->out);
        EXPECT_EQ(reference->lse, plain->lse);
      }
    }
  }
}

// By key the numbers are those of the problem without pages; what no key fills was never written.
TEST(Pages, AreFilledByKeyAndTheRestIsNan) {
  for (const std::int64_t page : kPages) {
    Problem p = with_pages(in_pages(page), page);
    p.mask.key_lengths = {150, 0, 67};
    InputSpec spec;
    spec.generator = Generator::normal;
    spec.seed = 3;
    spec.edits = {{InputTensor::k, 5, 7.5F}};
    const Inputs in = *make_inputs(p, spec), dense = *make_inputs(without_pages(p), spec), out = gathered(p, in);
    EXPECT_EQ(in.q, dense.q);
    std::int64_t filled = 0;
    for (std::int64_t n = 0; n < in.k.size(); ++n) filled += std::isnan(in.k.get(n)) ? 0 : 1;
    EXPECT_EQ(filled, (150 + 67) * p.Hkv * p.D);
    for (std::int64_t b = 0; b < p.B; ++b)
      for (std::int64_t kv = 0; kv < p.Hkv; ++kv)
        for (std::int64_t c = 0; c < keys_of_batch(p, b); ++c)
          for (std::int64_t d = 0; d < p.Dv; ++d) {
            const std::int64_t at = ((b * p.Hkv + kv) * p.Lk + c) * p.Dv + d;
            ASSERT_EQ(out.v.get(at), dense.v.get(at));
          }
    EXPECT_EQ(out.k.get(5), 7.5F);
  }
}

// A wrong page shows: swapping two entries changes the answer.
TEST(Pages, AreReadWhereTheTableSaysTheyLie) {
  const Problem p = in_pages(16);
  Inputs in = inputs(p);
  const Outputs right = *run_on_cpu(flash(), p, {}, in, 0, {});
  std::swap(in.page_table.front(), in.page_table.back());
  EXPECT_FALSE(same_bits(right, *run_on_cpu(flash(), p, {}, in, 0, {})));
}

TEST(Pages, AreMadeInAnOrderOfWhichNothingFollowsEachOnce) {
  const Problem p = in_pages(3);
  const std::vector<std::int32_t> table = shuffled_pages(p, 5);
  EXPECT_EQ(table, shuffled_pages(p, 5));
  EXPECT_NE(table, shuffled_pages(p, 6));
  EXPECT_FALSE(std::ranges::is_sorted(table));
  std::vector<std::int32_t> sorted = table;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  EXPECT_TRUE(check_page_table(p, table, "here"));
}

TEST(Pages, InOrderHoldTheSameNumbersInOtherRowsAndGiveTheSameBits) {
  Problem p = in_pages(16);
  p.mask.key_lengths = {150, 0, 67};
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 3;
  const Inputs shuffled = *make_inputs(p, spec);
  spec.pages = PageOrder::in_order;
  const Inputs in_order = *make_inputs(p, spec);
  std::vector<std::int32_t> named;
  std::ranges::copy_if(in_order.page_table, std::back_inserter(named), [](std::int32_t page) { return page >= 0; });
  ASSERT_EQ(named.size(), 15U);  // 10 and 5 pages
  for (std::size_t n = 0; n < named.size(); ++n) EXPECT_EQ(named[n], static_cast<std::int32_t>(n));
  EXPECT_NE(shuffled.page_table, in_order.page_table);
  EXPECT_TRUE(check_page_table(p, in_order.page_table, "here"));
  const Inputs a = gathered(p, shuffled), b = gathered(p, in_order);
  EXPECT_EQ(a.k, b.k);
  EXPECT_EQ(a.v, b.v);
  for (const std::int64_t splits : {1, 5}) {
    Options o;
    o.bc = 16;
    choose(o, kSplits, splits);
    EXPECT_TRUE(same_bits(*run_on_cpu(flash(), p, o, shuffled, 0, {}), *run_on_cpu(flash(), p, o, in_order, 0, {})));
  }
}

// What-if: 0 x NaN takes every row of O of a batch whose last page has a tail within a tile, and no other. Whatever is
// finite in the tail changes no bit.
TEST(Pages, ATailThatIsNotZeroedTakesTheRowsOfItsBatchAlone) {
  Problem p = in_pages(16);
  p.mask.key_lengths = {150, 0, 67};
  Inputs in = inputs(p);
  for (const std::int64_t splits : {1, 5}) {
    Options o;
    o.bc = 16;
    choose(o, kSplits, splits);
    const Outputs right = *run_on_cpu(flash(), p, o, in, 0, {});
    choose(o, kZeroTail, 0);
    const Outputs lost = *run_on_cpu(flash(), p, o, in, 0, {});
    const std::int64_t batch = p.Hq * p.Lq * p.Dv;
    for (std::int64_t n = 0; n < p.B * batch; ++n) {
      ASSERT_TRUE(std::isfinite(right.out.get(n)));
      if (n / batch == 2) {
        ASSERT_TRUE(std::isnan(lost.out.get(n))) << n;
      } else {
        ASSERT_EQ(lost.out.get(n), right.out.get(n)) << n;
      }
    }
    Inputs written = in;
    for (Array* pool : {&written.k, &written.v})
      for (std::int64_t n = 0; n < pool->size(); ++n)
        if (std::isnan(pool->get(n))) pool->set(n, 3.0F);
    EXPECT_TRUE(same_bits(*run_on_cpu(flash(), p, o, written, 0, {}), right));
  }
}

TEST(Pages, TakeTheBytesOfWholePagesAndOfTheirEntries) {
  Problem p = in_pages(16);
  p.mask.key_lengths = {150, 0, 67};
  constexpr std::uint64_t kRow = (12 + 20) * 4;  // K and V of a key, of one head
  EXPECT_EQ(page_bytes(p), (PageBytes{.pages = 15,
                                      .fetched = std::uint64_t{15 * 16} * kRow * 2,
                                      .unused = std::uint64_t{15 * 16 - 217} * kRow * 2,
                                      .table = 60}));
  // Keys 60 to 66 lie in two pages; key 67 is none.
  EXPECT_EQ(page_bytes(p, 2, 60, 70),
            (PageBytes{.pages = 2, .fetched = 32 * kRow, .unused = (32 - 7) * kRow, .table = 8}));
  EXPECT_EQ(page_bytes(p, 1, 0, 16), PageBytes());
  p.mask.key_lengths.clear();
  EXPECT_EQ(page_bytes(p).pages, 30U);
  EXPECT_EQ(page_bytes(with_pages(p, 1)).unused, 0U);
}

TEST(Pages, OfAWrongTableAreRefusedInWords) {
  const Problem p = in_pages(64);
  Inputs in = inputs(p);
  const auto refusal = [&] {
    const auto run = run_on_cpu(flash(), p, {}, in, 0, {});
    const auto reference = reference_rows(p, in, choose_rows(p, true).rows, 1, {});
    EXPECT_FALSE(reference);
    return run ? std::string("taken") : run.error().message;
  };
  const std::vector<std::int32_t> good = in.page_table;
  in.page_table[4] = 11;
  EXPECT_EQ(refusal(), "The inputs: entry 1 of batch 1 in the page table is 11; the pool has pages 0 to 10.");
  in.page_table[4] = -1;
  EXPECT_EQ(refusal(), "The inputs: entry 1 of batch 1 in the page table is -1; the pool has pages 0 to 10.");
  in.page_table = good;
  in.page_table.pop_back();
  EXPECT_EQ(refusal(), "The inputs: the page table has 8 entries, but the problem needs 3 x 3.");
  in.page_table.clear();
  EXPECT_NE(refusal().find("has 0 entries"), std::string::npos);
}

TEST(Pages, AreRefusedByKernelsThatTakeDenseKeysAlone) {
  const Problem p = in_pages(16);
  for (const KernelRow& row : cpu_kernel_table()) {
    const auto run = run_on_cpu(row, p, {}, inputs(p), 0, {});
    const bool takes = std::ranges::find(row.storages, Storage::paged) != row.storages.end();
    EXPECT_EQ(run.has_value(), takes) << row.id;
    if (!run) {
      EXPECT_NE(run.error().message.find("dense"), std::string::npos) << run.error().message;
    }
  }
}

}  // namespace
}  // namespace attn
