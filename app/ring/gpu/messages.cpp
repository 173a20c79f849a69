#include "app/ring/gpu/messages.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "app/worker/messages.h"
#include "kernels/model/problem_json.h"

namespace attn {
namespace {

using nlohmann::json;

template <std::size_t N>
std::string hex_of(const std::array<std::byte, N>& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

template <std::size_t N>
Result<void> take_hex(const json& j, std::array<std::byte, N>& bytes) {
  const auto text = j.get<std::string>();
  if (text.size() != 2 * N) return bad_input(fmt::format("a handle of {} digits instead of {}", text.size(), 2 * N));
  for (std::size_t n = 0; n < N; ++n) {
    unsigned value = 0;
    for (const char c : {text[2 * n], text[2 * n + 1]}) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (c < 'a' || c > 'f')) return bad_input("a handle contains a letter that is not a digit");
      value = 16 * value + static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
    }
    bytes[n] = static_cast<std::byte>(value);
  }
  return ok();
}

json handles_json(const GpuHandles& h) {
  return {hex_of(h.slots[0]), hex_of(h.slots[1]), hex_of(h.flags), hex_of(h.sums[0]), hex_of(h.sums[1])};
}
Result<void> take_handles(const json& j, GpuHandles& h) {
  auto good = take_hex(j.at(0), h.slots[0]);
  if (good) good = take_hex(j.at(1), h.slots[1]);
  if (good) good = take_hex(j.at(2), h.flags);
  if (good) good = take_hex(j.at(3), h.sums[0]);
  if (good) good = take_hex(j.at(4), h.sums[1]);
  return good;
}

template <class E>
Result<void> take_choice(const json& j, std::size_t most, E& to) {
  const auto n = j.get<std::size_t>();
  if (n >= most) return bad_input("a message contains an unknown choice");
  to = static_cast<E>(n);
  return ok();
}

}  // namespace

json to_json(const GpuOpenRequest& r) {
  return {{"do", "open"},
          {"rank", r.rank},
          {"gpu", r.gpu},
          {"kernel", r.kernel},
          {"problem", problem_to_json(r.problem)},
          {"options", options_to_json(r.options)},
          {"ranks", r.turns.ranks},
          {"deal", static_cast<std::size_t>(r.turns.deal)},
          {"travel", static_cast<std::size_t>(r.travel)},
          {"spared_sms", r.spared_sms},
          {"nccl_folder", r.nccl_folder}};
}

Result<GpuOpenRequest> gpu_open_from(const json& j) {
  return guarded<GpuOpenRequest>([&]() -> Result<GpuOpenRequest> {
    auto problem = problem_from_json(j.at("problem"), "problem");
    if (!problem) return tl::unexpected(problem.error());
    auto options = options_from_json(j.at("options"), "options");
    if (!options) return tl::unexpected(options.error());
    GpuOpenRequest r;
    r.rank = j.at("rank");
    r.gpu = j.at("gpu");
    r.kernel = j.at("kernel");
    r.problem = *std::move(problem);
    r.options = *std::move(options);
    r.spared_sms = j.at("spared_sms");
    r.nccl_folder = j.at("nccl_folder");
    r.turns.ranks = j.at("ranks");
    if (auto good = take_choice(j.at("deal"), std::size(kGpuDeals), r.turns.deal); !good)
      return tl::unexpected(good.error());
    if (auto good = take_choice(j.at("travel"), std::size(kTravels), r.travel); !good)
      return tl::unexpected(good.error());
    if (r.turns.ranks < 1 || r.rank < 0 || r.rank >= r.turns.ranks)
      return bad_input(fmt::format("there is no rank {} of {}", r.rank, r.turns.ranks));
    r.turns.causal = r.problem.mask.causal;
    r.turns.length = r.problem.Lq;
    r.turns.heads = r.problem.Hq;
    r.turns.kv_heads = r.problem.Hkv;
    return r;
  });
}

json to_json(const GpuOpened& o) {
  return {{"is", "ready"},      {"handles", handles_json(o.handles)},
          {"id", hex_of(o.id)}, {"gpu", o.gpu},
          {"kernel", o.kernel}, {"travel", o.travel},
          {"sms", o.sms},       {"options", options_to_json(o.options)}};
}

Result<GpuOpened> gpu_opened_from(const json& j) {
  return guarded<GpuOpened>([&]() -> Result<GpuOpened> {
    GpuOpened o;
    if (auto good = take_handles(j.at("handles"), o.handles); !good) return tl::unexpected(good.error());
    if (auto good = take_hex(j.at("id"), o.id); !good) return tl::unexpected(good.error());
    auto options = options_from_json(j.at("options"), "options");
    if (!options) return tl::unexpected(options.error());
    o.options = *std::move(options);
    o.gpu = j.at("gpu");
    o.kernel = j.at("kernel");
    o.travel = j.at("travel");
    o.sms = j.at("sms");
    return o;
  });
}

json to_json(const GpuConnectRequest& r) {
  return {{"do", "connect"}, {"left", handles_json(r.left)}, {"right", handles_json(r.right)}, {"id", hex_of(r.id)}};
}

Result<GpuConnectRequest> gpu_connect_from(const json& j) {
  return guarded<GpuConnectRequest>([&]() -> Result<GpuConnectRequest> {
    GpuConnectRequest r;
    auto good = take_handles(j.at("left"), r.left);
    if (good) good = take_handles(j.at("right"), r.right);
    if (good) good = take_hex(j.at("id"), r.id);
    if (!good) return tl::unexpected(good.error());
    return r;
  });
}

json to_json(const GpuRankTimes& t) {
  return {
      {"is", "done"},         {"spans", to_json(t.spans)},      {"merge_us", t.merge_us}, {"barrier_us", t.barrier_us},
      {"sent", t.sent_bytes}, {"sm_clock_mhz", t.sm_clock_mhz}, {"host_us", t.host_us}};
}

Result<GpuRankTimes> gpu_times_from(const json& j) {
  return guarded<GpuRankTimes>([&]() -> Result<GpuRankTimes> {
    auto spans = spans_from(j.at("spans"));
    if (!spans) return tl::unexpected(spans.error());
    return GpuRankTimes{*std::move(spans), j.at("merge_us"),     j.at("barrier_us"),
                        j.at("sent"),      j.at("sm_clock_mhz"), j.at("host_us")};
  });
}

}  // namespace attn
