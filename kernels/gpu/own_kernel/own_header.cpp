#include "kernels/gpu/own_kernel/own_header.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_reading.h"
#include "kernels/gpu/own_kernel/header_fields.h"
#include "kernels/gpu/own_kernel/json_lines.h"

namespace attn::gpu {
namespace {

using nlohmann::json;

constexpr std::string_view kMark = "// attn:";
constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxEntries = 8, kMaxDims = 64, kMaxScratch = 8;
constexpr std::int64_t kMaxOption = 65536;

// The JSON of the first lines: as many lines as the text has, so that a line of one is a line of the other.
struct HeaderText {
  std::string json;
  std::int32_t first = 0;  // line of the file at which it begins, from 1
};

Result<HeaderText> header_text(std::string_view text, std::string_view name) {
  HeaderText found;
  bool code = false, ended = false;
  for (std::int32_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = trimmed(whole);
    if (line.starts_with(kMark)) {
      if (code)
        return bad_input(phrase("{}, line {}: '{}' comes after the first line of code; the header must come before it.",
                                name, number, kMark));
      if (ended)
        return bad_input(
            phrase("{}, line {}: '{}' is separate from the header, which began at line {}; the header's lines must be "
                   "consecutive.",
                   name, number, kMark, found.first));
      if (found.first == 0) found.first = number;
      found.json += line.substr(kMark.size());
      found.json += '\n';
    } else {
      if (found.first != 0) ended = true;
      if (!line.empty() && !line.starts_with("//")) code = true;
    }
  }
  if (found.first == 0)
    return bad_input(phrase("{} has no header: its first lines must contain '{} {{\"api\": {}, ...}}'; {}.", name,
                            kMark, 1, tr_of(kOwnExample)));
  return found;
}

// Which line of the file holds a byte of the header's text.
std::int32_t line_of_byte(const HeaderText& h, std::size_t byte) {
  const auto end = h.json.begin() + static_cast<std::ptrdiff_t>(std::min(byte, h.json.size()));
  return h.first + static_cast<std::int32_t>(std::count(h.json.begin(), end, '\n'));
}

// Where the text stops being JSON, from 1; 0: it is JSON, and something else is wrong with it.
std::size_t wrong_byte(const std::string& text) {
  try {
    const json unused = json::parse(text);
    return 0;
  } catch (const json::parse_error& error) {
    return error.byte;
  } catch (const json::exception&) {
    return 0;
  }
}

class Reader : public HeaderFields {
 public:
  using HeaderFields::HeaderFields;

  OwnHeader read(const json& root);

