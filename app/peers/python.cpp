#include "app/peers/python.h"

#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "app/system/run_program.h"
#include "kernels/base/folders.h"

namespace attn {
namespace {

constexpr double kSeconds = 20;  // a cold start from a slow disk
constexpr std::size_t kMaxBytes = 4096;
// Three lines. A package's own record of its version: importing torch takes seconds.
constexpr const char* kAsk = R"(
import importlib.metadata, importlib.util, sys
def version(name):
    if importlib.util.find_spec(name) is None:
        return ''
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return 'of an unknown version'
print(sys.version.split()[0], version('torch'), version('numpy'), sep='\n')
)";

bool can_run(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

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
  if (found.version.empty() || found.version.front() < '2' || found.version.front() > '9')
    return fail(ErrorKind::cannot_run, fmt::format("{} does not answer as Python does", found.program.string()));
  return found;
}

std::string words_of(const PythonFound& python) {
  const auto package = [](const char* name, const std::string& version) {
    return version.empty() ? fmt::format("no {}", name) : fmt::format("{} {}", name, version);
  };
  return fmt::format("{}: Python {}, {}, {}", python.program.string(), python.version, package("torch", python.torch),
                     package("NumPy", python.numpy));
}

}  // namespace attn
