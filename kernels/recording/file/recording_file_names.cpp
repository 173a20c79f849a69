#include "kernels/recording/file/recording_file_names.h"

#include "kernels/base/dtype.h"
#include "kernels/model/traffic_parts.h"

namespace attn::recording_file {
namespace {

template <class Id>
Names names_in_file(std::size_t named, const std::vector<Id>& own) {
  Names names;
  for (std::size_t i = 0; i < named; ++i) names.emplace_back(name_of(static_cast<Id>(i)));
  for (const Id id : own) names.emplace_back(name_of(id));
  return names;
}

}  // namespace

Names names_of_phases(const OrderRow& order) {
  return names_in_file(kPhases, order.own_phases);
}

Names names_of_slots(const OrderRow& order) {
  return names_in_file(kSlots, order.own_slots);
}

Names names_of_orders() {
  Names names;
  for (const OrderRow& row : all_orders()) names.emplace_back(row.name);
  return names;
}

Names names_of_rules() {
  return {"scalar", "vector", "none"};
}

Names names_of_traffic() {
  Names names{"q", "k", "v", "bias", "s", "p", "o", "stats"};
  static_assert(kTrafficParts == 8);
  return names;
}

std::int64_t bits_of(const Holds& h) {
  return (h.scaled ? 1 : 0) + (h.base2 ? 2 : 0) + (h.normalised ? 4 : 0) + (h.masked ? 8 : 0) + (h.partial ? 16 : 0);
}

Holds holds_of(std::int64_t bits) {
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
}

Names names_of_dtypes() {
  Names names;
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) names.emplace_back(name_of(t));
  return names;
}

}  // namespace attn::recording_file