 private:
  void check_api(const json& root, OwnHeader& h);
  void scratch(const json& root, OwnHeader& h);
  void timeline(const json& root, OwnHeader& h);
  void pass_and_layouts(const json& root, OwnHeader& h);
  void parameters(const json& j, const std::string& path, const OwnHeader& h, OwnEntry& e);
  void entries(const json& root, OwnHeader& h);
  OwnEntry entry(const json& j, const std::string& path, const OwnHeader& h);
  OwnDims dims(const json& j, const std::string& path);
  void masks(const json& root, OwnHeader& h);
  void options(const json& root, OwnHeader& h);
  OptionSpec option(const json& j, const std::string& path, const Option& which);
  void check_read(const OwnHeader& h);
};

void Reader::check_api(const json& root, OwnHeader& h) {
  const json* api = member(root, "", "api");
  if (api == nullptr) return;
  if (api->is_number_integer() && *api >= 1 && *api <= kOwnApi)
    h.api = api->get<std::int64_t>();
  else
    refuse("api", phrase("is {}; this version supports 1 and {}", shown(*api), kOwnApi));
}

void Reader::scratch(const json& root, OwnHeader& h) {
  static constexpr std::string_view kKeys[] = {"bytes", "zero"};
  const auto list = root.find("scratch");
  if (list == root.end()) return;
  if (!list->is_object() || list->size() > kMaxScratch)
    return refuse("scratch", phrase("must be an object with at most {} names, each with \"bytes\"", kMaxScratch));
  for (const auto& [name, value] : list->items()) {
    const std::string path = "scratch." + name;
    OwnScratch room;
    room.name = identifier(name, path, tr("the kernel's scratch memory"));
    if (!value.is_object()) return refuse(path, phrase("is {}; it must be an object with \"bytes\"", shown(value)));
    check_keys(value, path, kKeys);
    if (const json* bytes = member(value, path, "bytes")) room.bytes = expression(*bytes, path + ".bytes");
    room.zero = flag(value, path, "zero");
    h.scratch.push_back(std::move(room));
  }
}

void Reader::timeline(const json& root, OwnHeader& h) {
  static constexpr std::string_view kKeys[] = {"entry", "lanes", "states"};
  const auto j = root.find("timeline");
  if (j == root.end()) return;
  if (!j->is_object())
    return refuse("timeline", phrase("is {}; it must be an object with lanes and states", shown(*j)));
  check_keys(*j, "timeline", kKeys);
  OwnTimeline& t = h.timeline;
  if (const json* lanes = member(*j, "timeline", "lanes"))
    t.lanes = static_cast<std::int32_t>(whole(*lanes, "timeline.lanes", 1, kMostOwnLanes));
  const json* states = member(*j, "timeline", "states");
  if (states == nullptr) return;
  if (!states->is_array() || states->empty() || states->size() > kMostOwnStates)
    return refuse("timeline.states", phrase("must be a list of 1 to {} names", kMostOwnStates));
  for (const json& state : *states) {
    t.states.push_back(identifier(state, "timeline.states", tr("a state")));
    if (std::ranges::count(t.states, t.states.back()) > 1)
      return refuse("timeline.states", phrase("contains {} twice", shown(state)));
  }
  t.entry = h.entries.empty() ? "" : h.entries.front().name;
  if (const auto entry = j->find("entry"); entry != j->end())
    t.entry = identifier(*entry, "timeline.entry", tr("a launch"));
  if (std::ranges::find(h.entries, t.entry, &OwnEntry::name) == h.entries.end())
    refuse("timeline.entry", phrase("is {}, which is not in \"entries\"", shown(t.entry)));
}

void Reader::pass_and_layouts(const json& root, OwnHeader& h) {
  static constexpr std::string_view kPasses[] = {"forward", "backward"}, kLayouts[] = {"bhld", "blhd"};
  if (const auto pass = root.find("pass"); pass != root.end())
    h.pass = static_cast<Pass>(choice(*pass, "pass", kPasses));
  const auto layouts = root.find("layouts");
  if (layouts == root.end()) return;
  h.layouts.clear();
  for (const std::size_t n : choices(*layouts, "layouts", kLayouts)) h.layouts.push_back(static_cast<AxisOrder>(n));
  if (h.layouts.empty()) refuse("layouts", tr("is empty; it must contain bhld, blhd or both"));
}

void Reader::parameters(const json& j, const std::string& path, const OwnHeader& h, OwnEntry& e) {
  OwnNames names{h.pass, h.stores_scores, {}};
  for (const OwnScratch& room : h.scratch) names.scratch.push_back(room.name);
  if (!j.is_array() || j.size() > kMaxOwnParameters)
    return refuse(path, phrase("must be a list of at most {} parameters", kMaxOwnParameters));
  std::uint32_t bytes = 0;
  for (std::size_t n = 0; n < j.size(); ++n) {
    e.parameters.push_back(read_parameter(*this, j[n], fmt::format("{}[{}]", path, n), names));
    bytes += e.parameters.back().bytes().value_or(kMaxArgsBytes);
  }
  if (bytes > kMaxParameterBytes) refuse(path, phrase("takes {} bytes; a launch allows {}", bytes, kMaxParameterBytes));
}

OwnEntry Reader::entry(const json& j, const std::string& path, const OwnHeader& h) {
  static constexpr std::string_view kKeys[] = {"name", "grid", "block", "shared", "cluster", "parameters"};
  const std::span<const std::string_view> keys(kKeys);
  OwnEntry e;
  if (!j.is_object()) {
    refuse(path, tr("must be an object with name, grid and block"));
    return e;
  }
  check_keys(j, path, h.api == 1 ? keys.first(4) : keys);
  if (const json* name = member(j, path, "name"))
    e.name = identifier(*name, path + ".name", tr("an extern \"C\" __global__ function"));
  if (const json* grid = member(j, path, "grid")) e.grid = axes<3>(*grid, path + ".grid");
  if (const json* block = member(j, path, "block")) e.block = axes<3>(*block, path + ".block");
  if (const auto shared = j.find("shared"); shared != j.end()) e.shared = expression(*shared, path + ".shared");
  if (h.api == 1) return e;
  if (const auto cluster = j.find("cluster"); cluster != j.end()) {
    e.clustered = true;
    e.cluster = axes<3>(*cluster, path + ".cluster");
  }
  if (const json* list = member(j, path, "parameters")) parameters(*list, path + ".parameters", h, e);
  return e;
}

void Reader::entries(const json& root, OwnHeader& h) {
  const json* list = member(root, "", "entries");
  if (list == nullptr) return;
  if (!list->is_array() || list->empty() || list->size() > kMaxEntries)
    return refuse("entries", phrase("must be a list of 1 to {} launches", kMaxEntries));
  for (std::size_t n = 0; n < list->size(); ++n) {
    const std::string path = fmt::format("entries[{}]", n);
    h.entries.push_back(entry((*list)[n], path, h));
    const std::string& name = h.entries.back().name;  // empty: it was refused
    if (!name.empty() && std::ranges::count(h.entries, name, &OwnEntry::name) > 1)
      refuse(path + ".name", phrase("repeats {}", shown(name)));
  }
}

OwnDims Reader::dims(const json& j, const std::string& path) {
  static constexpr std::string_view kKeys[] = {"min", "max", "step"};
  OwnDims d;
  if (j.is_array()) {
    if (j.empty() || j.size() > kMaxDims)
      refuse(path, phrase("has {} elements; it must have 1 to {}", j.size(), kMaxDims));
    for (std::size_t n = 0; n < j.size() && !error(); ++n)
      d.values.push_back(whole(j[n], fmt::format("{}[{}]", path, n), 1, kMaxHeadDim));
    return d;
  }
  if (!j.is_object()) {
    refuse(path, phrase("is {}; it must be a list such as [64, 128], or {{\"min\": 16, \"max\": 128, \"step\": 16}}",
                        shown(j)));
    return d;
  }
  check_keys(j, path, kKeys);
  if (const json* min = member(j, path, "min")) d.min = whole(*min, path + ".min", 1, kMaxHeadDim);
  if (const json* max = member(j, path, "max")) d.max = whole(*max, path + ".max", d.min, kMaxHeadDim);
  if (j.contains("step")) d.step = whole(j["step"], path + ".step", 1, kMaxHeadDim);
  return d;
}

void Reader::masks(const json& root, OwnHeader& h) {
  static constexpr std::string_view kMasks[] = {"causal", "window", "key_lengths", "bias", "softcap", "alibi"};
  const json* list = member(root, "", "masks");
  if (list == nullptr) return;
  bool* const flags[] = {&h.causal, &h.window, &h.key_lengths, &h.bias, &h.softcap, &h.alibi};
  for (const std::size_t n : choices(*list, "masks", kMasks))
    if (n < std::size(flags)) *flags[n] = true;
}

OptionSpec Reader::option(const json& j, const std::string& path, const Option& which) {
  static constexpr std::string_view kKeys[] = {"min", "max", "step", "default"};
  OptionSpec o{&which, 1, 1, 1, 1};
  if (!j.is_object()) {
    refuse(path,
           phrase("is {}; it must be an object such as {{\"min\": 16, \"max\": 128, \"step\": 16, \"default\": 64}}",
                  shown(j)));
    return o;
  }
  check_keys(j, path, kKeys);
  const auto number = [&](const char* key, std::int64_t min, std::int64_t max) {
    const json* value = member(j, path, key);
    return value == nullptr ? std::int32_t{1} : static_cast<std::int32_t>(whole(*value, path + "." + key, min, max));
  };
  o.min = number("min", 1, kMaxOption);
  o.max = number("max", o.min, kMaxOption);
  if (j.contains("step")) o.step = number("step", 1, kMaxOption);
  o.default_value = number("default", o.min, o.max);
  if ((o.default_value - o.min) % o.step != 0)
    refuse(path + ".default",
           phrase("is {}; it cannot be reached from {} in steps of {}", o.default_value, o.min, o.step));
  return o;
}

void Reader::options(const json& root, OwnHeader& h) {
  static constexpr std::string_view kKeys[] = {"Br", "Bc", "threads", "stages"};
  constexpr const Option* kOptions[] = {&Option::br, &Option::bc, &Option::threads, &Option::stages};
  const auto list = root.find("options");
  if (list == root.end()) return;
  if (!list->is_object())
    return refuse("options",
                  phrase("is {}; it must be an object with any of these: {}", shown(*list), fmt::join(kKeys, ", ")));
  check_keys(*list, "options", kKeys);
  for (std::size_t n = 0; n < std::size(kKeys); ++n) {
    const std::string key(kKeys[n]);
    if (list->contains(key)) h.options.push_back(option((*list)[key], "options." + key, *kOptions[n]));
  }
}

bool has(const OwnHeader& h, const Option& which) {
  return std::ranges::any_of(h.options, [&](const OptionSpec& o) { return o.is(which); });
}

// An expression that asks for an option that the kernel does not have would be worked out with 0.
void Reader::check_read(const OwnHeader& h) {
  constexpr std::pair<SizeName, const Option*> kPairs[] = {{SizeName::br, &Option::br},
                                                           {SizeName::bc, &Option::bc},
                                                           {SizeName::threads, &Option::threads},
                                                           {SizeName::stages, &Option::stages}};
  for (std::size_t n = 0; n < h.entries.size(); ++n) {
    const OwnEntry& e = h.entries[n];
    for (const auto& [name, which] : kPairs) {
      if (has(h, *which)) continue;
      const auto reads = [name = name](const SizeExpression& x) { return x.reads(name); };
      const std::string path = fmt::format("entries[{}].", n);
      const std::string words = phrase("reads {}, which is not in \"options\"", name_of(name));
      if (std::ranges::any_of(e.grid, reads)) refuse(path + "grid", words);
      if (std::ranges::any_of(e.block, reads)) refuse(path + "block", words);
      if (reads(e.shared)) refuse(path + "shared", words);
      if (std::ranges::any_of(e.cluster, reads)) refuse(path + "cluster", words);
      for (std::size_t at = 0; at < e.parameters.size(); ++at) {
        const OwnParameter& p = e.parameters[at];
        const bool names_it = p.kind == OwnParameter::Kind::size && p.index == static_cast<std::size_t>(name);
        if (names_it || reads(p.value) || std::ranges::any_of(p.map.box, reads))
          refuse(fmt::format("{}parameters[{}]", path, at), words);
      }
    }
  }
  for (const OwnScratch& room : h.scratch)
    for (const auto& [name, which] : kPairs)
      if (room.bytes.reads(name) && !has(h, *which))
        refuse(fmt::format("scratch.{}.bytes", room.name),
               phrase("reads {}, which is not in \"options\"", name_of(name)));
}

OwnHeader Reader::read(const json& root) {
  static constexpr std::string_view kKeys[] = {"api",     "entries", "dtypes",        "D",        "Dv",   "masks",
                                               "options", "grouped", "stores_scores", "timeline", "pass", "layouts",
                                               "scratch"};
  constexpr std::size_t kOfApi1 = 10;
  const std::span<const std::string_view> keys(kKeys);
  static constexpr std::string_view kDTypes[] = {"f32", "f16", "bf16"};
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
  OwnHeader h;
  // First: another version may have other keys.
  check_api(root, h);
  check_keys(root, "", h.api == 1 ? keys.first(kOfApi1) : keys);
  h.stores_scores = flag(root, "", "stores_scores");
  pass_and_layouts(root, h);
  scratch(root, h);
  entries(root, h);
  timeline(root, h);
  if (const json* list = member(root, "", "dtypes")) {
    for (const std::size_t n : choices(*list, "dtypes", kDTypes))
      if (n < std::size(kTypes)) h.dtypes.push_back(kTypes[n]);
    if (h.dtypes.empty()) refuse("dtypes", tr("is empty; it must contain at least one of f32, f16 and bf16"));
  }
  if (const json* d = member(root, "", "D")) h.d = dims(*d, "D");
  h.dv_is_d = !root.contains("Dv");
  h.dv = h.dv_is_d ? h.d : dims(root["Dv"], "Dv");
  masks(root, h);
  options(root, h);
  h.grouped = flag(root, "", "grouped");
  check_read(h);
  return h;
}

Result<OwnHeader> read_header(std::string_view text, std::string_view name) {
  const auto header = header_text(text, name);
  if (!header) return tl::unexpected(header.error());
  const auto root = parse_json(header->json, tr("the header"), kMaxDepth);
  if (!root) {
    const std::size_t byte = wrong_byte(header->json);
    if (byte == 0) return bad_input(phrase("{}, line {}: {}", name, header->first, root.error().message));
    return bad_input(phrase("{}, line {}: the header is not valid JSON here; {}.", name,
                            line_of_byte(*header, byte - 1), tr_of(kOwnExample)));
  }
  if (!root->is_object())
    return bad_input(
        phrase("{}, line {}: the header must be a JSON object; {}.", name, header->first, tr_of(kOwnExample)));
  // Counted as those of the file.
  auto lines = json_lines(std::string(static_cast<std::size_t>(header->first - 1), '\n') + header->json);
  if (!lines) return bad_input(fmt::format("{}, {}.", name, lines.error().message));
  Reader reader(name, header->first, *std::move(lines));
  OwnHeader h = reader.read(*root);
  if (reader.error()) return tl::unexpected(*reader.error());
  return h;
}

}  // namespace

bool OwnDims::take(std::int64_t d) const {
  if (!values.empty()) return std::ranges::find(values, d) != values.end();
  return d >= min && d <= max && (d - min) % step == 0;
}

std::int64_t OwnDims::nearest(std::int64_t d) const {
  const auto distance = [d](std::int64_t other) { return other < d ? d - other : other - d; };
  if (!values.empty()) return *std::ranges::min_element(values, {}, distance);
  const std::int64_t below = min + (std::clamp(d, min, max) - min) / step * step;
  return below + step <= max && distance(below + step) < distance(below) ? below + step : below;
}

std::string OwnDims::words() const {
  if (!values.empty()) return fmt::format("{}", fmt::join(values, " or "));
  return fmt::format("{} to {}{}", min, max, step == 1 ? "" : phrase(" in steps of {}", step));
}

bool OwnHeader::wants_hopper() const {
  return std::ranges::any_of(entries, [](const OwnEntry& e) {
    return e.clustered || std::ranges::count(e.parameters, OwnParameter::Kind::map, &OwnParameter::kind) > 0;
  });
}

Result<OwnHeader> parse_own_header(std::string_view text, std::string_view name) {
  return reading(std::string(name), [&] { return read_header(text, name); });
}

Problem fitted(const OwnHeader& h, Problem p) {
  p.D = h.d.nearest(p.D);
  p.Dv = h.dv_is_d ? p.D : h.dv.nearest(p.Dv);
  if (!h.grouped) p.Hkv = p.Hq;
  return p;
}

Result<void> check_declared(const OwnHeader& h, const Problem& p, std::string_view id) {
  const auto refuse = [&](const std::string& what) { return bad_input(fmt::format("{} {}.", id, what)); };
  if (!h.d.take(p.D)) return refuse(phrase("supports D = {}, not {}", h.d.words(), p.D));
  if (h.dv_is_d && p.Dv != p.D) return refuse(phrase("supports only Dv = D, not D = {} and Dv = {}", p.D, p.Dv));
  if (!h.dv_is_d && !h.dv.take(p.Dv)) return refuse(phrase("supports Dv = {}, not {}", h.dv.words(), p.Dv));
  if (p.Hq != p.Hkv && !h.grouped)
    return refuse(phrase("does not declare \"grouped\" heads: Hq = {} and Hkv = {} must be equal", p.Hq, p.Hkv));
  const auto lacks = [&](std::string_view mask) {
    return refuse(phrase("does not declare \"{}\" among its masks", mask));
  };
  if (p.mask.causal && !h.causal) return lacks("causal");
  if ((p.mask.window_left >= 0 || p.mask.window_right >= 0) && !h.window) return lacks("window");
  if (!p.mask.key_lengths.empty() && !h.key_lengths) return lacks("key_lengths");
  if (p.has_bias() && !h.bias) return lacks("bias");
  if (p.softcap && !h.softcap) return lacks("softcap");
  if (p.alibi && !h.alibi) return lacks("alibi");
  return ok();
}

}  // namespace attn::gpu
