// A problem whose K and V lie in pages, out of files.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy.h"
#include "kernels/formats/npy_whole.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

using PageShape = std::vector<std::int64_t>;

std::string said(const PageShape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// With axes of 1 in front until there are four.
PageShape of_four(PageShape shape) {
  if (shape.size() < 4) shape.insert(shape.begin(), 4 - shape.size(), 1);
  return shape;
}

// Q, K, V and, where there is one, the bias; each is opened once.
using Opened = std::vector<NpyFile>;

Result<void> check_pools(const Opened& files, std::int64_t page) {
  const PageShape &q = files[0].header().shape, &k = files[1].header().shape, &v = files[2].header().shape;
  if (q.size() < 2 || q.size() > 4)
    return bad_input(
        phrase("{} has shape {}; it must be [B, H, L, D], [H, L, D] or [L, D].", files[0].name(), said(q)));
  for (std::size_t n : {1, 2}) {
    const PageShape& pool = files[n].header().shape;
    if (pool.size() == 4 && pool[2] == page) continue;
    return bad_input(phrase("{} has shape {}; with --page {} it must be a pool [pages, H, {}, D].", files[n].name(),
                            said(pool), page, page));
  }
  if (k[0] != v[0] || k[1] != v[1])
    return bad_input(phrase(
        "{} is a pool of {} pages with {} heads, but {} is a pool of {} pages with {} heads; the two must match.",
        files[1].name(), k[0], k[1], files[2].name(), v[0], v[1]));
  if (k[3] != q.back())
    return bad_input(
        phrase("D is {} in {} and {} in {}; the two must be equal.", q.back(), files[0].name(), k[3], files[1].name()));
  return ok();
}

Result<std::vector<std::int32_t>> entries_of(const WholeNumbers& table, const std::string& name, std::int64_t batches) {
  const PageShape& shape = table.shape;
  const bool fits = (shape.size() == 2 && shape[0] == batches) || (shape.size() == 1 && batches == 1);
  if (!fits || shape.back() < 1)
    return bad_input(
        phrase("{} has shape {}; a page table is [B, pages per batch], here [{}, ...].", name, said(shape), batches));
  std::vector<std::int32_t> entries;
  for (const std::int64_t entry : table.values) {
    if (entry < std::numeric_limits<std::int32_t>::min() || entry > std::numeric_limits<std::int32_t>::max())
      return bad_input(phrase("{} names page {}, but page numbers must fit in 32 bits.", name, entry));
    entries.push_back(static_cast<std::int32_t>(entry));
  }
  return entries;
}

}  // namespace

Result<FileInputs> inputs_from_pages(const std::filesystem::path& q, const std::filesystem::path& k,
                                     const std::filesystem::path& v, const std::optional<std::filesystem::path>& bias,
                                     const PageFiles& pages, std::optional<DType> dtype, std::uint64_t max_bytes) {
  Opened files;
  for (const std::filesystem::path* name : {&q, &k, &v, bias ? &*bias : nullptr}) {
    if (name == nullptr) continue;
    Result<NpyFile> file = NpyFile::open(*name);
    if (!file) return tl::unexpected(file.error());
    files.push_back(*std::move(file));
  }
  if (auto good = check_pools(files, pages.page); !good) return tl::unexpected(good.error());
  std::uint64_t left = max_bytes == 0 ? free_memory() : max_bytes;
  const Result<WholeNumbers> table = read_npy_whole(pages.table, left);
  if (!table) return tl::unexpected(table.error());

  FileInputs result;
  Problem& p = result.problem;
  const PageShape rows = of_four(files[0].header().shape), &pool = files[1].header().shape;
  result.axes = files[0].header().shape.size();
  p.B = rows[0], p.Hq = rows[1], p.Lq = rows[2], p.D = rows[3];
  p.Hkv = pool[1];
  p.Dv = files[2].header().shape[3];
  p.dtype = dtype.value_or(files[0].header().dtype);
  p.storage = {pages.page, pool[0]};
  auto entries = entries_of(*table, pages.table.string(), p.B);
  if (!entries) return tl::unexpected(entries.error());
  result.inputs.page_table = *std::move(entries);
  p.Lk = table->shape.back() * pages.page;
  if (bias) p.bias_shape = of_four(files[3].header().shape);
  if (auto good = validate(p); !good) return tl::unexpected(good.error());

  std::array<Array, 4> arrays;
  for (std::size_t n = 0; n < files.size(); ++n) {
    Result<Array> array = files[n].read(left, n == 3 ? DType::f32 : p.dtype);
    if (!array) return tl::unexpected(array.error());
    left -= array->bytes();
    result.beyond += files[n].beyond();
    arrays[n] = std::move(*array).reshaped(of_four(files[n].header().shape));
  }
  result.inputs.q = std::move(arrays[0]);
  result.inputs.k = std::move(arrays[1]);
  result.inputs.v = std::move(arrays[2]);
  if (bias) result.inputs.bias = std::move(arrays[3]);
  return result;
}

}  // namespace attn
