// The Python that runs peers: where it is, and which versions it says it has. Nothing is imported to find out.
//
// It runs a file of ours, by its whole path, and works in that file's folder. So neither `-c` nor `-m` nor an empty or
// relative part of PYTHONPATH makes it import what lies in the user's folder: a csv.py beside a session is not ours to
// run. PYTHONPATH's other parts, the user's site and a venv count as ever.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "kernels/base/result.h"
#include "profiling/figures/peers.h"

namespace attn {

struct PythonFound {
  std::filesystem::path program;
  std::string version;  // "3.12.3"
  std::string torch;    // "2.11.0+cu130"; empty: it has none
  std::string numpy;    // likewise
  // Of the packages that some peer needs those it has, with their versions: "flash_attn" -> "2.8.3".
  std::map<std::string, std::string, std::less<>> packages;
};

// A script of assets/peers, by its whole path.
Result<std::filesystem::path> peer_script(const std::string& name);
// `chosen`: a program or folder of one, as the user named it; empty: python3 as the shell would find it. The error says
// what was tried.
Result<PythonFound> look_for_python(const std::string& chosen, const std::stop_token& stop);
// "/usr/bin/python3: Python 3.11.2, torch 2.11.0, no NumPy"; packages of peers are named where they are there.
std::string words_of(const PythonFound& python);
// Why what was looked for cannot run torch's own: "not found: /usr/bin/python3 has no torch"; empty: it can.
std::string why_no_torch(const Result<PythonFound>& python);
// Likewise this peer: "not found: /usr/bin/python3 has no flash_attn".
std::string why_missing(const Result<PythonFound>& python, const PeerRow& peer);

}  // namespace attn
