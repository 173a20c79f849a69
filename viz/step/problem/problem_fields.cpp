// What a typed field does to the document: pure, tested without a window.
#include "viz/step/problem/problem_fields.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/trace/recorders.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"
#include "kernels/museum/museum.h"
#include "kernels/recording/size.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/landmarks.h"
#include "viz/step/facts/letters.h"

namespace attn {
namespace {

// What depends on the shape follows it: one key length a batch, a bias that spans the axes that it spanned before.
void fit_to_shape(Problem& p) {
  auto& lengths = p.mask.key_lengths;
  if (!lengths.empty()) {
    lengths.resize(static_cast<std::size_t>(std::max<std::int64_t>(p.B, 1)), p.Lk);
    for (std::int64_t& n : lengths) n = std::min(n, p.Lk);
  }
  const std::int64_t full[] = {p.B, p.Hq, p.Lq, p.Lk};
  for (std::size_t axis = 0; axis < p.bias_shape.size() && axis < 4; ++axis) {
    if (p.bias_shape[axis] != 1) p.bias_shape[axis] = full[axis];
  }
  if (p.storage.kind() == Storage::paged && p.B > 0 && p.Lk > 0) p = paged_anew(std::move(p));
}

Result<std::vector<std::int64_t>> numbers(std::string_view text, std::size_t min, std::size_t max, const char* what) {
  const auto found = whole_numbers(text);
  if (!found || found->size() < min || found->size() > max) {
    return bad_input(phrase("Invalid value '{}'; use {}.", text, what));
  }
  return *found;
}

Result<Document> put_heads(Document d, std::string_view text) {
  const auto n = numbers(text, 2, 3, tr("batch × query heads/KV heads, such as 2 × 4/2"));
  if (!n) return tl::unexpected(n.error());
  d.problem.B = (*n)[0];
  d.problem.Hq = (*n)[1];
  d.problem.Hkv = n->size() > 2 ? (*n)[2] : (*n)[1];
  return d;
}

// One number for both, or two.
Result<Document> put_pair(Document d, std::string_view text, const char* what, std::int64_t Problem::*a,
                          std::int64_t Problem::*b) {
  const auto n = numbers(text, 1, 2, what);
  if (!n) return tl::unexpected(n.error());
  d.problem.*a = (*n)[0];
  d.problem.*b = n->back();
  return d;
}

Result<Document> put_tile(Document d, std::string_view text) {
  const auto n = numbers(text, 1, 2, tr("Br × Bc, such as 4 × 4"));
  if (!n) return tl::unexpected(n.error());
  for (const std::int64_t x : *n) {
    if (x < 1 || x > 4096) return bad_input(phrase("A tile of {} is out of range; use 1 to 4096.", x));
  }
  d.options.br = static_cast<std::int32_t>((*n)[0]);
  d.options.bc = static_cast<std::int32_t>(n->back());
  return d;
}

Result<Document> put_scale(Document d, std::string_view text) {
  if (text.empty() || text == "auto" || text.starts_with("1/√")) {
    d.problem.scale.reset();
    return d;
  }
  const std::string plain(text);
  char* end = nullptr;
  const double x = std::strtod(plain.c_str(), &end);
  if (end == plain.c_str() || *end != '\0' || !std::isfinite(x)) {
    return bad_input(phrase("Invalid scale '{}'; use a number, or leave it empty for 1/√D.", text));
  }
  d.problem.scale = x;
  return d;
}

Result<Document> put_softcap(Document d, std::string_view text) {
  const std::string plain(text);
  char* end = nullptr;
  const double x = std::strtod(plain.c_str(), &end);
  if (end == plain.c_str() || *end != '\0')
    return bad_input(phrase("Invalid softcap '{}'; use a number above 0.", text));
  d.problem.softcap = x;  // validate() says which will do
  return d;
}

Result<Document> put_page(Document d, std::string_view text) {
  if (text.empty() || text == "none" || text == "0") {
    d.problem = without_pages(std::move(d.problem));
    return d;
  }
  const auto n = numbers(text, 1, 1, tr("keys per page, such as 4, or 'none'"));
  if (!n) return tl::unexpected(n.error());
  if (n->front() < 1) return bad_input(phrase("A page has 1 to {} keys, not {}.", kMaxPage, n->front()));
  d.problem = with_pages(std::move(d.problem), n->front());  // validate() says which sizes will do
  return d;
}

Result<Document> put_seed(Document d, std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    return bad_input(phrase("Invalid seed '{}'; use an integer.", text));
  d.inputs.seed = seed;
  return d;
}

// Shape, mask and scale become those of the sentence.
Result<Document> put_sentence(Document d, std::string_view text) {
  if (text.find_first_not_of(' ') == std::string_view::npos)
    return bad_input(phrase("The sentence is empty; type {} to {} words.", kMinWords, kMaxWords));
  if (const auto words = sentence_words(text); !words) return tl::unexpected(words.error());
  d.problem = problem_of_words(text, d.problem);
  d.inputs = {};
  d.inputs.generator = Generator::words;
  d.inputs.sentence = text == kUsualSentence ? std::string_view() : text;
  return d;
}

Result<Document> put(Document d, ProblemField field, std::string_view text) {
  switch (field) {
    case ProblemField::heads:
      return put_heads(std::move(d), text);
    case ProblemField::length:
      return put_pair(std::move(d), text, tr("a length, or query length × key length, such as 9 × 8"), &Problem::Lq,
                      &Problem::Lk);
    case ProblemField::dim:
      return put_pair(std::move(d), text, tr("a head dim, or key dim × value dim, such as 4 × 2"), &Problem::D,
                      &Problem::Dv);
    case ProblemField::tile:
      return put_tile(std::move(d), text);
    case ProblemField::window: {
      const auto n = numbers(text, 2, 2, tr("keys to the left and to the right, such as 4, 2 (−1 = all)"));
      if (!n) return tl::unexpected(n.error());
      d.problem.mask.window_left = (*n)[0];
      d.problem.mask.window_right = (*n)[1];
      return d;
    }
    case ProblemField::key_lengths: {
      const auto n = numbers(text, 1, 4096, tr("one key length per batch, such as 12, 0"));
      if (!n) return tl::unexpected(n.error());
      d.problem.mask.key_lengths = *n;
      return d;
    }
    case ProblemField::page:
      return put_page(std::move(d), text);
    case ProblemField::softcap:
      return put_softcap(std::move(d), text);
    case ProblemField::scale:
      return put_scale(std::move(d), text);
    case ProblemField::seed:
      return put_seed(std::move(d), text);
    case ProblemField::sentence:
      return put_sentence(std::move(d), text);
  }
  return d;
}

}  // namespace

std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  std::string plain;
  // × and − as they are shown; x, X, * and commas as they are typed.
  for (std::size_t n = 0; n < text.size();) {
    if (text.substr(n).starts_with("×"))
      plain += ' ', n += std::string_view("×").size();
    else if (text.substr(n).starts_with("−"))
      plain += '-', n += std::string_view("−").size();
    else
      plain += std::string_view("xX*/,").find(text[n]) != std::string_view::npos ? ' ' : text[n], ++n;
  }
  const char* at = plain.data();
  const char* end = at + plain.size();
  while (true) {
    while (at < end && std::isspace(static_cast<unsigned char>(*at)) != 0) ++at;
    if (at == end) return out;
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return std::nullopt;
    out.push_back(value);
    at = next;
  }
}

