// A user's own .cu as a rung like any other: the same row of functions, compiled by the same service, launched by the
// same code. It stands in no table: whoever opened the file hands the row on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/ptxas_log.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/own/header.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// KernelRow::rung of every own kernel and of no other: by it a row is known to be an OwnKernel.
constexpr std::string_view kOwnRung = "own";

struct OwnKernel : KernelRow {
  OwnHeader header;
  KernelSource cu;
  std::string name;  // "my_attention@1a2b3c4d": the file's name and its hash; what `id` views

  OwnKernel() = default;
  OwnKernel(const OwnKernel&) = delete;  // its row views its own texts
  OwnKernel& operator=(const OwnKernel&) = delete;
};
using OwnKernels = std::vector<std::shared_ptr<const OwnKernel>>;

// `file`: the name alone, "my_attention.cu"; messages name it, and the compiler does.
Result<std::shared_ptr<const OwnKernel>> own_kernel_from(std::string_view file, std::string text);
Result<std::shared_ptr<const OwnKernel>> read_own_kernel(const std::filesystem::path& file);

// Whether a name stands for a file rather than for a kernel of the ladder: it ends in ".cu".
bool is_own_file(std::string_view name);
// "my_attention" of "my_attention@1a2b3c4d"; empty: no own kernel is named so.
std::string_view own_stem(std::string_view id);

// The row's own source; null for a rung of the table.
const KernelSource* own_source(const KernelRow& row);
// What is compiled for a row on a problem: its own source, else as kernel_source() says.
Result<KernelSource> source_of(const KernelRow& row, const Problem& p, const std::filesystem::path& edited_kernels);

// What was compiled has the entries that the header names, and each can be launched as the plan says: the words that a
// failed launch would not have. Nothing to say of a rung of the table.
Result<void> check_compiled(const Plan& plan, const std::vector<EntryFigures>& entries, std::string_view arch);

}  // namespace attn::gpu
