#include "app/system/confine.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace attn {
namespace {

namespace fs = std::filesystem;

// linux/landlock.h of the versions that are asked for: the system's own header may be older than the kernel.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr std::uint32_t kVersion = 1U << 0, kPathBeneath = 1;
constexpr std::uint64_t kReadFile = 1U << 2, kReadFolder = 1U << 3;
constexpr std::array<std::uint64_t, 5> kFileRights{(1U << 13) - 1, (1U << 14) - 1, (1U << 15) - 1, (1U << 15) - 1,
                                                   (1U << 16) - 1};  // by version, from 1
constexpr std::uint64_t kNetworkRights = 3;                          // from version 4

struct Ruleset {
  std::uint64_t files = 0, network = 0;
};
struct __attribute__((packed)) BeneathPath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

bool by_landlock(const std::vector<fs::path>& folders) {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kVersion);
  if (version < 1) return false;
  Ruleset rules;
  rules.files = kFileRights.at(static_cast<std::size_t>(std::min<long>(version, kFileRights.size())) - 1);
  if (version >= 4) rules.network = kNetworkRights;
  const std::size_t size = version >= 4 ? sizeof(rules) : sizeof(rules.files);
  const auto ruleset = static_cast<int>(::syscall(kCreateRuleset, &rules, size, 0));
  if (ruleset < 0) return false;
  bool good = true;
  for (const fs::path& folder : folders) {
    const int at = ::open(folder.c_str(), O_PATH | O_CLOEXEC);
    const BeneathPath beneath{kReadFile | kReadFolder, at};
    good = good && at >= 0 && ::syscall(kAddRule, ruleset, kPathBeneath, &beneath, 0) == 0;
    if (at >= 0) ::close(at);
  }
  good = good && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(kRestrictSelf, ruleset, 0) == 0;
  ::close(ruleset);
  return good;
}

void put(const char* file, const std::string& words) {
  std::ofstream(file) << words;
}

// A root that is empty but for the folders, under the names that they have.
bool by_mounts(const std::vector<fs::path>& folders) {
  const auto user = ::getuid(), group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  put("/proc/self/setgroups", "deny");
  put("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  put("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  const fs::path root = "/tmp";
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  std::vector<int> open;
  open.reserve(folders.size());
  for (const fs::path& folder : folders) open.push_back(::open(folder.c_str(), O_PATH | O_CLOEXEC));
  if (::mount("attnscope", root.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=700") != 0) return false;
  bool good = true;
  for (std::size_t n = 0; n < folders.size(); ++n) {
    const fs::path place = root / folders[n].relative_path();
    std::error_code error;
    fs::create_directories(place, error);
    const std::string from = "/proc/self/fd/" + std::to_string(open[n]);
    good = good && ::mount(from.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0;
    if (open[n] >= 0) ::close(open[n]);
  }
  return good && ::chroot(root.c_str()) == 0 && ::chdir("/") == 0;
}

// A sanitizer reserves terabytes of addresses, so that there they are no measure of memory.
#if defined(ATTNSCOPE_WATCHED_BY_SANITIZER)
constexpr bool kAddressesAreMemory = false;
#else
constexpr bool kAddressesAreMemory = true;
#endif

void limit(int resource, std::uint64_t most) {
  const rlimit both{most, most};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

}  // namespace

Confinement confine_to(const std::vector<fs::path>& folders) {
  if (::chdir("/") != 0) return Confinement::nothing;
  if (by_landlock(folders)) return Confinement::landlock;
  return by_mounts(folders) ? Confinement::mounts : Confinement::nothing;
}

void limit_memory(std::uint64_t more_bytes) {
  if (kAddressesAreMemory) {
    std::ifstream sizes("/proc/self/statm");
    std::uint64_t pages = 0;
    sizes >> pages;
    limit(RLIMIT_AS, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + more_bytes);
  }
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
}

}  // namespace attn
