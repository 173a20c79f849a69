// The GPU worker with no GPU: a driver that breaks on purpose stands in a copy of this process. Whatever happens to a
// worker is one error in words, and the next request works.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "app/worker/client.h"
#include "app/worker/messages.h"
#include "kernels/model/inputs/inputs.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

GpuRunRequest request(const Inputs* in) {
  GpuRunRequest r;
  r.kernel = "naive";
  r.problem.Lq = r.problem.Lk = 5;
  r.problem.D = r.problem.Dv = 8;
  r.inputs = in;
  return r;
}
Inputs inputs() {
  InputSpec spec;
  spec.generator = Generator::normal;
  return *make_inputs(request(nullptr).problem, spec);
}

TEST(Worker, SaysWhichGpusThereAre) {
  GpuClient client = client_with({});
  const auto hello = client.hello({kPlenty, {}});
  ASSERT_TRUE(hello) << hello.error().message;
  ASSERT_EQ(hello->gpus.size(), 2U);
  EXPECT_EQ(hello->gpus[1].index, 1);
  EXPECT_EQ(hello->gpus[1].arch(), "sm_90a");
  EXPECT_EQ(hello->driver, 13000);
}

// Each task of the window has a thread of its own.
TEST(Worker, OutlivesTheThreadThatAskedForItFirst) {
  GpuClient client = client_with({});
  std::thread([&] { EXPECT_TRUE(client.hello({kPlenty, {}})); }).join();
  const int first = client.worker_id();
  const auto again = client.hello({kPlenty, {}});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(client.worker_id(), first);
}

TEST(Worker, RunsRepeatsAndTimes) {
  const Inputs in = inputs();
  GpuClient client = client_with({});
  GpuRunRequest r = request(&in);
  r.repeats = 3;
  r.timing.seconds = 0.001;
  const auto answer = client.run(r, {kPlenty, {}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->same_bits);
  EXPECT_GE(answer->samples_us.size(), 5U);
  EXPECT_DOUBLE_EQ(answer->samples_us[0], 250);
  EXPECT_EQ(answer->options.threads, 256);
  EXPECT_EQ(answer->source, "naive");
  // The double computes nothing: what comes back is the poison.
  EXPECT_TRUE(std::isnan(answer->outputs.out.get(0)));
  EXPECT_TRUE(std::isnan(answer->outputs.lse.get(4)));
}

// By reading: what a flush wrote would still be on its way to memory while the kernel is timed.
TEST(Worker, TheL2CacheIsFilledByReadingAndOnlyWhereItIsToBeCold) {
  const Inputs in = inputs();
  for (const bool cold : {true, false}) {
    GpuClient client = client_with({"launch of attnscope_read_l2", Fault::How::error});
    GpuRunRequest r = request(&in);
    r.timing.seconds = 0.001;
    r.timing.cold = cold;
    EXPECT_EQ(client.run(r, {kPlenty, {}}).has_value(), !cold);
  }
}

TEST(Worker, RefusesWhatDoesNotFitWithTheLargestLength) {
  GpuClient client = client_with({});
  GpuRunRequest r = request(nullptr);
  r.problem.Lq = r.problem.Lk = 131072;
  r.memory_limit = 80ULL << 30;
  const auto answer = client.run(r, {kPlenty, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(answer.error().message.find("largest L that fits is"), std::string::npos) << answer.error().message;
  EXPECT_GE(client.worker_id(), 0);  // a refusal costs no worker
}

TEST(Worker, UnknownGpuKernelOrShortTensorsAreRefused) {
  const Inputs in = inputs();
  GpuClient client = client_with({});
  GpuRunRequest r = request(&in);
  r.gpu = 7;
  EXPECT_EQ(client.run(r, {kPlenty, {}}).error().message, "there is no GPU 7: this machine has 2");
  r.gpu = 1;
  r.kernel = "cpu_flash";
  EXPECT_EQ(client.run(r, {kPlenty, {}}).error().kind, ErrorKind::cannot_run);
  r.kernel = "naive";
  r.problem.B = 2;
  EXPECT_EQ(client.run(r, {kPlenty, {}}).error().message,
            "the request's tensors have fewer bytes than the problem needs");
  EXPECT_TRUE(client.run(request(nullptr), {kPlenty, {}}).error().message.find("already uses GPU 1") !=
              std::string::npos);
}

class EveryCall : public testing::TestWithParam<std::string> {};

TEST_P(EveryCall, AnErrorNamesCallKernelAndProblemAndTheNextRunWorks) {
  const Inputs in = inputs();
  for (const Fault::How how : {Fault::How::error, Fault::How::sticky}) {
    GpuClient client = client_with({GetParam(), how});
    GpuRunRequest r = request(&in);
    r.timing.seconds = 0.001;
    r.kernel = GetParam() == "allow_shared" ? "flash_simt" : "naive";
    if (r.kernel == "flash_simt") r.problem.Dv = r.problem.D = 8;
    const auto broken = client.run(r, {kPlenty, {}});
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find(GetParam() + " failed: CUDA_ERROR"), std::string::npos)
        << broken.error().message;
    if (GetParam() != "open_device") {
      EXPECT_NE(broken.error().message.find(r.kernel), std::string::npos) << broken.error().message;
      EXPECT_NE(broken.error().message.find("L=5"), std::string::npos) << broken.error().message;
    }
    EXPECT_EQ(client.worker_id() < 0, how == Fault::How::sticky);
    if (how == Fault::How::sticky) {
      EXPECT_TRUE(client.run(r, {kPlenty, {}}));
    }
  }
}

TEST_P(EveryCall, AWorkerThatDiesIsReplaced) {
  const Inputs in = inputs();
  GpuClient client = client_with({GetParam(), Fault::How::die});
  GpuRunRequest r = request(&in);
  r.timing.seconds = 0.001;
  r.kernel = GetParam() == "allow_shared" ? "flash_simt" : "naive";
  const auto broken = client.run(r, {kPlenty, {}});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("the worker exited (signal 9)"), std::string::npos) << broken.error().message;
  EXPECT_TRUE(client.run(r, {kPlenty, {}}));
}

TEST_P(EveryCall, AWorkerThatHangsIsStoppedAndReplaced) {
  const Inputs in = inputs();
  GpuClient client = client_with({GetParam(), Fault::How::hang});
  GpuRunRequest r = request(&in);
  r.timing.seconds = 0.001;
  r.kernel = GetParam() == "allow_shared" ? "flash_simt" : "naive";
  const auto broken = client.run(r, {0.2, {}});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("no answer within 0.2 s"), std::string::npos) << broken.error().message;
  EXPECT_LT(client.worker_id(), 0);
  EXPECT_TRUE(client.run(r, {kPlenty, {}}));
}

