#include "app/state/string/state_string.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "app/state/inputs/first_sight.h"
#include "app/state/inputs/input_files.h"
#include "app/state/string/key_values.h"
#include "app/state/string/keys.h"
#include "kernels/base/files.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/validate.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

constexpr std::string_view kVersion = "attn1";
constexpr std::uint64_t kMaxFileBytes = 1ULL << 30;

struct FileKey {
  std::string_view key;
  std::string InputSpec::*path;
};
constexpr std::array<FileKey, 4> kFileKeys{{{"q_file", &InputSpec::q_file},
                                            {"k_file", &InputSpec::k_file},
                                            {"v_file", &InputSpec::v_file},
                                            {"bias_file", &InputSpec::bias_file}}};

struct Pair {
  std::string_view key, value;
  std::size_t at = 0;  // first character of the key, from 1
};

Error at_place(const Error& e, const Pair& pair) {
  const std::string why = e.message.ends_with('.') ? e.message.substr(0, e.message.size() - 1) : e.message;
  return {ErrorKind::bad_input, phrase("State string, character {}, key '{}': {}.", pair.at, pair.key, why)};
}
tl::unexpected<Error> refused(const Pair& pair, std::string message) {
  return tl::unexpected(at_place({ErrorKind::bad_input, std::move(message)}, pair));
}

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.-/:=,@%+").find(c) != std::string_view::npos;
}

// What a string without any other key stands for. "none": a problem made by hand, from 1 x 1 up.
Result<State> base_state(std::string_view preset) {
  State state = initial_state();
  if (preset != "none") return with_preset(std::move(state), preset);
  state.document.preset.clear();
  state.document.problem = {};
  state.document.inputs = {};
  state.document.options = {};
  state.document.selection = {};
  return state;
}

Result<std::vector<Pair>> split_pairs(std::string_view text) {
  std::vector<Pair> pairs;
  std::set<std::string_view> seen;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, end - at);
    const std::size_t equals = item.find('=');
    const Pair pair{item.substr(0, equals), equals == item.npos ? "" : item.substr(equals + 1), at + 1};
    if (equals == item.npos && at == 0) {
      // the version
    } else if (equals == item.npos) {
      return refused(pair, tr("a key needs '=' and a value"));
    } else if (!seen.insert(pair.key).second) {
      return refused(pair, tr("the key appears twice"));
    } else {
      pairs.push_back(pair);
    }
    at = end + 1;
  }
  return pairs;
}

Result<void> check_text(std::string_view text) {
  if (text.size() > kStateStringLimit) {
    return bad_input(
        phrase("A state string can have at most {} bytes, but this one has {}.", kStateStringLimit, text.size()));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!allowed(text[i])) {
      return bad_input(phrase("State string, character {}: only letters, digits and _.-/:=,@%+ are allowed.", i + 1));
    }
  }
  const std::string_view version = text.substr(0, text.find(','));
  if (version == kVersion) return ok();
  if (version.substr(0, 4) == "attn") {
    return bad_input(
        phrase("The state string's version is '{}', but this version of AttnScope reads {}. Was the string made "
               "by a newer version of AttnScope?",
               version, kVersion));
  }
  return bad_input(phrase("A state string starts with '{},'.", kVersion));
}

Result<void> read_file_key(ParsedState& parsed, const FileKey& key, const Pair& pair) {
  const std::size_t at = pair.value.rfind('@');
  if (at == pair.value.npos) return refused(pair, tr("a file is PATH@HASH"));
  const std::string_view hash = pair.value.substr(at + 1);
  const bool hex = hash.size() == 16 && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (!hex) return refused(pair, tr("the hash after '@' must have 16 digits, 0 to 9 and a to f"));
  auto path = percent_decoded(pair.value.substr(0, at));
  if (!path) return tl::unexpected(at_place(path.error(), pair));
  if (path->empty()) return refused(pair, tr("the path is empty"));
  parsed.files.push_back({*path, std::string(hash)});
  parsed.state.document.inputs.*key.path = std::move(*path);
  return ok();
}

Result<void> read_pair(ParsedState& parsed, const std::vector<StateKey>& keys, const Pair& pair) {
  if (pair.key == "preset") return ok();
  for (const FileKey& file : kFileKeys) {
    if (pair.key == file.key) return read_file_key(parsed, file, pair);
  }
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const StateKey& k) { return k.key == pair.key; });
  if (key == keys.end()) return refused(pair, tr("unknown key"));
  if (auto read = key->read(parsed.state, pair.value); !read) {
    std::string words = read.error().message;
    while (!words.empty() && words.back() == '.') words.pop_back();
    return refused(pair, std::move(words));
  }
  return ok();
}

