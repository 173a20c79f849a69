#include "app/peers/client.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/model/problem_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 8;
constexpr std::size_t kMaxWords = 2000;  // of a reason
constexpr std::size_t kMaxTimes = 1 << 20;

json problem_for_peer(const Problem& p) {
  json j{{"B", p.B},
         {"Hq", p.Hq},
         {"Hkv", p.Hkv},
         {"Lq", p.Lq},
         {"Lk", p.Lk},
         {"D", p.D},
         {"Dv", p.Dv},
         {"dtype", name_of(p.dtype)},
         {"scale", p.effective_scale()},
         {"causal", p.mask.causal},
         {"window_left", p.mask.window_left},
         {"window_right", p.mask.window_right},
         {"key_lengths", p.mask.key_lengths},
         {"bias", p.bias_shape}};
  if (p.softcap) j["softcap"] = *p.softcap;
  if (p.alibi) j["slopes"] = problem_to_json(p)["alibi"];
  return j;
}

// Words of a stranger, for one line of a table.
std::string in_one_line(std::string words) {
  for (char& c : words)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (words.size() > kMaxWords) words.resize(kMaxWords);
  return words;
}

}  // namespace

struct PeerClient::Reply {
  json text;
  std::vector<std::byte> bytes;
};

void PeerClient::stop() {
  child_.reset();
  hello_.reset();
  opened_.clear();
}

Error PeerClient::lost(const NoMessage& why) {
  const std::string end = child_ ? child_->kill() : std::string();
  stop();
  switch (why.why) {
    case NoReply::stopped:
      return {ErrorKind::cancelled, "it was cancelled"};
    case NoReply::too_late:
      return {ErrorKind::failed, fmt::format("{}; its process was stopped", why.words)};
    case NoReply::closed:
      return {ErrorKind::failed, fmt::format("its process ended ({}) before it answered", end)};
    case NoReply::broken:
      break;
  }
  return {ErrorKind::failed, fmt::format("its process sent what is no answer; it was stopped")};
}

Result<PeerClient::Reply> PeerClient::ask(const std::string& request, std::span<const std::span<const std::byte>> bytes,
                                          const std::string& wanted, const Deadline& deadline) {
  if (!child_) return fail(ErrorKind::failed, "its process does not run");
  if (auto sent = child_->socket().send(request, bytes, deadline); !sent) return tl::unexpected(lost(sent.error()));
  auto message = child_->socket().receive(deadline);
  if (!message) return tl::unexpected(lost(message.error()));
  auto text = parse_json(message->text, "a peer's answer", kMaxDepth);
  if (!text || !text->is_object()) return tl::unexpected(lost({NoReply::broken, ""}));
  JsonFields fields(*text, "a peer's answer");
  const std::string is = fields.text("is");
  if (is == "error") {
    const std::string words = in_one_line(fields.text("words", kMaxWords * 8));
    const bool refused = fields.boolean("refused"), gone = fields.boolean("lost");
    if (!fields.result()) return tl::unexpected(lost({NoReply::broken, ""}));
    if (gone) stop();  // its GPU is lost to it
    return fail(refused ? ErrorKind::cannot_run : ErrorKind::failed, words);
  }
  if (is != wanted) return tl::unexpected(lost({NoReply::broken, ""}));
  return Reply{std::move(*text), std::move(message->bytes)};
}

void PeerClient::warm_up(const PeerPlace& place) {
  if (child_) return;
  if (auto child = start_(place)) {
    child_.emplace(std::move(*child));
    place_ = place;
  }
}

Result<PeerHello> PeerClient::hello(const PeerPlace& place, const Deadline& deadline) {
  if (child_ && place == place_ && hello_) return *hello_;
  if (!child_ || !(place == place_)) {
    stop();
    auto child = start_(place);
    if (!child) return tl::unexpected(child.error());
    child_.emplace(std::move(*child));
  }
  const json request{{"do", "hello"},
                     {"device", place.processor == Processor::gpu ? "cuda" : "cpu"},
                     {"gpu", place.gpu},
                     {"threads", place.threads}};
  const auto reply = ask(request.dump(), {}, "hello", deadline);
  if (!reply) {
    stop();
    return tl::unexpected(reply.error());
  }
  JsonFields fields(reply->text, "a peer's hello");
  PeerHello hello;
  hello.software = in_one_line(fields.text("software", kMaxWords));
  const json& device = fields.object("device");
  if (device.contains("name")) hello.device = JsonFields(device, "a peer's device").text("name");
  if (!fields.result()) return tl::unexpected(lost({NoReply::broken, ""}));
  place_ = place;
  hello_ = std::move(hello);
  return *hello_;
}

Result<void> PeerClient::open(const std::string& id, const Problem& p, const Inputs& inputs, const Deadline& deadline) {
  if (child_ && opened_ == id) return ok();
  std::vector<std::span<const std::byte>> parts;
  for (const Array* a : {&inputs.q, &inputs.k, &inputs.v}) parts.emplace_back(a->data(), a->bytes());
  if (inputs.bias) parts.emplace_back(inputs.bias->data(), inputs.bias->bytes());
  opened_.clear();
  const auto reply = ask(json{{"do", "open"}, {"problem", problem_for_peer(p)}}.dump(), parts, "ready", deadline);
  if (!reply) return tl::unexpected(reply.error());
  opened_ = id;
  return ok();
}

Result<PeerAnswer> PeerClient::run(const std::string& peer, const Problem& p, const Deadline& deadline) {
  const auto reply = ask(json{{"do", "run"}, {"peer", peer}}.dump(), {}, "answer", deadline);
  if (!reply) return tl::unexpected(reply.error());
  JsonFields fields(reply->text, "a peer's answer");
  PeerAnswer answer{Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), in_one_line(fields.text("how", kMaxWords)),
                    fields.number("us")};
  if (fields.has("package")) answer.package = in_one_line(fields.text("package", kMaxWords));
  if (!fields.result() || reply->bytes.size() != answer.out.bytes() || !(answer.us >= 0))
    return tl::unexpected(lost({NoReply::broken, ""}));
  std::memcpy(answer.out.data(), reply->bytes.data(), reply->bytes.size());
  return answer;
}

Result<std::vector<double>> PeerClient::turn(const std::string& peer, const Turn& turn, std::uint64_t flush_bytes,
                                             const Deadline& deadline) {
  const json request{{"do", "turn"},
                     {"peer", peer},
                     {"warm_up", turn.warm_up},
                     {"repeats", turn.repeats},
                     {"pause_us", turn.pause_us},
                     {"flushes", turn.flushes},
                     {"flush_bytes", flush_bytes}};
  const auto reply = ask(request.dump(), {}, "times", deadline);
  if (!reply) return tl::unexpected(reply.error());
  JsonFields fields(reply->text, "a peer's times");
  const json& list = fields.array("us");
  std::vector<double> times;
  for (const json& us : list) times.push_back(us.is_number() ? us.get<double>() : -1);
  const bool good = fields.result() && times.size() == static_cast<std::size_t>(turn.repeats) &&
                    times.size() <= kMaxTimes &&
                    std::ranges::all_of(times, [](double us) { return std::isfinite(us) && us >= 0; });
  if (!good) return tl::unexpected(lost({NoReply::broken, ""}));
  return times;
}

}  // namespace attn