INSTANTIATE_TEST_SUITE_P(Driver, EveryCall,
                         testing::Values("open_device", "allocate", "fill", "upload", "load", "allow_shared",
                                         "capturing", "launch", "synchronize", "download", "record"),
                         [](const auto& call) { return call.param; });

TEST(Worker, CancelStopsAHangingRun) {
  const Inputs in = inputs();
  GpuClient client = client_with({"launch", Fault::How::hang});
  std::stop_source stop;
  stop.request_stop();
  const auto cancelled = client.run(request(&in), {kPlenty, stop.get_token()});
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().kind, ErrorKind::cancelled);
}

// Both ends are this program, but a message is still read with care.
TEST(Worker, BrokenMessagesAreRefusedInWords) {
  const WorkerParts parts = parts_with({});
  auto child = Child::copy([&](Socket& socket) { return work(socket, parts); });
  ASSERT_TRUE(child);
  const std::vector<std::string> texts{
      "", "no JSON", "[]", "{}", R"({"do":"dance"})", R"({"do":"run"})", R"({"do":"run","gpu":"x"})"};
  for (const std::string& text : texts) {
    ASSERT_TRUE(child->socket().send(text, {}, {kPlenty, {}}));
    const auto reply = child->socket().receive({kPlenty, {}});
    ASSERT_TRUE(reply) << text << ": " << reply.error().words;
    EXPECT_EQ(parse_message(reply->text)->at("is"), "error") << text;
  }
  EXPECT_EQ(child->finish(kPlenty), "exit code 0");
}

TEST(Worker, AWorkerThatEndsWithoutAnAnswerIsNamed) {
  GpuClient client([] {
    return Child::copy([](Socket& socket) {
      (void)socket.receive({});
      return 5;
    });
  });
  const auto hello = client.hello({kPlenty, {}});
  ASSERT_FALSE(hello);
  EXPECT_NE(hello.error().message.find("the worker exited (exit code 5)"), std::string::npos) << hello.error().message;
}

}  // namespace
}  // namespace attn
