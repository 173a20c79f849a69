#include "app/ring/gpu/nccl.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/system/run_program.h"
#include "kernels/base/library.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

// As nccl.h declares them since 2.7; an id is handed over by value.
struct RawId {
  char bytes[sizeof(NcclId)];
};
using Comm = void*;
constexpr int kUint8 = 1;  // ncclUint8

struct NcclCalls {
  int (*version)(int*) = nullptr;
  int (*get_id)(RawId*) = nullptr;
  int (*init)(Comm*, int, RawId, int) = nullptr;
  int (*abort)(Comm) = nullptr;
  int (*send)(const void*, std::size_t, int, int, Comm, gpu::StreamHandle) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Comm, gpu::StreamHandle) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  const char* (*words)(int) = nullptr;
};

class OpenNccl final : public Nccl {
 public:
  OpenNccl(Library library, const NcclCalls& calls) : library_(std::move(library)), call_(calls) { library_.stay(); }
  ~OpenNccl() override {
    if (comm_ != nullptr) call_.abort(comm_);
  }

  std::string version() override {
    int v = 0;
    if (call_.version(&v) != 0) return "NCCL";
    return fmt::format("NCCL {}.{}.{}", v / 10000, v / 100 % 100, v % 100);
  }
  Result<NcclId> make_id() override {
    RawId raw{};
    if (auto good = check(call_.get_id(&raw), "ncclGetUniqueId"); !good) return tl::unexpected(good.error());
    NcclId id{};
    std::memcpy(id.data(), raw.bytes, sizeof raw);
    return id;
  }
  Result<void> join(const NcclId& id, std::int32_t ranks, std::int32_t rank) override {
    RawId raw{};
    std::memcpy(raw.bytes, id.data(), sizeof raw);
    return check(call_.init(&comm_, ranks, raw, rank), "ncclCommInitRank");
  }
  Result<void> exchange(gpu::DevicePointer sent, std::uint64_t sent_bytes, gpu::DevicePointer received,
                        std::uint64_t received_bytes, Ends ends, gpu::StreamHandle s) override {
    // NOLINTBEGIN(performance-no-int-to-ptr): the driver hands out addresses as numbers
    auto good = check(call_.group_start(), "ncclGroupStart");
    if (good)
      good = check(call_.send(reinterpret_cast<const void*>(sent), sent_bytes, kUint8, ends.to, comm_, s), "ncclSend");
    if (good)
      good = check(call_.receive(reinterpret_cast<void*>(received), received_bytes, kUint8, ends.from, comm_, s),
                   "ncclRecv");
    // NOLINTEND(performance-no-int-to-ptr)
    const auto ended = check(call_.group_end(), "ncclGroupEnd");
    return good ? ended : good;
  }

 private:
  Result<void> check(int r, const char* what) const {
    if (r == 0) return ok();
    return fail(ErrorKind::failed, phrase("{} failed: {}", what, call_.words(r)));
  }

  Library library_;
  NcclCalls call_;
  Comm comm_ = nullptr;
};

Result<NcclCalls> nccl_calls(const Library& library) {
  NcclCalls c;
  std::string missing;
  const auto find = [&](auto& call, const char* name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(library.symbol(name));
    if (call == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
  };
  find(c.version, "ncclGetVersion");
  find(c.get_id, "ncclGetUniqueId");
  find(c.init, "ncclCommInitRank");
  find(c.abort, "ncclCommAbort");
  find(c.send, "ncclSend");
  find(c.receive, "ncclRecv");
  find(c.group_start, "ncclGroupStart");
  find(c.group_end, "ncclGroupEnd");
  find(c.words, "ncclGetErrorString");
  if (missing.empty()) return c;
  return fail(ErrorKind::cannot_run, phrase("{} lacks {}; install NCCL 2.7 or newer.", library.name(), missing));
}

}  // namespace

Result<std::unique_ptr<Nccl>> Nccl::open(const std::string& folder, std::int32_t channels) {
  // The library reads them when it is first used; this process has one thread yet.
  ::setenv("NCCL_NVLS_ENABLE", "0", 1);
  ::setenv("NCCL_MAX_NCHANNELS", std::to_string(channels).c_str(), 1);
  ::setenv("NCCL_MAX_CTAS", std::to_string(channels).c_str(), 1);
  constexpr const char* kName = "libnccl.so.2";
  auto library = Library::open(kName);
  std::string looked = tr("the loader's path");
  if (!library && !folder.empty()) {
    library = Library::open((std::filesystem::path(folder) / kName).string());
    looked += ", " + folder;
  }
  if (!library)
    return fail(ErrorKind::cannot_run,
                phrase("{} was not found ({}). Install NCCL, or use --travel ipc, which needs only the driver.", kName,
                       looked));
  const auto calls = nccl_calls(*library);
  if (!calls) return tl::unexpected(calls.error());
  return std::make_unique<OpenNccl>(std::move(*library), *calls);
}

std::string nccl_beside_torch(const std::string& python) {
  if (python.empty()) return {};
  // -I: neither this folder nor the environment chooses what is imported.
  const auto said = output_of(python,
                              {"-I", "-c",
                               "import importlib.util as u, os\n"
                               "s = u.find_spec('torch')\n"
                               "print(os.path.dirname(os.path.dirname(s.origin)) if s else '')"},
                              Deadline{20, {}}, 1 << 16);
  if (!said) return {};
  std::string site = *said;
  while (!site.empty() && site.back() <= ' ') site.pop_back();
  if (site.empty()) return {};
  const std::filesystem::path folder = std::filesystem::path(site) / "nvidia" / "nccl" / "lib";
  std::error_code none;
  return std::filesystem::exists(folder / "libnccl.so.2", none) ? folder.string() : std::string();
}

}  // namespace attn
