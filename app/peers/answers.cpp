#include "app/peers/answers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 8;
constexpr std::size_t kMaxWords = 2000;  // of a reason
constexpr std::int32_t kMaxTimes = 1 << 20;
constexpr const char* kWhat = "a peer's answer";

// Words of a stranger, for one line of a table.
std::string in_one_line(std::string words) {
  for (char& c : words)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (words.size() > kMaxWords) words.resize(kMaxWords);
  return words;
}

// Whatever a library throws at what it says: it is no answer.
template <class Read>
auto guarded(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::uint64_t longest_reply(std::int32_t times) {
  constexpr std::uint64_t kWords = 256 << 10, kEach = 40;  // a double and what parts it from the next
  return kWords + kEach * static_cast<std::uint64_t>(std::max(times, 0));
}

std::uint64_t bytes_of(const Outputs& out) {
  std::uint64_t bytes = 0;
  for (const auto part : parts_of(out)) bytes += part.size();
  return bytes;
}

std::optional<PeerReply> read_reply(std::string_view text, std::string_view wanted) {
  return guarded([&]() -> std::optional<PeerReply> {
    auto parsed = parse_json(text, kWhat, kMaxDepth);
    if (!parsed || !parsed->is_object()) return std::nullopt;
    JsonFields fields(*parsed, kWhat);
    const std::string is = fields.text("is");
    if (is == wanted) return PeerReply{*std::move(parsed)};
    if (is != "error") return std::nullopt;
    PeerReply reply;
    const std::string words = in_one_line(fields.text("words", kMaxWords * 8));
    const bool refused = fields.boolean("refused");
    reply.lost = fields.boolean("lost");
    if (!fields.result()) return std::nullopt;
    reply.error = Error{refused ? ErrorKind::cannot_run : ErrorKind::failed, words};
    return reply;
  });
}

std::optional<PeerHello> read_hello(const json& reply) {
  return guarded([&]() -> std::optional<PeerHello> {
    JsonFields fields(reply, "a peer's hello");
    PeerHello hello;
    hello.software = in_one_line(fields.text("software", kMaxWords));
    JsonFields device(fields.object("device"), "a peer's device");
    if (device.has("name")) hello.device = in_one_line(device.text("name"));
    if (!fields.result() || !device.result()) return std::nullopt;
    return hello;
  });
}

Outputs outputs_of_peer(const Problem& p) {
  Outputs out = empty_outputs(p);
  out.lse = out.delta = {};
  return out;
}

std::optional<PeerAnswer> read_answer(const json& reply, std::span<const std::byte> out, const Problem& p) {
  return guarded([&]() -> std::optional<PeerAnswer> {
    JsonFields fields(reply, kWhat);
    PeerAnswer answer{outputs_of_peer(p), in_one_line(fields.text("how", kMaxWords)), fields.number("us")};
    if (fields.has("package")) answer.package = in_one_line(fields.text("package", kMaxWords));
    if (!fields.result() || out.size() != bytes_of(answer.outputs) || !(answer.us >= 0) || !std::isfinite(answer.us))
      return std::nullopt;
    take_outputs(out, answer.outputs);
    return answer;
  });
}

std::optional<std::vector<double>> read_times(const json& reply, std::int32_t repeats) {
  return guarded([&]() -> std::optional<std::vector<double>> {
    JsonFields fields(reply, "a peer's times");
    const json& list = fields.array("us");
    if (!fields.result() || list.size() != static_cast<std::size_t>(repeats) || repeats > kMaxTimes)
      return std::nullopt;
    std::vector<double> times;
    times.reserve(list.size());
    for (const json& us : list) times.push_back(us.is_number() ? us.get<double>() : -1);
    if (!std::ranges::all_of(times, [](double us) { return std::isfinite(us) && us >= 0; })) return std::nullopt;
    return times;
  });
}

}  // namespace attn
