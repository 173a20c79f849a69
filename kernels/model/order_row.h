// An order is a row: its phases, its slots, its walk, its byte model, and how each of its phases is held against what
// the formulas say. Nothing else switches on Order, Phase or Slot: it asks the row.
//
// A new order is
//   - a folder in kernels/orders with one function, `OrderRow NAME_order(OrderNames&)`, that makes its row. Phases and
//     slots that others have too come from kernels/orders/shared; one of its own gets its id from OrderNames by name
//     (names.phase({.name = "half", ...})), and a recorder of that order finds it again with phase_named("half")
//   - that function's name in kernels/orders/table.cpp
// and the kernel that walks so says `row.order = *order_named("NAME")`. Recording, file, check, size, replay, traffic,
// the finder of the first wrong step and Step's pictures read the row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/order.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/traffic_parts.h"

namespace attn {

class ExactKeys;    // kernels/recording/replay/exact_keys.h
class ExactWalk;    // kernels/recording/replay/exact_walk.h
class GpuReplayer;  // kernels/recording/replay/gpu_replayer.h
class Replayer;     // kernels/recording/replay/replayer.h
namespace causes {
struct WrongPlace;  // kernels/judge/first_wrong/causes.h
}

// ---- slots

enum class SlotRows : std::uint8_t { queries, keys };
enum class SlotColumns : std::uint8_t { one, head, value_head, keys };  // 1, D, Dv, the keys of the tile

// What a slot holds, in whichever order.
struct SlotRow {
  std::string_view name;    // in files and state strings: "m_old"
  std::string_view letter;  // as people write it: "m"
  Slot like = Slot::q;      // the named slot whose colour and scale it has: an own slot's nearest relative
  SlotRows rows = SlotRows::queries;
  SlotColumns columns = SlotColumns::one;
  std::optional<Slot> made_as = {};  // the slot that its versions are made as: of m_old m_new; none: itself
  std::optional<float> start = {};   // what it holds before the first key tile
  bool input = false;                // given, not computed: Q, K, V
  bool lanes = false;                // a GPU's may hold one column a lane, whose sum it is (l)
  bool score = false;                // a GPU's may lack the scale, or be of base 2 (S, m)
  bool gradient = false;             // of the tensor that it is like: marked as such, and shaded on a scale of its own
  bool own_scale = false;            // no gradient, and shaded on its own scale all the same
};
const SlotRow& slot_row(Slot s);
Slot made_as(Slot s);
// The letter of a slot as people write it: "m", "α", "ℓ".
std::string_view letter_of_slot(Slot s);

// ---- phases

// What a phase is called, in whichever order.
struct PhaseName {
  std::string_view name;              // in files: "store_s"
  std::string_view letter;            // on its chip: "S out"
  std::optional<Slot> makes = {};     // the slot whose colour it has; none: it computes nothing
  bool maths = false;                 // the letter is the paper's, not a word
  std::vector<Phase> elsewhere = {};  // what stands for it in an order that lacks it, best first
};
const PhaseName& phase_name(Phase p);

// What one event asks HBM for is computed from this.
struct EventExtent {
  const Problem& problem;
  TileBytes size;  // of the event's own rows and keys
  std::int32_t pass = 0;
  std::int64_t i = 0;
  std::int32_t score_reads = 0;
};

// m, l or O: the newest there is, which is `old` where no key tile was seen.
struct Newest {
  Slot fresh, old;
};

// A phase as one order has it. What it reads must be live before its event (of the event's own tile), what it makes
// after it; orders that read a tile back with the event itself have it live after. Functions may be null: nothing.
struct OrderPhase {
  Phase phase = Phase::skipped;
  bool query_tile = true, key_tile = true;  // its events have one
  bool aside = false;  // of orders whose query tiles go abreast: another than who computes the query tile does it
  std::vector<Slot> before = {}, after = {};
  std::vector<Newest> newest_before = {}, newest_after = {};
  std::vector<Slot> loads = {};   // inputs that it brings: held against their tensors
  std::vector<Slot> brings = {};  // all that it brings from memory
  bool visits_keys = false;       // it brings the key tile: without it the tile is not visited
  bool sends = false;             // of ranks: the keys at hand leave for the next one
  Traffic (*bytes)(const EventExtent&) = nullptr;
  void (*replay)(Replayer&) = nullptr;         // on a CPU, bit for bit
  void (*replay_gpu)(GpuReplayer&) = nullptr;  // on a GPU, within a bound
  void (*exact)(ExactWalk&) = nullptr;         // in fp64 with a running bound
  void (*exact_keys)(ExactKeys&) = nullptr;    // the same of what is summed over queries: dK, dV
  std::string (*cause)(const causes::WrongPlace&) = nullptr;
  // For people, where assets/step_texts.json has no text of it: "Half of S", "[S] / 2", a sentence.
  std::string_view title = {}, formula = {}, sentence = {};
  std::string_view code = {};  // the name of the code phase (kernels/gpu/compile/phases.h) that does it: "S"
};

// ---- the walk

enum class Once : std::uint8_t {
  query_tile,  // once a query tile
  tile,        // once a query tile and key tile
  key_tile,    // once a key tile, all queries
  part,        // once a query tile and part of the keys (kernels/model/options.h); key tile outside: once a key tile
               // and rank, whose queries are the part
  merge,       // of parts, two at a time: once less
};
// Of which tiles an event is there.
enum class Tiles : std::uint8_t {
  seen,    // those of which some query sees a key
  masked,  // of those the ones whose scores a mask, bias, softcap or ALiBi changes
  hidden,  // those that the mask skips
  all,
};

// One event of the walk, in the sequence in which a tile meets them. `creates`: new versions.
struct WalkStep {
  Phase phase = Phase::skipped;
  std::int32_t pass = 0;
  Once once = Once::tile;
  Tiles tiles = Tiles::seen;
  std::vector<Slot> creates = {};
  bool before_merge = true;         // of Once::part: in the part's own lane
  std::optional<Slot> rounds = {};  // a version more where the problem's dtype is narrow: O rounded to it
};

// What runs side by side, each with what it holds of its own: Step shows them beside one another.
enum class Abreast : std::uint8_t {
  none,
  parts,  // of the keys of a query tile, each with m, l and O of its own; they are merged at the end
  rows,   // query tiles: the consumers of a block
  ranks,  // query tiles dealt to ranks; the keys go round, and every turn is merged (kernels/model/ring.h)
};

// ---- the row

struct OrderRow {
  std::string_view name;
  // Facts.
  Pass pass = Pass::forward;
  bool stores_scores = false;      // S and P go to HBM and come back
  bool skips_hidden = true;        // tiles that the mask hides are left out; else they are computed and masked
  bool operands_once = false;      // K and V are read with the first query rows alone
  bool keys_outside = false;       // the outer loop is over key tiles
  bool state_in_memory = false;    // O, m and l go to HBM and come back at every turn
  bool divides_each_turn = false;  // O is kept divided by l
  bool ends_with_lse = false;      // a phase before store_o divides O and makes the LSE
  bool heads_share_keys = false;   // what is done once a key tile serves all query heads that share its keys
  bool query_stays = true;         // Q_i is loaded once and stays on chip
  Abreast abreast = Abreast::none;
  bool absent_keys_zero = false;  // K and V beyond a batch's key length are 0 on chip, whatever memory holds
  std::int32_t passes = 1;
  std::vector<OrderPhase> phases = {};  // in the sequence of the walk
  std::vector<WalkStep> walk = {};
  std::vector<Slot> starts = {};  // versions that stand before a query tile's first key tile
  std::vector<OnChip> (*on_chip)(const TileBytes&) = nullptr;  // of each pass

