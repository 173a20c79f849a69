#include "viz/step/place/place.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

// Batch after batch, or one list for all.
std::string_view word_at(const std::vector<std::string>& words, std::int64_t each, std::int64_t b, std::int64_t n) {
  if (words.empty() || each < 1 || n < 0 || n >= each) return {};
  const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(words.size()) > each ? b * each + n : n);
  return at < words.size() ? std::string_view(words[at]) : std::string_view();
}

}  // namespace

namespace {

// "part 3", or "parts 1–2"; counted from 0, the last one not among them.
std::string parts_words(std::int64_t first, std::int64_t end) {
  return end - first == 1 ? phrase("part {}", end) : phrase("parts {}–{}", first + 1, end);
}

}  // namespace

std::int64_t part_of(const Recording& rec, std::int32_t key_tile) {
  return KeyParts{rec.key_tiles(), splits_of(rec.options)}.of_tile(key_tile);
}

std::optional<MergedParts> merged_parts(const Recording& rec, EventIndex e) {
  const OrderRow& order = order_row(rec.order);
  const EventId& id = rec.events[e].id;
  if (order.abreast != Abreast::parts || order.in_lane[static_cast<std::size_t>(id.phase)]) return std::nullopt;
  const KeyParts parts{rec.key_tiles(), splits_of(rec.options)};
  if (parts.parts == 2) return MergedParts{tr("the first part"), tr("the second part"), false};
  const std::int64_t part = id.j < 0 ? -1 : part_of(rec, id.j);
  // The first of two is loaded before the other is there.
  const bool as_first = !order.phase(id.phase)->brings.empty() && std::ranges::all_of(order.own_slots, [&](Slot slot) {
    return rec.after(e, slot) == kNoVersion;
  });
  std::vector<std::int64_t> ends(static_cast<std::size_t>(parts.parts));
  for (std::size_t n = 0; n < ends.size(); ++n) ends[n] = static_cast<std::int64_t>(n) + 1;
  std::optional<MergedParts> found;
  for_each_merge(parts.parts, merges_as_tree(rec.options), [&](const MergeStep& step) {
    std::int64_t &end = ends[static_cast<std::size_t>(step.into)], from = ends[static_cast<std::size_t>(step.from)];
    if (part < 0 || (!found && (as_first ? step.into : step.from) == part))
      found = MergedParts{parts_words(step.into, end), parts_words(step.from, from), true};
    end = from;
  });
  return found;
}

std::string_view row_word(const Recording& rec, std::int32_t b, std::int64_t row) {
  return word_at(rec.labels.rows, rec.problem.Lq, b, row);
}

std::string_view key_word(const Recording& rec, std::int32_t b, std::int64_t key) {
  return word_at(rec.labels.columns, rec.problem.Lk, b, key);
}

std::string row_name(const Recording& rec, std::int32_t b, std::int64_t row) {
  const std::string_view word = row_word(rec, b, row);
  return word.empty() ? phrase("row {}", row) : phrase("row {} “{}”", row, word);
}

StepPlace place_of(const Recording& rec, EventIndex e, const Selection& selection) {
  StepPlace at;
  if (rec.events.empty()) return at;
  at.event = std::min<EventIndex>(e, static_cast<EventIndex>(rec.events.size() - 1));
  const EventId& id = rec.events[at.event].id;
  const Problem& p = rec.problem;
  at.b = id.b;
  at.h = id.h;
  at.i = id.i;
  at.j = id.j;
  const auto extent = [](std::int32_t tile, std::int64_t length) {
    return static_cast<std::int32_t>(tile > 0 ? std::min<std::int64_t>(tile, length) : length);
  };
  at.br = extent(rec.options.br, p.Lq);
  at.bc = extent(rec.options.bc, p.Lk);
  const std::int32_t row = std::clamp<std::int32_t>(selection.row, 0, static_cast<std::int32_t>(p.Lq) - 1);
  at.first_row = at.i >= 0 ? at.i * at.br : row / at.br * at.br;
  at.rows = static_cast<std::int32_t>(std::min<std::int64_t>(at.br, p.Lq - at.first_row));
  at.first_key = std::max(at.j, 0) * at.bc;
  // Between key tiles (Q loaded, O divided) K still shows the tile that was last.
  const VersionId k = rec.after(at.event, Slot::k);
  if (at.j < 0 && k != kNoVersion) at.first_key = rec.version(k).first_row;
  at.keys = static_cast<std::int32_t>(std::min<std::int64_t>(at.bc, p.Lk - at.first_key));
  at.row = at.first_row + std::min(row % at.br, at.rows - 1);
  return at;
}

