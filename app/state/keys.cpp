#include "app/state/keys.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/state/values.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

constexpr std::int64_t kMax = INT64_MAX;
constexpr std::size_t kMaxItems = 1024;  // of any list

// A key whose value is one number in [least, most]; `field` gives the reference to it.
template <class Field>
StateKey number_key(std::string key, std::int64_t min, std::int64_t max, Field field) {
  return {std::move(key), [field](const State& s) { return fmt::format("{}", field(s)); },
          [field, min, max](State& s, std::string_view text) -> Result<void> {
            const auto value = whole(text, min, max);
            if (!value) return tl::unexpected(value.error());
            field(s) = static_cast<std::remove_reference_t<decltype(field(s))>>(*value);
            return ok();
          }};
}

template <class Field>
StateKey flag_key(std::string key, Field field) {
  return {std::move(key), [field](const State& s) { return std::string(field(s) ? "1" : "0"); },
          [field](State& s, std::string_view text) -> Result<void> {
            if (text != "0" && text != "1") return bad_input(fmt::format("'{}' is neither 0 nor 1", text));
            field(s) = text == "1";
            return ok();
          }};
}

// A key whose value is one of `values`, spelt by name_of or `names`.
template <class Field, class Value>
StateKey choice_key(std::string key, std::vector<std::pair<std::string, Value>> choices, Field field) {
  const auto write = [choices, field](const State& s) {
    for (const auto& [name, value] : choices) {
      if (value == field(s)) return name;
    }
    return std::string("?");
  };
  const auto read = [choices, field](State& s, std::string_view text) -> Result<void> {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : choices) {
      names.push_back(name);
      if (name != text) continue;
      field(s) = value;
      return ok();
    }
    return bad_input(fmt::format("'{}' is none of {}", text, fmt::join(names, ", ")));
  };
  return {std::move(key), write, read};
}

template <class Value, class Range>
std::vector<std::pair<std::string, Value>> named(const Range& values) {
  std::vector<std::pair<std::string, Value>> choices;
  choices.reserve(std::size(values));
  for (const Value value : values) choices.emplace_back(std::string(name_of(value)), value);
  return choices;
}

// "8" or "8/2": two extents that are usually equal.
template <class First, class Second>
StateKey pair_key(std::string key, First first, Second second) {
  return {std::move(key),
          [first, second](const State& s) {
            return first(s) == second(s) ? fmt::format("{}", first(s)) : fmt::format("{}/{}", first(s), second(s));
          },
          [first, second](State& s, std::string_view text) -> Result<void> {
            const auto values = whole_list(text, 1, 2);
            if (!values) return tl::unexpected(values.error());
            first(s) = values->front();
            second(s) = values->back();
            return ok();
          }};
}

// The keys of one problem: Step's (prefix "") or the sweep's base ("sweep_").
template <class Of>
void add_mask_keys(std::vector<StateKey>& keys, const std::string& prefix, Of of) {
  keys.push_back(flag_key(
      prefix + "causal", [of](auto& s) -> auto& { return of(s).mask.causal; }));
  keys.push_back({prefix + "window",
                  [of](const State& s) {
                    const Mask& m = of(s).mask;
                    return fmt::format("{}/{}", m.window_left, m.window_right);
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    const auto values = whole_list(text, -1, 2);
                    if (!values) return tl::unexpected(values.error());
                    if (values->size() != 2) return bad_input("a window is LEFT/RIGHT, -1 = unbounded");
                    of(s).mask.window_left = values->front();
                    of(s).mask.window_right = values->back();
                    return ok();
                  }});
  keys.push_back({prefix + "keys",
                  [of](const State& s) {
                    const auto& lengths = of(s).mask.key_lengths;
                    return lengths.empty() ? std::string("all") : fmt::format("{}", fmt::join(lengths, "/"));
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    of(s).mask.key_lengths.clear();
                    if (text == "all") return ok();
                    auto values = whole_list(text, 0, kMaxItems);
                    if (!values) return tl::unexpected(values.error());
                    of(s).mask.key_lengths = std::move(*values);
                    return ok();
                  }});
}

