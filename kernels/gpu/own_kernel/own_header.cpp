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

#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_reading.h"
#include "kernels/gpu/own_kernel/json_lines.h"

namespace attn::gpu {
namespace {

using nlohmann::json;

constexpr std::string_view kMark = "// attn:";
constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxEntries = 8, kMaxDims = 64, kMaxName = 64;
constexpr std::int64_t kMaxOption = 65536;
constexpr const char* kExample = marked("attnscope list --template prints one that can be copied");

// The JSON of the first lines: as many lines as the text has, so that a line of one is a line of the other.
struct HeaderText {
  std::string json;
  std::int32_t first = 0;  // line of the file at which it begins, from 1
};

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

Result<HeaderText> header_text(std::string_view text, std::string_view name) {
  HeaderText found;
  bool code = false, ended = false;
  for (std::int32_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = trimmed(whole);
    if (line.starts_with(kMark)) {
      if (code)
        return bad_input(
            phrase("{}, line {}: '{}' stands after the first line of code; the header must come before it.", name,
                   number, kMark));
      if (ended)
        return bad_input(
            phrase("{}, line {}: '{}' stands apart from the header, which began at line {}; its lines must follow "
                   "one another.",
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
    return bad_input(phrase("{} has no header: its first lines must say '{} {{\"api\": {}, ...}}'; {}.", name, kMark,
                            kOwnApi, tr_of(kExample)));
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

// Reads the members one by one. The first thing that is wrong is kept, with its line; later answers are defaults.
class Reader {
 public:
  Reader(std::string_view name, const HeaderText& text, JsonLines lines)
      : name_(name), first_(text.first), lines_(std::move(lines)) {}

  OwnHeader read(const json& root);
  const std::optional<Error>& error() const { return error_; }

 private:
  void refuse(const std::string& path, const std::string& what) {
    if (error_) return;
    const auto at = lines_.find(path);
    const std::int32_t line = at == lines_.end() ? first_ : at->second;
    error_ = Error{ErrorKind::bad_input, phrase("{}, line {}: \"{}\" {}.", name_, line, path, what)};
  }
  // The object has these keys and no other.
  void check_keys(const json& object, const std::string& path, std::span<const std::string_view> known) {
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(known, key) == known.end())
        refuse(path.empty() ? key : fmt::format("{}.{}", path, key),
               phrase("is no key; there are {}", fmt::join(known, ", ")));
    }
  }
  // A member that must be there.
  const json* member(const json& object, const std::string& path, const std::string& key) {
    const auto at = object.find(key);
    if (at != object.end()) return &*at;
    if (path.empty())
      refuse(key, phrase("is missing; {}", tr_of(kExample)));
    else
      refuse(path, phrase("lacks \"{}\"", key));
    return nullptr;
  }
  std::int64_t whole(const json& j, const std::string& path, std::int64_t min, std::int64_t max) {
    const bool small = !j.is_number_unsigned() ||
                       j.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (j.is_number_integer() && small && j.get<std::int64_t>() >= min && j.get<std::int64_t>() <= max)
      return j.get<std::int64_t>();
    refuse(path, phrase("is {}; it must be a whole number from {} to {}", shown(j), min, max));
    return min;
  }
  static std::string shown(const json& j) {
    constexpr std::size_t kLongest = 40;
    const std::string text = j.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
  }
  // The texts of a list, each one of `known`, none twice.
  std::vector<std::size_t> choices(const json& j, const std::string& path, std::span<const std::string_view> known) {
    std::vector<std::size_t> found;
    if (!j.is_array()) refuse(path, phrase("is {}; it must be a list of some of {}", shown(j), fmt::join(known, ", ")));
    for (std::size_t n = 0; j.is_array() && n < j.size() && !error_; ++n) {
      const auto at = j[n].is_string() ? std::ranges::find(known, j[n].get_ref<const std::string&>()) : known.end();
      const auto index = static_cast<std::size_t>(at - known.begin());
      if (at == known.end())
        refuse(fmt::format("{}[{}]", path, n), phrase("is {}; there are {}", shown(j[n]), fmt::join(known, ", ")));
      else if (std::ranges::find(found, index) != found.end())
        refuse(fmt::format("{}[{}]", path, n), phrase("is {} a second time", shown(j[n])));
      found.push_back(index);
    }
    return found;
  }
  bool flag(const json& root, const char* key) {
    const auto at = root.find(key);
    if (at == root.end()) return false;
    if (!at->is_boolean()) refuse(key, phrase("is {}; it must be true or false", shown(*at)));
    return at->is_boolean() && at->get<bool>();
  }

  void check_api(const json& root);
  void entries(const json& root, OwnHeader& h);
  OwnEntry entry(const json& j, const std::string& path);
  SizeExpression expression(const json& j, const std::string& path);
  std::array<SizeExpression, 3> axes(const json& j, const std::string& path);
  OwnDims dims(const json& j, const std::string& path);
  void masks(const json& root, OwnHeader& h);
  void options(const json& root, OwnHeader& h);
  OptionSpec option(const json& j, const std::string& path, const Option& which);
  void check_read(const OwnHeader& h);

  std::string_view name_;
  std::int32_t first_;
  JsonLines lines_;
  std::optional<Error> error_;
};

void Reader::check_api(const json& root) {
  const json* api = member(root, "", "api");
  if (api == nullptr) return;
  if (!api->is_number_integer() || *api != kOwnApi)
    refuse("api", phrase("is {}; this program speaks {}", shown(*api), kOwnApi));
}

SizeExpression Reader::expression(const json& j, const std::string& path) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!j.is_string()) {
    if (j.is_number()) return SizeExpression::constant(whole(j, path, 0, kMost));
    refuse(path, phrase("is {}; it must be an expression in quotes or a whole number", shown(j)));
    return {};
  }
  auto e = SizeExpression::parse(j.get_ref<const std::string&>());
  if (e) return *std::move(e);
  refuse(path, phrase("cannot be read: {}", e.error().message));
  return {};
}

std::array<SizeExpression, 3> Reader::axes(const json& j, const std::string& path) {
  std::array<SizeExpression, 3> all = OwnEntry().grid;
  if (!j.is_array()) {
    all[0] = expression(j, path);
    return all;
  }
  if (j.empty() || j.size() > all.size()) refuse(path, phrase("has {} elements; it must have 1 to 3", j.size()));
  for (std::size_t n = 0; n < std::min(j.size(), all.size()); ++n)
    all.at(n) = expression(j[n], fmt::format("{}[{}]", path, n));
  return all;
}

OwnEntry Reader::entry(const json& j, const std::string& path) {
  static constexpr std::string_view kKeys[] = {"name", "grid", "block", "shared"};
  OwnEntry e;
  if (!j.is_object()) {
    refuse(path, tr("must be an object with name, grid and block"));
    return e;
  }
  check_keys(j, path, kKeys);
  if (const json* name = member(j, path, "name")) {
    const auto good = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (name->is_string()) e.name = name->get<std::string>();
    if (e.name.empty() || e.name.size() > kMaxName || !std::ranges::all_of(e.name, good) ||
        (e.name[0] >= '0' && e.name[0] <= '9'))
      refuse(path + ".name", phrase("is {}; it must be the name of an extern \"C\" __global__ function", shown(*name)));
  }
  if (const json* grid = member(j, path, "grid")) e.grid = axes(*grid, path + ".grid");
  if (const json* block = member(j, path, "block")) e.block = axes(*block, path + ".block");
  if (const auto shared = j.find("shared"); shared != j.end()) e.shared = expression(*shared, path + ".shared");
  return e;
}

void Reader::entries(const json& root, OwnHeader& h) {
  const json* list = member(root, "", "entries");
  if (list == nullptr) return;
  if (!list->is_array() || list->empty() || list->size() > kMaxEntries)
    return refuse("entries", phrase("must be a list of 1 to {} launches", kMaxEntries));
  for (std::size_t n = 0; n < list->size(); ++n) {
    const std::string path = fmt::format("entries[{}]", n);
    h.entries.push_back(entry((*list)[n], path));
    const std::string& name = h.entries.back().name;  // empty: it was refused
    if (!name.empty() && std::ranges::count(h.entries, name, &OwnEntry::name) > 1)
      refuse(path + ".name", phrase("is {} a second time", shown(name)));
  }
}

OwnDims Reader::dims(const json& j, const std::string& path) {
  static constexpr std::string_view kKeys[] = {"min", "max", "step"};
  OwnDims d;
  if (j.is_array()) {
    if (j.empty() || j.size() > kMaxDims)
      refuse(path, phrase("has {} elements; it must have 1 to {}", j.size(), kMaxDims));
    for (std::size_t n = 0; n < j.size() && !error_; ++n)
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
           phrase("is {}; from {} in steps of {} it cannot be reached", o.default_value, o.min, o.step));
  return o;
}

void Reader::options(const json& root, OwnHeader& h) {
  static constexpr std::string_view kKeys[] = {"Br", "Bc", "threads", "stages"};
  constexpr const Option* kOptions[] = {&Option::br, &Option::bc, &Option::threads, &Option::stages};
  const auto list = root.find("options");
  if (list == root.end()) return;
  if (!list->is_object())
    return refuse("options",
                  phrase("is {}; it must be an object with some of {}", shown(*list), fmt::join(kKeys, ", ")));
  check_keys(*list, "options", kKeys);
  for (std::size_t n = 0; n < std::size(kKeys); ++n) {
    const std::string key(kKeys[n]);
    if (list->contains(key)) h.options.push_back(option((*list)[key], "options." + key, *kOptions[n]));
  }
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
      if (std::ranges::any_of(h.options, [which = which](const OptionSpec& o) { return o.is(*which); })) continue;
      const auto reads = [name = name](const SizeExpression& x) { return x.reads(name); };
      const std::string path = fmt::format("entries[{}].", n);
      const std::string words = phrase("reads {}, which \"options\" does not have", name_of(name));
      if (std::ranges::any_of(e.grid, reads)) refuse(path + "grid", words);
      if (std::ranges::any_of(e.block, reads)) refuse(path + "block", words);
      if (reads(e.shared)) refuse(path + "shared", words);
    }
  }
}

OwnHeader Reader::read(const json& root) {
  static constexpr std::string_view kKeys[] = {"api",     "entries", "dtypes",       "D", "Dv", "masks",
                                               "options", "grouped", "stores_scores"};
  static constexpr std::string_view kDTypes[] = {"f32", "f16", "bf16"};
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
  OwnHeader h;
  // First: another version may have other keys.
  check_api(root);
  check_keys(root, "", kKeys);
  entries(root, h);
  if (const json* list = member(root, "", "dtypes")) {
    for (const std::size_t n : choices(*list, "dtypes", kDTypes))
      if (n < std::size(kTypes)) h.dtypes.push_back(kTypes[n]);
    if (h.dtypes.empty()) refuse("dtypes", tr("is empty; some of f32, f16, bf16 must stand there"));
  }
  if (const json* d = member(root, "", "D")) h.d = dims(*d, "D");
  h.dv_is_d = !root.contains("Dv");
  h.dv = h.dv_is_d ? h.d : dims(root["Dv"], "Dv");
  masks(root, h);
  options(root, h);
  h.grouped = flag(root, "grouped");
  h.stores_scores = flag(root, "stores_scores");
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
    return bad_input(phrase("{}, line {}: the header is not JSON there; {}.", name, line_of_byte(*header, byte - 1),
                            tr_of(kExample)));
  }
  if (!root->is_object())
    return bad_input(
        phrase("{}, line {}: the header must be a JSON object; {}.", name, header->first, tr_of(kExample)));
  // Counted as those of the file.
  auto lines = json_lines(std::string(static_cast<std::size_t>(header->first - 1), '\n') + header->json);
  if (!lines) return bad_input(fmt::format("{}, {}.", name, lines.error().message));
  Reader reader(name, *header, *std::move(lines));
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
  if (!h.d.take(p.D)) return refuse(phrase("takes D = {}, not {}", h.d.words(), p.D));
  if (h.dv_is_d && p.Dv != p.D) return refuse(phrase("takes Dv = D alone, not D = {}, Dv = {}", p.D, p.Dv));
  if (!h.dv_is_d && !h.dv.take(p.Dv)) return refuse(phrase("takes Dv = {}, not {}", h.dv.words(), p.Dv));
  if (p.Hq != p.Hkv && !h.grouped)
    return refuse(phrase("declares no \"grouped\" heads: Hq = {} and Hkv = {} must be alike", p.Hq, p.Hkv));
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
