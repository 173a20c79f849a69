// What stands over each tile: its letter, its index and a few words.
#include <algorithm>
#include <string>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/letters.h"
#include "viz/step/orders/look.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

std::string index_text(std::int32_t n) {
  return n < 0 ? "" : std::to_string(n);
}

// K and V, above the tiles of their columns.
TextRuns title_above(const TileScene& tile, const StepPlace& at, const OrderLook& look) {
  TextRuns title{letter(std::string(slot_row(tile.slot).letter), tile.hue), subscript(index_text(at.j), tile.hue)};
  if (tile.transposed) title.push_back(letter("T", tile.hue, 1));
  if (at.j >= 0) title.push_back(word(range_words(look.slot(tile.slot).each, at.first_key, at.keys)));
  return title;
}

// O so far, divided by l or not, or the output.
void add_output_words(TextRuns& title, const TileScene& tile, const Recording& rec, EventIndex e,
                      OutputReading reading) {
  const VersionId id = rec.after(e, tile.slot);
  const bool done = id != kNoVersion && rec.version(id).holds.normalised;
  const bool divided = reading == OutputReading::divided;
  title.push_back(word(done && !order_row(rec.order).divides_each_turn ? tr(" output")
                       : divided                                       ? " ÷ "
                                                                       : tr(" so far")));
  if (!done && divided) title.push_back(letter("ℓ", TensorColour::l));
}

// Of a sum over the other side's tiles: how many are in it so far, those that the mask skips left out. It may wait in
// memory meanwhile.
std::string parts_words(const Recording& rec, const StepPlace& at, const TileScene& tile) {
  const auto& makers = order_row(rec.order).makers[static_cast<std::size_t>(tile.slot)];
  if (makers.empty()) return {};
  const auto group = static_cast<std::int32_t>(rec.problem.Hq / rec.problem.Hkv);
  const std::int32_t first_head = tile.by_key ? at.h / group * group : at.h;
  std::int32_t in = 0, all = 0;
  const auto count = [&](std::int32_t h, std::int32_t i, std::int32_t j) {
    const auto e = rec.find({at.b, h, i, j, makers.front()});
    all += e ? 1 : 0;
    in += e && *e <= at.event ? 1 : 0;
  };
  const std::int32_t i = at.first_row / std::max(at.br, 1), j = at.first_key / std::max(at.bc, 1);
  for (std::int32_t h = first_head; tile.by_key && h < first_head + group; ++h)
    for (std::int32_t n = 0; n < rec.query_tiles(); ++n) count(h, n, j);
  for (std::int32_t n = 0; !tile.by_key && n < rec.key_tiles(); ++n) count(at.h, i, n);
  return all == 0 ? std::string() : phrase(" {} of {}", in, all);
}

TextRuns title_of(const ColumnLook& column, const TilesScene& scene, const Recording& rec, EventIndex e,
                  OutputReading reading) {
  const TileScene& tile = scene.tiles[static_cast<std::size_t>(column.column)];
  TextRuns title{letter(std::string(slot_row(tile.slot).letter), tile.hue)};
  // The last steps and a skipped tile have no new ones: those that stand are the row's.
  const bool last = scene.look->phase(rec.events[e].id.phase).ends_row;
  const std::string words(tr_of(column.words));
  switch (column.title) {
    case TitleKind::letter:
      if (!words.empty()) title.push_back(word(words));
      break;
    case TitleKind::rows:
      title.push_back(subscript(index_text(scene.at.i), tile.hue));
      title.push_back(word(range_words(column.words, scene.at.first_row, scene.at.rows)));
      break;
    case TitleKind::earlier:
      if (!last) title.push_back(word(words));
      break;
    case TitleKind::fresh:
      title.push_back(word(tile.cols > 1 ? tr(" by lane") : words));
      break;
    case TitleKind::output:
      add_output_words(title, tile, rec, e, reading);
      break;
    case TitleKind::first:
    case TitleKind::second:
      title.push_back(subscript(column.title == TitleKind::first ? "1" : "2", tile.hue));
      break;
    case TitleKind::parts:
      title.push_back(subscript(index_text(scene.at.i), tile.hue));
      title.push_back(word(parts_words(rec, scene.at, tile)));
      break;
  }
  return title;
}

// The tile that the next event of this query tile will make.
void find_next(TilesScene& scene, const Recording& rec, EventIndex e) {
  if (e + 1 >= rec.events.size()) return;
  const EventId& id = rec.events[e + 1].id;
  const EventId& now = rec.events[e].id;
  if (id.b != now.b || id.h != now.h || id.i != now.i || id.j != now.j) return;
  const PhaseLook& phase = scene.look->phase(id.phase);
  if (!phase.fills || !phase.lights) return;
  // What is in flight says so already.
  if (scene.tiles[static_cast<std::size_t>(*phase.lights)].flight) return;
  scene.next_column = *phase.lights;
  scene.next_any = !scene.tiles[static_cast<std::size_t>(scene.next_column)].live;
  scene.next = tr("next");
}

}  // namespace

void add_titles(TilesScene& scene, const Recording& rec, OutputReading reading) {
  const EventIndex e = scene.at.event;
  if (scene.k.rows > 0) scene.k.title = title_above(scene.k, scene.at, *scene.look);
  if (scene.v.rows > 0) scene.v.title = title_above(scene.v, scene.at, *scene.look);
  for (const ColumnLook& column : scene.look->columns)
    scene.tiles[static_cast<std::size_t>(column.column)].title = title_of(column, scene, rec, e, reading);
  for (SideTile& side : scene.sides) {
    side.tile.title =
        side.tile.by_key && side.below
            ? TextRuns{letter(std::string(slot_row(side.tile.slot).letter), side.tile.hue),
                       subscript(index_text(scene.at.j), side.tile.hue), word(parts_words(rec, scene.at, side.tile))}
        : side.tile.by_key ? title_above(side.tile, scene.at, *scene.look)
                           : TextRuns{letter(std::string(slot_row(side.tile.slot).letter), side.tile.hue)};
  }
  find_next(scene, rec, e);
}

int wanted_characters(const TileScene& tile) {
  if (tile.natural < 0) return 7;
  int max = 3;
  for (const Cell& cell : tile.cells) {
    if (cell.look == CellLook::value) max = std::max(max, text_length(number_text(cell.value, {tile.natural, false})));
  }
  return max;
}

}  // namespace attn
