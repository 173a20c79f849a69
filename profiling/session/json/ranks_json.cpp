#include "profiling/session/json/ranks_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
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

constexpr double kMostNumber = std::numeric_limits<double>::max();

json spans_to_json(const std::vector<RankSpan>& spans) {
  json all = json::array();
  for (const RankSpan& s : spans)
    all.push_back({name_of(s.work), s.turn, number_to_json(s.begin_us), number_to_json(s.end_us)});
  return all;
}

Result<RankSpan> span_from_json(const json& j, const std::string& where) {
  const auto* const work = j.is_array() && j.size() == 4 && j[0].is_string()
                               ? std::ranges::find(kRankWorks, std::string_view(j[0].get_ref<const std::string&>()))
                               : kRankWorks.end();
  if (work == kRankWorks.end() || !j[1].is_number_integer() || !j[2].is_number() || !j[3].is_number())
    return bad_input(
        phrase("{} must be [work, turn, begin_us, end_us], with work {}.", where, fmt::join(kRankWorks, ", ")));
  const RankSpan s{static_cast<RankWork>(work - kRankWorks.begin()), j[1].get<std::int64_t>(), j[2].get<double>(),
                   j[3].get<double>()};
  if (s.turn < 0 || s.turn >= kMaxTurns || !(s.begin_us >= 0 && s.end_us >= s.begin_us && s.end_us <= kMostNumber))
    return bad_input(phrase("{}: turn {} has the invalid span {} to {} µs.", where, s.turn, s.begin_us, s.end_us));
  return s;
}

json forecasts_to_json(const std::vector<RanksForecast>& forecasts) {
  json all = json::array();
  for (const RanksForecast& f : forecasts) all.push_back({f.ranks, number_to_json(f.us)});
  return all;
}

Result<std::vector<RanksForecast>> forecasts_from_json(const json& j, const std::string& where) {
  if (j.size() > kMaxRanksForecasts)
    return bad_input(phrase("{}: {} forecasts; the maximum is {}.", where, j.size(), kMaxRanksForecasts));
  std::vector<RanksForecast> all;
  std::set<std::int64_t> seen;
  for (const json& one : j) {
    const bool pair = one.is_array() && one.size() == 2 && one[0].is_number_integer() && one[1].is_number();
    const RanksForecast f = pair ? RanksForecast{one[0].get<std::int64_t>(), one[1].get<double>()} : RanksForecast();
    if (f.ranks < 1 || f.ranks > static_cast<std::int64_t>(kMaxRanks) || !(f.us > 0 && f.us <= kMostNumber))
      return bad_input(phrase("{}: forecast {} must be [ranks, µs], with 1 to {} ranks and a time above 0.", where,
                              all.size(), kMaxRanks));
    if (!seen.insert(f.ranks).second) return bad_input(phrase("{}: two forecasts for {} ranks.", where, f.ranks));
    all.push_back(f);
  }
  return all;
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
      return bad_input(phrase("{}: {} travels, but {} has no such tensor.", where, words_of(t), describe(p)));
    }
    if (!seen.insert(t).second) return bad_input(phrase("{}: {} travels twice.", where, words_of(t)));
  }
  std::size_t spans = 0;
  for (const Rank& r : ranks.devices) spans += r.spans.size();
  if (spans > kMaxRankSpans) return bad_input(phrase("{}: {} spans; the maximum is {}.", where, spans, kMaxRankSpans));
  for (std::size_t n = 0; n < ranks.devices.size(); ++n) {
    const Rank& r = ranks.devices[n];
    if (std::isfinite(r.start_us) && std::isfinite(r.end_us) && r.start_us >= 0 && r.end_us >= r.start_us) continue;
    return bad_input(phrase("{}: rank {} has the invalid span {} to {} µs.", where, n, r.start_us, r.end_us));
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
  if (!ranks.forecasts.empty()) j["forecasts"] = forecasts_to_json(ranks.forecasts);
  for (const Tensor t : ranks.travels) j["travels"].push_back(std::string(name_of(t)));
  for (const Rank& r : ranks.devices) {
    json& device = j["devices"].emplace_back(json{{"device", r.device},
                                                  {"start_us", number_to_json(r.start_us)},
                                                  {"end_us", number_to_json(r.end_us)},
                                                  {"sent_bytes", r.sent_bytes}});
    if (!r.device_uuid.empty()) device["device_uuid"] = r.device_uuid;
    if (r.send_us > 0) device["send_us"] = number_to_json(r.send_us);
    if (!r.spans.empty()) device["spans"] = spans_to_json(r.spans);
  }
  return j;
}

Result<Ranks> ranks_from_json(const json& j, const Problem& p, const std::string& where) {
  constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;
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
  const json* const forecasts = fields.has("forecasts") ? &fields.array("forecasts") : nullptr;
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  if (forecasts != nullptr) {
    auto read = forecasts_from_json(*forecasts, where);
    if (!read) return tl::unexpected(read.error());
    ranks.forecasts = *std::move(read);
  }
  for (const json& device : devices) {
    JsonFields one(device, phrase("{}, device {}", where, ranks.devices.size()));
    Rank r;
    r.device = one.text("device");
    if (one.has("send_us")) r.send_us = number_in(one, "send_us", 0, kMostNumber);
    if (one.has("device_uuid")) r.device_uuid = one.text("device_uuid");
    r.start_us = one.number("start_us");
    r.end_us = one.number("end_us");
    const json* const spans = one.has("spans") ? &one.array("spans") : nullptr;
    r.sent_bytes = static_cast<std::uint64_t>(one.integer("sent_bytes", 0, kMaxWhole));
    if (auto read = one.result(); !read) return tl::unexpected(read.error());
    if (spans != nullptr && spans->size() > kMaxRankSpans)
      return bad_input(phrase("{}: {} spans; the maximum is {}.", one.where(), spans->size(), kMaxRankSpans));
    for (std::size_t n = 0; spans != nullptr && n < spans->size(); ++n) {
      const auto span = span_from_json((*spans)[n], phrase("{}, span {}", one.where(), n));
      if (!span) return tl::unexpected(span.error());
      r.spans.push_back(*span);
    }
    ranks.devices.push_back(std::move(r));
  }
  if (auto good = check_ranks(ranks, p, where); !good) return tl::unexpected(good.error());
  return ranks;
}

}  // namespace attn
