#include "profiling/figures/measurement.h"

#include <array>
#include <utility>

namespace attn {
namespace {

template <class E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

template <class E, std::size_t N>
std::string_view name_in(const Names<E, N>& names, E value) {
  for (const auto& [e, name] : names)
    if (e == value) return name;
  return "?";
}

template <class E, std::size_t N>
std::optional<E> value_in(const Names<E, N>& names, std::string_view name) {
  for (const auto& [e, n] : names)
    if (n == name) return e;
  return std::nullopt;
}

constexpr Names<Origin, 5> kOrigins{{{Origin::measured, "measured"},
                                     {Origin::derived, "derived"},
                                     {Origin::compiled, "compiled"},
                                     {Origin::data_sheet, "data sheet"},
                                     {Origin::not_available, "not available"}}};
constexpr Names<L2State, 2> kL2States{{{L2State::cold, "cold"}, {L2State::warm, "warm"}}};
constexpr Names<RowState, 4> kRowStates{{{RowState::done, "done"},
                                         {RowState::refused, "refused"},
                                         {RowState::failed, "failed"},
                                         {RowState::cancelled, "cancelled"}}};

}  // namespace

bool same_device(const std::string& name_a, const std::string& uuid_a, const std::string& name_b,
                 const std::string& uuid_b) {
  return name_a == name_b && (uuid_a.empty() || uuid_b.empty() || uuid_a == uuid_b);
}
bool same_device(const MeasurementKey& a, const MeasurementKey& b) {
  return same_device(a.device, a.device_uuid, b.device, b.device_uuid);
}

bool replaces(const Measurement& m, const Measurement& old) {
  const auto ranks = [](const Measurement& of) { return of.ranks ? of.ranks->devices.size() : 0; };
  const bool same_point = m.key.kernel == old.key.kernel && m.key.problem == old.key.problem &&
                          m.key.options == old.key.options && m.key.l2 == old.key.l2 && same_device(m.key, old.key) &&
                          ranks(m) == ranks(old);
  return same_point && (m.state == RowState::done || old.state != RowState::done);
}

std::string_view name_of(Origin o) {
  return name_in(kOrigins, o);
}
std::optional<Origin> origin_from_name(std::string_view name) {
  return value_in(kOrigins, name);
}

std::string_view name_of(L2State s) {
  return name_in(kL2States, s);
}
std::optional<L2State> l2_state_from_name(std::string_view name) {
  return value_in(kL2States, name);
}

std::string_view name_of(RowState s) {
  return name_in(kRowStates, s);
}
std::optional<RowState> row_state_from_name(std::string_view name) {
  return value_in(kRowStates, name);
}

}  // namespace attn
