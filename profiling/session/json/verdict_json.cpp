#include "profiling/session/json/verdict_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;
constexpr std::size_t kMaxText = 64 << 10;

// 0 or more; of an answer that overflowed it may be infinite or NaN.
double amount(JsonFields& fields, const char* key) {
  const double value = fields.number(key);
  if (value < 0) fields.refuse(key, phrase("is {}; use 0 to inf", value));
  return value;
}

// The counts of one output by their keys. A verdict's own are O's and LSE's.
struct CountKey {
  const char* key;
  Tensor tensor;
  std::int64_t Unjudged::*count;
};
constexpr CountKey kUnjudgedCounts[] = {{"unjudged_from_v", Tensor::o, &Unjudged::from_v},
                                        {"unjudged_overflow", Tensor::o, &Unjudged::overflow},
                                        {"unjudged_lse", Tensor::lse, &Unjudged::beyond_fp32}};
constexpr CountKey kUnjudgedOfOutput[] = {{"unjudged_from_v", Tensor::o, &Unjudged::from_v},
                                          {"unjudged_overflow", Tensor::o, &Unjudged::overflow},
                                          {"unjudged_beyond_fp32", Tensor::o, &Unjudged::beyond_fp32}};

// Version 3: every output by its name, where there are others than O and LSE.
json outputs_to_json(const Verdict& v) {
  json outputs = json::object();
  for (const OutputVerdict& j : v.outputs) {
    json& output = outputs[std::string(name_of(j.tensor))];
    output = {{"error", number_to_json(j.error)},
              {"allowed", number_to_json(j.allowed)},
              {"judged", j.judged},
              {"reason", j.reason}};
    for (const CountKey& c : kUnjudgedOfOutput) {
      if (j.unjudged.*c.count > 0) output[c.key] = j.unjudged.*c.count;
    }
  }
  return outputs;
}

// Of versions 1 and 2: O, and LSE where the answer came with one.
void read_o_and_lse(JsonFields& fields, Verdict& v) {
  OutputVerdict& o = v.at(Tensor::o);
  o.error = amount(fields, "error");
  o.allowed = amount(fields, "allowed");
  const double lse_error = amount(fields, "lse_error");
  const double lse_allowed = amount(fields, "lse_allowed");
  if (!fields.has("no_lse") || !fields.boolean("no_lse")) {
    OutputVerdict& lse = v.at(Tensor::lse);
    lse.error = lse_error;
    lse.allowed = lse_allowed;
  }
  for (const CountKey& c : kUnjudgedCounts) {
    if (fields.has(c.key) && v.of(c.tensor) != nullptr)
      v.at(c.tensor).unjudged.*c.count = fields.integer(c.key, 0, kMaxWhole);
  }
}

Result<void> read_outputs(const json& object, const std::string& where, Verdict& v) {
  for (const auto& [name, j] : object.items()) {
    const std::optional<Tensor> tensor = tensor_from_name(name);
    if (!tensor) return bad_input(phrase("{}: \"{}\" is not the name of a tensor.", where, name.substr(0, 80)));
    JsonFields fields(j, fmt::format("{}.{}", where, name));
    OutputVerdict& out = v.at(*tensor);
    out.error = amount(fields, "error");
    out.allowed = amount(fields, "allowed");
    out.judged = fields.integer("judged", 0, kMaxWhole);
    out.reason = fields.text("reason", kMaxText);
    for (const CountKey& c : kUnjudgedOfOutput) {
      if (fields.has(c.key)) out.unjudged.*c.count = fields.integer(c.key, 0, kMaxWhole);
    }
    if (auto read = fields.result(); !read) return read;
  }
  return ok();
}

}  // namespace

bool judges_others(const Verdict& v) {
  return std::ranges::any_of(v.outputs,
                             [](const OutputVerdict& j) { return j.tensor != Tensor::o && j.tensor != Tensor::lse; });
}

json verdict_to_json(const Verdict& v) {
  json j{{"pass", v.pass},
         {"error", number_to_json(v.error())},
         {"allowed", number_to_json(v.allowed())},
         {"lse_error", number_to_json(v.lse_error())},
         {"lse_allowed", number_to_json(v.lse_allowed())},
         {"sample", v.sample},
         {"reason", v.reason}};
  // Only where something was left out, as in files of earlier versions.
  for (const CountKey& c : kUnjudgedCounts) {
    if (const OutputVerdict* of = v.of(c.tensor); of != nullptr && of->unjudged.*c.count > 0)
      j[c.key] = of->unjudged.*c.count;
  }
  if (v.no_lse()) j["no_lse"] = true;
  if (v.not_judged) j["not_judged"] = true;
  if (judges_others(v)) j["outputs"] = outputs_to_json(v);
  return j;
}

Result<Verdict> verdict_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  Verdict v;
  v.pass = fields.boolean("pass");
  v.sample = fields.text("sample", kMaxText);
  v.reason = fields.text("reason", kMaxText);
  if (fields.has("outputs")) {
    const json& outputs = fields.object("outputs");
    if (auto read = fields.result(); !read) return tl::unexpected(read.error());
    if (auto read = read_outputs(outputs, where + ".outputs", v); !read) return tl::unexpected(read.error());
  } else {
    read_o_and_lse(fields, v);
  }
  v.not_judged = fields.has("not_judged") && fields.boolean("not_judged");
  if (v.pass && v.not_judged) fields.refuse("not_judged", tr("and \"pass\" cannot both be true"));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return v;
}

}  // namespace attn
