#include "kernels/gpu/own_kernel/own_parameter.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

using nlohmann::json;
using Kind = OwnParameter::Kind;

constexpr std::string_view kReals[] = {"scale", "scale_log2", "softcap", "softcap_inverse"};
constexpr std::string_view kShifts[] = {"first_shift", "last_shift"};
constexpr std::string_view kAxes[] = {"batch", "head", "row", "column"};

// One that has every tensor of the pass.
Problem with_all(Pass pass) {
  Problem p;
  p.pass = pass;
  p.mask.key_lengths = {1};
  p.bias_shape = {1, 1, 1, 1};
  p.alibi.emplace();
  return p;
}

// Those that a list may name: in and out, and a backward's delta, which is judged as well.
std::vector<TensorSpec> named_tensors(Pass pass) {
  std::vector<TensorSpec> specs = tensors_of(with_all(pass));
  std::erase_if(specs, [](const TensorSpec& s) { return s.role == Role::scratch && s.tensor != Tensor::delta; });
  return specs;
}

bool has_strides(const TensorSpec& s) {
  return s.shape.size() >= 3;
}

std::vector<std::string_view> names_of(std::span<const TensorSpec> specs) {
  std::vector<std::string_view> names;
  for (const TensorSpec& s : specs) names.push_back(s.name());
  return names;
}

std::optional<std::size_t> place_in(std::span<const std::string_view> names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - names.begin()));
}

std::optional<OwnParameter> stride_named(std::string_view name, std::span<const TensorSpec> specs) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto axis = place_in(kAxes, name.substr(dot + 1));
  const auto tensor = std::ranges::find(specs, name.substr(0, dot), &TensorSpec::name);
  if (!axis || tensor == specs.end() || !has_strides(*tensor) || *axis >= tensor->shape.size()) return std::nullopt;
  OwnParameter p;
  p.kind = Kind::stride;
  p.tensor = tensor->tensor;
  p.index = *axis;
  return p;
}

std::optional<OwnParameter> found(std::string_view name, const OwnNames& names, std::span<const TensorSpec> specs) {
  OwnParameter p;
  const auto of = [&](Kind kind, std::size_t index = 0) {
    p.kind = kind;
    p.index = index;
    return p;
  };
  if (const auto at = place_in(names_of(specs), name)) {
    p.tensor = specs[*at].tensor;
    return of(Kind::tensor);
  }
  const auto room = std::ranges::find(names.scratch, name);
  if (room != names.scratch.end()) return of(Kind::scratch, static_cast<std::size_t>(room - names.scratch.begin()));
  if (names.stores_scores && name == "s") return of(Kind::scores);
  if (names.stores_scores && name == "p") return of(Kind::weights);
  if (name == "args") return of(Kind::args);
  if (const auto at = place_in(kReals, name)) return of(Kind::real, *at);
  if (const auto at = place_in(kShifts, name)) return of(Kind::shift, *at);
  for (std::size_t n = 0; n < kSizeNames; ++n)
    if (name_of(static_cast<SizeName>(n)) == name) return of(Kind::size, n);
  return stride_named(name, specs);
}

std::string known_words(const OwnNames& names, std::span<const TensorSpec> specs) {
  std::vector<std::string_view> all = names_of(specs), sizes;
  all.insert(all.end(), names.scratch.begin(), names.scratch.end());
  if (names.stores_scores) all.insert(all.end(), {"s", "p"});
  for (std::size_t n = 0; n < kSizeNames; ++n) sizes.push_back(name_of(static_cast<SizeName>(n)));
  return phrase("use {}; strides such as q.row (batch, head, row, column); {}; {}; {}; or args", fmt::join(all, ", "),
                fmt::join(sizes, ", "), fmt::join(kReals, ", "), fmt::join(kShifts, ", "));
}

OwnParameter read_value(HeaderFields& fields, const json& j, const std::string& path) {
  static constexpr std::string_view kKeys[] = {"value", "type"}, kTypes[] = {"int", "long long", "float"};
  OwnParameter p;
  p.name = "value";
  p.kind = Kind::value;
  fields.check_keys(j, path, kKeys);
  p.value = fields.expression(j["value"], path + ".value");
  if (const json* type = fields.member(j, path, "type"))
    p.type = static_cast<OwnParameter::Type>(fields.choice(*type, path + ".type", kTypes));
  return p;
}