// Elements of one input tensor; the problem is valid.
std::int64_t elements_of(InputTensor t, const Problem& p) {
  switch (t) {
    case InputTensor::q:
      return p.B * p.Hq * p.Lq * p.D;
    case InputTensor::k:
      return p.B * p.Hkv * p.Lk * p.D;
    case InputTensor::v:
      return p.B * p.Hkv * p.Lk * p.Dv;
    case InputTensor::d_o:
      return p.pass == Pass::backward ? p.B * p.Hq * p.Lq * p.Dv : 0;
    case InputTensor::bias:
      break;
  }
  std::int64_t n = p.bias_shape.empty() ? 0 : 1;
  for (const std::int64_t extent : p.bias_shape) n *= extent;
  return n;
}

Result<void> check_whole(const State& s) {
  const Problem& p = s.document.problem;
  if (auto valid = validate(p); !valid) return bad_input(phrase("State string: {}", valid.error().message));
  if (auto valid = validate(s.document.sweep.base); !valid) {
    return bad_input(phrase("State string, the sweep's problem: {}", valid.error().message));
  }
  if (fitted(s.document.selection, p) != s.document.selection) {
    return bad_input(tr("State string, key 'select': a row, head or column is outside the problem."));
  }
  for (const CellEdit& edit : s.document.inputs.edits) {
    if (edit.index < elements_of(edit.tensor, p)) continue;
    return bad_input(phrase("State string, key 'edits': cell {} is outside its tensor.", edit.index));
  }
  return ok();
}

// Of the preset of words: a sentence has its own shape, where no key of the string says otherwise. What it cannot be is
// said where its key is read.
void shape_for_sentence(const std::vector<Pair>& pairs, Document& document) {
  const auto own = std::ranges::find(pairs, "sentence", &Pair::key);
  if (document.inputs.generator != Generator::words || own == pairs.end() || own->value == "usual") return;
  const auto sentence = percent_decoded(own->value);
  if (sentence && sentence_words(*sentence)) document.problem = problem_of_words(*sentence, document.problem);
}

// Where no key names a kernel, the pass has one that takes it.
void let_kernel_follow(const std::vector<Pair>& pairs, Document& document) {
  const bool named = std::ranges::find(pairs, "kernel", &Pair::key) != pairs.end();
  if (const KernelRow* row = named ? nullptr : recorded_by(document.problem, document.kernel))
    document.kernel = row->id;
}

// As the table has them: what slopes and pages are the usual ones is said by keys that a text may name later.
std::vector<Pair> in_order_of(const std::vector<StateKey>& keys, std::vector<Pair> pairs) {
  std::ranges::stable_sort(
      pairs, {}, [&](const Pair& pair) { return std::ranges::find(keys, pair.key, &StateKey::key) - keys.begin(); });
  return pairs;
}

// The view that the menu gives the preset of words, but for what the string names. A named step stays as it was told.
void open_words(ParsedState& parsed) {
  const auto names = [&](std::string_view key) { return std::ranges::find(parsed.keys, key) != parsed.keys.end(); };
  State& s = parsed.state;
  if (parsed.preset != "words" || s.document.inputs.generator != Generator::words || names("cursor")) return;
  const StepChart chart = s.view.step.chart;
  const Selection selection = s.document.selection;
  follow_last_word(s);
  if (names("chart")) s.view.step.chart = chart;
  if (names("select")) s.document.selection = selection;
  s.view.step.cursor = first_sight(s.document);
}

bool names_files(const InputSpec& inputs) {
  return !(inputs.q_file + inputs.k_file + inputs.v_file + inputs.bias_file).empty();
}

constexpr std::uint64_t kMadeWithinAFrame = 1 << 20;  // bytes of a recording, as app/control/step/recordings.cpp has it

}  // namespace

