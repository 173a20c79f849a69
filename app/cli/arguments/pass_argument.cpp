#include "app/cli/arguments/pass_argument.h"

#include "kernels/base/text.h"

namespace attn::cli {

void add_pass(Parser parser, std::string& pass, bool training) {
  parser
      .add_option("--pass", pass,
                  training ? tr("forward, backward (dQ, dK and dV) or training (both, one after the other); default: "
                                "forward")
                           : tr("forward or backward (dQ, dK and dV); default: forward"))
      ->type_name("PASS");
}

Result<void> apply_pass(const std::string& pass, Problem& p, bool training) {
  for (const Pass known : kPasses) {
    if (pass != name_of(known) || (known == Pass::training && !training)) continue;
    p.pass = known;
    return ok();
  }
  if (pass.empty()) return ok();
  if (training) return bad_input(phrase("Unknown --pass {}; use forward, backward or training.", pass));
  if (pass == name_of(Pass::training))
    return bad_input(
        tr("This command takes one pass at a time; use --pass forward or backward, or measure a training "
           "step with attnscope bench."));
  return bad_input(phrase("Unknown --pass {}; use forward or backward.", pass));
}

}  // namespace attn::cli
