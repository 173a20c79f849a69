#include "app/peers/python.h"

#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/system/assets.h"
#include "app/system/posix.h"
#include "app/system/run_program.h"
#include "kernels/base/folders.h"

namespace attn {
namespace {

constexpr double kSeconds = 20;  // a cold start from a slow disk
constexpr std::size_t kMaxBytes = 4096;

// It is started in another folder. Links stay: beside its own link a Python of a venv finds the venv.
std::filesystem::path whole(const std::filesystem::path& file) {
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error);
  return error ? file : path;
}

Result<std::filesystem::path> program_of(const std::string& chosen) {
  if (chosen.empty() || chosen.find('/') == std::string::npos) {
    const std::string name = chosen.empty() ? "python3" : chosen;
    if (const auto found = program_in_path(name); !found.empty()) return whole(found);
    return fail(ErrorKind::cannot_run, fmt::format("{} is not on PATH", name));
  }
  if (can_run(chosen)) return whole(chosen);
  return fail(ErrorKind::cannot_run, fmt::format("{} is not an executable program", chosen));
}

}  // namespace

Result<std::filesystem::path> peer_script(const std::string& name) {
  const auto script = find_asset("peers/" + name);
  if (!script) return tl::unexpected(script.error());
  return whole(*script);
}

Result<PythonFound> look_for_python(const std::string& chosen, const std::stop_token& stop) {
  auto program = program_of(chosen);
  if (!program) return tl::unexpected(program.error());
  const auto script = peer_script("versions.py");
  if (!script) return tl::unexpected(script.error());
  const auto said = output_of(*program, {"-B", script->string()}, {kSeconds, stop}, kMaxBytes, script->parent_path());
  if (!said) return fail(ErrorKind::cannot_run, said.error().message);
  PythonFound found;
  found.program = *std::move(program);
  std::istringstream lines(*said);
  std::getline(lines, found.version);
  std::getline(lines, found.torch);
  std::getline(lines, found.numpy);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find('=');
    if (at != std::string::npos) found.packages.emplace(line.substr(0, at), line.substr(at + 1));
  }
  if (found.version.empty() || found.version.front() < '2' || found.version.front() > '9')
    return fail(ErrorKind::cannot_run, fmt::format("{} does not respond like Python", found.program.string()));
  return found;
}

std::string words_of(const PythonFound& python) {
  const auto package = [](const char* name, const std::string& version) {
    return version.empty() ? fmt::format("no {}", name) : fmt::format("{} {}", name, version);
  };
  std::string words = fmt::format("{}: Python {}, {}, {}", python.program.string(), python.version,
                                  package("torch", python.torch), package("NumPy", python.numpy));
  for (const auto& [name, version] : python.packages) words += fmt::format(", {} {}", name, version);
  return words;
}

std::string why_no_torch(const Result<PythonFound>& python) {
  if (!python) return "not found: " + python.error().message;
  return python->torch.empty() ? fmt::format("not found: {} has no torch", python->program.string()) : "";
}

std::string why_missing(const Result<PythonFound>& python, const PeerRow& peer) {
  if (std::string why = why_no_torch(python); !why.empty()) return why;
  if (peer.package.empty() || python->packages.contains(peer.package)) return {};
  if (peer.or_package.empty()) return fmt::format("not found: {} has no {}", python->program.string(), peer.package);
  if (python->packages.contains(peer.or_package)) return {};
  return fmt::format("not found: {} has no {} and no {}", python->program.string(), peer.package, peer.or_package);
}

}  // namespace attn
