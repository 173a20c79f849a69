#include "app/worker/disassemble.h"

#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/system/run_program.h"
#include "app/system/temporary_file.h"
#include "app/worker/user_compiler.h"
#include "kernels/base/cuda_library.h"
#include "kernels/base/folders.h"
#include "kernels/base/hash.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

constexpr double kSeconds = 30;                  // the largest of ours takes 1 s
constexpr std::size_t kMaxBytes = 256ULL << 20;  // 0.9 MB of ours
constexpr const char* kMend = "Run attnscope doctor --fetch-cuda, or install a CUDA toolkit.";

// -c: code alone; `lines`: the inline chain of each instruction and its line of PTX.
Result<std::string> disassemble(std::span<const std::byte> code, bool lines, const std::stop_token& stop) {
  const auto program = find_nvdisasm();
  if (!program) return tl::unexpected(program.error());
  const auto file = TemporaryFile::make("attnscope-cubin", code);
  if (!file) return tl::unexpected(file.error());
  std::vector<std::string> arguments{"-c"};
  if (lines) arguments.insert(arguments.end(), {"-gi", "-gp"});
  arguments.push_back(file->path().string());
  return output_of(*program, arguments, {kSeconds, stop}, kMaxBytes);
}

// The source alone, where the kernel cannot be compiled: `why`.
Result<gpu::KernelListing> source_listing(const KernelRow& row, const Problem& p, const std::string& arch,
                                          const std::filesystem::path& edited_kernels, const std::string& why) {
  const auto source = gpu::source_of(row, p, edited_kernels);
  if (!source) return tl::unexpected(source.error());
  return gpu::list_source(*source, row.id, arch, why);
}

}  // namespace

Result<std::filesystem::path> find_nvdisasm() {
  std::error_code error;
  std::string looked;
  std::vector<std::filesystem::path> folders = gpu::cuda_folders();
  folders.emplace_back("/usr");  // the toolkit of a distribution
  for (const std::filesystem::path& folder : folders) {
    std::filesystem::path program = folder / "bin/nvdisasm";
    if (std::filesystem::is_regular_file(program, error)) return program;
    looked += (looked.empty() ? " in " : ", ") + folder.string();
  }
  return fail(ErrorKind::cannot_run,
              fmt::format("nvdisasm, which prints machine code, was not found{}. {}", looked, kMend));
}

Result<gpu::KernelListing> list_kernel_here(const gpu::ListingSubject& subject, const std::stop_token& stop) {
  if (!gpu::own_stem(subject.kernel).empty())
    return fail(
        ErrorKind::cannot_run,
        fmt::format("{} is your own kernel, but its file is not open here. Open the file, or list its lines with "
                    "`attnscope profile {}.cu`.",
                    subject.kernel, gpu::own_stem(subject.kernel)));
  const auto row = find_kernel(subject.kernel);
  if (!row) return tl::unexpected(row.error());
  return list_row_here(**row, subject, stop);
}

Result<gpu::KernelListing> list_row_here(const KernelRow& kernel, const gpu::ListingSubject& subject,
                                         const std::stop_token& stop) {
  if (kernel.processor != Processor::gpu)
    return bad_input(fmt::format("{} runs on the CPU: it has no GPU machine code.", subject.kernel));
  const std::filesystem::path edited = gpu::edited_kernels_folder();
  const auto only_source = [&](const Error& why) {
    return source_listing(kernel, subject.problem, subject.arch, edited, why.message);
  };
  const auto device = gpu::device_for(subject.arch);
  if (!device) return only_source(device.error());
  if (auto takes = kernel.supports(kernel, subject.problem, subject.options, *device); !takes)
    return only_source(takes.error());
  const auto plan = kernel.plan(kernel, subject.problem, subject.options, *device);
  if (!plan) return only_source(plan.error());
  const auto compiler = compilers_here()();
  if (!compiler) return only_source(compiler.error());
  (*compiler)->heed(stop);
  gpu::CompileService service(**compiler, gpu::cubin_cache_folder());
  return listing_of(service, *plan, device->arch, edited, stop);
}

Result<gpu::KernelListing> listing_of(gpu::CompileService& service, const Plan& plan, const std::string& arch,
                                      const std::filesystem::path& edited_kernels, const std::stop_token& stop) {
  const std::string_view id = plan.kernel->id;
  auto source = gpu::source_of(*plan.kernel, plan.problem, edited_kernels);
  if (!source) return tl::unexpected(source.error());
  const gpu::CompileRequest request{*source, arch, gpu::defines_of(plan, gpu::may_be_aligned(plan.problem))};
  const auto compiled = service.compile(request);
  if (!compiled) return gpu::list_source(*source, id, arch, compiled.error().message);
  const auto sass = disassemble(compiled->code, true, stop);
  if (!sass) {
    if (sass.error().kind == ErrorKind::cancelled) return tl::unexpected(sass.error());
    return gpu::list_ptx(*source, id, arch, service.ptx(request).value_or(std::string()), sass.error().message);
  }
  return gpu::list_kernel(*source, id, arch, compiled->code, *sass);
}

Result<gpu::MachineCode> machine_code_here(const KernelRow& row, const gpu::ListingSubject& subject,
                                           const std::stop_token& stop) {
  const auto listing = list_row_here(row, subject, stop);
  if (!listing) return tl::unexpected(listing.error());
  if (!listing->why_no_sass.empty()) return fail(ErrorKind::cannot_run, listing->why_no_sass);
  return gpu::machine_code_of(listing->sass, listing->arch);
}

std::shared_ptr<const gpu::MachineCode> KeptCode::of(std::span<const std::byte> cubin, const std::string& arch,
                                                     const std::stop_token& stop) {
  if (!find_nvdisasm()) return nullptr;
  const std::string key = hash_of(cubin);
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  const auto printed = disassemble(cubin, false, stop);
  if (!printed && printed.error().kind == ErrorKind::cancelled) return nullptr;
  std::shared_ptr<const gpu::MachineCode> kept;
  if (printed) {
    if (const auto sass = gpu::parse_sass(*printed)) {
      if (auto code = gpu::machine_code_of(*sass, arch))
        kept = std::make_shared<const gpu::MachineCode>(*std::move(code));
    }
  }
  return known_.emplace(key, std::move(kept)).first->second;
}

}  // namespace attn
