#include "app/cli/kernel_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/text.h"

namespace attn::cli {

Result<NamedKernels> kernels_named(const std::string& option, const std::vector<std::string>& names) {
  if (auto once = check_once(option, names); !once) return tl::unexpected(once.error());
  NamedKernels named;
  for (const std::string& name : names) {
    if (gpu::is_own_file(name)) {
      auto kernel = gpu::read_own_kernel(name);
      if (!kernel) return tl::unexpected(kernel.error());
      if (std::ranges::any_of(named.own, [&](const auto& k) { return k->name == (*kernel)->name; }))
        return bad_input(fmt::format("{}: {} is the same kernel a second time.", option, name));
      named.rows.push_back(kernel->get());
      named.own.push_back(*std::move(kernel));
      continue;
    }
    const auto row = find_kernel(name, {});
    if (!row) return bad_input(fmt::format("{}; a file of your own ends in .cu", row.error().message));
    named.rows.push_back(*row);
  }
  return named;
}

Result<NamedKernels> kernel_named(const std::string& name) {
  return kernels_named("kernel", {name});
}

void add_hang_limit(Parser parser, double& seconds, const std::string& help) {
  parser.add_option("--hang-limit", seconds, help)->type_name("SECONDS");
}

Result<void> check_hang_limit(double seconds) {
  if (seconds >= 0 && seconds <= 3600) return ok();
  return bad_input(fmt::format("--hang-limit {}: it must be above 0 and at most 3600.", seconds));
}

}  // namespace attn::cli
