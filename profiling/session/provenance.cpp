// Where and when figures are taken. Reads files only, so that it needs no POSIX call.
#include <fstream>
#include <string>

#include "attnscope_version.h"
#include "kernels/cpu/device.h"
#include "profiling/session/run.h"
#include "profiling/session/session.h"

namespace attn {
namespace {

std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// PRETTY_NAME of os-release(5), quotes off.
std::string os_name() {
  std::ifstream in("/etc/os-release");
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (!line.starts_with(kKey)) continue;
    std::string value = line.substr(kKey.size());
    std::erase(value, '"');
    return value;
  }
  return "unknown";
}

}  // namespace

Provenance provenance_here() {
  const Device cpu = cpu_device();
  Provenance p;
  p.device = cpu.name;
  p.device_arch = cpu.arch;
  p.cores = cpu.cores;
  p.host = first_line("/proc/sys/kernel/hostname");
  p.os = os_name();
  p.program_version = ATTNSCOPE_VERSION;
  p.commit = ATTNSCOPE_COMMIT;
  p.date = utc_now();
  return p;
}

}  // namespace attn
