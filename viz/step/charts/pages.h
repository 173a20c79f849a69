// K and V in pages: the pool as it lies in memory, the table that says which page holds which keys, and what of both
// the key tile at hand gathers. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"

namespace attn {

enum class PageLook : std::uint8_t {
  free,     // the table does not name it
  other,    // of another batch
  own,      // of the batch at hand
  gathered  // of the key tile at hand
};
enum class PageRowLook : std::uint8_t {
  unwritten,  // no key lies there
  key,
  gathered  // a key of the tile at hand
};
struct PageRow {
  PageRowLook look = PageRowLook::unwritten;
  std::int32_t key = -1;                // of its batch; -1: unwritten
  std::vector<float> k_shade, v_shade;  // of the row's numbers, -1 .. 1; empty where the pool is too large for cells
};
struct PoolPage {
  std::int32_t number = 0;
  PageLook look = PageLook::free;
  std::int32_t b = -1, entry = -1;  // the first that names it; -1: none
  std::string words;                // "Page 10: keys 16 to 19 of batch 0"
  std::vector<PageRow> rows;        // of the KV head at hand
};
struct TableEntry {
  std::int32_t page = -1;  // -1: beyond the batch's keys
  std::int32_t first_key = 0, last_key = 0;
  bool gathered = false;            // of the key tile at hand
  std::optional<EventIndex> event;  // where its first key is loaded
};
struct TableLine {
  std::int32_t b = 0;
  bool own = false;  // of the batch at hand
  std::vector<TableEntry> entries;
};
// All keys in pages of one size, fetched whole: derived from the shapes.
struct PageSizeLine {
  std::int32_t page = 0;
  std::string read, unused, table;  // "496 B"
  bool now = false;
};
struct PagesScene {
  std::string nothing;  // why there is no such chart; else empty
  std::int32_t page = 0, columns_k = 0, columns_v = 0;
  std::string title;  // "Pool of 14 pages, KV head 0"
  std::vector<PoolPage> pool;
  std::vector<TableLine> table;
  TextRuns gathered;  // which keys, which pages
  TextRuns followed;  // the followed key, step by step
  std::string cost;   // of this tile's pages, fetched whole; empty: no tile
  std::vector<PageSizeLine> sizes;
  TextRuns tail;  // what stands where no key is; empty: nothing
};
// Numbers of a pool beyond which pages are drawn without cells.
constexpr std::int64_t kMostPoolCells = 1 << 14;

// `key`: the followed one.
PagesScene pages_scene(const Recording& rec, const StepPlace& at, std::int32_t key, const TensorScales& scales);

// A line from an entry up to its page: where it begins, and where it reaches the pool by the lane on the page's right,
// or on its left. A page of the last row it reaches from below, and both are that.
struct PageWay {
  float from = 0, right = 0, left = 0;
};
// Which of them take the left one: those that cross fewer of the others there.
std::vector<bool> on_the_left(const std::vector<PageWay>& ways);

}  // namespace attn
