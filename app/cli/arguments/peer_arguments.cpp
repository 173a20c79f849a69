#include "app/cli/arguments/peer_arguments.h"

#include <filesystem>
#include <system_error>

#include "app/cli/arguments/console_text.h"
#include "app/peers/python.h"
#include "app/window/settings.h"
#include "kernels/base/text.h"
#include "profiling/figures/peers.h"

namespace attn::cli {
namespace {

constexpr std::string_view kAll = "all";

std::string known_ids() {
  std::string ids;
  for (const PeerRow& row : peer_table()) ids += (ids.empty() ? "" : ", ") + std::string(row.id);
  return ids;
}

}  // namespace

void PeerArguments::add_to(Parser parser) {
  parser
      .add_option("--peers", peers,
                  tr("Other implementations, timed alternately with AttnScope's kernels; without names, everything in "
                     "`attnscope list --peers` that is installed and runs on this device"))
      .type_name("ID,ID,...")
      .alone_means(std::string(kAll));
  parser
      .add_values("--peer", files,
                  tr("Python file that defines attention(q, k, v, scale, causal), judged and timed as a peer"))
      .type_name("FILE.py");
  parser
      .add_option("--peers-python", python,
                  tr("python3 that runs the peers; default: the one in the settings, or else the one on PATH"))
      .type_name("PATH");
  parser
      .add_option("--peers-timeout", seconds,
                  tr("Stop a peer that does not answer within this many seconds; default: 120"))
      .type_name("SECONDS");
}

Result<std::vector<std::string>> PeerArguments::ids(bool on_cpu, bool on_gpu) const {
  std::vector<std::string> chosen;
  if (peers.empty()) return chosen;
  const auto runs_here = [&](const PeerRow& row) { return row.processor == Processor::cpu ? on_cpu : on_gpu; };
  if (peers == kAll) {
    // Without a Python the rows of torch's say so; those of packages would say it once more.
    const auto found = look_for_python(python_chosen(), {});
    for (const PeerRow& row : peer_table())
      if (runs_here(row) && (row.package.empty() || why_missing(found, row).empty())) chosen.emplace_back(row.id);
    return chosen;
  }
  chosen = split(peers, ',');
  if (auto once = check_once("--peers", chosen); !once) return tl::unexpected(once.error());
  for (const std::string& id : chosen) {
    const PeerRow* row = find_peer(id);
    if (row == nullptr) return bad_input(phrase("Unknown peer in --peers: {}; use {}.", id, known_ids()));
    if (!runs_here(*row))
      return bad_input(phrase("--peers: {} runs on a {}, but this sweep has no kernel for that device.", id,
                              row->processor == Processor::cpu ? "CPU" : "GPU"));
  }
  return chosen;
}

std::string PeerArguments::python_chosen() const {
  return python.empty() ? load_settings(settings_file()).settings.preferences.python : python;
}

Result<PeerSetup> PeerArguments::setup() const {
  PeerSetup setup;
  if (!(seconds > 0 && seconds <= 3600))
    return bad_input(phrase("Invalid --peers-timeout {}; use a value above 0 and at most 3600.", seconds));
  setup.seconds = seconds;
  setup.python = python_chosen();
  if (auto once = check_once("--peer", files); !once) return tl::unexpected(once.error());
  for (const std::string& file : files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return bad_input(phrase("--peer {}: file not found.", file));
    if (!std::filesystem::is_regular_file(file, error))
      return bad_input(phrase("--peer {} is not a regular file; name a Python file.", file));
    setup.files.emplace_back(file);
  }
  return setup;
}

}  // namespace attn::cli
