// The program's side of a peer's process: what it says is believed only where it is an answer.
#include "app/peers/client.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/inputs/inputs.h"
#include "tests/app/peers/double.h"

namespace attn {
namespace {

constexpr double kPlenty = 20;

Problem small_problem() {
  Problem p;
  p.Lq = p.Lk = 4;
  p.D = p.Dv = 8;
  return p;
}

// Hello, inputs, one run, one turn: the first error.
Result<std::vector<double>> all_of(PeerClient& client, double seconds = kPlenty) {
  const Problem p = small_problem();
  const auto inputs = make_inputs(p, {});
  if (!inputs) return tl::unexpected(inputs.error());
  const Deadline deadline{seconds, {}};
  if (auto hello = client.hello({}, deadline); !hello) return tl::unexpected(hello.error());
  if (auto opened = client.open("these", p, *inputs, deadline); !opened) return tl::unexpected(opened.error());
  if (auto run = client.run("a", p, deadline); !run) return tl::unexpected(run.error());
  return client.turn("a", {1, 6, 0, 1}, 0, deadline);
}

TEST(PeerClient, TellsWhatItsProcessSays) {
  PeerClient client(double_peer());
  const Problem p = small_problem();
  const auto inputs = make_inputs(p, {});
  ASSERT_TRUE(inputs);
  const auto hello = client.hello({}, {kPlenty, {}});
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(hello->software, "a double 1.0");
  EXPECT_EQ(hello->device, "a double");
  ASSERT_TRUE(client.open("these", p, *inputs, {kPlenty, {}}));
  const auto answer = client.run("a", p, {kPlenty, {}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outputs.out, Array(DType::f32, {1, 1, 4, 8}));
  EXPECT_EQ(answer->how, "nothing");
  const auto times = client.turn("a", {1, 6, 0, 1}, 0, {kPlenty, {}});
  ASSERT_TRUE(times);
  EXPECT_EQ(*times, std::vector<double>(6, 200.0));
}

struct Break {
  std::string_view at;
  PeerFault::How how;
  ErrorKind kind;
  std::string_view words;
};

TEST(PeerClient, WhateverBreaksIsOneErrorInWordsAndTheNextRequestWorks) {
  using How = PeerFault::How;
  for (const std::string_view at : {"hello", "open", "run", "turn"}) {
    const Break breaks[] = {
        {at, How::refuse, ErrorKind::cannot_run, "it takes no such thing"},
        {at, How::fail, ErrorKind::failed, "it broke in two lines"},
        {at, How::lost, ErrorKind::failed, "it broke in two lines"},
        {at, How::die, ErrorKind::failed, "its process ended (signal 9)"},
        {at, How::hang, ErrorKind::failed, "no answer within 0.5 s"},
        {at, How::garbage, ErrorKind::failed, "an invalid reply"},
        {at, How::nonsense, ErrorKind::failed, "an invalid reply"},
        {at, How::flood, ErrorKind::failed, "an invalid reply"},
    };
    for (const Break& b : breaks) {
      PeerClient client(double_peer({std::string(b.at), b.how}));
      const auto first = all_of(client, b.how == How::hang ? 0.5 : kPlenty);
      ASSERT_FALSE(first) << b.at << b.words;
      EXPECT_EQ(first.error().kind, b.kind) << b.at << ": " << first.error().message;
      EXPECT_NE(first.error().message.find(b.words), std::string::npos) << b.at << ": " << first.error().message;
      // A refusal or a failure that it survives says the same again; what was lost is started anew.
      const bool stays = b.at != "hello" && (b.how == How::refuse || b.how == How::fail);
      EXPECT_EQ(all_of(client).has_value(), !stays) << b.at << ": " << b.words;
    }
  }
}

TEST(PeerClient, AnAnswerOfAnotherSizeIsNone) {
  for (const std::string at : {"run", "turn"}) {
    PeerClient client(double_peer({at, PeerFault::How::short_answer}));
    const auto times = all_of(client);
    ASSERT_FALSE(times);
    EXPECT_NE(times.error().message.find("an invalid reply"), std::string::npos) << times.error().message;
  }
}

TEST(PeerClient, ACancelledOneSaysSo) {
  PeerClient client(double_peer({"run", PeerFault::How::hang}));
  const Problem p = small_problem();
  const auto inputs = make_inputs(p, {});
  ASSERT_TRUE(client.hello({}, {kPlenty, {}}));
  ASSERT_TRUE(client.open("these", p, *inputs, {kPlenty, {}}));
  std::stop_source stop;
  stop.request_stop();
  const auto answer = client.run("a", p, {kPlenty, stop.get_token()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::cancelled);
}

}  // namespace
}  // namespace attn
