#include "app/cli/arguments/kernel_arguments.h"

#include <algorithm>

#include "app/cli/arguments/console_text.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"

namespace attn::cli {

Result<NamedKernels> kernels_named(const std::string& option, const std::vector<std::string>& names) {
  if (auto once = check_once(option, names); !once) return tl::unexpected(once.error());
  NamedKernels named;
  for (const std::string& name : names) {
    if (gpu::is_own_file(name)) {
      auto kernel = gpu::read_own_kernel(name);
      if (!kernel) return tl::unexpected(kernel.error());
      if (std::ranges::any_of(named.own, [&](const auto& k) { return k->id == (*kernel)->id; }))
        return bad_input(phrase("{}: {} contains the same kernel as another file in the list; name each kernel once.",
                                option, name));
      named.rows.push_back(kernel->get());
      named.own.push_back(*std::move(kernel));
      continue;
    }
    const auto row = find_kernel(name, {});
    if (!row) return bad_input(phrase("{}; for your own kernel, name a file that ends in .cu", row.error().message));
    named.rows.push_back(*row);
  }
  return named;
}

Result<NamedKernels> kernel_named(const std::string& name) {
  return kernels_named("kernel", {name});
}

void BuildArguments::add_to(Parser parser) {
  parser
      .add_option("--maxrregcount", build.max_registers,
                  tr("GPU: limit on registers per thread, 16 to 255; __launch_bounds__ in the source takes precedence"))
      ->type_name("N");
  parser.add_flag("--fast-math", build.fast_math, tr("GPU: compile with -use_fast_math"));
}

Result<void> BuildArguments::apply_to(NamedKernels& kernels) const {
  if (auto good = gpu::check_build(build); !good) return bad_input(good.error().message + ".");
  if (!build.any()) return ok();
  for (const KernelRow*& row : kernels.rows) {
    if (row->processor != Processor::gpu)
      return bad_input(
          phrase("--maxrregcount and --fast-math apply only to GPU kernels, but {} runs on the CPU.", row->id));
    const auto source = gpu::text_to_edit(*row);
    if (!source) return tl::unexpected(source.error());
    auto built = gpu::edit_of(*row, source->text, build);
    if (!built) return tl::unexpected(built.error());
    row = built->get();
    kernels.own.push_back(*std::move(built));
  }
  return ok();
}

void add_hang_limit(Parser parser, double& seconds, const std::string& help) {
  parser.add_option("--hang-limit", seconds, help)->type_name("SECONDS");
}

Result<void> check_hang_limit(double seconds) {
  if (seconds >= 0 && seconds <= 3600) return ok();
  return bad_input(phrase("Invalid --hang-limit {}; use a value above 0 and at most 3600.", seconds));
}

}  // namespace attn::cli
