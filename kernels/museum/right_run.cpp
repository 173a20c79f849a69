#include "kernels/museum/right_run.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/ladder.h"

namespace attn {

Result<Recording> right_run(const Recording& rec, const Stop& stop) {
  const auto rows = rec.problem.pass == Pass::forward ? cpu_kernel_table() : cpu_backward_table();
  const auto row =
      std::ranges::find_if(rows, [&](const KernelRow& r) { return r.order == rec.order && r.record != nullptr; });
  if (row == rows.end()) {
    return fail(ErrorKind::cannot_run, phrase("no kernel on the CPU has the order {}", name_of(rec.order)));
  }
  Options o;
  o.br = rec.options.br;
  o.bc = rec.options.bc;
  o.key_order = rec.options.key_order;
  return row->record(*row, rec.problem, o, rec.inputs, stop);
}

Result<std::optional<FirstWrong>> first_wrong_of(const Recording& rec, const Stop& stop) {
  if (rec.gpu) return find_first_wrong_of_gpu(rec, stop);
  const auto right = right_run(rec, stop);
  if (!right) return tl::unexpected(right.error());
  return find_first_wrong(rec, *right, stop);
}

}  // namespace attn
