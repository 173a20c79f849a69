#include "app/peers/python.h"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "app/system/posix.h"
#include "app/system/run_program.h"
#include "kernels/base/folders.h"

namespace attn {
namespace {

constexpr double kSeconds = 20;  // a cold start from a slow disk
constexpr std::size_t kMaxBytes = 4096;
// Three lines, then one a package of peers that is there: "flash_attn=2.8.3". A package's own record of its version:
// importing torch takes seconds. flash_attn is the folder of version 2 and of version 4, which may be there alone or
// together; to ask for a module inside would import what is around it, so its file is looked for.
constexpr const char* kAsk = R"(
import importlib.metadata, importlib.util, os, sys
def version(*names):
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return 'of an unknown version'
def module(name):
    return version(name) if importlib.util.find_spec(name) is not None else ''
def has(file):
    spec = importlib.util.find_spec('flash_attn')
    places = [os.path.join(place, 'flash_attn') for place in sys.path]
    places += (spec.submodule_search_locations or []) if spec is not None else []
    return any(os.path.isfile(os.path.join(place, file)) for place in places)
print(sys.version.split()[0], module('torch'), module('numpy'), sep='\n')
if has('flash_attn_interface.py'):
    print('flash_attn=' + version('flash_attn'))
if importlib.util.find_spec('flash_attn_interface') is not None:
    print('flash_attn_interface=' + version('flash_attn_3', 'flash_attn_interface'))
if has(os.path.join('cute', 'interface.py')):
    print('flash_attn.cute=' + version('flash-attn-4', 'fa4', 'flash_attn_cute'))
)";

// As the shell finds a name.
std::filesystem::path in_path(const std::string& name) {
  std::istringstream folders(environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (can_run(file)) return file;
  }
  return {};
}

Result<std::filesystem::path> program_of(const std::string& chosen) {
  if (chosen.empty() || chosen.find('/') == std::string::npos) {
    const std::string name = chosen.empty() ? "python3" : chosen;
    auto found = in_path(name);
    if (!found.empty()) return found;
    return fail(ErrorKind::cannot_run, fmt::format("there is no {} in PATH", name));
  }
  if (can_run(chosen)) return std::filesystem::path(chosen);
  return fail(ErrorKind::cannot_run, fmt::format("{} is no program that can be run", chosen));
}

}  // namespace

Result<PythonFound> look_for_python(const std::string& chosen, const std::stop_token& stop) {
  auto program = program_of(chosen);
  if (!program) return tl::unexpected(program.error());
  const auto said = output_of(*program, {"-c", kAsk}, {kSeconds, stop}, kMaxBytes);
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
    return fail(ErrorKind::cannot_run, fmt::format("{} does not answer as Python does", found.program.string()));
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
  return fmt::format("not found: {} has no {}", python->program.string(), peer.package);
}

}  // namespace attn