template <class Of>
void add_problem_keys(std::vector<StateKey>& keys, const std::string& prefix, Of of) {
  const auto extent = [of](std::int64_t Problem::*member) {
    return [ of, member ](auto& s) -> auto& {
      return of(s).*member;
    };
  };
  keys.push_back(number_key(prefix + "B", 1, kMax, extent(&Problem::B)));
  keys.push_back(pair_key(prefix + "H", extent(&Problem::Hq), extent(&Problem::Hkv)));
  keys.push_back(pair_key(prefix + "L", extent(&Problem::Lq), extent(&Problem::Lk)));
  keys.push_back(pair_key(prefix + "D", extent(&Problem::D), extent(&Problem::Dv)));
  keys.push_back(choice_key(
      prefix + "dtype",
      named<DType>(std::vector{DType::f32, DType::f16, DType::bf16}), [of](auto& s) -> auto& { return of(s).dtype; }));
  keys.push_back({prefix + "scale",
                  [of](const State& s) {
                    const auto& scale = of(s).scale;
                    return scale ? fmt::format("{}", *scale) : std::string("auto");
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    of(s).scale.reset();
                    if (text == "auto") return ok();
                    const auto value = number(text, true);
                    if (!value) return tl::unexpected(value.error());
                    of(s).scale = *value;
                    return ok();
                  }});
  add_mask_keys(keys, prefix, of);
  keys.push_back({prefix + "bias",
                  [of](const State& s) {
                    const auto& shape = of(s).bias_shape;
                    return shape.empty() ? std::string("none") : fmt::format("{}", fmt::join(shape, "/"));
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    of(s).bias_shape.clear();
                    if (text == "none") return ok();
                    auto shape = whole_list(text, 1, 4);
                    if (!shape) return tl::unexpected(shape.error());
                    of(s).bias_shape = std::move(*shape);
                    return ok();
                  }});
}

template <class Of>
void add_option_keys(std::vector<StateKey>& keys, const std::string& prefix, Of of) {
  const auto member = [of](std::int32_t Options::*m) {
    return [ of, m ](auto& s) -> auto& {
      return of(s).*m;
    };
  };
  keys.push_back(number_key(prefix + "br", 0, INT32_MAX, member(&Options::br)));
  keys.push_back(number_key(prefix + "bc", 0, INT32_MAX, member(&Options::bc)));
  keys.push_back(number_key(prefix + "threads", 0, INT32_MAX, member(&Options::threads)));
  keys.push_back(number_key(prefix + "stages", 0, INT32_MAX, member(&Options::stages)));
  keys.push_back(flag_key(
      prefix + "subtract_max", [of](auto& s) -> auto& { return of(s).subtract_max; }));
  keys.push_back(choice_key(
      prefix + "key_order",
      std::vector<std::pair<std::string, KeyOrder>>{{"left_to_right", KeyOrder::left_to_right},
                                                    {"right_to_left", KeyOrder::right_to_left}},
      [of](auto& s) -> auto& { return of(s).key_order; }));
  keys.push_back(choice_key(
      prefix + "accumulate", named<DType>(std::vector{DType::f32, DType::f16, DType::bf16}), [of](auto& s) -> auto& {
        return of(s).accumulate;
      }));
}

constexpr std::string_view tensor_name(InputTensor t) {
  constexpr std::string_view kNames[] = {"q", "k", "v", "bias"};
  return kNames[static_cast<std::size_t>(t)];
}

std::string write_edits(const State& s) {
  if (s.document.inputs.edits.empty()) return "none";
  std::string text;
  for (const CellEdit& e : s.document.inputs.edits) {
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : "/", tensor_name(e.tensor), e.index, e.value);
  }
  return text;
}

Result<void> read_edits(State& s, std::string_view text) {
  auto& edits = s.document.inputs.edits;
  edits.clear();
  if (text == "none") return ok();
  for (const std::string_view part : split(text, '/')) {
    const auto fields = split(part, ':');
    if (fields.size() != 3) return bad_input(fmt::format("'{}' is not TENSOR:INDEX:VALUE", part));
    std::optional<InputTensor> tensor;
    for (const InputTensor t : {InputTensor::q, InputTensor::k, InputTensor::v, InputTensor::bias}) {
      if (fields[0] == tensor_name(t)) tensor = t;
    }
    if (!tensor) return bad_input(fmt::format("'{}' is none of q, k, v, bias", fields[0]));
    const auto index = whole(fields[1], 0, kMax);
    if (!index) return tl::unexpected(index.error());
    const auto value = number(fields[2], false);
    if (!value) return tl::unexpected(value.error());
    const CellEdit edit{*tensor, *index, static_cast<float>(*value)};
    if (!edits.empty() && std::pair(edits.back().tensor, edits.back().index) >= std::pair(edit.tensor, edit.index)) {
      return bad_input("cells stand in the order q, k, v, bias and of their indices, each once");
    }
    edits.push_back(edit);
  }
  return ok();
}

std::string write_selection(const State& s) {
  const Selection& sel = s.document.selection;
  return fmt::format("{}/{}/{}/{}/{}", sel.b, sel.h, sel.row, name_of(sel.slot), sel.col);
}

