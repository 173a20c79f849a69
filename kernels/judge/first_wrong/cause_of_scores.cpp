// Loads, S and the mask.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/causes.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/traffic.h"

namespace attn::causes {
namespace {

// ---- loads

// m, ℓ or O that came back from memory, or that a query tile begins with.
std::string state_cause(const Recording& wrong, const Recording& right, const FirstWrong& at, EventIndex right_event) {
  const auto begins = [&](const Recording& rec, EventIndex e) {
    const auto start = at.slot == Slot::m_old ? -std::numeric_limits<float>::infinity() : 0.0F;
    return std::ranges::all_of(rec.values(rec.after(e, at.slot)), [start](float x) { return x == start; });
  };
  if (begins(wrong, at.event)) {
    return phrase(
        "{} was not kept from one key tile to the next: it still has its value from before the first key tile.",
        letter_of_slot(at.slot));
  }
  if (begins(right, right_event)) {
    return phrase("{} was not reset for this query tile: it still holds an earlier value.", letter_of_slot(at.slot));
  }
  return {};
}

// Of which batch and head a version of the inputs is, where it is not this one's.
std::string other_head(const Recording& right, const Version& v, const FirstWrong& at) {
  const Problem& p = right.problem;
  const EventId& id = right.events[v.made_by].id;
  if (id.b != at.id.b) return phrase("{} belongs to batch {}.", letter_of_slot(at.slot), id.b);
  if (at.slot == Slot::q) {
    return id.h == at.id.h ? "" : phrase("Q belongs to query head {}.", id.h);
  }
  if (p.kv_head(id.h) == p.kv_head(at.id.h)) return {};
  return phrase("{} belongs to KV head {}, but query head {} reads KV head {}: {} query heads share each KV head.",
                letter_of_slot(at.slot), p.kv_head(id.h), at.id.h, p.kv_head(at.id.h), p.Hq / p.Hkv);
}

std::string factor_words(const Problem& p, double factor) {
  const double scale = p.effective_scale();
  const auto is = [factor](double x) { return std::fabs(factor - x) < 1e-3 * std::fabs(x); };
  if (is(1 / scale)) return tr("The scale is missing: S is plain Q Kᵀ.");
  if (is(scale)) return tr("The scale is applied twice.");
  constexpr double kLog2E = 1.4426950408889634;
  if (is(kLog2E)) return tr("S is in base 2 (times log2 e) but read as if it were in base e.");
  if (is(-1)) return tr("S has the wrong sign.");
  return phrase("All of S is off by a factor of {:.6g}.", factor);
}

// The scaled product of the first `most` numbers of a query's row with what `key_of` gives for each.
Value product(const Operands& in, std::int32_t row, std::int32_t most,
              const std::function<double(std::int32_t d)>& key_of) {
  const double scale = in.recording().problem.effective_scale();
  Value v{0, 0};
  for (std::int32_t d = 0; d < most; ++d) {
    const double term = scale * in.at(Slot::q, row, d) * key_of(d);
    v.x += term;
    v.size += std::fabs(term);
  }
  return v;
}

// Scores of this query tile with the keys of another tile.
std::string stale_scores(const Operands& in, Elements elements) {
  const Recording& rec = in.recording();
  const Problem& p = rec.problem;
  const EventId& id = rec.events[in.event()].id;
  const std::vector<float> keys = in.all_keys(rec.inputs.k);
  std::vector<Cause> causes;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    if (j == id.j) continue;
    causes.push_back({phrase("S contains the scores of key tile {}: K was not replaced before S was computed (a stale "
                             "tile or a missing barrier).",
                             j),
                      [&, c0 = std::int64_t{j} * rec.options.bc](std::int32_t row, std::int32_t col) {
                        if (c0 + col >= p.Lk) return Value{};
                        return product(in, row, in.cols(Slot::q), [&](std::int32_t d) {
                          return static_cast<double>(keys[static_cast<std::size_t>((c0 + col) * p.D + d)]);
                        });
                      }});
  }
  return first_that_fits(causes, elements);
}

// The product runs over some of the D numbers of a row alone, from the first.
std::string short_product(const Operands& in, Elements elements) {
  const std::int32_t all = in.cols(Slot::q);
  std::vector<Cause> causes;
  for (std::int32_t most = all - 1; most > 0; --most) {
    causes.push_back({phrase("The product uses only the first {} of the {} numbers in a row of Q and K.", most, all),
                      [&, most](std::int32_t row, std::int32_t col) {
                        return product(in, row, most, [&](std::int32_t d) { return in.at(Slot::k, col, d); });
                      }});
  }
  return first_that_fits(causes, elements);
}

// Hidden keys have some large negative number in place of −∞: one, wherever they are hidden.
std::string marked_words(Elements elements) {
  constexpr double kLarge = -1e3;
  const double mark = elements.front().recorded;
  const bool all = std::ranges::all_of(
      elements, [mark](const WrongElement& x) { return x.right == -kInf && x.recorded == mark && mark < kLarge; });
  if (!all) return {};
  return phrase("Masked keys score {:g} instead of −∞, so a row that sees no key becomes the mean of all values.",
                mark);
}

// K or V as the pages hold them, beyond the batch's last key too.
std::string tail_words(const Recording& wrong, const FirstWrong& at) {
  const Problem& p = wrong.problem;
  if (p.storage.kind() == Storage::dense) return {};
  const VersionId id = wrong.after(at.event, at.slot);
  const Version& v = wrong.version(id);
  const Array& from = at.slot == Slot::k ? wrong.inputs.k : wrong.inputs.v;
  std::vector<float> rows(wrong.values(id).size());
  read_keys(p, wrong.inputs, from, {at.id.b, p.kv_head(at.id.h)}, v.first_row, v.rows, rows.data(),
            PageTail::as_it_lies);
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (!std::ranges::equal(wrong.values(id), rows, same)) return {};
  return phrase("The tail of the last page is not zeroed: after key {} of batch {}, {} holds whatever is in the page.",
                keys_of_batch(p, at.id.b) - 1, at.id.b, letter_of_slot(at.slot));
}

}  // namespace

