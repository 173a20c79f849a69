// `attnscope --state "..."`: one line that reopens exactly this view.
//
//   attn1,workspace=step,preset=blackboard,cursor=12
//   attn1,B=1,H=2/1,L=16,D=8,causal=1,br=4,bc=4,generator=normal,seed=4,edits=q:3:1.5/k:0:-2,kernel=cpu_flash,cursor=31
//
// Comma-separated key=value pairs after the version. What is left out has its default. Only characters that no shell
// touches occur; others are percent-encoded. Lists are separated by '/'. An input file is path@hash, the hash of its
// bytes. Preferences (theme, scale) are the user's own and not in it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "viz/state/state.h"

namespace attn {

constexpr std::size_t kStateStringLimit = 8192;  // bytes

// One input file that a state refers to, with the hash that it had.
struct NamedFile {
  std::string path, hash;  // 16 hexadecimal digits: FNV-1a, 64 bits
  bool operator==(const NamedFile&) const = default;
};

struct ParsedState {
  State state;
  std::vector<NamedFile> files;
  std::string preset;             // that its defaults are of
  std::vector<std::string> keys;  // that the string names
};

// Refused where it would be longer than the limit ("save a file instead") or an input file cannot be read.
Result<std::string> state_string(const State& state);
// Reads no file. Unknown versions, keys and values are refused, with the place.
Result<ParsedState> parse_state_string(std::string_view text);
// What a session keeps of `state` (Session::state): without Step's input files, which are no part of a sweep and are
// not read for it. Empty where it would be longer than the limit: the file then restores rows and recording alone.
std::string session_state(const State& state);
// Where Step stood when `saved_state` was saved: selection, step, bookmarks, what it reads and charts. False where the
// file has none.
bool restore_step(const std::string& saved_state, State& state);

// Preset, generator, seed and typed cells in place of the file's own numbers, where the run that they make is the
// file's to the last bit: they can be changed from where they stood. Else the document stays.
bool restore_inputs(const std::string& saved_state, const Recording& recording, Document& document);
// Bench as it stood when `saved_state` (session_state) was saved: sweep, metric and baseline. False where the file
// comes without a state, or with one of another version: its rows then stand for themselves.
bool restore_bench(const std::string& saved_state, State& state);
// parse_state_string, then checks that every file is there and has the hash it had. The preset of words opens as the
// menu opens it, at its last word, unless a step is named.
Result<State> open_state_string(std::string_view text);

Result<std::string> hash_of_file(const std::filesystem::path& file);

}  // namespace attn
