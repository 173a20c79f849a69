#include "kernels/museum/right_run.h"

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/ladder.h"
#include "kernels/model/ring.h"

namespace attn {

Result<Recording> right_run(const Recording& rec, const Stop& stop) {
  const auto rows = rec.problem.pass == Pass::forward ? cpu_kernel_table() : cpu_backward_table();
  Options walk;
  walk.br = rec.options.br;
  walk.bc = rec.options.bc;
  walk.key_order = rec.options.key_order;
  for (const KernelRow& row : rows) {
    Options as_it = walk;
    for (const Option* how : {&kMerge, &kDeal}) choose(as_it, *how, chosen(rec.options, *how));
    for (const OrderChoice& c : row.other_orders) choose(as_it, *c.option, chosen(rec.options, *c.option));
    const auto o = row.record == nullptr ? std::nullopt : options_for(row, rec.order, as_it);
    if (o) return row.record(row, rec.problem, *o, rec.inputs, stop);
  }
  return fail(ErrorKind::cannot_run, phrase("no CPU kernel uses the order {}", name_of(rec.order)));
}

Result<std::optional<FirstWrong>> first_wrong_of(const Recording& rec, const Stop& stop) {
  if (rec.gpu) return find_first_wrong_of_gpu(rec, stop);
  const auto right = right_run(rec, stop);
  if (!right) return tl::unexpected(right.error());
  return find_first_wrong(rec, *right, stop);
}

}  // namespace attn