// The tile that the recorded numbers are, where they are another one's.
std::string load_cause(const Recording& wrong, const Recording& right, const FirstWrong& at, EventIndex right_event) {
  if (at.slot == Slot::m_old || at.slot == Slot::l_old || at.slot == Slot::o_old)
    return state_cause(wrong, right, at, right_event);
  const auto recorded = wrong.values(wrong.after(at.event, at.slot));
  const bool keys = at.slot == Slot::k || at.slot == Slot::v;
  if (std::string words = keys ? tail_words(wrong, at) : std::string(); !words.empty()) return words;
  for (const Version& v : right.versions) {
    if (v.slot != at.slot) continue;
    const auto other = std::span<const float>(right.arena)
                           .subspan(v.offset, static_cast<std::size_t>(v.rows) * static_cast<std::size_t>(v.cols));
    if (!std::ranges::equal(recorded, other)) continue;
    if (std::string words = other_head(right, v, at); !words.empty()) return words;
    return phrase("{} is a stale tile: it contains the {} starting at {}, which belong to another {} tile.",
                  letter_of_slot(at.slot), keys ? "keys" : "rows", v.first_row, keys ? "key" : "query");
  }
  return {};
}

std::string scores_cause(const Operands& in, const Recording& right, EventIndex right_event, Elements elements) {
  if (elements.size() > 1) {
    if (const auto factor = common_factor(elements)) return factor_words(in.recording().problem, *factor);
    const Operands made(right, right_event);
    double largest = 0;  // rounding goes by what was summed, not by what is left of it
    for (const WrongElement& x : elements) largest = std::max(largest, std::fabs(x.right));
    const Cause across{tr("S is written transposed, with rows and columns swapped."),
                       [&made, largest](std::int32_t row, std::int32_t col) {
                         return Value{made.made(Slot::s, col, row), largest};
                       }};
    if (std::string words = first_that_fits({across}, elements); !words.empty()) return words;
  }
  if (std::string words = stale_scores(in, elements); !words.empty()) return words;
  if (std::string words = short_product(in, elements); !words.empty()) return words;
  return narrow_cause("S", elements, 1);
}

std::string mask_cause(const Recording& rec, const FirstWrong& at, Elements elements) {
  const Version& v = rec.version(rec.after(at.event, at.slot));
  bool shown = true, hidden = true, next = true, own = true;
  for (const WrongElement& x : elements) {
    const std::int64_t row = v.first_row + x.row, key = v.first_col + x.col;
    const KeyRange seen = rec.problem.visible_keys(at.id.b, row);
    const bool lets_see = x.right == -kInf && x.recorded != -kInf;
    shown = shown && lets_see;
    hidden = hidden && x.recorded == -kInf && x.right != -kInf;
    next = next && lets_see && (key == seen.last || key == seen.first - 1);
    own = own && x.recorded == -kInf && (key == seen.last - 1 || key == seen.first);
  }
  if (std::string words = marked_words(elements); !words.empty()) return words;
  if (all_nan(elements) && std::ranges::none_of(elements, [](const WrongElement& x) { return x.right == -kInf; })) {
    return tr("Visible keys become NaN: the mask multiplies (0 · (−∞)) instead of selecting.");
  }
  if (next) return tr("The mask is off by one: queries also see the key after their last visible key.");
  if (own) return tr("The mask is off by one: each query's last visible key is hidden.");
  if (shown) return tr("The mask lets queries see keys that it should hide.");
  if (hidden) return tr("The mask hides keys that queries should see.");
  if (elements.size() > 1 && !rec.problem.shapes_scores() && !rec.problem.has_bias()) {
    if (const auto factor = common_factor(elements)) return factor_words(rec.problem, *factor);
  }
  if (rec.problem.shapes_scores()) {
    return tr("The right keys are visible, but softcap, bias or ALiBi is wrong.");
  }
  return rec.problem.has_bias() ? tr("The right keys are visible, but the bias is wrong.") : "";
}

}  // namespace attn::causes
