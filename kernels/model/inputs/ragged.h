// Key lengths of a batch whose sequences are not alike, made by name: the same for the same name, B and Lk.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attn {

enum class Ragged : std::uint8_t {
  none,      // no key lengths: every batch has Lk keys
  uniform,   // spread evenly from Lk / B to Lk
  zipf,      // Lk / 1, Lk / 2, Lk / 3 ...
  even,      // alike, with as many keys in all as zipf has
  one_long,  // one of Lk keys, the others of Lk / 64
};
std::string_view name_of(Ragged r);  // "one_long"
std::optional<Ragged> ragged_from_name(std::string_view name);
std::span<const Ragged> all_ragged();

// One a batch, from 1 to lk, in an order of which nothing follows. Empty: none.
std::vector<std::int64_t> ragged_lengths(Ragged r, std::int64_t batches, std::int64_t lk);

}  // namespace attn
