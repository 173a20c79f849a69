#include "viz/step/facts/texts.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"

namespace attn {

const std::vector<std::string_view> kStepConditions = {
    "first",          // the followed row has seen no key before this tile
    "first_tile",     // its query tile has walked over none before this one
    "last_tile",      // and walks over none after it
    "fresh",          // its maximum before this tile is -inf
    "rose",           // its maximum rose in this tile
    "tiny",           // alpha < 0.01
    "gone",           // alpha is 0
    "nothing",        // it sees no key of this tile
    "partial",        // it sees some keys of this tile, not all
    "empty_row",      // it has seen no key so far, this tile included
    "weightless",     // it has seen keys, and its sum is 0 all the same
    "no_max",         // its maximum is -inf: 0 is subtracted in its place
    "no_lse",         // a backward: the LSE that it was given is -inf
    "below",          // its maximum stands below a score of this tile: a GPU kernel whose m need not be the maximum
    "infinite_max",   // its maximum is +inf
    "same_infinity",  // its maximum was infinite and is the same: alpha is 1 by definition
    "fell",           // its maximum is smaller than before: a kernel that is wrong
    "nan_alpha",      // its alpha is NaN: a kernel that is wrong
    "nan_score",      // one of its scores of this tile is NaN
    "odd_score",      // the score that is followed is not finite, before any mask
    "odd_weight",     // the weight that is followed is not finite
    "odd_past",       // its sum or its output before this step is not finite
    "odd_sum",        // its sum is not finite
    "odd_output",     // its output is not finite, in the column that is followed
    "overflow",       // what-if: the inputs are finite, and a weight, the sum or the output is not
    "overflow_here",  // the weight that is followed has overflowed so
    "biased",         // the problem has a bias
    "capped",         // it has a softcap
    "sloped",         // it has ALiBi
    "kept",           // the score that is followed is seen, and finite after this step
    "unsubtracted",   // what-if: the maximum is not subtracted
    "narrow",         // what-if: l and O are rounded after every addition
    "forgotten",      // what-if: δ is not subtracted
    "narrow_lse",     // what-if: LSE was kept in 16 bits
    "paged",          // K and V lie in pages
    "absent",         // and this tile has keys that its batch has not
    "raw_tail",       // what-if: and what lies in the page after its last key is on chip
    "all_keys",       // a GPU's step that takes all keys of its rows at once, though the recording is in tiles
    "own_keys",       // turn 0 of a ring: each rank has its own keys
};

const std::vector<std::string_view> kStepPlaceholders = {
    "row",        "i",          "j",         "rows",       "keys",       "first_row",   "last_row",
    "first_key",  "last_key",   "D",         "Dv",         "Lq",         "Lk",          "element_bytes",
    "bytes",      "key",        "col",       "visible",    "scale",      "dot",         "scale_value",
    "s",          "s_in",       "cap",       "added",      "slope",      "distance",    "p",
    "rowmax",     "m_old",      "m_new",     "alpha",      "l_old",      "l_new",       "rowsum",
    "accumulate", "o_old",      "o_new",     "pv",         "lse",        "delta",       "dp",
    "ds",         "dv",         "dk",        "dq",         "was",        "part",        "o",
    "do",         "lse_type",   "m_part",    "alpha_part", "l_part",     "o_part",      "pages",
    "page",       "b",          "rank",      "turn",       "share",      "next_rank",   "sent",
    "left_rank",  "last_share", "sums_sent", "kept_words", "first_part", "second_part", "loaded_part"};

namespace {

// Names in braces that the table does not know; empty = all known.
std::string unknown_placeholder(std::string_view text) {
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) return std::string(text.substr(at));
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (std::find(kStepPlaceholders.begin(), kStepPlaceholders.end(), name) == kStepPlaceholders.end()) {
      return std::string(name);
    }
  }
  return {};
}

std::string unknown_condition(std::string_view when) {
  while (!when.empty()) {
    const std::size_t space = when.find(' ');
    const std::string_view name = when.substr(0, space);
    if (std::find(kStepConditions.begin(), kStepConditions.end(), name) == kStepConditions.end()) {
      return std::string(name);
    }
    when = space == std::string_view::npos ? std::string_view() : when.substr(space + 1);
  }
  return {};
}

// Sentences and formulas that several texts have, by name.
using SharedTexts = std::map<std::string, std::string, std::less<>>;

Result<SharedTexts> parse_shared(const nlohmann::json& file, SharedTexts shared) {
  const auto at = file.find("shared");
  if (at == file.end()) return shared;
  if (!at->is_object()) return bad_input(tr("Step texts: 'shared' is not an object of strings."));
  for (const auto& [name, text] : at->items()) {
    if (!text.is_string()) return bad_input(phrase("Step texts: the shared text '{}' is not a string.", name));
    shared.insert_or_assign(name, text.get<std::string>());
  }
  return shared;
}

