#include "viz/step/charts/pages.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/problem/pages.h"
#include "viz/step/charts/traffic.h"

namespace attn {
namespace {

std::vector<float> shades_of(const Array& from, std::int64_t row, const TensorScale& scale) {
  const std::int64_t columns = from.extent(3);
  std::vector<float> values(static_cast<std::size_t>(columns));
  from.read(row * columns, columns, values.data());
  for (float& x : values) x = scale.shade(x);
  return values;
}

// The pages as the table's lines name them.
class Pool {
 public:
  Pool(const Recording& rec, const StepPlace& at, const TensorScales& scales)
      : rec_(rec), p_(rec.problem), at_(at), scales_(scales), tile_(keys_of_tile(rec, at)) {
    pages_.resize(static_cast<std::size_t>(p_.storage.pages));
    for (std::size_t n = 0; n < pages_.size(); ++n) {
      pages_[n].number = static_cast<std::int32_t>(n);
      pages_[n].rows.resize(static_cast<std::size_t>(p_.storage.page));
      pages_[n].words = phrase("Page {}: free", n);
    }
    // The batch at hand comes first: a page that several share is its own.
    name_pages(at_.b);
    for (std::int32_t b = 0; b < p_.B; ++b)
      if (b != at_.b) name_pages(b);
  }
  std::vector<PoolPage> take() { return std::move(pages_); }

 private:
  void name_pages(std::int32_t b) {
    const std::int64_t keys = keys_of_batch(p_, b), page = p_.storage.page;
    for (std::int64_t first = 0; first < keys; first += page) {
      const std::int64_t entry = first / page;
      const std::int32_t number = rec_.inputs.page_table[static_cast<std::size_t>(b * pages_of_batch(p_) + entry)];
      PoolPage& to = pages_[static_cast<std::size_t>(number)];
      if (to.b >= 0) continue;
      to.b = b;
      to.entry = static_cast<std::int32_t>(entry);
      const std::int64_t last = std::min(first + page, keys);
      const bool live = b == at_.b && tile_.first < last && first < tile_.last;
      to.look = b != at_.b ? PageLook::other : live ? PageLook::gathered : PageLook::own;
      to.words = last - first == 1 ? phrase("Page {}: key {} of batch {}", number, first, b)
                                   : phrase("Page {}: keys {} to {} of batch {}", number, first, last - 1, b);
      for (std::int64_t key = first; key < last; ++key)
        to.rows[static_cast<std::size_t>(key - first)] = row_of_key(b, key);
    }
  }

  PageRow row_of_key(std::int32_t b, std::int64_t key) const {
    PageRow row;
    row.key = static_cast<std::int32_t>(key);
    row.look = b == at_.b && tile_.has(key) ? PageRowLook::gathered : PageRowLook::key;
    if (b != at_.b || rec_.inputs.k.size() + rec_.inputs.v.size() > kMostPoolCells) return row;
    const std::int64_t at = pool_row(p_, rec_.inputs.page_table, b, p_.kv_head(at_.h), key);
    row.k_shade = shades_of(rec_.inputs.k, at, scale_of(scales_, Slot::k));
    row.v_shade = shades_of(rec_.inputs.v, at, scale_of(scales_, Slot::v));
    return row;
  }

