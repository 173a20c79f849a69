#include "viz/step/charts/fragments.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr std::int32_t kChunkBytes = 16, kBanks = 32, kBankBytes = 4;

// ---- names

struct TileWords {
  const char *letter, *row, *column;
  TensorColour hue;
};
TileWords words_of(FragmentTile tile) {
  switch (tile) {
    case FragmentTile::q:
      return {"Q", tr("query"), "d", TensorColour::q};
    case FragmentTile::k:
      return {"K", tr("key"), "d", TensorColour::k};
    case FragmentTile::s:
      return {"S", tr("query"), tr("key"), TensorColour::s};
    case FragmentTile::p:
      return {"P", tr("query"), tr("key"), TensorColour::p};
    case FragmentTile::v:
      return {"V", tr("key"), "d", TensorColour::v};
    case FragmentTile::o:
      return {"O", tr("query"), "d", TensorColour::o};
  }
  return {"?", "", "", TensorColour::q};
}

// ---- shared memory

std::int32_t chunk_elements(const FragmentLayout& layout) {
  return kChunkBytes / layout.element_bytes;
}

bool of_v(FragmentTile tile) {
  return tile == FragmentTile::v || tile == FragmentTile::o;
}

// Chunks of a row, or of a panel of it.
std::int32_t width_of(const FragmentLayout& layout, FragmentTile tile, const Problem& p) {
  const std::int32_t elements = layout.panel > 0 ? layout.panel : layout.padded(p, of_v(tile));
  return elements / chunk_elements(layout);
}

BankMap map_of(const FragmentLayout& layout, const SharedUse& use, bool swizzled) {
  BankMap map;
  map.title = swizzled ? tr("Swizzled, as in the kernel") : tr("Row after row");
  map.rows = use.rows;
  map.width = use.width;
  std::map<std::int32_t, std::int32_t> moment_at;  // by chunk in memory
  for (std::size_t n = 0; n < use.moments.size(); ++n) {
    map.turns += turns_of(use.moments[n]);
    for (const SharedAccess& a : use.moments[n])
      moment_at.try_emplace(a.at / kChunkBytes, static_cast<std::int32_t>(n));
  }
  for (std::int32_t row = 0; row < use.rows; ++row) {
    for (std::int32_t chunk = 0; chunk < use.width; ++chunk) {
      const std::int32_t at = swizzled ? layout.swizzled(row, chunk, use.width) : row * use.width + chunk;
      const auto moment = moment_at.find(at);
      map.cells.push_back(
          {row, chunk, at * kChunkBytes / kBankBytes % kBanks, moment == moment_at.end() ? -1 : moment->second});
    }
  }
  return map;
}

std::string shared_words(const FragmentScene& scene, const SharedUse& use, const Problem& p) {
  const FragmentLayout& layout = *scene.layout;
  const std::string_view said = tr_of(layout.tile(scene.tile).shared_words);
  if (use.moments.empty()) return std::string(said);
  const std::int64_t extent = of_v(scene.tile) ? p.Dv : p.D;
  const std::int32_t padded = layout.padded(p, of_v(scene.tile));
  const std::string rows =
      phrase("A row of {} = {}{} fills {} chunks of 16 bytes", of_v(scene.tile) ? "Dv" : "D", extent,
             padded > extent ? phrase(", padded to {},", padded) : std::string(), padded / chunk_elements(layout));
  const std::string panels = layout.panel > 0 ? phrase(", in panels of {}", scene.maps[0].width) : std::string();
  return phrase("{}{}. {} {} passes when swizzled and {} when stored row by row. The minimum is {}.", rows, panels,
                said, scene.maps[0].turns, scene.maps[1].turns, use.moments.size());
}

// As the kernel has it: swizzled.
std::int32_t bank_of(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  const BankMap& map = scene.maps[0];
  if (map.cells.empty()) return -1;
  const std::int32_t bytes = scene.layout->element_bytes, chunk = column * bytes / kChunkBytes;
  const BankCell& cell =
      map.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) + static_cast<std::size_t>(chunk)];
  return cell.first_bank + column * bytes % kChunkBytes / kBankBytes;
}

