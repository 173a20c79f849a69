// What a state string says of Step.
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/state/string/key_makers.h"
#include "app/state/string/key_values.h"
#include "kernels/base/text.h"
#include "kernels/model/kernel.h"
#include "kernels/museum/museum.h"

namespace attn {
namespace {

constexpr InputTensor kTensors[] = {InputTensor::q, InputTensor::k, InputTensor::v, InputTensor::bias,
                                    InputTensor::d_o};

constexpr std::string_view tensor_name(InputTensor t) {
  constexpr std::string_view kNames[] = {"q", "k", "v", "bias", "do"};
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
    if (fields.size() != 3) return bad_input(phrase("invalid edit '{}'; use TENSOR:INDEX:VALUE", part));
    std::optional<InputTensor> tensor;
    for (const InputTensor t : kTensors) {
      if (fields[0] == tensor_name(t)) tensor = t;
    }
    if (!tensor) return bad_input(phrase("unknown tensor '{}'; use q, k, v, bias or do", fields[0]));
    const auto index = whole(fields[1], 0, kMax);
    if (!index) return tl::unexpected(index.error());
    const auto value = number(fields[2], false);
    if (!value) return tl::unexpected(value.error());
    const CellEdit edit{*tensor, *index, static_cast<float>(*value)};
    if (!edits.empty() && std::pair(edits.back().tensor, edits.back().index) >= std::pair(edit.tensor, edit.index)) {
      return bad_input(tr("list each cell once, in the order q, k, v, bias, do, and by index within each tensor"));
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
  if (parts.size() != 5)
    return bad_input(tr("a selection must be BATCH/HEAD/ROW/TENSOR/COLUMN, where column -1 means the whole row"));
  Selection sel;
  const std::pair<std::size_t, std::int32_t*> numbers[] = {{0, &sel.b}, {1, &sel.h}, {2, &sel.row}, {4, &sel.col}};
  for (const auto& [at, field] : numbers) {
    const auto value = whole(parts[at], at == 4 ? -1 : 0, INT32_MAX);
    if (!value) return tl::unexpected(value.error());
    *field = static_cast<std::int32_t>(*value);
  }
  if (const auto slot = slot_named(parts[3])) {
    sel.slot = *slot;
    s.document.selection = sel;
    return ok();
  }
  return bad_input(phrase("unknown tensor '{}'", parts[3]));
}

Result<void> read_kernel(State& s, std::string_view text) {
  if (const auto row = find_kernel_or_piece(text); !row) return tl::unexpected(row.error());
  s.document.kernel = text;
  return ok();
}

std::string ids_with_fragments() {
  std::vector<std::string_view> ids;
  for (const KernelRow* row : kernels_with_fragments()) ids.push_back(row->id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

}  // namespace

void add_step_document_keys(std::vector<StateKey>& keys) {
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
                      return bad_input(phrase("'{}' is not an integer from 0 to 2^64 - 1", text));
                    }
                    s.document.inputs.seed = seed;
                    return ok();
                  }});
  keys.push_back({"sentence",
                  [](const State& s) {
                    const std::string& sentence = s.document.inputs.sentence;
                    return sentence.empty() ? std::string("usual") : percent_encoded(sentence);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    auto sentence = text == "usual" ? Result<std::string>(std::string()) : percent_decoded(text);
                    if (!sentence) return tl::unexpected(sentence.error());
                    if (const auto words = sentence_words(*sentence); !words) return tl::unexpected(words.error());
                    s.document.inputs.sentence = *std::move(sentence);
                    return ok();
                  }});
  keys.push_back(choice_key(
      "page_order",
      std::vector<std::pair<std::string, PageOrder>>{{"shuffled", PageOrder::shuffled},
                                                     {"in_order", PageOrder::in_order}},
      [](auto& s) -> auto& { return s.document.inputs.pages; }));
  keys.push_back({"edits", write_edits, read_edits});
  keys.push_back({"kernel", [](const State& s) { return s.document.kernel; }, read_kernel});
  keys.push_back(choice_key(
      "exhibit",
      std::vector<std::pair<std::string, Exhibit>>{
          {"none", Exhibit::none}, {"sealed", Exhibit::sealed}, {"revealed", Exhibit::revealed}},
      [](auto& s) -> auto& { return s.document.exhibit; }));
  keys.push_back({"select", write_selection, read_selection});
}

void add_step_view_keys(std::vector<StateKey>& keys) {
  keys.push_back(number_key(
      "cursor", 0, 0xffffffffLL, [](auto& s) -> auto& { return s.view.step.cursor; }));
  keys.push_back(choice_key(
      "reading",
      std::vector<std::pair<std::string, OutputReading>>{{"as_summed", OutputReading::as_summed},
                                                         {"divided", OutputReading::divided}},
      [](auto& s) -> auto& { return s.view.step.reading; }));
  keys.push_back(choice_key(
      "chart", named<StepChart>(kStepCharts), [](auto& s) -> auto& { return s.view.step.chart; }));
  keys.push_back({"fragment_rung",
                  [](const State& s) {
                    const KernelRow* row = shown_fragments(s.view.step.fragment_kernel);
                    return std::string(row == nullptr ? "none" : row->id);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    const KernelRow* row = shown_fragments(text);
                    if (row == nullptr) return ok();
                    if (row->id != text)
                      return bad_input(phrase("unknown value '{}'; use one of {}", text, ids_with_fragments()));
                    s.view.step.fragment_kernel = text;
                    return ok();
                  }});
  keys.push_back(choice_key(
      "fragment_tile", named<FragmentTile>(kFragmentTiles),
      [](auto& s) -> auto& { return s.view.step.fragment_tile; }));
  keys.push_back({"speed", [](const State& s) { return fmt::format("{}", s.view.step.play_steps_per_second); },
                  [](State& s, std::string_view text) -> Result<void> {
                    const auto value = number(text, true);
                    if (!value) return tl::unexpected(value.error());
                    if (*value < 0.25 || *value > 60) return bad_input(tr("steps per second must be 0.25 to 60"));
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
      "raw", [](auto& s) -> auto& { return s.view.step.raw; }));
  keys.push_back(flag_key(
      "first_wrong", [](auto& s) -> auto& { return s.view.step.seek_first_wrong; }));
}

}  // namespace attn
