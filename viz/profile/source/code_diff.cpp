#include "viz/profile/source/code_diff.h"

#include <memory>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/listing/machine_code.h"

namespace attn {
namespace {

struct SideCode {
  std::shared_ptr<const gpu::MachineCode> code;
  std::string note;  // what it is not; empty: it is the row's own
};

// The row's own where its session kept it, else what its kernel is compiled to here.
Result<SideCode> code_of(const DiffSide& side) {
  if (!side.subject)
    return fail(ErrorKind::cannot_run, phrase("{} runs on the CPU: it has no GPU machine code.", side.row->key.kernel));
  if (side.row->code != nullptr) return SideCode{side.row->code, ""};
  const ListingView& view = *side.listing;
  if (view.of != gpu::key_of(*side.subject) || view.running)
    return fail(ErrorKind::cannot_run, phrase("{} is being compiled and disassembled.", side.row->key.kernel));
  if (view.listing == nullptr) return fail(ErrorKind::cannot_run, view.error);
  if (!view.listing->why_no_sass.empty()) return fail(ErrorKind::cannot_run, view.listing->why_no_sass);
  auto code = gpu::machine_code_of(view.listing->sass, view.listing->arch);
  if (!code) return tl::unexpected(code.error());
  SideCode made{std::make_shared<const gpu::MachineCode>(*std::move(code)), ""};
  const std::string& hash = side.row->key.source_hash;
  if (!hash.empty() && hash != view.listing->source_hash)
    made.note =
        phrase("The source of {} compiled here differs from the source measured in its row.", side.row->key.kernel);
  return made;
}

CodeRow row_of(gpu::CodeDiffRow row) {
  CodeRow shown;
  shown.side = row.side;
  shown.is_name = row.is_name;
  if (row.alike > 0) {
    shown.text = plural(row.alike, "{} identical instruction", "{} identical instructions");
    shown.is_fold = true;
    return shown;
  }
  shown.address = row.side == gpu::CodeSide::both ? "" : row.side == gpu::CodeSide::first ? "−" : "+";
  shown.text = std::move(row.text);
  return shown;
}

}  // namespace

bool must_be_listed(const DiffSide& side) {
  return side.row != nullptr && side.row->code == nullptr && side.subject &&
         side.listing->of != gpu::key_of(*side.subject);
}

CodeScene code_diff_scene(const DiffSide& mine_of, const DiffSide& theirs_of) {
  CodeScene code;
  code.title = tr("SASS diff");
  if (mine_of.row == nullptr || theirs_of.row == nullptr) {
    code.empty = tr("There is no other measurement; measure a second kernel, or show another run.");
    return code;
  }
  code.title = phrase("SASS, {} against {}", mine_of.words, theirs_of.words);
  const auto mine = code_of(mine_of), theirs = code_of(theirs_of);
  if (!mine || !theirs) {
    code.empty = !mine ? mine.error().message : theirs.error().message;
    return code;
  }
  // From the other to this one, as changes are told: what it lost, what it gained.
  const gpu::CodeDiff diff = gpu::diff_of(*theirs->code, *mine->code);
  code.words = diff.same() ? plural(diff.common, "The code is identical: {} instruction.",
                                    "The code is identical: {} instructions.")
                           : phrase("{}. In common: {}.", gpu::words_of(diff), diff.common);
  for (const std::string& note : {mine->note, theirs->note})
    if (!note.empty()) code.words += " " + note;
  if (mine->code->arch != theirs->code->arch)
    code.words += " " + phrase("The kernels were compiled for {} and {}.", mine->code->arch, theirs->code->arch);
  for (gpu::CodeDiffRow& row : gpu::folded(diff)) code.rows.push_back(row_of(std::move(row)));
  return code;
}

}  // namespace attn
