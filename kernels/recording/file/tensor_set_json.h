// Tensors and labels as members of JSON objects, the numbers as entries of the container: docs/attn.md, version 3.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/recording/file/entries.h"
#include "kernels/recording/tensor_set.h"

namespace attn {

// Members "tensors" (an object: name to entry), "splits" and "labels" of `j`, where they are used; entries are named
// `prefix` + name + ".npy".
void add_tensors(const Problem& p, std::int64_t splits, std::span<const NamedTensor> tensors, const std::string& prefix,
                 nlohmann::json& j, Container& c);
void add_labels(const Labels& labels, nlohmann::json& j);
// The same read and checked; missing ones are empty. Of numbers at most `max_bytes`.
struct ReadTensors {
  std::int64_t splits = 1;
  std::vector<NamedTensor> tensors;
};
Result<ReadTensors> read_tensors(JsonFields& fields, const Problem& p, Entries& entries, std::uint64_t max_bytes);
Result<Labels> read_labels(JsonFields& fields, const Problem& p);

// A set as an object; its entries in `c`.
Result<nlohmann::json> tensor_set_to_json(const TensorSet& set, const std::string& prefix, Container& c);
Result<TensorSet> tensor_set_from_json(const nlohmann::json& j, const std::string& where, Entries& entries);

}  // namespace attn
