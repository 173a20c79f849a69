// Key lengths of a batch whose sequences are not alike, made by name: the same for the same name, B and Lk.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/model/inputs/input_spec.h"

namespace attn {

std::string_view name_of(Ragged r);  // "one_long"
std::optional<Ragged> ragged_from_name(std::string_view name);
std::span<const Ragged> all_ragged();

// One a batch, from 1 to lk, in an order of which nothing follows. Empty: none.
std::vector<std::int64_t> ragged_lengths(Ragged r, std::int64_t batches, std::int64_t lk);

}  // namespace attn
