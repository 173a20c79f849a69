#include "profiling/session/json/beside_figures_json.h"

#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/formats/json_fields.h"
#include "profiling/session/json/counts_json.h"
#include "profiling/session/json/heartbeat_json.h"
#include "profiling/session/json/samples_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxReason = 64 << 10;

// Why there is none, into `why`. Whether there is one.
Result<bool> has_one(const json& j, const std::string& where, const char* key, const char* key_of_why,
                     std::string& why) {
  JsonFields fields(j, where);
  if (fields.has(key_of_why)) why = fields.text(key_of_why, kMaxReason);
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return fields.has(key);
}

}  // namespace

Result<BesideFigures::Next> BesideFigures::samples(const json& j, const std::string& where, Measurement& m) {
  const std::string part = where + ", samples";
  if (next_ == Next::samples) {
    const auto there = has_one(j, where, "samples", "no_samples", m.no_samples);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return Next::heartbeat;
    auto begun = begin_samples_from_json(j.at("samples"), part);
    if (!begun) return tl::unexpected(begun.error());
    samples_ = std::make_shared<KernelSamples>(*std::move(begun));
    return Next::more_samples;
  }
  const auto all = more_samples_from_json(j.at("samples"), part, *samples_);
  if (!all) return tl::unexpected(all.error());
  if (!*all) return Next::more_samples;
  m.samples = std::move(samples_);
  return Next::heartbeat;
}

Result<BesideFigures::Next> BesideFigures::heartbeat(const json& j, const std::string& where, Measurement& m) {
  const std::string part = where + ", heartbeat";
  if (next_ == Next::heartbeat) {
    const auto there = has_one(j, where, "heartbeat", "no_heartbeat", m.no_heartbeat);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return Next::counts;
    auto begun = begin_heartbeat_from_json(j.at("heartbeat"), part);
    if (!begun) return tl::unexpected(begun.error());
    heartbeat_ = std::make_shared<Heartbeat>(*std::move(begun));
    return Next::more_beats;
  }
  const auto all = more_heartbeat_from_json(j.at("heartbeat"), part, *heartbeat_);
  if (!all) return tl::unexpected(all.error());
  if (!*all) return Next::more_beats;
  m.heartbeat = std::move(heartbeat_);
  return Next::counts;
}

Result<BesideFigures::Next> BesideFigures::counts(const json& j, const std::string& where, Measurement& m) {
  const std::string part = where + ", instruction_counts";
  if (next_ == Next::counts) {
    const auto there = has_one(j, where, "instruction_counts", "no_instruction_counts", m.no_counts);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return Next::nothing;
    auto begun = begin_counts_from_json(j.at("instruction_counts"), part);
    if (!begun) return tl::unexpected(begun.error());
    counts_ = std::make_shared<KernelCounts>(*std::move(begun));
    return Next::more_counts;
  }
  const auto all = more_counts_from_json(j.at("instruction_counts"), part, *counts_);
  if (!all) return tl::unexpected(all.error());
  if (!*all) return Next::more_counts;
  m.counts = std::move(counts_);
  return Next::nothing;
}

Result<bool> BesideFigures::step(const json& j, const std::string& where, Measurement& m) {
  const auto read = [&]() -> Result<Next> {
    switch (next_) {
      case Next::samples:
      case Next::more_samples:
        return samples(j, where, m);
      case Next::heartbeat:
      case Next::more_beats:
        return heartbeat(j, where, m);
      case Next::counts:
      case Next::more_counts:
        return counts(j, where, m);
      case Next::nothing:
        break;
    }
    return Next::nothing;
  };
  const Result<Next> next = read();
  if (!next) return tl::unexpected(next.error());
  next_ = *next;
  return next_ == Next::nothing;
}

}  // namespace attn
