#include "profiling/session/json/ranks_json.h"

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "profiling/session/json/number_in.h"

namespace attn {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

// In the order of the enumerators.
const Names& dealing_names() {
  static const Names names{"in_order", "zigzag", "heads"};
  return names;
}
const Names& carrier_names() {
  static const Names names{"copy_engine", "nccl", "sockets"};
  return names;
}

Result<void> check_ranks(const Ranks& ranks, const Problem& p, const std::string& where) {
  if (ranks.devices.empty() || ranks.devices.size() > kMaxRanks) {
    return bad_input(phrase("{}: {} ranks; use 1 to {}.", where, ranks.devices.size(), kMaxRanks));
  }
  std::set<Tensor> seen;
  const std::vector<TensorSpec> specs = tensors_of(p);
  for (const Tensor t : ranks.travels) {
    // Parts travel where keys are dealt; a problem has them whatever the number of parts.
    const bool part = t == Tensor::partial_o || t == Tensor::partial_lse;
    if (!part && find(specs, t) == nullptr) {
      return bad_input(phrase("{}: {} travels, but {} does not have it.", where, words_of(t), describe(p)));
    }
    if (!seen.insert(t).second) return bad_input(phrase("{}: {} travels twice.", where, words_of(t)));
  }
  for (std::size_t n = 0; n < ranks.devices.size(); ++n) {
    const Rank& r = ranks.devices[n];
    if (std::isfinite(r.start_us) && std::isfinite(r.end_us) && r.start_us >= 0 && r.end_us >= r.start_us) continue;
    return bad_input(phrase("{}: rank {} runs from {} to {} us.", where, n, r.start_us, r.end_us));
  }
  return ok();
}

}  // namespace

json ranks_to_json(const Ranks& ranks) {
  json j{{"dealing", dealing_names()[static_cast<std::size_t>(ranks.dealing)]},
         {"carrier", carrier_names()[static_cast<std::size_t>(ranks.carrier)]},
         {"travels", json::array()},
         {"devices", json::array()}};
  if (ranks.one_rank_us > 0) j["one_rank_us"] = number_to_json(ranks.one_rank_us);
  if (ranks.link_gb_per_s > 0) j["link_gb_per_s"] = number_to_json(ranks.link_gb_per_s);
  for (const Tensor t : ranks.travels) j["travels"].push_back(std::string(name_of(t)));
  for (const Rank& r : ranks.devices) {
    json& device = j["devices"].emplace_back(json{{"device", r.device},
                                                  {"start_us", number_to_json(r.start_us)},
                                                  {"end_us", number_to_json(r.end_us)},
                                                  {"sent_bytes", r.sent_bytes}});
    if (!r.device_uuid.empty()) device["device_uuid"] = r.device_uuid;
    if (r.send_us > 0) device["send_us"] = number_to_json(r.send_us);
  }
  return j;
}

Result<Ranks> ranks_from_json(const json& j, const Problem& p, const std::string& where) {
  constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;
  constexpr double kMostNumber = std::numeric_limits<double>::max();
  JsonFields fields(j, where);
  Ranks ranks;
  ranks.dealing = static_cast<Dealing>(fields.choice("dealing", dealing_names()));
  ranks.carrier = static_cast<Carrier>(fields.choice("carrier", carrier_names()));
  for (const std::string& name : fields.texts("travels", kTensors)) {
    const std::optional<Tensor> t = tensor_from_name(name);
    if (!t) fields.refuse("travels", phrase("has an unknown tensor name: '{}'", name.substr(0, 80)));
    ranks.travels.push_back(t.value_or(Tensor::q));
  }
  if (fields.has("one_rank_us")) ranks.one_rank_us = number_in(fields, "one_rank_us", 0, kMostNumber);
  if (fields.has("link_gb_per_s")) ranks.link_gb_per_s = number_in(fields, "link_gb_per_s", 0, kMostNumber);
  const json& devices = fields.array("devices");
  if (devices.size() > kMaxRanks) fields.refuse("devices", phrase("must have at most {} elements", kMaxRanks));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  for (const json& device : devices) {
    JsonFields one(device, phrase("{}, device {}", where, ranks.devices.size()));
    Rank r;
    r.device = one.text("device");
    if (one.has("send_us")) r.send_us = number_in(one, "send_us", 0, kMostNumber);
    if (one.has("device_uuid")) r.device_uuid = one.text("device_uuid");
    r.start_us = one.number("start_us");
    r.end_us = one.number("end_us");
    r.sent_bytes = static_cast<std::uint64_t>(one.integer("sent_bytes", 0, kMaxWhole));
    if (auto read = one.result(); !read) return tl::unexpected(read.error());
    ranks.devices.push_back(std::move(r));
  }
  if (auto good = check_ranks(ranks, p, where); !good) return tl::unexpected(good.error());
  return ranks;
}

}  // namespace attn
