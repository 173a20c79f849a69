#include "kernels/recording/file/tensor_set_json.h"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/npy.h"
#include "kernels/formats/npy_table.h"
#include "kernels/model/problem_json.h"
#include "kernels/recording/size.h"

namespace attn {
namespace {

using nlohmann::json;

// The numbers of one entry, in the type of the tensor.
Result<NamedTensor> read_values(JsonFields& named, const char* key, const TensorSpec& spec, Entries& entries) {
  NamedTensor t;
  t.tensor = spec.tensor;
  if (const std::optional<DType> dtype = dtype_of(spec.type)) {
    auto numbers = entries.tensor(named, key, *dtype, kRecordingLimit);
    if (!numbers) return tl::unexpected(numbers.error());
    t.numbers = *std::move(numbers);
    return t;
  }
  auto table = entries.table<std::int32_t>(named, key, static_cast<std::size_t>(spec.shape[1]),
                                           static_cast<std::uint64_t>(spec.shape[0]));
  if (!table) return tl::unexpected(table.error());
  t.table = *std::move(table);
  return t;
}

}  // namespace

void add_tensors(const Problem& p, std::int64_t splits, std::span<const NamedTensor> tensors, const std::string& prefix,
                 json& j, Container& c) {
  if (splits > 1) j["splits"] = splits;
  for (const NamedTensor& t : tensors) {
    const std::string key(name_of(t.tensor)), name = prefix + key + ".npy";
    c.files[name] = t.table.empty()
                        ? npy_bytes(t.numbers, t.numbers.shape())
                        : npy_table_bytes<std::int32_t>(t.table, t.table.size() / static_cast<std::size_t>(p.B));
    j["tensors"][key] = name;
  }
}

void add_labels(const Labels& labels, json& j) {
  if (!labels.rows.empty()) j["labels"]["rows"] = labels.rows;
  if (!labels.columns.empty()) j["labels"]["columns"] = labels.columns;
}

Result<ReadTensors> read_tensors(JsonFields& fields, const Problem& p, Entries& entries, std::uint64_t max_bytes) {
  ReadTensors read;
  if (fields.has("splits")) read.splits = fields.integer("splits", 2, kMaxSplits);
  if (!fields.has("tensors")) {
    if (auto r = fields.result(); !r) return tl::unexpected(r.error());
    return read;
  }
  const json& object = fields.object("tensors");
  if (auto r = fields.result(); !r) return tl::unexpected(r.error());
  const std::vector<TensorSpec> specs = tensors_of(p, read.splits);
  JsonFields named(object, fields.where() + ".tensors");
  for (const auto& [key, unused] : object.items()) {
    const std::optional<Tensor> tensor = tensor_from_name(key);
    if (!tensor) return bad_input(phrase("{}: \"{}\" is not the name of a tensor.", named.where(), key.substr(0, 80)));
    const TensorSpec* spec = find(specs, *tensor);
    if (spec == nullptr || spec->in_problem) return tl::unexpected(no_tensor(p, *tensor, named.where()));
    if (spec->bytes() > max_bytes) {
      return bad_input(
          phrase("{}: {} has {} bytes; the limit is {}.", named.where(), words_of(*tensor), spec->bytes(), max_bytes));
    }
    max_bytes -= spec->bytes();
    auto values = read_values(named, key.c_str(), *spec, entries);
    if (!values) return tl::unexpected(values.error());
    read.tensors.push_back(*std::move(values));
  }
  if (auto good = check_named_tensors(p, read.splits, read.tensors, named.where()); !good)
    return tl::unexpected(good.error());
  return read;
}

Result<Labels> read_labels(JsonFields& fields, const Problem& p) {
  Labels labels;
  if (fields.has("labels")) {
    JsonFields sides(fields.object("labels"), fields.where() + ".labels");
    if (sides.has("rows")) labels.rows = sides.texts("rows", kMaxLabels);
    if (sides.has("columns")) labels.columns = sides.texts("columns", kMaxLabels);
    if (auto r = fields.result(); !r) return tl::unexpected(r.error());
    if (auto r = sides.result(); !r) return tl::unexpected(r.error());
    if (auto good = check_labels(p, labels, sides.where()); !good) return tl::unexpected(good.error());
  }
  if (auto r = fields.result(); !r) return tl::unexpected(r.error());
  return labels;
}

Result<json> tensor_set_to_json(const TensorSet& set, const std::string& prefix, Container& c) {
  if (auto good = check_tensor_set(set, "tensors " + set.name); !good) return tl::unexpected(good.error());
  json j{{"problem", problem_to_json(set.problem)}};
  if (!set.name.empty()) j["name"] = set.name;
  add_tensors(set.problem, set.splits, set.tensors, prefix, j, c);
  add_labels(set.labels, j);
  return j;
}

Result<TensorSet> tensor_set_from_json(const json& j, const std::string& where, Entries& entries) {
  JsonFields fields(j, where);
  TensorSet set;
  if (fields.has("name")) set.name = fields.text("name");
  auto problem = problem_from_json(fields.object("problem"), where + ".problem");
  if (auto r = fields.result(); !r) return tl::unexpected(r.error());
  if (!problem) return tl::unexpected(problem.error());
  set.problem = *std::move(problem);
  auto read = read_tensors(fields, set.problem, entries, kRecordingLimit);
  if (!read) return tl::unexpected(read.error());
  set.splits = read->splits;
  set.tensors = std::move(read->tensors);
  auto labels = read_labels(fields, set.problem);
  if (!labels) return tl::unexpected(labels.error());
  set.labels = *std::move(labels);
  return set;
}

}  // namespace attn