Result<std::string> with_shared(std::string_view text, const SharedTexts& shared, const std::string& key) {
  std::string out;
  while (true) {
    const std::size_t at = text.find("{@"), end = text.find('}', at);
    if (at == std::string_view::npos || end == std::string_view::npos) return out.append(text);
    const std::string_view name = text.substr(at + 2, end - at - 2);
    const auto found = shared.find(name);
    if (found == shared.end())
      return bad_input(phrase("Step texts: {} refers to the shared text '{}', which does not exist.", key, name));
    out.append(text.substr(0, at)).append(found->second);
    text.remove_prefix(end + 1);
  }
}

Result<StepText> parse_text(const nlohmann::json& j, const SharedTexts& shared, const std::string& key) {
  if (!j.is_object()) return bad_input(phrase("Step texts: {} contains something that is not a string.", key));
  StepText text;
  for (const auto& [name, value] : j.items()) {
    std::string* member = name == "when"       ? &text.when
                          : name == "headline" ? &text.headline
                          : name == "sentence" ? &text.sentence
                          : name == "formula"  ? &text.formula
                          : name == "why"      ? &text.why
                                               : nullptr;
    if (member == nullptr || !value.is_string()) {
      return bad_input(
          phrase("Step texts: {} has the invalid key '{}'; use when, headline, sentence, formula and why, all strings.",
                 key, name));
    }
    auto whole = with_shared(value.get_ref<const std::string&>(), shared, key);
    if (!whole) return tl::unexpected(whole.error());
    *member = *std::move(whole);
  }
  if (text.headline.empty() || text.sentence.empty()) {
    return bad_input(phrase("Step texts: {} lacks a headline or a sentence.", key));
  }
  for (const std::string* part : {&text.headline, &text.sentence, &text.formula, &text.why}) {
    if (const std::string name = unknown_placeholder(*part); !name.empty()) {
      return bad_input(phrase("Step texts: {} refers to {{{}}}, which no step has.", key, name));
    }
  }
  if (const std::string name = unknown_condition(text.when); !name.empty()) {
    return bad_input(phrase("Step texts: {} has the unknown condition '{}'.", key, name));
  }
  return text;
}

Result<std::vector<StepText>> parse_list(const nlohmann::json& list, const SharedTexts& shared,
                                         const std::string& key) {
  if (!list.is_array() || list.empty()) return bad_input(phrase("Step texts: {} is not a list of strings.", key));
  std::vector<StepText> texts;
  for (const nlohmann::json& j : list) {
    Result<StepText> text = parse_text(j, shared, key);
    if (!text) return tl::unexpected(text.error());
    if (!texts.empty() && texts.back().when.empty()) {
      return bad_input(
          phrase("Step texts: {} has an unconditional text that is not the last; move it to the end.", key));
    }
    texts.push_back(std::move(*text));
  }
  if (!texts.back().when.empty()) {
    return bad_input(phrase("Step texts: the last text of {} must have no condition.", key));
  }
  return texts;
}

}  // namespace

const std::vector<StepText>* StepTexts::find(Order order, Phase phase) const {
  const auto of = [&](const OrderRow& row) {
    const auto at = texts.find(fmt::format("{}/{}", row.name, name_of(phase)));
    return at == texts.end() ? nullptr : &at->second;
  };
  const OrderRow& row = order_row(order);
  if (const auto* found = of(row)) return found;
  // What it lacks it has of the last one that works alike: of its own pass first, and with its own loop outside.
  for (const bool own_pass : {true, false}) {
    for (const bool own_loop : {true, false}) {
      for (const OrderRow& other : std::ranges::reverse_view(all_orders())) {
        const bool alike = row.works_like(other) && (other.pass == row.pass) == own_pass &&
                           (other.keys_outside == row.keys_outside) == own_loop;
        if (const auto* found = alike ? of(other) : nullptr) return found;
      }
    }
  }
  return nullptr;
}

Result<StepTexts> parse_step_texts(std::string_view text, StepTexts before) {
  const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object()) return bad_input(tr("Step texts: not valid JSON."));
  if (j.value("version", nlohmann::json(0)) != 1) return bad_input(tr("Step texts: unknown version; use 1."));
  const auto shared = parse_shared(j, std::move(before.shared));
  if (!shared) return tl::unexpected(shared.error());
  StepTexts out = std::move(before);
  out.shared = *shared;
  for (const auto& [order, phases] : j.items()) {
    if (order == "version" || order == "shared") continue;
    if (!order_named(order) || !phases.is_object()) {
      return bad_input(phrase("Step texts: unknown order '{}'; use naive, tiled, flash, flash-1 or backward.", order));
    }
    for (const auto& [phase, list] : phases.items()) {
      const std::string key = fmt::format("{}/{}", order, phase);
      if (!phase_named(phase)) return bad_input(phrase("Step texts: unknown phase '{}'.", key));
      Result<std::vector<StepText>> texts = parse_list(list, *shared, key);
      if (!texts) return tl::unexpected(texts.error());
      out.texts.emplace(key, std::move(*texts));
    }
  }
  return out;
}

}  // namespace attn
