// The names and numbers that a recording's file has for what a recording has: kernels/recording/file/recording_file.cpp
// writes and reads them. Phases and slots are those that every order may have, then the order's own; numbers in the
// file are places in these lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"

namespace attn::recording_file {

using Names = std::vector<std::string>;

Names names_of_phases(const OrderRow& order);
Names names_of_slots(const OrderRow& order);
Names names_of_orders();
Names names_of_rules();
Names names_of_traffic();  // in the order of TrafficPart
Names names_of_dtypes();

template <class Id>
std::int32_t number_in_file(const OrderRow& order, std::size_t named, Id id) {
  const auto n = static_cast<std::size_t>(id);
  return static_cast<std::int32_t>(n < named ? n : named + order.own(id).value_or(0));
}
// And back.
template <class Id>
Id id_of_number(std::size_t named, const std::vector<Id>& own, std::size_t number) {
  return number < named ? static_cast<Id>(number) : own[number - named];
}

std::int64_t bits_of(const Holds& h);
Holds holds_of(std::int64_t bits);

}  // namespace attn::recording_file