  // Made of the above by the table.
  Order id = Order::naive;
  std::vector<Slot> own_slots = {};  // beyond those that order.h names
  std::vector<Phase> own_phases = {};
  std::vector<bool> in_lane = {};               // by phase: its event is of one part, or of one of the rows abreast
  std::vector<std::int32_t> place = {};         // of a phase in `phases`, by id; -1: it has none
  std::vector<std::vector<Phase>> makers = {};  // by slot: the phases that make a tile's version, the last first

  // The phase as this order has it, or null. Constant time.
  const OrderPhase* phase(Phase p) const {
    const auto n = static_cast<std::size_t>(p);
    return n < place.size() && place[n] >= 0 ? &phases[static_cast<std::size_t>(place[n])] : nullptr;
  }
  bool has(Phase p) const { return phase(p) != nullptr; }
  bool sends(Phase p) const { return has(p) && phase(p)->sends; }
  // Whether looks and texts of `other` fit this order where it has none of its own. Ranks merge as parts do.
  bool works_like(const OrderRow& other) const;
  // The passes in which tiles are made something of: those before and after go over rows or keys alone.
  std::int32_t first_tile_pass() const;
  std::int32_t last_tile_pass() const;
  // Done in a pass over rows alone, before any tile: a backward's delta.
  bool before_tiles(Phase p) const;
  // Its events are of one query tile, not of all that pass by a key tile.
  bool of_query_tile(Phase p) const;
  // The first and the last phase that make something of a tile that is not skipped: it is begun, and done.
  Phase begins_tile() const;
  Phase ends_tile() const;
  // The column of an own slot or phase among them; none: it is not this order's.
  std::optional<std::size_t> own(Slot s) const;
  std::optional<std::size_t> own(Phase p) const;
};

// Rows that ask for names of their own get ids: the same for the same name, whichever order asks.
class OrderNames {
 public:
  OrderNames(std::vector<PhaseName> phases, std::vector<SlotRow> slots);
  // A name that is known keeps what it is.
  Phase phase(PhaseName name);
  Slot slot(SlotRow row);
  const std::vector<PhaseName>& phases() const { return phases_; }
  const std::vector<SlotRow>& slots() const { return slots_; }

 private:
  std::vector<PhaseName> phases_;
  std::vector<SlotRow> slots_;
};

// All orders, by id; made once, from the table.
std::span<const OrderRow> all_orders();
const OrderRow& order_row(Order o);

}  // namespace attn
