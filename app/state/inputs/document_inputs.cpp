#include "app/state/inputs/document_inputs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "app/state/apply/apply.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"
#include "kernels/museum/museum.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/size.h"

namespace attn {
namespace {

constexpr std::int64_t kMostWordLabels = 4096;  // queries or keys; beyond there is no room for words anyway

// The edits of a spec over inputs that came from elsewhere; what a backward's forward gave follows them.
Result<Inputs> with_edits(const Problem& p, Inputs in, const InputSpec& spec) {
  for (const CellEdit& edit : spec.edits) {
    Array* const arrays[] = {&in.q, &in.k, &in.v, in.bias ? &*in.bias : nullptr, in.d_o ? &*in.d_o : nullptr};
    Array* array = arrays[static_cast<std::size_t>(edit.tensor)];
    if (array == nullptr || edit.index < 0 || edit.index >= array->size()) {
      return bad_input(phrase("Edited cell {} does not exist in the tensors of {}.", edit.index, spec.q_file));
    }
    array->set(edit.index, edit.value);
  }
  if (p.pass == Pass::backward && !spec.edits.empty()) {
    in.o.reset();
    in.lse.reset();
    if (auto added = add_forward(p, in, 0, Stream{}); !added) return tl::unexpected(added.error());
  }
  return in;
}

}  // namespace

bool is_attn_file(const std::filesystem::path& file) {
  return file.extension() == ".attn";
}

void take_recording(const Recording& recording, const std::string& file, Document& document) {
  document.preset.clear();
  document.problem = recording.problem;
  document.options = recording.options;
  if (find_kernel_or_piece(recording.kernel)) document.kernel = recording.kernel;
  document.inputs = {};
  // One file holds them all; the document tells them by Q's name.
  document.inputs.q_file = file;
  document.selection = fitted(document.selection, document.problem);
}

Result<Inputs> document_inputs(const Problem& p, const InputSpec& spec, const OpenedRecordings& opened) {
  if (!is_attn_file(spec.q_file)) return make_all_inputs(p, spec, in_turn, 0, Stream{});
  std::shared_ptr<const Recording> source;
  if (const auto it = opened.find(spec.q_file); it != opened.end()) {
    source = it->second;
  } else {
    auto read = read_recording(spec.q_file);
    if (!read) return tl::unexpected(read.error());
    source = std::make_shared<const Recording>(*std::move(read));
  }
  // By key, however they lie: an edit is so, and the size of a page may be another one.
  const bool paged = source->problem.storage.kind() == Storage::paged;
  Inputs by_key = paged ? gathered(source->problem, source->inputs) : source->inputs;
  const Problem dense = without_pages(p);
  if (auto fits = validate(dense, by_key); !fits) {
    return bad_input(phrase("The numbers of {} have a different shape: {} Choose a preset, or go back to {}.",
                            spec.q_file, fits.error().message, describe(source->problem)));
  }
  auto edited = with_edits(dense, std::move(by_key), spec);
  if (!edited || p.storage.kind() == Storage::dense) return edited;
  const std::vector<std::int32_t>& table = source->inputs.page_table;
  const bool same = p.storage == source->problem.storage && check_page_table(p, table, spec.q_file) &&
                    spec.pages == PageOrder::shuffled;
  return laid_into_pages(p, *std::move(edited), same ? table : made_table(p, spec));
}

Labels labels_of(const Problem& p, const InputSpec& spec, const OpenedRecordings& opened) {
  if (is_attn_file(spec.q_file)) {
    const auto it = opened.find(spec.q_file);
    const bool fits = it != opened.end() && it->second->problem.B == p.B && it->second->problem.Lq == p.Lq &&
                      it->second->problem.Lk == p.Lk;
    return fits ? it->second->labels : Labels();
  }
  const bool from_files = !spec.q_file.empty() || !spec.k_file.empty();
  if (spec.generator != Generator::words || from_files || std::max(p.Lq, p.Lk) > kMostWordLabels) return {};
  const auto words = sentence_words(spec.sentence);
  if (!words) return {};
  Labels labels;
  // As the numbers are made: the sentence over again, queries at its end.
  const std::int64_t shift = std::max<std::int64_t>(p.Lk - p.Lq, 0);
  const auto word = [&](std::int64_t n) { return (*words)[static_cast<std::size_t>(n) % words->size()]; };
  for (std::int64_t row = 0; row < p.Lq; ++row) labels.rows.push_back(word(row + shift));
  for (std::int64_t key = 0; key < p.Lk; ++key) labels.columns.push_back(word(key));
  return labels;
}

Result<Recording> record_document(const Document& d, Stop stop) {
  const auto row = find_kernel_or_piece(d.kernel);
  if (!row) return tl::unexpected(row.error());
  if ((*row)->record == nullptr) {
    return fail(ErrorKind::cannot_run, phrase("{} cannot be recorded step by step.", d.kernel));
  }
  const Device device = cpu_device();
  if (auto r = (*row)->supports(**row, d.problem, d.options, device); !r) return tl::unexpected(r.error());
  const auto resolved = resolve(**row, d.options, device);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto r = check_recordable(order_of(**row, *resolved), d.problem, *resolved); !r) return tl::unexpected(r.error());
  const auto inputs = document_inputs(d.problem, d.inputs, {});
  if (!inputs) return tl::unexpected(inputs.error());
  auto recording = (*row)->record(**row, d.problem, d.options, *inputs, std::move(stop));
  if (recording) recording->labels = labels_of(d.problem, d.inputs, {});
  return recording;
}

}  // namespace attn