Result<Document> with_field(Document document, ProblemField field, std::string_view text) {
  const Problem before = document.problem;
  Result<Document> changed = put(std::move(document), field, text);
  if (!changed) return changed;
  if (field != ProblemField::key_lengths && field != ProblemField::page) fit_to_shape(changed->problem);
  // A typed cell is named by its index, which another shape gives another meaning.
  const bool reshaped = field == ProblemField::heads || field == ProblemField::length || field == ProblemField::dim;
  if (reshaped && changed->problem != before) changed->inputs.edits.clear();
  if (const auto why = why_not_recordable(*changed)) return bad_input(*why);
  return changed;
}

std::optional<std::string> why_not_recordable(const Document& document) {
  if (const Result<void> valid = validate(document.problem); !valid) return valid.error().message;
  const auto row = find_kernel_or_piece(document.kernel);
  if (!row) return row.error().message;
  // A GPU's, out of a file: which GPU there is says who records it.
  const Device device = (*row)->processor == Processor::cpu ? Device() : *gpu::device_for(gpu::kArchRunOn);
  const Result<Options> options = resolve(**row, document.options, device);
  if (!options) return options.error().message;
  if ((*row)->supports != nullptr) {
    if (const Result<void> ok = (*row)->supports(**row, document.problem, *options, device); !ok)
      return ok.error().message;
  }
  // A kernel without a tile of its own is cut into such for its recording.
  const Options cut = gpu::cut_for_recording(*options);
  if (const Result<void> ok = check_recordable(order_of(**row, cut), document.problem, cut); !ok)
    return ok.error().message;
  return std::nullopt;
}