Result<void> read_selection(State& s, std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 5) return bad_input("a selection is BATCH/HEAD/ROW/TENSOR/COLUMN, column -1 = the row alone");
  Selection sel;
  const std::pair<std::size_t, std::int32_t*> numbers[] = {{0, &sel.b}, {1, &sel.h}, {2, &sel.row}, {4, &sel.col}};
  for (const auto& [at, field] : numbers) {
    const auto value = whole(parts[at], at == 4 ? -1 : 0, INT32_MAX);
    if (!value) return tl::unexpected(value.error());
    *field = static_cast<std::int32_t>(*value);
  }
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (parts[3] != name_of(static_cast<Slot>(slot))) continue;
    sel.slot = static_cast<Slot>(slot);
    s.document.selection = sel;
    return ok();
  }
  return bad_input(fmt::format("'{}' is no tensor", parts[3]));
}

Result<void> read_kernel(State& s, std::string_view text) {
  if (const auto row = find_kernel(text); !row) return tl::unexpected(row.error());
  s.document.kernel = text;
  return ok();
}

Result<void> read_sweep_kernels(State& s, std::string_view text) {
  auto& kernels = s.document.sweep.kernels;
  kernels.clear();
  if (text == "none") return ok();
  for (const std::string_view id : split(text, '/')) {
    if (const auto row = find_kernel(id); !row) return tl::unexpected(row.error());
    kernels.emplace_back(id);
  }
  return ok();
}

Result<void> read_sweep_values(State& s, std::string_view text) {
  s.document.sweep.values.clear();
  if (text == "none") return ok();
  auto values = whole_list(text, 1, kMaxItems);
  if (!values) return tl::unexpected(values.error());
  s.document.sweep.values = std::move(*values);
  return ok();
}

template <class List>
std::string list_text(const List& list) {
  return list.empty() ? std::string("none") : fmt::format("{}", fmt::join(list, "/"));
}

// A kernel or, where there is none, "usual".
template <class Field>
StateKey kernel_key(std::string key, Field field) {
  return {std::move(key), [field](const State& s) { return field(s).empty() ? std::string("usual") : field(s); },
          [field](State& s, std::string_view text) -> Result<void> {
            field(s).clear();
            if (text == "usual") return ok();
            if (const auto row = find_kernel(text); !row) return tl::unexpected(row.error());
            field(s) = text;
            return ok();
          }};
}

void add_sweep_keys(std::vector<StateKey>& keys) {
  const auto sweep = [](auto& s) -> auto& {
    return s.document.sweep;
  };
  keys.push_back(
      {"sweep_kernels", [](const State& s) { return list_text(s.document.sweep.kernels); }, read_sweep_kernels});
  keys.push_back(choice_key(
      "sweep_axis", named<Axis>(std::vector{Axis::L, Axis::B, Axis::H, Axis::D, Axis::br, Axis::bc, Axis::threads}),
      [sweep](auto& s) -> auto& { return sweep(s).axis; }));
  keys.push_back(
      {"sweep_values", [](const State& s) { return list_text(s.document.sweep.values); }, read_sweep_values});
  add_problem_keys(
      keys, "sweep_", [](auto& s) -> auto& { return s.document.sweep.base; });
  add_option_keys(
      keys, "sweep_", [](auto& s) -> auto& { return s.document.sweep.options; });
  keys.push_back(number_key(
      "sweep_gpu", 0, 1023, [](auto& s) -> auto& { return s.document.sweep.gpu; }));
  keys.push_back({"sweep_arch", [](const State& s) { return s.document.sweep.arch; },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (const auto device = gpu::device_for(text); !device) return tl::unexpected(device.error());
                    s.document.sweep.arch = text;
                    return ok();
                  }});
  keys.push_back(choice_key(
      "sweep_l2", named<L2State>(std::vector{L2State::cold, L2State::warm}),
      [](auto& s) -> auto& { return s.document.sweep.l2; }));
  keys.push_back(flag_key(
      "sweep_counters", [](auto& s) -> auto& { return s.document.sweep.counters; }));
  keys.push_back(number_key(
      "sweep_tokens", 0, kMax, [](auto& s) -> auto& { return s.document.sweep.tokens; }));
  keys.push_back(choice_key(
      "sweep_generator", named<Generator>(all_generators()),
      [](auto& s) -> auto& { return s.document.sweep.generator; }));
  keys.push_back(number_key(
      "sweep_seed", 0, kMax, [](auto& s) -> auto& { return s.document.sweep.seed; }));
  keys.push_back({"sweep_seconds", [](const State& s) { return fmt::format("{}", s.document.sweep.seconds_per_point); },
                  [](State& s, std::string_view text) -> Result<void> {
                    const auto value = number(text, true);
                    if (!value) return tl::unexpected(value.error());
                    if (*value <= 0 || *value > 3600) return bad_input("seconds are more than 0 and at most 3600");
                    s.document.sweep.seconds_per_point = *value;
                    return ok();
                  }});
  keys.push_back(number_key(
      "sweep_repeats", 1, 1000000, [](auto& s) -> auto& { return s.document.sweep.min_repeats; }));
  keys.push_back(number_key(
      "sweep_memory", 0, kMax, [](auto& s) -> auto& { return s.document.sweep.memory_limit; }));
  keys.push_back(flag_key(
      "sweep_verify", [](auto& s) -> auto& { return s.document.sweep.verify; }));
  keys.push_back(flag_key(
      "sweep_verify_full", [](auto& s) -> auto& { return s.document.sweep.verify_full; }));
}

