#include "app/peers/client.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/model/problem_json.h"

namespace attn {
namespace {

using nlohmann::json;

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
  if (p.pass != Pass::forward) j["pass"] = name_of(p.pass);
  if (p.softcap) j["softcap"] = *p.softcap;
  if (p.alibi) j["slopes"] = problem_to_json(p)["alibi"];
  return j;
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
  return {ErrorKind::failed, fmt::format("its process sent an invalid reply and was stopped")};
}

Result<PeerClient::Reply> PeerClient::ask(const std::string& request, std::span<const std::span<const std::byte>> bytes,
                                          std::string_view wanted, const MessageLimit& most, const Deadline& deadline) {
  if (!child_) return fail(ErrorKind::failed, "its process is not running");
  if (auto sent = child_->socket().send(request, bytes, deadline); !sent) return tl::unexpected(lost(sent.error()));
  auto message = child_->socket().receive(deadline, most);
  if (!message) return tl::unexpected(lost(message.error()));
  auto reply = read_reply(message->text, wanted);
  if (!reply) return tl::unexpected(lost({NoReply::broken, ""}));
  if (reply->lost) stop();  // its GPU is lost to it
  if (reply->error) return tl::unexpected(*reply->error);
  return Reply{std::move(reply->fields), std::move(message->bytes)};
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
  const auto reply = ask(request.dump(), {}, "hello", {longest_reply(0), 0}, deadline);
  if (!reply) {
    stop();
    return tl::unexpected(reply.error());
  }
  auto hello = read_hello(reply->text);
  if (!hello) return tl::unexpected(lost({NoReply::broken, ""}));
  place_ = place;
  hello_ = std::move(hello);
  return *hello_;
}

Result<void> PeerClient::open(const std::string& id, const Problem& p, const Inputs& inputs, const Deadline& deadline) {
  if (child_ && opened_ == id) return ok();
  std::vector<std::span<const std::byte>> parts;
  for (const Array* a : {&inputs.q, &inputs.k, &inputs.v}) parts.emplace_back(a->data(), a->bytes());
  if (inputs.bias) parts.emplace_back(inputs.bias->data(), inputs.bias->bytes());
  if (inputs.d_o) parts.emplace_back(inputs.d_o->data(), inputs.d_o->bytes());
  opened_.clear();
  const auto reply = ask(json{{"do", "open"}, {"problem", problem_for_peer(p)}}.dump(), parts, "ready",
                         {longest_reply(0), 0}, deadline);
  if (!reply) return tl::unexpected(reply.error());
  opened_ = id;
  return ok();
}

Result<PeerAnswer> PeerClient::run(const std::string& peer, const Problem& p, const Deadline& deadline) {
  const std::uint64_t out_bytes = bytes_of(outputs_of_peer(p));
  const auto reply =
      ask(json{{"do", "run"}, {"peer", peer}}.dump(), {}, "answer", {longest_reply(0), out_bytes}, deadline);
  if (!reply) return tl::unexpected(reply.error());
  auto answer = read_answer(reply->text, reply->bytes, p);
  if (!answer) return tl::unexpected(lost({NoReply::broken, ""}));
  return *std::move(answer);
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
  const auto reply = ask(request.dump(), {}, "times", {longest_reply(turn.repeats), 0}, deadline);
  if (!reply) return tl::unexpected(reply.error());
  auto times = read_times(reply->text, turn.repeats);
  if (!times) return tl::unexpected(lost({NoReply::broken, ""}));
  return *std::move(times);
}

}  // namespace attn
