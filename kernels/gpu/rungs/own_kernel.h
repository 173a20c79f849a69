// A user's own .cu as a rung like any other: the same row of functions, compiled by the same service, launched by the
// same code. It stands in no table: whoever opened the file hands the row on. A rung of the table whose text was
// changed, or which is built in another way, is one too: it has the rung's own plan, and a name with its hash.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/ptxas_log.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/own_kernel/build_line.h"
#include "kernels/gpu/own_kernel/own_header.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// KernelRow::rung of every own kernel and of no other: by it a row is known to be an OwnKernel.
constexpr std::string_view kOwnRung = "own";

struct OwnKernel : KernelRow {
  const KernelRow* edits = nullptr;  // the rung whose text it was; null: a file with a header of its own
  BuildChoices build;
  OwnHeader header;  // of such a file; empty for an edited rung
  KernelSource cu;
  std::string name;  // "my_attention@1a2b3c4d": the file's name and its hash; what `id` views

  OwnKernel() = default;
  OwnKernel(const OwnKernel&) = delete;  // its row views its own texts
  OwnKernel& operator=(const OwnKernel&) = delete;
};

// The own kernel that the row is; null for a rung of the table.
const OwnKernel* own_kernel(const KernelRow& row);
std::shared_ptr<const OwnKernel> own_kernel(const std::shared_ptr<const KernelRow>& row);

// `file`: the name alone, "my_attention.cu"; messages name it, and the compiler does. `text` may begin with the line
// that says how it is built and what it edits (kernels/gpu/own_kernel/build_line.h).
Result<std::shared_ptr<const OwnKernel>> own_kernel_from(std::string_view file, std::string_view text);
// The same text and `build` in place of what its first line says. An edited rung's is the rung's file, "flash_simt.cu".
Result<std::shared_ptr<const OwnKernel>> own_kernel_from(std::string_view file, BuiltText built);
// `row` with another text and built so: a rung of the GPU becomes an edit of it, a file of one's own stays that file.
Result<std::shared_ptr<const OwnKernel>> edit_of(const KernelRow& row, std::string text, const BuildChoices& build);
// The file that opens as this very kernel.
std::string file_text(const OwnKernel& kernel);
// What its rows say of how it was built: "maxrregcount=64"; empty = as all are.
std::string build_words(const KernelRow& row);
Result<std::shared_ptr<const OwnKernel>> read_own_kernel(const std::filesystem::path& file);

// Whether a name stands for a file rather than for a kernel of the ladder: it ends in ".cu".
bool is_own_file(std::string_view name);
// "my_attention" of "my_attention@1a2b3c4d"; empty: no own kernel is named so.
std::string_view own_stem(std::string_view id);

// The row's own source; null for a rung of the table.
const KernelSource* own_source(const KernelRow& row);
// What is compiled for a row on a problem: its own source, else as kernel_source() says.
Result<KernelSource> source_of(const KernelRow& row, const Problem& p, const std::filesystem::path& edited_kernels);
// The hash that a row's figures are kept under: source_of()'s; of a row that is made of others, one of theirs together.
Result<std::string> source_hash_of(const KernelRow& row, const Problem& p, const std::filesystem::path& edited_kernels);
// What an edit begins with: the same on a problem with neither softcap nor ALiBi, a copy in edited_kernels_folder()
// before the rung's own.
Result<KernelSource> text_to_edit(const KernelRow& row);

// What was compiled has the entries that the header names, and each can be launched as the plan says: the words that a
// failed launch would not have. Nothing to say of a rung of the table.
Result<void> check_compiled(const Plan& plan, const std::vector<EntryFigures>& entries, std::string_view arch);
// Its functions take what a header of api 2 lists, or which parameter they do not.
Result<void> check_parameters(const Plan& plan, std::span<const std::byte> cubin);

}  // namespace attn::gpu