std::string element_name(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  return fmt::format("{}[{}][{}]", words_of(scene.tile).letter, row, column);
}

}  // namespace

std::int32_t turns_of(const std::vector<SharedAccess>& accesses) {
  std::map<std::int32_t, std::set<std::int32_t>> words;  // by bank
  for (const SharedAccess& a : accesses)
    for (std::int32_t word = a.at / kBankBytes; word < (a.at + a.bytes) / kBankBytes; ++word)
      words[word % kBanks].insert(word);
  std::size_t most = 0;
  for (const auto& [bank, of_bank] : words) most = std::max(most, of_bank.size());
  return static_cast<std::int32_t>(most);
}

bool in_no_lane(const FragmentScene& scene) {
  return scene.cells.front().place.lane < 0;
}

std::int32_t per_chunk(const FragmentScene& scene) {
  return chunk_elements(*scene.layout);
}

FragmentScene fragment_scene(const FragmentLayout& layout, FragmentTile tile, const Problem& problem) {
  const FragmentRow& held = layout.tile(tile);
  FragmentScene scene;
  scene.layout = &layout;
  scene.tile = tile;
  scene.extent = held.extent;
  const TileWords words = words_of(tile);
  scene.hue = words.hue;
  scene.row_name = words.row;
  scene.column_name = words.column;
  scene.title = phrase("{}, {} × {}: {} of {}", words.letter, held.extent.rows, held.extent.columns,
                       tr_of(held.operand), tr_of(layout.shape));
  scene.words = tr_of(held.words);
  const std::int32_t width = held.shared == nullptr ? 0 : width_of(layout, tile, problem);
  const auto use = [&](bool swizzled) { return held.shared == nullptr ? SharedUse() : held.shared(width, swizzled); };
  const SharedUse kept = use(true);
  scene.maps = {map_of(layout, kept, true), map_of(layout, use(false), false)};
  scene.shared = shared_words(scene, kept, problem);
  for (std::int32_t row = 0; row < scene.extent.rows; ++row) {
    for (std::int32_t column = 0; column < scene.extent.columns; ++column) {
      const ElementPlace place = held.place(row, column);
      scene.cells.push_back({place, held.register_name(place), bank_of(scene, row, column)});
    }
  }
  scene.words += std::string(" ") + (in_no_lane(scene) ? tr("A cell's number is its bank.")
                                                       : tr("A cell's number is the lane that holds it."));
  return scene;
}

const FragmentCell& cell_at(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  const auto across = static_cast<std::size_t>(scene.extent.columns);
  return scene.cells[static_cast<std::size_t>(row) * across + static_cast<std::size_t>(column)];
}

std::string cell_words(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  const FragmentCell& cell = cell_at(scene, row, column);
  const std::string name = element_name(scene, row, column);
  const std::int32_t chunk = column / per_chunk(scene);
  if (cell.place.lane < 0)
    return phrase("{}: not in any lane; shared memory row {}, chunk {}, bank {}.", name, row, chunk, cell.bank);
  std::string words = phrase("{}: lane {}, register {}", name, cell.place.lane, cell.reg);
  if (scene.layout->tile(scene.tile).halves) words += cell.place.half == 0 ? tr(", low half") : tr(", high half");
  if (cell.bank < 0) return phrase("{}; not in shared memory.", words);
  return phrase("{}; shared memory row {}, chunk {}, bank {}.", words, row, chunk, cell.bank);
}

std::string lane_words(const FragmentScene& scene, std::int32_t lane) {
  if (in_no_lane(scene)) return phrase("No lane holds any of {}.", words_of(scene.tile).letter);
  std::vector<std::string> names;
  for (std::int32_t row = 0; row < scene.extent.rows; ++row)
    for (std::int32_t column = 0; column < scene.extent.columns; ++column)
      if (cell_at(scene, row, column).place.lane == lane) names.push_back(element_name(scene, row, column));
  return phrase("Lane {} holds {} of {}: {}.", lane, names.size(), scene.cells.size(), fmt::join(names, ", "));
}

}  // namespace attn
