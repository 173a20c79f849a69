// The GPU worker with no GPU: a driver that breaks on purpose stands in a copy of this process. Whatever happens to a
// worker is one error in words, and the next request works.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <signal.h>
#include <unistd.h>

#include "app/gpu_client.h"
#include "app/worker_messages.h"
#include "kernels/gpu/hash.h"

namespace attn {
namespace {

// Where and how the double breaks.
struct Fault {
  std::string call;  // "launch", "synchronize", ...; empty: never
  enum class How { error, sticky, hang, die } how = How::error;
};

// Remembers no numbers: memory is plain memory of the process, launches do nothing.
class BreakingDriver final : public gpu::Driver {
 public:
  explicit BreakingDriver(Fault fault) : fault_(std::move(fault)) {}

  Result<std::int32_t> version() override { return 13000; }
  Result<std::int32_t> device_count() override { return 2; }
  Result<gpu::GpuProperties> properties(std::int32_t index) override {
    gpu::GpuProperties p;
    p.index = index;
    p.name = "a double";
    p.major = 9;
    p.sms = 132;
    p.memory_bytes = 80ULL << 30;
    p.l2_bytes = 1024;
    return p;
  }
  Result<void> open_device(std::int32_t) override { return at("open_device"); }
  Result<std::uint64_t> free_memory() override { return std::uint64_t{1} << 30; }
  Result<gpu::DevicePointer> allocate(std::uint64_t bytes) override {
    if (auto good = at("allocate"); !good) return tl::unexpected(good.error());
    return reinterpret_cast<gpu::DevicePointer>(::operator new(bytes + 1));
  }
  void release(gpu::DevicePointer p) override { ::operator delete(reinterpret_cast<void*>(p)); }
  Result<void> fill(gpu::DevicePointer p, std::uint8_t byte, std::uint64_t bytes, gpu::StreamHandle) override {
    std::memset(reinterpret_cast<void*>(p), byte, bytes);
    return at("fill");
  }
  Result<void> upload(gpu::DevicePointer to, const void* from, std::uint64_t bytes, gpu::StreamHandle) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return at("upload");
  }
  Result<void> download(void* to, gpu::DevicePointer from, std::uint64_t bytes, gpu::StreamHandle) override {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return at("download");
  }
  Result<gpu::Module> load(const std::byte*) override {
    if (auto good = at("load"); !good) return tl::unexpected(good.error());
    return this;
  }
  void unload(gpu::Module) override {}
  Result<gpu::Function> function(gpu::Module, const std::string&) override { return this; }
  Result<void> allow_shared(gpu::Function, std::uint32_t) override { return at("allow_shared"); }
  Result<void> launch(gpu::Function, const gpu::LaunchShape&, gpu::StreamHandle, const void*) override {
    return at("launch");
  }
  Result<gpu::StreamHandle> create_stream() override { return this; }
  void destroy_stream(gpu::StreamHandle) override {}
  Result<void> synchronize(gpu::StreamHandle) override { return at("synchronize"); }
  Result<gpu::Event> create_event() override { return this; }
  void destroy_event(gpu::Event) override {}
  Result<void> record(gpu::Event, gpu::StreamHandle) override { return at("record"); }
  Result<double> elapsed_ms(gpu::Event, gpu::Event) override { return 0.25; }
  bool lost() const override { return lost_; }

 private:
  Result<void> at(const std::string& call) {
    if (call != fault_.call) return ok();
    switch (fault_.how) {
      case Fault::How::hang:
        while (true) ::pause();
      case Fault::How::die:
        ::raise(SIGKILL);
        break;
      case Fault::How::sticky:
        lost_ = true;
        break;
      case Fault::How::error:
        break;
    }
    return fail(ErrorKind::failed, call + " failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal address was met)");
  }
  Fault fault_;
  bool lost_ = false;
};

class NoCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "none"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource&, const std::vector<std::string>&) override {
    return gpu::Cubin{};
  }
};

WorkerParts parts_with(const Fault& fault) {
  WorkerParts parts;
  parts.driver = [fault]() -> Result<std::unique_ptr<gpu::Driver>> { return std::make_unique<BreakingDriver>(fault); };
  parts.compiler = []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<NoCompiler>(); };
  parts.cache.clear();
  parts.edited_kernels.clear();
  return parts;
}

// The first worker breaks as `fault` says, those after it do not.
GpuClient client_with(Fault fault) {
  return GpuClient([first = true, fault = std::move(fault)]() mutable {
    const WorkerParts parts = parts_with(first ? fault : Fault{});
    first = false;
    return Child::copy([parts](Socket& socket) { return work(socket, parts); });
  });
}

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

constexpr double kPlenty = 20;

TEST(Worker, SaysWhichGpusThereAre) {
  GpuClient client = client_with({});
  const auto hello = client.hello({kPlenty, {}});
  ASSERT_TRUE(hello) << hello.error().message;
  ASSERT_EQ(hello->gpus.size(), 2U);
  EXPECT_EQ(hello->gpus[1].index, 1);
  EXPECT_EQ(hello->gpus[1].arch(), "sm_90a");
  EXPECT_EQ(hello->driver, 13000);
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
  EXPECT_EQ(client.run(r, {kPlenty, {}}).error().message, "the request's tensors are shorter than its problem");
  EXPECT_TRUE(client.run(request(nullptr), {kPlenty, {}}).error().message.find("GPU 1 open") != std::string::npos);
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
  EXPECT_NE(broken.error().message.find("the worker ended (signal 9)"), std::string::npos) << broken.error().message;
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
                         testing::Values("open_device", "allocate", "fill", "upload", "load", "allow_shared", "launch",
                                         "synchronize", "download", "record"),
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
  EXPECT_NE(hello.error().message.find("the worker ended (exit code 5)"), std::string::npos) << hello.error().message;
}

}  // namespace
}  // namespace attn