void add_view_keys(std::vector<StateKey>& keys) {
  keys.push_back(number_key(
      "cursor", 0, 0xffffffffLL, [](auto& s) -> auto& { return s.view.step.cursor; }));
  keys.push_back(choice_key(
      "reading",
      std::vector<std::pair<std::string, OutputReading>>{{"as_summed", OutputReading::as_summed},
                                                         {"divided", OutputReading::divided}},
      [](auto& s) -> auto& { return s.view.step.reading; }));
  keys.push_back(choice_key(
      "chart", named<StepChart>(std::vector{StepChart::row, StepChart::hindsight, StepChart::passes, StepChart::error}),
      [](auto& s) -> auto& { return s.view.step.chart; }));
  keys.push_back({"speed", [](const State& s) { return fmt::format("{}", s.view.step.play_steps_per_second); },
                  [](State& s, std::string_view text) -> Result<void> {
                    const auto value = number(text, true);
                    if (!value) return tl::unexpected(value.error());
                    if (*value < 0.25 || *value > 60) return bad_input("steps per second are 0.25 to 60");
                    s.view.step.play_steps_per_second = static_cast<float>(*value);
                    return ok();
                  }});
  keys.push_back({"bookmarks", [](const State& s) { return bookmarks_text(s.view.step.bookmarks); },
                  [](State& s, std::string_view text) -> Result<void> {
                    auto marks = parse_bookmarks(text);
                    if (!marks) return tl::unexpected(marks.error());
                    s.view.step.bookmarks = *std::move(marks);
                    return ok();
                  }});
  keys.push_back(flag_key(
      "log", [](auto& s) -> auto& { return s.view.log_panel; }));
  keys.push_back({"metric", [](const State& s) { return percent_encoded(s.view.bench.metric); },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (const auto metric = find_metric(text); !metric) return tl::unexpected(metric.error());
                    s.view.bench.metric = text;
                    return ok();
                  }});
  keys.push_back(kernel_key(
      "bench_kernel", [](auto& s) -> auto& { return s.view.bench.kernel; }));
  keys.push_back(kernel_key(
      "baseline", [](auto& s) -> auto& { return s.view.bench.baseline; }));
  keys.push_back(
      {"at",
       [](const State& s) { return s.view.bench.value ? fmt::format("{}", *s.view.bench.value) : std::string("none"); },
       [](State& s, std::string_view text) -> Result<void> {
         s.view.bench.value.reset();
         if (text == "none") return ok();
         const auto value = whole(text, 1, kMax);
         if (!value) return tl::unexpected(value.error());
         s.view.bench.value = *value;
         return ok();
       }});
}

}  // namespace

std::vector<StateKey> state_keys() {
  std::vector<StateKey> keys;
  keys.push_back(choice_key(
      "workspace",
      named<Workspace>(std::vector{Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}),
      [](auto& s) -> auto& { return s.view.workspace; }));
  add_problem_keys(
      keys, "", [](auto& s) -> auto& { return s.document.problem; });
  add_option_keys(
      keys, "", [](auto& s) -> auto& { return s.document.options; });
  keys.push_back(choice_key(
      "generator", named<Generator>(all_generators()), [](auto& s) -> auto& { return s.document.inputs.generator; }));
  keys.push_back({"seed", [](const State& s) { return fmt::format("{}", s.document.inputs.seed); },
                  [](State& s, std::string_view text) -> Result<void> {
                    std::uint64_t seed = 0;
                    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
                    if (code != std::errc() || end != text.data() + text.size()) {
                      return bad_input(fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", text));
                    }
                    s.document.inputs.seed = seed;
                    return ok();
                  }});
  keys.push_back({"edits", write_edits, read_edits});
  keys.push_back({"kernel", [](const State& s) { return s.document.kernel; }, read_kernel});
  keys.push_back({"select", write_selection, read_selection});
  add_sweep_keys(keys);
  add_view_keys(keys);
  return keys;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '-' || c == '/';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return encoded;
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || code != std::errc() || end != digits.data() + 2 || value == 0) {
      return bad_input(fmt::format("'%{}' is no character", digits));
    }
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

}  // namespace attn
