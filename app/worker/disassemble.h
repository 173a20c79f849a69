// A kernel's source beside its machine code: compiled by NVRTC, taken apart by nvdisasm; neither needs a GPU.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/listing/machine_code.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/model/kernel.h"

namespace attn {

// Where nvdisasm lies: a CUDA toolkit's, or the one that fetch_cuda.sh brought. The error says how to get it.
Result<std::filesystem::path> find_nvdisasm();

// Of what the plan is compiled to for `arch`. Where the machine code cannot be had, the source with its phases alone,
// and why; an error where the source itself cannot be read.
Result<gpu::KernelListing> listing_of(gpu::CompileService& service, const Plan& plan, const std::string& arch,
                                      const std::filesystem::path& edited_kernels, const std::stop_token& stop);
// From its kernel, problem and architecture: what Profile and the command line ask for. Opens NVRTC for each call.
Result<gpu::KernelListing> list_kernel_here(const gpu::ListingSubject& subject, const std::stop_token& stop);
// The same of a row that is at hand: of a kernel of the user's own too.
Result<gpu::KernelListing> list_row_here(const KernelRow& row, const gpu::ListingSubject& subject,
                                         const std::stop_token& stop);
// What a subject's kernel was compiled to, as instructions alone, or why it cannot be had.
Result<gpu::MachineCode> machine_code_here(const KernelRow& row, const gpu::ListingSubject& subject,
                                           const std::stop_token& stop);

// Machine code for the rows of a session: each cubin is taken apart once.
class KeptCode {
 public:
  // Null where there is no nvdisasm, or it cannot read it: a row goes without.
  std::shared_ptr<const gpu::MachineCode> of(std::span<const std::byte> cubin, const std::string& arch,
                                             const std::stop_token& stop);

 private:
  std::map<std::string, std::shared_ptr<const gpu::MachineCode>> known_;  // by hash of the cubin
};

}  // namespace attn
