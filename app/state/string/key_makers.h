// How the rows of the state string's table are made, and the makers of each workspace's rows (keys_step.cpp, ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/state/string/key_values.h"
#include "app/state/string/state_key.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "viz/state/state.h"

namespace attn {

// A string writes its keys in the order of the table, which is a part of the format: document before view.
void add_step_document_keys(std::vector<StateKey>& keys);
void add_step_view_keys(std::vector<StateKey>& keys);
void add_bench_document_keys(std::vector<StateKey>& keys);
void add_run_keys(std::vector<StateKey>& keys);
void add_bench_view_keys(std::vector<StateKey>& keys);
void add_profile_view_keys(std::vector<StateKey>& keys);
void add_learn_view_keys(std::vector<StateKey>& keys);

inline constexpr std::int64_t kMax = INT64_MAX;
inline constexpr std::size_t kMaxItems = 1024;  // of any list

// A key whose value is one number in [min, max]; `field` gives the reference to it.
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
            if (text != "0" && text != "1") return bad_input(phrase("invalid value '{}'; use 0 or 1", text));
            field(s) = text == "1";
            return ok();
          }};
}

// A key whose value is one of `values`, spelt by its name in `choices`.
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
    return bad_input(phrase("unknown value '{}'; use one of {}", text, fmt::join(names, ", ")));
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
                    if (values->size() != 2)
                      return bad_input(tr("a window must be LEFT/RIGHT, where -1 means unlimited"));
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

// Softcap and ALiBi; H is read before, since a list of the usual slopes is kept as `usual`.
template <class Of>
void add_score_keys(std::vector<StateKey>& keys, const std::string& prefix, Of of) {
  keys.push_back({prefix + "softcap",
                  [of](const State& s) {
                    const auto& softcap = of(s).softcap;
                    return softcap ? fmt::format("{}", *softcap) : std::string("none");
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    of(s).softcap.reset();
                    if (text == "none") return ok();
                    const auto value = number(text, true);
                    if (!value) return tl::unexpected(value.error());
                    of(s).softcap = *value;
                    return ok();
                  }});
  keys.push_back({prefix + "alibi",
                  [of](const State& s) {
                    const auto& alibi = of(s).alibi;
                    if (!alibi) return std::string("none");
                    return alibi->empty() ? std::string("usual") : fmt::format("{}", fmt::join(*alibi, "/"));
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    of(s).alibi.reset();
                    if (text == "none") return ok();
                    std::vector<float> slopes;
                    for (bool more = text != "usual"; more;) {
                      const std::size_t end = std::min(text.find('/'), text.size());
                      const auto value = number(text.substr(0, end), true);
                      if (!value) return tl::unexpected(value.error());
                      slopes.push_back(static_cast<float>(*value));
                      more = end < text.size();
                      text.remove_prefix(std::min(end + 1, text.size()));
                    }
                    of(s).alibi = kept_slopes(std::move(slopes), of(s).Hq);
                    return ok();
                  }});
}

// "none", or the keys of a page, then the pages of a pool that is not the usual one. B and Lk, which say what is usual,
// are read before.
template <class Of>
void add_page_key(std::vector<StateKey>& keys, const std::string& prefix, Of of) {
  keys.push_back({prefix + "page",
                  [of](const State& s) {
                    const KvStorage& storage = of(s).storage;
                    if (storage.kind() == Storage::dense) return std::string("none");
                    if (storage == with_pages(of(s), storage.page).storage) return fmt::format("{}", storage.page);
                    return fmt::format("{}/{}", storage.page, storage.pages);
                  },
                  [of](State& s, std::string_view text) -> Result<void> {
                    of(s).storage = {};
                    if (text == "none") return ok();
                    const auto values = whole_list(text, 1, 2);
                    if (!values) return tl::unexpected(values.error());
                    of(s) = with_pages(of(s), values->front());
                    if (values->size() > 1) of(s).storage.pages = values->back();
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
  add_score_keys(keys, prefix, of);
  // Step shows a forward or a backward; a training step is both, and is measured.
  std::vector<Pass> passes{Pass::forward, Pass::backward};
  if (!prefix.empty()) passes.push_back(Pass::training);
  keys.push_back(choice_key(
      prefix + "pass", named<Pass>(passes), [of](auto& s) -> auto& { return of(s).pass; }));
  add_page_key(keys, prefix, of);
}

template <class Of>
StateKey further_options_key(std::string key, Of of) {
  return {std::move(key), [of](const State& s) { return further_options_text(of(s)); },
          [of](State& s, std::string_view text) { return read_further_options(of(s), text); }};
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
  if (declares_further_options()) keys.push_back(further_options_key(prefix + "set", of));
}

template <class List>
std::string list_text(const List& list) {
  return list.empty() ? std::string("none") : fmt::format("{}", fmt::join(list, "/"));
}

// A kernel or, where there is none, "usual". One of the user's own is a text, and no state string holds one.
template <class Field>
StateKey kernel_key(std::string key, Field field) {
  return {std::move(key),
          [field](const State& s) {
            const std::string& id = field(s);
            return id.empty() || !gpu::own_stem(id).empty() ? std::string("usual") : id;
          },
          [field](State& s, std::string_view text) -> Result<void> {
            field(s).clear();
            if (text == "usual") return ok();
            if (const auto row = find_kernel(text); !row) return tl::unexpected(row.error());
            field(s) = text;
            return ok();
          }};
}

}  // namespace attn