namespace {

bool takes_pass_and_storage(const KernelRow& row, const Problem& p) {
  return takes_pass(row, p.pass) && std::ranges::find(row.storages, p.storage.kind()) != row.storages.end();
}

}  // namespace

const KernelRow* recorded_by(const Problem& p, std::string_view usual) {
  const KernelRow* first = nullptr;
  for (const KernelRow* row : ladder()) {
    if (row->record == nullptr || !takes_pass_and_storage(*row, p)) continue;
    if (row->id == usual) return row;
    if (first == nullptr) first = row;
  }
  return first;
}

const KernelRow* recorded_instead(const Document& d) {
  const auto now = find_kernel_or_piece(d.kernel);
  return now && takes_pass_and_storage(**now, d.problem) ? nullptr : recorded_by(d.problem, Document{}.kernel);
}

std::string field_text(const Document& document, ProblemField field) {
  const Problem& p = document.problem;
  switch (field) {
    case ProblemField::heads:
      return p.Hq == p.Hkv ? fmt::format("{} × {}", p.B, p.Hq) : fmt::format("{} × {}/{}", p.B, p.Hq, p.Hkv);
    case ProblemField::length:
      return p.Lq == p.Lk ? std::to_string(p.Lq) : fmt::format("{} × {}", p.Lq, p.Lk);
    case ProblemField::dim:
      return p.D == p.Dv ? std::to_string(p.D) : fmt::format("{} × {}", p.D, p.Dv);
    case ProblemField::tile: {
      // 0 stands for what the kernel's row says.
      Options o = document.options;
      if (const auto row = find_kernel_or_piece(document.kernel)) {
        for (const OptionSpec& spec : (*row)->options) {
          if (spec.option->tile && !chosen(o, *spec.option)) choose(o, *spec.option, spec.default_value);
        }
      }
      return fmt::format("{} × {}", o.br > 0 ? o.br : 1, o.bc > 0 ? o.bc : p.Lk);
    }
    case ProblemField::window:
      return fmt::format("{}, {}", p.mask.window_left, p.mask.window_right);
    case ProblemField::key_lengths:
      return fmt::format("{}", fmt::join(p.mask.key_lengths, ", "));
    case ProblemField::page:
      return p.storage.kind() == Storage::dense ? std::string("none") : std::to_string(p.storage.page);
    case ProblemField::softcap:
      return p.softcap ? fmt::format("{}", *p.softcap) : "";
    case ProblemField::scale:
      if (!p.scale) return fmt::format("1/√{}", p.D);
      return significant_text(*p.scale, 6);
    case ProblemField::seed:
      return std::to_string(document.inputs.seed);
    case ProblemField::sentence:
      return document.inputs.sentence.empty() ? std::string(kUsualSentence) : document.inputs.sentence;
  }
  return {};
}

std::optional<WhatIfOutcome> first_wrong_outcome(const ErrorScan& scan, const Selection& selection) {
  if (!scan.done() || !scan.first) return std::nullopt;
  const FirstDifference& f = *scan.first;
  TextRun wrong = letter(std::string(letter_of(f.slot)), tensor_of(f.slot));
  TextRuns words = woven(phrase("Wrong first: {} = {}, step {}", place(0), place(1), f.event + 1),
                         {std::move(wrong), word(significant_text(f.recorded, 3), Token::text)}, Token::text);
  return WhatIfOutcome{"##whatif_max", std::move(words), go_to(f, selection)};
}

std::optional<WhatIfOutcome> merge_outcome(const Recording& rec, const Selection& selection) {
  const auto at = merge_factors(rec);
  if (!at) return std::nullopt;
  const TextRun power{tr("m of a part − m"), Face::text, Token::text, 1, false};
  return WhatIfOutcome{"##whatif_parts",
                       woven(phrase("Merged by {} = {}{}: step {}", place(0), place(1), place(2), *at + 1),
                             {letter("α", TensorColour::alpha), letter("e", TensorColour::alpha), power}, Token::text),
                       {GoToEvent{*at}, Select{selection}}};
}

}  // namespace attn
