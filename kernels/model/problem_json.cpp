#include "kernels/model/problem_json.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kMax32 = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxFurther = 64;  // options that single kernels declare

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names{"f32", "f16", "bf16"};
  return names;
}

const std::vector<std::string>& key_order_names() {
  static const std::vector<std::string> names{"left_to_right", "right_to_left"};
  return names;
}

DType dtype_of(JsonFields& fields, const char* key) {
  return dtype_from_name(dtype_names()[fields.choice(key, dtype_names())]).value_or(DType::f32);
}

// One list of Hq numbers, or one a batch: docs/attn.md, version 2.
json slopes_to_json(const Problem& p) {
  const std::vector<float> slopes = slopes_of(p);
  if (static_cast<std::int64_t>(slopes.size()) == p.Hq) return slopes;
  json batches = json::array();
  for (auto at = slopes.begin(); at != slopes.end(); at += p.Hq) batches.push_back(std::vector<float>(at, at + p.Hq));
  return batches;
}

Result<std::vector<float>> slopes_from_json(const json& j, const Problem& p, const std::string& where) {
  constexpr std::size_t kMaxSlopes = 1 << 20;
  const auto wrong = [&] {
    return bad_input(
        phrase("{}: \"alibi\" must be a list of Hq numbers in the range of fp32, or a list of B such lists.", where));
  };
  std::vector<float> slopes;
  const auto add = [&](const json& list) {
    for (const json& x : list) {
      if (!x.is_number() || slopes.size() == kMaxSlopes) return false;
      slopes.push_back(static_cast<float>(x.get<double>()));
    }
    return static_cast<std::int64_t>(list.size()) == p.Hq;
  };
  if (!j.is_array() || j.empty()) return wrong();
  if (!j.front().is_array()) return add(j) ? Result<std::vector<float>>(kept_slopes(std::move(slopes), p.Hq)) : wrong();
  if (static_cast<std::int64_t>(j.size()) != p.B) return wrong();
  for (const json& batch : j) {
    if (!batch.is_array() || !add(batch)) return wrong();
  }
  return kept_slopes(std::move(slopes), p.Hq);
}

// What version 3 adds: docs/attn.md.
Result<void> read_pass(JsonFields& fields, const std::string& where, Problem& p) {
  static const std::vector<std::string> passes{"forward", "backward", "training"}, layouts{"bhld", "blhd"},
      outputs{"as_inputs", "f32"};
  if (fields.has("pass")) p.pass = static_cast<Pass>(fields.choice("pass", passes));
  if (fields.has("layout")) p.layout = static_cast<AxisOrder>(fields.choice("layout", layouts));
  if (fields.has("output")) p.output = static_cast<OutputType>(fields.choice("output", outputs));
  if (!fields.has("storage")) return fields.result();
  JsonFields storage(fields.object("storage"), where + ".storage");
  p.storage.page = storage.integer("page", 1, kMax);
  p.storage.pages = storage.integer("pages", 1, kMax);
  if (auto r = fields.result(); !r) return r;
  return storage.result();
}

}  // namespace

json problem_to_json(const Problem& p) {
  json mask{{"causal", p.mask.causal}, {"window_left", p.mask.window_left}, {"window_right", p.mask.window_right}};
  if (!p.mask.key_lengths.empty()) mask["key_lengths"] = p.mask.key_lengths;
  json j{{"B", p.B},    {"Hq", p.Hq}, {"Hkv", p.Hkv}, {"Lq", p.Lq},
         {"Lk", p.Lk},  {"D", p.D},   {"Dv", p.Dv},   {"dtype", std::string(name_of(p.dtype))},
         {"mask", mask}};
  if (p.scale) j["scale"] = number_to_json(*p.scale);
  if (p.has_bias()) j["bias_shape"] = p.bias_shape;
  if (p.softcap) j["softcap"] = *p.softcap;
  if (p.alibi) j["alibi"] = slopes_to_json(p);
  if (p.pass != Pass::forward) j["pass"] = std::string(name_of(p.pass));
  if (p.storage.kind() == Storage::paged) j["storage"] = {{"page", p.storage.page}, {"pages", p.storage.pages}};
  if (p.layout != AxisOrder::bhld) j["layout"] = std::string(name_of(p.layout));
  if (p.output != OutputType::as_inputs) j["output"] = std::string(name_of(p.output));
  return j;
}

