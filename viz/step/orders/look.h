// How an order looks in Step: a row for each, with its phases, slots and columns and what tiles, panels and charts say
// of it, as data; its walk, names, letters and facts are those of its row in kernels/orders.
// viz/step/orders/table.cpp lists the rows. An order that has none here is drawn from its kernels' row alone
// (viz/step/orders/looks.cpp). Nothing else in viz asks which order it has before it: it asks the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/model/traffic.h"  // TrafficPart
#include "viz/draw/inks.h"
#include "viz/draw/text_runs.h"
#include "viz/state/view_step.h"

namespace attn {

class Recording;
struct StepWork;  // viz/step/orders/work.h

// When a piece of a caption stands: what the numbers on show are (Holds), and whether a maximum is subtracted.
enum class PhraseWhen : std::uint8_t {
  always,
  with_max,
  without_max,
  scaled,         // S has the scale,
  unscaled,       // or not
  scores_base2,   // S is of base 2
  capped,         // S has, or will have before it is used, a softcap,
  biased,         // a bias,
  sloped,         // ALiBi
  base_e,         // m is of base e,
  base_2,         // or 2
  with_delta,     // δ is subtracted,
  without_delta,  // or not
};
// A piece of a caption, or a letter in a sentence.
struct Phrase {
  std::string_view text = {};
  Face face = Face::text;
  Ink ink = Token::dim;
  int raise = 0;
  PhraseWhen when = PhraseWhen::always;
  bool scale = false;  // the problem's scale stands here: " / √8"
};
using Phrases = std::span<const Phrase>;
TextRun run_of(const Phrase& piece);  // its text, in the language that is spoken
// A whole sentence: {0}, {1} and so on in it are its pieces, {keys} is the number of keys.
struct Saying {
  std::string_view words = {};
  Phrases pieces = {};
};
TextRuns woven(const Saying& saying, std::int64_t keys = 0);

// The columns of the tiles. Orders without a row here count theirs from kNamedColumns on.
enum class Column : std::uint8_t { q, s, m_old, m_new, alpha, p, l_old, l_new, o };
constexpr std::size_t kNamedColumns = 9;

// How far naive attention has to be to have made what a phase makes: which of its three passes over the rows, and how
// many of the phases that ask for bytes in it (viz/step/charts/traffic.cpp).
struct NaiveReach {
  int pass = 0, phases = 2;
  bool of_row = true;  // false: nothing is made
};

struct PhaseLook {
  Phase phase = Phase::load_q;
  std::optional<Column> lights = {};     // the column whose caption is its own
  bool fills = false;                    // it makes that column: "next" stands there before it
  std::optional<Column> in_flight = {};  // the column whose numbers nobody can read before hardware has made them
  Phrases caption = {};                  // in place of that column's own
  NaiveReach naive = {};
  bool before_mask = false;                      // its scores are not masked yet
  bool ends_row = false;                         // no new statistics come beside the old ones: those are the row's
  bool divides_output = false;                   // it starts from the O of the last key tile
  void (*work)(const StepWork& step) = nullptr;  // its formula with this step's numbers; null: there is none
};

// What stands behind a cell, under the pointer.
enum class Explain : std::uint8_t {
  nothing,
  score,
  weight,
  output,
  sum,
  maximum,
  rescale,
  earlier,
  input,
  product,  // of two tiles: ProductLook
  words,    // SlotLook::words
};
// A product of two tiles, summed over what they share.
enum class SharedAxis : std::uint8_t {
  value_head,  // rows of both: dP = dO V^T, δ = Σ dO·O
  keys,        // dQ = dS K
  queries,     // columns of the first: dV = P^T dO
};
struct ProductLook {
  Slot left = Slot::q, right = Slot::k;
  SharedAxis over = SharedAxis::value_head;
  bool grows = false;  // added to what stood there
};
// What of another slot's tile makes a cell of this one: outlined while it is pointed at.
enum class OperandPart : std::uint8_t { row, column, key_column, key_cell, first_cell };
struct LitOperand {
  Column column = Column::q;  // of it, or
  bool above = false;         // of the tile above it
  OperandPart part = OperandPart::row;
};
// How it is known that a slot's tile stood on chip before.
enum class Stood : std::uint8_t {
  never,
  in_key_tile,  // in one of the phases `in`, in this key tile
  in_any,       // in the first of them, in any key tile of the query tile
  of_keys,      // in the first of them, in this key tile of any query tile
  as_version,   // the tile has a version of it
  in_merge,     // in the first of them, of this merge of parts; after all merges, of any
  before,       // with these rows or keys in any step before, of the head or of those that share its keys
};
struct StoodBefore {
  Stood how = Stood::before;
  std::array<Phase, 2> in = {};
  std::optional<Slot> slot = {};  // that is looked for in its place
};
// What a click on a cell pins in place of the cell: the score of that key, that column of O.
struct SlotPin {
  Slot slot = Slot::s;
  bool key_as_column = false;
};

struct SlotLook {
  Slot slot = Slot::q;
  std::string_view each = {};      // what a row of it is in a title: "key"
  bool never_if_skipped = false;   // a tile that the mask skips never has it
  std::optional<Slot> older = {};  // what it is with the next key tile
  bool gauge = false;              // drawn as how much is left
  bool running_sum = false;        // kept from tile to tile, in the type of the sums
  bool overflows = false;          // +inf in fp64 as well is an overflow
  Explain explain = Explain::nothing;
  std::span<const LitOperand> operands = {};
  std::optional<Column> lit_with = {};  // they are lit only while this column holds something
  StoodBefore stood = {};
  std::string_view gone = marked("Computed and used; no longer on chip.");  // where it went
  ProductLook product = {};
  TextRuns (*words)(const StepWork& step, std::int32_t row, std::int32_t col) = nullptr;
  std::optional<SlotPin> pins = {};
};

// parts: how many are added up; first, second: of two that are merged
enum class TitleKind : std::uint8_t { letter, rows, earlier, fresh, output, parts, first, second };
struct ColumnLook {
  Column column = Column::q;
  std::string_view id = {};        // of its button
  Slot slot = Slot::q;             // shown where it lives,
  std::optional<Slot> other = {};  // else this
  std::optional<Slot> above = {};  // the tile above: K, V; across the keys where the column's own are keys
  std::optional<Slot> guest = {};  // above it as long as it is on chip, in place of none: K again, O
  std::optional<Slot> below = {};  // under it, by keys: dK, dV
  bool beside_next = false;        // an old number stands close to the new one
  TitleKind title = TitleKind::letter;
  std::string_view words = {};  // behind the letter
  Phrases caption = {};
};

// Bytes on chip of one part: of each pair of slots whichever is larger, all pairs together.
struct ChipLook {
  TrafficPart part = TrafficPart::q;
  std::span<const std::array<Slot, 2>> slots = {};
  bool fp32 = true;         // else the problem's dtype
  unsigned passes = 0b111;  // in which of the passes it is needed, a bit each
};

// One walk over the keys of a row: a strip of "the same element in two orders".
struct StripLook {
  std::string_view name = {};
  TensorColour hue = TensorColour::s;
  Phase finishes = Phase::output;  // a tile of it
  std::int32_t pass = 0;
  Saying makes = {}, waits = {};
  Phrase value = {};  // the letter of the element's value: of the first of these that was made; none: O as it stands
  std::span<const std::pair<Phase, Slot>> at_key = {};
};

// What of a GPU's run is held against a CPU's.
struct ComparedLook {
  Phase phase = Phase::scores;
  Slot slot = Slot::s;
  std::string_view letter = {};
};

// What each letter stands for: the Problem panel.
struct LetterWords {
  std::string_view letter = {};
  TensorColour hue = TensorColour::s;
  std::string_view words = {};
};

// A table of the printed sheet; `before` stands for the slot until it is made.
struct SheetLook {
  Slot slot = Slot::q, before = Slot::q;
};

// What the chart of HBM bytes tells of.
struct TrafficFacts {
  const Recording& run;
  std::string_view order;
  // The extent of a tile that says how often what is read again is read, and how large it is: "Br", 16.
  std::string_view extent;
  std::int32_t tile = 0;
  std::int32_t query_tiles = 0;
  bool above_naive = false;  // it asks for more than naive does
};

struct OrderLook {
  Order order = Order::flash;
  std::span<const PhaseLook> phases = {};
  std::span<const SlotLook> slots = {};
  std::span<const ColumnLook> columns = {};                      // left to right: the order of time
  std::optional<Column> scores = {}, maximum = {}, output = {};  // those that are followed, where there are such
  std::span<const Slot> computed =
      {};  // in the order of the computation: of these the first beyond its bound is sought
  std::span<const ChipLook> chip = {};
  std::span<const StripLook> passes = {};
  std::span<const ComparedLook> compared = {};
  std::span<const LetterWords> letters = {};
  std::span<const SheetLook> sheet = {};
  std::string_view companion = {};                // the kernel whose run stands beside: naive's for flash, and back
  std::span<const std::string_view> beside = {};  // kernels whose orders' bytes stand beside, the nearest first
  std::span<const std::string_view> walks = {};   // orders of the same kernel whose bytes stand before those
  std::string_view bar = {};                      // its name among the bars; empty: the order's own
  // Of the tiles under the rows: what they do, in a heading and two lines.
  std::array<std::string_view, 3> below = {};
  std::uint64_t (*stored_weights)(const Recording&) = nullptr;  // a bar more: bytes of P, were it stored and read
  TextRuns (*traffic)(const TrafficFacts&) = nullptr;
  bool yardstick = false;                 // naive: where it would be at the same moment is marked
  bool outlook = false;                   // what it would ask for at a size that GPUs see is said
  std::optional<Phase> shares_room = {};  // P takes the place of S in this phase alone; none: always
  std::string_view stats = "LSE";         // what of the statistics goes to HBM
  // Parts of the bytes on chip that are called otherwise than by their tensor: "K dK".
  std::span<const std::pair<TrafficPart, std::string_view>> chip_parts = {};
  std::span<const StepChart> charts = kStepCharts;  // those that say something of it
  Saying hindsight = {};
  const OrderLook* merge = nullptr;   // how it looks while parts of the keys are merged
  const OrderLook* merged = nullptr;  // and when all of them are: no part has a state of its own any more
  bool row_by_row = false;            // naive: without a tile it goes by rows
  bool undivided = false;             // O so far can be read divided by l, and what-ifs change the run
  bool rescales_output = false;       // O = alpha O + P V
  bool in_halves = false;             // its rows stand abreast, each in half the width: short captions, tight columns
  bool beats = false;                 // of its tiles a GPU's heartbeat is drawn
  Order like = Order::flash;          // the order of GPU kernels that it is compared with where none walks in it

  const PhaseLook& phase(Phase p) const;
  const SlotLook& slot(Slot s) const;
  const ColumnLook* column(Column c) const;  // null: it has none such
  bool shows(Slot s) const;
  std::size_t column_count() const;  // of arrays that Column indexes

  // Places in `phases` and `slots` by id.
  static constexpr std::size_t kIds = 64;
  static constexpr std::uint8_t kNone = 0xff;
  std::array<std::uint8_t, kIds> phase_at = {}, slot_at = {};
};

// With its places by id filled in.
constexpr OrderLook placed(OrderLook look) {
  look.phase_at.fill(OrderLook::kNone);
  look.slot_at.fill(OrderLook::kNone);
  for (std::size_t n = 0; n < look.phases.size(); ++n)
    look.phase_at.at(static_cast<std::size_t>(look.phases[n].phase)) = static_cast<std::uint8_t>(n);
  for (std::size_t n = 0; n < look.slots.size(); ++n)
    look.slot_at.at(static_cast<std::size_t>(look.slots[n].slot)) = static_cast<std::uint8_t>(n);
  return look;
}

// The rows (viz/step/orders/table.cpp). A program may link another table in place of this one's.
std::span<const OrderLook* const> order_look_table();

}  // namespace attn