Result<std::string> hash_of_file(const std::filesystem::path& file) {
  const auto bytes = read_file(file, kMaxFileBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  return short_hash_of(*bytes);
}

Result<std::string> state_string(const State& state) {
  // A sentence of one's own is by hand: a preset's string would give it the shape that it has by itself.
  const bool by_hand = state.document.preset.empty() || !state.document.inputs.sentence.empty();
  const std::string preset = by_hand ? "none" : state.document.preset;
  const auto base = base_state(preset);
  if (!base) return tl::unexpected(base.error());
  // The kernel is named where it is not the one that a string without its name would have.
  State usual = *base;
  usual.document.problem = state.document.problem;
  let_kernel_follow({}, usual.document);
  const bool own_kernel = state.document.kernel != usual.document.kernel;
  std::string text = fmt::format("{},preset={}", kVersion, percent_encoded(preset));
  for (const StateKey& key : state_keys()) {
    const std::string value = key.write(state);
    // Words without a step open at their last one.
    const bool always = (own_kernel && key.key == "kernel") || (preset == "words" && key.key == "cursor");
    if (value != key.write(*base) || always) text += fmt::format(",{}={}", key.key, value);
  }
  for (const FileKey& key : kFileKeys) {
    const std::string& path = state.document.inputs.*key.path;
    if (path.empty()) continue;
    const auto hash = hash_of_file(path);
    if (!hash) return tl::unexpected(hash.error());
    text += fmt::format(",{}={}@{}", key.key, percent_encoded(absolute_name(path)), *hash);
  }
  if (text.size() <= kStateStringLimit) return text;
  return bad_input(phrase("This view needs {} characters, but a state string can have at most {}; save a file instead.",
                          text.size(), kStateStringLimit));
}

Result<ParsedState> parse_state_string(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != text.npos) text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != text.npos) text.remove_suffix(1);
  if (auto good = check_text(text); !good) return tl::unexpected(good.error());
  const auto pairs = split_pairs(text);
  if (!pairs) return tl::unexpected(pairs.error());
  std::string_view preset = initial_state().document.preset == "blackboard" ? "blackboard" : "none";
  const Pair* preset_pair = nullptr;
  for (const Pair& pair : *pairs) {
    if (pair.key == "preset") preset_pair = &pair;
  }
  if (preset_pair != nullptr) preset = preset_pair->value;
  const auto base = base_state(preset);
  if (!base) return preset_pair != nullptr ? refused(*preset_pair, base.error().message) : tl::unexpected(base.error());
  ParsedState parsed{*base, {}, std::string(preset), {}};
  for (const Pair& pair : *pairs) parsed.keys.emplace_back(pair.key);
  shape_for_sentence(*pairs, parsed.state.document);
  const std::vector<StateKey> keys = state_keys();
  for (const Pair& pair : in_order_of(keys, *pairs)) {
    if (auto read = read_pair(parsed, keys, pair); !read) return tl::unexpected(read.error());
  }
  if (auto good = check_whole(parsed.state); !good) return tl::unexpected(good.error());
  let_kernel_follow(*pairs, parsed.state.document);
  // "preset=causal,L=8": by hand from there on.
  Document as_preset = parsed.state.document;
  as_preset.problem = base->document.problem;
  as_preset.inputs = base->document.inputs;
  as_preset.options = base->document.options;
  if (!(as_preset == parsed.state.document)) parsed.state.document.preset.clear();
  return parsed;
}

std::string session_state(const State& state) {
  State without = state;
  // Numbers of files are in the session itself, and the files may be gone.
  if (names_files(without.document.inputs)) without.document.inputs = {};
  const auto text = state_string(without);
  return text ? *text : std::string();
}

bool restore_step(const std::string& saved_state, State& state) {
  const auto saved = parse_state_string(saved_state);
  if (!saved) return false;
  const StepView& view = saved->state.view.step;
  state.document.selection = saved->state.document.selection;
  state.view.step.cursor = view.cursor;
  state.view.step.bookmarks = view.bookmarks;
  state.view.step.reading = view.reading;
  state.view.step.chart = view.chart;
  return true;
}

bool restore_inputs(const std::string& saved_state, const Recording& recording, Document& document) {
  const auto saved = parse_state_string(saved_state);
  if (!saved) return false;
  const Document& then = saved->state.document;
  if (recording.gpu || names_files(then.inputs) || !(then.problem == recording.problem) ||
      then.kernel != recording.kernel || recording.bytes() > kMadeWithinAFrame)
    return false;
  const auto again = record_document(then, {});
  // By bits: NaN is the same number here.
  const auto bits = [](const Recording& r) { return std::as_bytes(std::span(r.arena)); };
  if (!again || !(again->options == recording.options) || !std::ranges::equal(bits(*again), bits(recording)))
    return false;
  document.preset = then.preset;
  document.inputs = then.inputs;
  document.options = then.options;
  return true;
}

bool restore_bench(const std::string& saved_state, State& state) {
  auto saved = parse_state_string(saved_state);
  if (!saved) return false;
  // A string names no kernel of the user's own: those that are open stay.
  saved->state.document.sweep.own = std::move(state.document.sweep.own);
  state.document.sweep = std::move(saved->state.document.sweep);
  if (!saved->state.document.runs.reference.empty())
    state.document.runs.reference = saved->state.document.runs.reference;
  state.view.bench.charts = saved->state.view.bench.charts;
  state.view.bench.baseline = saved->state.view.bench.baseline;
  return true;
}

Result<State> open_state_string(std::string_view text) {
  auto parsed = parse_state_string(text);
  if (!parsed) return tl::unexpected(parsed.error());
  for (const NamedFile& file : parsed->files) {
    const auto hash = hash_of_file(file.path);
    if (!hash) return tl::unexpected(hash.error());
    if (*hash == file.hash) continue;
    return bad_input(phrase("{} has changed since the state string was created: its hash is {}, not {}.", file.path,
                            *hash, file.hash));
  }
  open_words(*parsed);
  return std::move(parsed->state);
}

}  // namespace attn
