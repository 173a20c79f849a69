// A process that speaks the protocol of assets/peers/peer.py, and breaks on purpose.
#pragma once

#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/peers/client.h"

namespace attn {

struct PeerFault {
  std::string at;  // "hello", "open", "run", "turn"; empty: never
  enum class How { refuse, fail, lost, die, hang, garbage, nonsense, flood, short_answer } how = How::refuse;
};

inline void send_json(Socket& socket, const nlohmann::json& j, std::span<const std::byte> bytes = {}) {
  const std::vector<std::span<const std::byte>> parts{bytes};
  (void)socket.send(j.dump(), parts, {});
}

// True: the fault was the answer.
inline bool answer_broken(Socket& socket, const PeerFault& fault) {
  using How = PeerFault::How;
  switch (fault.how) {
    case How::refuse:
      send_json(socket, {{"is", "error"}, {"refused", true}, {"words", "it takes no such thing"}, {"lost", false}});
      return true;
    case How::fail:
    case How::lost:
      send_json(
          socket,
          {{"is", "error"}, {"refused", false}, {"words", "it broke\nin two lines"}, {"lost", fault.how == How::lost}});
      return true;
    case How::die:
      ::raise(SIGKILL);
      return true;
    case How::hang:
      while (true) ::pause();
    case How::garbage:
      send_json(socket, "no object");
      return true;
    case How::nonsense:
      send_json(socket, {{"is", "something else"}});
      return true;
    case How::flood: {  // 1 GiB for an answer of some bytes
      const std::vector<std::byte> piece(1 << 20);
      const std::vector<std::span<const std::byte>> parts(1 << 10, piece);
      (void)socket.send(R"({"is": "answer", "how": "", "us": 1})", parts, {});
      return true;
    }
    case How::short_answer:
      return false;
  }
  return false;
}

// Answers zeros and 200 us a repeat.
inline int speak(Socket& socket, const PeerFault& fault, const std::string& device) {
  std::size_t elements = 0;
  while (true) {
    const auto message = socket.receive({});
    if (!message) return 0;
    const auto ask = nlohmann::json::parse(message->text);
    const std::string what = ask.at("do");
    if (what == fault.at && answer_broken(socket, fault)) continue;
    if (what == "hello") {
      send_json(socket, {{"is", "hello"}, {"software", "a double 1.0"}, {"device", {{"name", device}}}});
    } else if (what == "open") {
      const auto& p = ask.at("problem");
      const auto of = [&](const char* name) { return p.at(name).get<std::size_t>(); };
      elements = of("B") * of("Hq") * of("Lq") * of("Dv");
      if (p.contains("pass"))
        elements = of("B") * (of("Hq") * of("Lq") * of("D") + of("Hkv") * of("Lk") * (of("D") + of("Dv")));
      send_json(socket, {{"is", "ready"}});
    } else if (what == "run") {
      const bool less = fault.at == what && fault.how == PeerFault::How::short_answer;
      const std::vector<float> out(elements - (less ? 1 : 0), 0.0F);
      nlohmann::json answer{{"is", "answer"}, {"how", "nothing"}, {"us", 200.0}};
      if (ask.at("peer") == "flash-attn") answer["package"] = "flash_attn 2.0";
      send_json(socket, answer, std::as_bytes(std::span(out)));
    } else {
      const bool less = fault.at == what && fault.how == PeerFault::How::short_answer;
      send_json(socket, {{"is", "times"},
                         {"us", std::vector<double>(ask.at("repeats").get<std::size_t>() - (less ? 1 : 0), 200.0)}});
    }
  }
}

// The first process breaks as `fault` says, those after it do not.
inline PeerClient::Starter double_peer(PeerFault fault = {}, std::string device = "a double") {
  return [first = true, fault = std::move(fault), device = std::move(device)](const PeerPlace&) mutable {
    const PeerFault now = first ? fault : PeerFault{};
    first = false;
    return Child::copy([now, device](Socket& socket) { return speak(socket, now, device); });
  };
}

}  // namespace attn