  const Recording& rec_;
  const Problem& p_;
  const StepPlace& at_;
  const TensorScales& scales_;
  const TileKeys tile_;
  std::vector<PoolPage> pages_;
};

std::optional<EventIndex> loaded_at(const Recording& rec, const StepPlace& at, std::int32_t b, std::int64_t key) {
  const auto j = static_cast<std::int32_t>(key / std::max(at.bc, 1));
  const std::int32_t h = b == at.b ? at.h : 0, i = std::max(at.i, 0);
  if (const auto e = rec.find({b, h, i, j, Phase::load_kv})) return e;
  return rec.find({b, h, i, j, Phase::skipped});
}

std::vector<TableLine> lines_of(const Recording& rec, const StepPlace& at) {
  const Problem& p = rec.problem;
  const std::int64_t columns = pages_of_batch(p), page = p.storage.page;
  const TileKeys tile = keys_of_tile(rec, at);
  std::vector<TableLine> lines;
  for (std::int32_t b = 0; b < p.B; ++b) {
    TableLine line{b, b == at.b, {}};
    const std::int64_t keys = keys_of_batch(p, b);
    for (std::int64_t n = 0; n < columns; ++n) {
      TableEntry entry;
      entry.first_key = static_cast<std::int32_t>(n * page);
      entry.last_key = static_cast<std::int32_t>(std::min((n + 1) * page, p.Lk) - 1);
      if (entry.first_key < keys) {
        entry.page = rec.inputs.page_table[static_cast<std::size_t>(b * columns + n)];
        entry.event = loaded_at(rec, at, b, entry.first_key);
        entry.gathered = line.own && tile.first <= entry.last_key && entry.first_key < tile.last;
      }
      line.entries.push_back(entry);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

TextRuns gathered_words(const Recording& rec, const StepPlace& at) {
  const TileKeys tile = keys_of_tile(rec, at);
  if (tile.first >= tile.last)
    return {word(tr("No K or V is on chip. The next step that loads a tile gathers its rows."))};
  const std::string pages = pages_of_tile_words(rec, at);
  if (tile.last - tile.first == 1)
    return woven(phrase("Key {} lies in {}.", place(0), place(1)), {number(std::to_string(tile.first)), number(pages)});
  return woven(phrase("Keys {} to {} lie in {}.", place(0), place(1), place(2)),
               {number(std::to_string(tile.first)), number(std::to_string(tile.last - 1)), number(pages)});
}

TextRuns followed_words(const Recording& rec, const StepPlace& at, std::int32_t key) {
  const Problem& p = rec.problem;
  if (key < 0 || key >= keys_of_batch(p, at.b)) return {};
  const std::int64_t page = p.storage.page, entry = key / page, row = key % page;
  const std::int32_t number_of = rec.inputs.page_table[static_cast<std::size_t>(at.b * pages_of_batch(p) + entry)];
  return woven(
      phrase("Key {}: {} of the table holds page {}, and the key's row is {}.", place(0), place(1), place(2), place(3)),
      {number(std::to_string(key)), number(phrase("entry {} / {} = {}", key, page, entry)),
       number(std::to_string(number_of)), number(fmt::format("{} mod {} = {}", key, page, row))});
}

// What whole pages take and leave unused. The run itself reads rows; a copy of pages reads these.
std::string cost_words(const Recording& rec, const StepPlace& at) {
  const TileKeys tile = keys_of_tile(rec, at);
  if (tile.first >= tile.last) return {};
  const PageBytes cost = page_bytes(rec.problem, at.b, tile.first, tile.last);
  return phrase("Whole pages: {} read ({} unused), page table: {}", bytes_text(cost.fetched), bytes_text(cost.unused),
                bytes_text(cost.table));
}

std::vector<PageSizeLine> size_lines(const Problem& p) {
  constexpr std::int64_t kShown[] = {1, 2, 4, 8, 16};
  std::set<std::int64_t> sizes(std::begin(kShown), std::end(kShown));
  sizes.insert(p.storage.page);
  std::vector<PageSizeLine> lines;
  for (const std::int64_t page : sizes) {
    const PageBytes cost = page_bytes(with_pages(p, page));
    lines.push_back({static_cast<std::int32_t>(page), bytes_text(cost.fetched), bytes_text(cost.unused),
                     bytes_text(cost.table), page == p.storage.page});
  }
  return lines;
}

// A run that leaves the tail as it lies: S is masked there all the same, PV is not.
TextRuns untouched_words(const TileKeys& tail) {
  using enum TensorColour;
  const TextRuns pieces{letter("K", k),
                        letter("V", v),
                        number("0 × nan = nan"),
                        letter("S", s),
                        number(fmt::format("{}", tail.first)),
                        number(fmt::format("{}", tail.last - 1))};
  if (tail.last - tail.first == 1)
    return woven(phrase("Key {} is missing, and {} and {} hold whatever is in the page. The mask hides the key in {}. "
                        "A weight of 0 is not enough: {}.",
                        place(4), place(0), place(1), place(3), place(2)),
                 pieces);
  return woven(phrase("Keys {} to {} are missing, and {} and {} hold whatever is in the page. The mask hides the keys "
                      "in {}. A weight of 0 is not enough: {}.",
                      place(4), place(5), place(0), place(1), place(3), place(2)),
               pieces);
}

// Two cures for two kinds of nothing: rows that no key fills are not read; keys that a tile lacks are 0.
TextRuns tail_words(const Recording& rec, const StepPlace& at) {
  const TileKeys tile = keys_of_tile(rec, at);
  if (tile.end == 0) return {};
  if (loads_tail(rec, at)) return untouched_words(tail_of_tile(rec, at));
  if (!tile.lacks_some()) {
    const std::int64_t keys = keys_of_batch(rec.problem, at.b), over = keys % rec.problem.storage.page;
    if (over == 0 || tile.last < keys) return {};
    const std::int64_t rows = rec.problem.storage.page - over;
    if (rows == 1) return {word(tr("The last row of the page was never written and is not read."))};
    return {word(phrase("The last {} rows of the page were never written and are not read.", rows))};
  }
  const std::int64_t absent = std::max<std::int64_t>(tile.last, tile.first);
  using enum TensorColour;
  const TextRuns pieces{letter("K", k),
                        letter("V", v),
                        number("0 × nan = nan"),
                        letter("O", o),
                        number(fmt::format("{}", absent)),
                        number(fmt::format("{}", tile.end - 1))};
  if (absent == tile.end - 1)
    return woven(phrase("Key {} is missing: {} and {} are 0 in its place. A weight of 0 is not enough: {}, and the row "
                        "of {} would be lost.",
                        place(4), place(0), place(1), place(2), place(3)),
                 pieces);
  return woven(phrase("Keys {} to {} are missing: {} and {} are 0 in their place. A weight of 0 is not enough: {}, and "
                      "the row of {} would be lost.",
                      place(4), place(5), place(0), place(1), place(2), place(3)),
               pieces);
}

}  // namespace

PagesScene pages_scene(const Recording& rec, const StepPlace& at, std::int32_t key, const TensorScales& scales) {
  PagesScene scene;
  const Problem& p = rec.problem;
  if (p.storage.kind() == Storage::dense) {
    scene.nothing = tr("K and V of this run are contiguous, not paged.");
    return scene;
  }
  scene.page = static_cast<std::int32_t>(p.storage.page);
  scene.columns_k = static_cast<std::int32_t>(p.D);
  scene.columns_v = static_cast<std::int32_t>(p.Dv);
  scene.title = p.Hkv > 1 ? phrase("Memory: a pool of {} pages, KV head {}", p.storage.pages, p.kv_head(at.h))
                          : phrase("Memory: a pool of {} pages", p.storage.pages);
  scene.pool = Pool(rec, at, scales).take();
  scene.table = lines_of(rec, at);
  scene.gathered = gathered_words(rec, at);
  scene.cost = cost_words(rec, at);
  scene.sizes = size_lines(p);
  scene.followed = followed_words(rec, at, key);
  scene.tail = tail_words(rec, at);
  return scene;
}

std::vector<bool> on_the_left(const std::vector<PageWay>& ways) {
  std::vector<bool> left(ways.size());
  const auto end_of = [&](std::size_t n) { return left[n] ? ways[n].left : ways[n].right; };
  for (std::size_t n = 0; n < ways.size(); ++n) {
    const auto crossed = [&](float end) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < ways.size(); ++k) count += (ways[n].from - ways[k].from) * (end - end_of(k)) < 0;
      return count;
    };
    left[n] = crossed(ways[n].left) < crossed(ways[n].right);
  }
  return left;
}

}  // namespace attn