std::optional<float> live_value(const Recording& rec, EventIndex e, Slot slot, std::int32_t row, std::int32_t col) {
  const VersionId id = rec.after(e, slot);
  if (id == kNoVersion) return std::nullopt;
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row, c = col - v.first_col;
  if (r < 0 || r >= v.rows || c < 0 || c >= v.cols) return std::nullopt;
  return rec.values(id)[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)];
}

bool takes_all_keys(const Recording& rec, EventIndex e) {
  const Phase phase = rec.events[e].id.phase;
  const bool of_row = phase == Phase::max || phase == Phase::sum || phase == Phase::output;
  return of_row && rec.gpu && rec.gpu->cut && rec.key_tiles() > 1;
}

std::span<const float> row_of(const Recording& rec, VersionId id, std::int32_t row) {
  if (id == kNoVersion) return {};
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row;
  if (r < 0 || r >= v.rows) return {};
  return rec.values(id).subspan(static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols),
                                static_cast<std::size_t>(v.cols));
}

double bound_of(const Recording& rec, const ExactTile* exact, VersionId version, std::size_t element) {
  if (exact == nullptr || element >= rec.values(version).size()) return 0;
  const auto known = exact->at(version, element);
  return known ? known->bound : 0;
}

Slot output_slot(const Recording& rec, EventIndex e) {
  return rec.after(e, Slot::o_new) != kNoVersion ? Slot::o_new : Slot::o_old;
}

Slot output_sum_slot(const Recording& rec, EventIndex e) {
  if (output_slot(rec, e) == Slot::o_new && rec.after(e, Slot::l_new) != kNoVersion) return Slot::l_new;
  return rec.after(e, Slot::l_old) != kNoVersion ? Slot::l_old : Slot::l_new;
}

std::string scale_words(const Problem& p) {
  const double defaults = 1 / std::sqrt(static_cast<double>(p.D));
  if (!p.scale || std::abs(*p.scale - defaults) < 1e-12) return "1/√" + std::to_string(p.D);
  std::string words = significant_text(*p.scale, 6);
  if (words.find_first_of(".e") == words.find('.') && words.find('.') != words.npos)
    words.erase(std::max(words.find_last_not_of('0'), words.find('.')) + 1);
  if (words.ends_with('.')) words.pop_back();
  return words;
}

TileKeys keys_of_tile(const Recording& rec, const StepPlace& at) {
  if (at.j < 0 || rec.after(at.event, Slot::k) == kNoVersion) return {};
  const std::int64_t first = at.first_key, end = first + at.keys;
  return {first, std::clamp(keys_of_batch(rec.problem, at.b), first, end), end};
}

TileKeys tail_of_tile(const Recording& rec, const StepPlace& at) {
  const TileKeys tile = keys_of_tile(rec, at);
  if (zeroes_tail(rec.options) || rec.problem.storage.kind() == Storage::dense) return {tile.last, tile.last, tile.end};
  return {tile.last, std::clamp(keys_read(rec.problem, at.b, PageTail::as_it_lies), tile.last, tile.end), tile.end};
}

bool loads_tail(const Recording& rec, const StepPlace& at) {
  const TileKeys tail = tail_of_tile(rec, at);
  return tail.first < tail.last;
}

std::vector<std::int32_t> pages_of_tile(const Recording& rec, const StepPlace& at) {
  const Problem& p = rec.problem;
  const TileKeys tile = keys_of_tile(rec, at);
  std::vector<std::int32_t> pages;
  for (std::int64_t key = tile.first; key < tile.last; ++key) {
    const std::int64_t entry = at.b * pages_of_batch(p) + key / p.storage.page;
    const std::int32_t page = rec.inputs.page_table[static_cast<std::size_t>(entry)];
    if (pages.empty() || pages.back() != page) pages.push_back(page);
  }
  return pages;
}

std::string pages_of_tile_words(const Recording& rec, const StepPlace& at) {
  const std::vector<std::int32_t> pages = pages_of_tile(rec, at);
  if (pages.empty()) return {};
  return plural(std::ssize(pages), "page {1}", "pages {1}", fmt::format("{}", fmt::join(pages, ", ")));
}

}  // namespace attn