OwnParameter read_map(HeaderFields& fields, const json& j, const std::string& path, std::span<const TensorSpec> specs) {
  static constexpr std::string_view kKeys[] = {"map", "box", "swizzle", "promote", "outside"};
  static constexpr std::string_view kOutside[] = {"zero", "nan"};
  OwnParameter p;
  p.name = "map";
  p.kind = Kind::map;
  fields.check_keys(j, path, kKeys);
  std::vector<TensorSpec> whole(specs.begin(), specs.end());
  std::erase_if(whole, [](const TensorSpec& s) { return s.shape.size() != kMapAxes || s.tensor == Tensor::bias; });
  const std::size_t at = fields.choice(j["map"], path + ".map", names_of(whole));
  p.tensor = whole[at].tensor;
  p.map.box.fill(SizeExpression::constant(1));
  if (const json* box = fields.member(j, path, "box")) p.map.box = fields.axes<kMapAxes>(*box, path + ".box");
  // Bytes; 0: none.
  const auto bytes = [&](const char* key, std::span<const std::int64_t> known) -> std::size_t {
    const auto value = j.find(key);
    if (value == j.end()) return 0;
    for (std::size_t n = 0; n < known.size(); ++n)
      if (value->is_number_integer() && *value == known[n]) return n;
    fields.refuse(fmt::format("{}.{}", path, key),
                  phrase("is {}; it must be one of these: {}", HeaderFields::shown(*value), fmt::join(known, ", ")));
    return 0;
  };
  static constexpr std::int64_t kSwizzles[] = {0, 32, 64, 128}, kPromotions[] = {0, 64, 128, 256};
  p.map.swizzle = static_cast<Swizzle>(bytes("swizzle", kSwizzles));
  p.map.promotion = static_cast<L2Promotion>(bytes("promote", kPromotions));
  if (const auto outside = j.find("outside"); outside != j.end())
    p.map.outside = static_cast<OutsideTensor>(fields.choice(*outside, path + ".outside", kOutside));
  return p;
}

}  // namespace

std::optional<std::uint32_t> OwnParameter::bytes() const {
  switch (kind) {
    case Kind::args:
      return std::nullopt;
    case Kind::map:
      return static_cast<std::uint32_t>(sizeof(TensorMap));
    case Kind::size:
    case Kind::real:
      return 4;
    case Kind::value:
      return type == Type::longer ? 8 : 4;
    case Kind::tensor:
    case Kind::scores:
    case Kind::weights:
    case Kind::scratch:
    case Kind::stride:
    case Kind::shift:
      return 8;
  }
  return 8;
}

std::string_view OwnParameter::type_words() const {
  switch (kind) {
    case Kind::args:
      return "Args";
    case Kind::map:
      return tr("a tensor map, __grid_constant__");
    case Kind::size:
      return "int";
    case Kind::real:
      return "float";
    case Kind::value:
      return type == Type::longer ? "long long" : type == Type::whole ? "int" : "float";
    case Kind::stride:
    case Kind::shift:
      return "long long";
    case Kind::tensor:
    case Kind::scores:
    case Kind::weights:
    case Kind::scratch:
      return tr("a pointer");
  }
  return "";
}

OwnParameter read_parameter(HeaderFields& fields, const json& j, const std::string& path, const OwnNames& names) {
  const std::vector<TensorSpec> specs = named_tensors(names.pass);
  if (j.is_object() && j.contains("value")) return read_value(fields, j, path);
  if (j.is_object() && j.contains("map")) return read_map(fields, j, path, specs);
  if (!j.is_string()) {
    fields.refuse(path, phrase("is {}; it must be a name in quotes, or an object with \"value\" or \"map\"",
                               HeaderFields::shown(j)));
    return {};
  }
  const auto& name = j.get_ref<const std::string&>();
  auto p = found(name, names, specs);
  if (!p) {
    fields.refuse(path, phrase("is {}; {}", HeaderFields::shown(j), known_words(names, specs)));
    return {};
  }
  p->name = name;
  return *std::move(p);
}

}  // namespace attn::gpu