int attn_version_of(const Problem& p) {
  if (p.pass != Pass::forward || p.storage.kind() != Storage::dense) return 3;
  if (p.layout != AxisOrder::bhld || p.output != OutputType::as_inputs) return 3;
  return p.shapes_scores() ? 2 : 1;
}

int attn_version_of(const Options& o) {
  return o.further.empty() ? 1 : 3;
}

Result<Problem> problem_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  Problem p;
  p.B = fields.integer("B", 1, kMax);
  p.Hq = fields.integer("Hq", 1, kMax);
  p.Hkv = fields.integer("Hkv", 1, kMax);
  p.Lq = fields.integer("Lq", 1, kMax);
  p.Lk = fields.integer("Lk", 1, kMax);
  p.D = fields.integer("D", 1, kMax);
  p.Dv = fields.integer("Dv", 1, kMax);
  p.dtype = dtype_of(fields, "dtype");
  if (fields.has("scale")) p.scale = fields.number("scale");
  if (fields.has("bias_shape")) p.bias_shape = fields.integers("bias_shape", 4);
  if (fields.has("softcap")) p.softcap = fields.number("softcap");
  if (const auto slopes = j.find("alibi"); slopes != j.end() && fields.result()) {
    auto read = slopes_from_json(*slopes, p, where);
    if (!read) return tl::unexpected(read.error());
    p.alibi = *std::move(read);
  }
  if (auto r = read_pass(fields, where, p); !r) return tl::unexpected(r.error());
  JsonFields mask(fields.object("mask"), where + ".mask");
  if (auto r = fields.result(); !r) return tl::unexpected(r.error());
  p.mask.causal = mask.boolean("causal");
  p.mask.window_left = mask.integer("window_left", -1, kMax);
  p.mask.window_right = mask.integer("window_right", -1, kMax);
  constexpr std::size_t kMaxBatches = 1 << 20;
  if (mask.has("key_lengths")) p.mask.key_lengths = mask.integers("key_lengths", kMaxBatches);
  if (auto r = mask.result(); !r) return tl::unexpected(r.error());
  if (auto r = validate(p); !r) return fail(r.error().kind, where + ": " + r.error().message);
  return p;
}

json options_to_json(const Options& o) {
  json j{{"br", o.br},
         {"bc", o.bc},
         {"threads", o.threads},
         {"stages", o.stages},
         {"subtract_max", o.subtract_max},
         {"key_order", key_order_names()[static_cast<std::size_t>(o.key_order)]},
         {"accumulate", std::string(name_of(o.accumulate))}};
  for (const Setting& s : o.further) j["set"][s.name] = s.value;
  return j;
}

// An option that is missing has its default: files written before it existed stay readable.
Result<Options> options_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  const auto integer = [&](const char* key) {
    return fields.has(key) ? static_cast<std::int32_t>(fields.integer(key, 0, kMax32)) : 0;
  };
  Options o;
  o.br = integer("br");
  o.bc = integer("bc");
  o.threads = integer("threads");
  o.stages = integer("stages");
  if (fields.has("subtract_max")) o.subtract_max = fields.boolean("subtract_max");
  if (fields.has("key_order")) o.key_order = static_cast<KeyOrder>(fields.choice("key_order", key_order_names()));
  if (fields.has("accumulate")) o.accumulate = dtype_of(fields, "accumulate");
  const json& further = fields.has("set") ? fields.object("set") : json::object();
  if (auto r = fields.result(); !r) return tl::unexpected(r.error());
  if (further.size() > kMaxFurther)
    return bad_input(phrase("{}.set has {} members; the limit is {}.", where, further.size(), kMaxFurther));
  JsonFields values(further, where + ".set");
  for (const auto& [name, value] : further.items()) {
    if (!is_option_name(name) || common_option(name) != nullptr)
      values.refuse(name.c_str(), tr("is not the name of an option"));
    choose(o, Option{.name = name}, values.integer(name.c_str(), -kMax32, kMax32));
  }
  if (auto r = values.result(); !r) return tl::unexpected(r.error());
  return o;
}

}  // namespace attn
