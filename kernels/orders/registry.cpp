// The table of orders, looked up: ids to rows and names, and back.
#include <algorithm>
#include <utility>

#include "kernels/model/traffic.h"
#include "kernels/orders/shared/names.h"
#include "kernels/orders/table.h"

namespace attn {
namespace {

struct Registry {
  OrderNames names{orders::shared_phases(), orders::shared_slots()};
  std::vector<OrderRow> rows;
};

void index(OrderRow& row, const OrderNames& names) {
  row.place.assign(names.phases().size(), -1);
  row.makers.resize(names.slots().size());
  row.in_lane.assign(names.phases().size(), false);
  for (const WalkStep& step : row.walk)
    row.in_lane[static_cast<std::size_t>(step.phase)] =
        step.once == Once::tile || (step.once == Once::part && step.before_merge);
  for (const OrderPhase& phase : row.phases)
    if (row.abreast == Abreast::rows)
      row.in_lane[static_cast<std::size_t>(phase.phase)] = phase.query_tile && !phase.aside;
  for (std::size_t n = 0; n < row.phases.size(); ++n) {
    const Phase phase = row.phases[n].phase;
    row.place[static_cast<std::size_t>(phase)] = static_cast<std::int32_t>(n);
    if (static_cast<std::size_t>(phase) >= kPhases) row.own_phases.push_back(phase);
  }
  const auto shows = [&row](Slot s) {
    const bool fresh = std::ranges::find(row.own_slots, s) == row.own_slots.end();
    if (static_cast<std::size_t>(s) >= kSlots && fresh) row.own_slots.push_back(s);
  };
  for (const OrderPhase& phase : row.phases) {
    for (const auto* slots : {&phase.before, &phase.after, &phase.brings}) std::ranges::for_each(*slots, shows);
  }
  for (const WalkStep& step : row.walk) {
    std::ranges::for_each(step.creates, shows);
    if (step.once != Once::tile) continue;
    for (const Slot s : step.creates) {
      auto& makers = row.makers[static_cast<std::size_t>(s)];
      makers.insert(makers.begin(), step.phase);
    }
  }
}

const Registry& registry() {
  static const Registry kMade = [] {
    Registry r;
    for (const orders::MakeOrder make : orders::table()) {
      r.rows.push_back(make(r.names));
      r.rows.back().id = static_cast<Order>(r.rows.size() - 1);
    }
    for (OrderRow& row : r.rows) index(row, r.names);  // once all names are known
    return r;
  }();
  return kMade;
}

// The place of `name` in a list of things that have names.
template <class Id, class List>
std::optional<Id> named(const List& list, std::string_view name) {
  const auto at = std::ranges::find(list, name, [](const auto& x) { return x.name; });
  if (at == list.end()) return std::nullopt;
  return static_cast<Id>(at - list.begin());
}

bool makes_of_tile(const WalkStep& step) {
  return step.once == Once::tile && step.tiles != Tiles::hidden && !step.creates.empty();
}

template <class T>
std::optional<std::size_t> place_in(const std::vector<T>& list, T value) {
  const auto at = std::ranges::find(list, value);
  if (at == list.end()) return std::nullopt;
  return static_cast<std::size_t>(at - list.begin());
}

}  // namespace

bool OrderRow::works_like(const OrderRow& other) const {
  const bool beside = other.abreast == Abreast::none || other.abreast == abreast ||
                      (abreast == Abreast::ranks && other.abreast == Abreast::parts);
  return beside && other.stores_scores == stores_scores && other.divides_each_turn == divides_each_turn;
}

Phase OrderRow::begins_tile() const {
  const auto at = std::ranges::find_if(walk, makes_of_tile);
  return at == walk.end() ? Phase::skipped : at->phase;
}
Phase OrderRow::ends_tile() const {
  const auto at = std::find_if(walk.rbegin(), walk.rend(), makes_of_tile);
  return at == walk.rend() ? Phase::skipped : at->phase;
}

std::int32_t OrderRow::first_tile_pass() const {
  const auto at = std::ranges::find_if(walk, makes_of_tile);
  return at == walk.end() ? 0 : at->pass;
}
std::int32_t OrderRow::last_tile_pass() const {
  const auto at = std::find_if(walk.rbegin(), walk.rend(), makes_of_tile);
  return at == walk.rend() ? passes - 1 : at->pass;
}

bool OrderRow::before_tiles(Phase p) const {
  const auto at = std::ranges::find(walk, p, &WalkStep::phase);
  return at != walk.end() && at->pass < first_tile_pass();
}

bool OrderRow::of_query_tile(Phase p) const {
  const auto at = std::ranges::find(walk, p, &WalkStep::phase);
  return !keys_outside || (at != walk.end() && (at->once == Once::tile || at->once == Once::query_tile));
}

std::optional<std::size_t> OrderRow::own(Slot s) const {
  return place_in(own_slots, s);
}
std::optional<std::size_t> OrderRow::own(Phase p) const {
  return place_in(own_phases, p);
}

OrderNames::OrderNames(std::vector<PhaseName> phases, std::vector<SlotRow> slots)
    : phases_(std::move(phases)), slots_(std::move(slots)) {}

Phase OrderNames::phase(PhaseName name) {
  if (const auto known = named<Phase>(phases_, name.name)) return *known;
  phases_.push_back(std::move(name));
  return static_cast<Phase>(phases_.size() - 1);
}

Slot OrderNames::slot(SlotRow row) {
  if (const auto known = named<Slot>(slots_, row.name)) return *known;
  slots_.push_back(row);
  return static_cast<Slot>(slots_.size() - 1);
}

std::span<const OrderRow> all_orders() {
  return registry().rows;
}
const OrderRow& order_row(Order o) {
  return registry().rows[static_cast<std::size_t>(o)];
}
std::string_view name_of(Order o) {
  return order_row(o).name;
}
std::optional<Order> order_named(std::string_view name) {
  return named<Order>(all_orders(), name);
}

const PhaseName& phase_name(Phase p) {
  return registry().names.phases()[static_cast<std::size_t>(p)];
}
std::size_t phase_count() {
  return registry().names.phases().size();
}
std::string_view name_of(Phase p) {
  return phase_name(p).name;
}
std::optional<Phase> phase_named(std::string_view name) {
  return named<Phase>(registry().names.phases(), name);
}

const SlotRow& slot_row(Slot s) {
  return registry().names.slots()[static_cast<std::size_t>(s)];
}
std::size_t slot_count() {
  return registry().names.slots().size();
}
std::string_view name_of(Slot s) {
  return slot_row(s).name;
}
std::optional<Slot> slot_named(std::string_view name) {
  return named<Slot>(registry().names.slots(), name);
}
bool is_input(Slot s) {
  return slot_row(s).input;
}
Slot made_as(Slot s) {
  return slot_row(s).made_as.value_or(s);
}
std::string_view letter_of_slot(Slot s) {
  return slot_row(s).letter;
}
bool stores_scores(Order order) {
  return order_row(order).stores_scores;
}

}  // namespace attn
