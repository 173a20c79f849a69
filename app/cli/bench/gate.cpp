#include "app/cli/bench/gate.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments/console_text.h"
#include "kernels/base/text.h"
#include "profiling/session/regression.h"
#include "profiling/session/session.h"

namespace attn::cli {

void GateArguments::add_to(Parser parser) {
  parser.add_option("--against", against, tr("Compare each row with the same point in an earlier session"))
      ->type_name("FILE.attn");
  parser
      .add_option("--fail-under", fail_under,
                  tr("Exit with code 1 if a row runs at less than this fraction of its earlier speed; 0.97 is typical"))
      ->type_name("X");
}

Result<std::optional<Session>> GateArguments::earlier() const {
  if (against.empty()) {
    if (fail_under) return bad_input(tr("--fail-under compares with an earlier session; name it with --against."));
    return std::optional<Session>();
  }
  if (fail_under && !(std::isfinite(*fail_under) && *fail_under > 0))
    return bad_input(
        phrase("Invalid --fail-under {}; use a fraction of the earlier speed, such as 0.97.", *fail_under));
  auto session = read_session(against);
  if (!session) return bad_input(phrase("--against {}: {}", against, session.error().message));
  if (rows_of(*session) == 0) return bad_input(phrase("--against {} contains no measurement.", against));
  return std::optional<Session>(*std::move(session));
}

Result<void> GateArguments::judge(std::span<const Measurement> rows, const Provenance& where,
                                  const Session& session) const {
  const Held held = hold_against(rows, where, session.runs);
  std::vector<std::string> fallen;
  std::size_t in_noise = 0;
  for (const HeldRow& r : held.rows) {
    say(phrase("Against {}: {}", against, words_of(r)));
    if (!fail_under || !fell(r, *fail_under)) continue;
    fallen.push_back(r.measured() ? phrase("{} {:.3f}", r.row->key.kernel, r.ratio)
                                  : phrase("{} not measured", r.row->key.kernel));
    if (unsure(r, *fail_under)) ++in_noise;
  }
  if (!fail_under) return ok();
  const std::size_t compared = held.compared();
  if (fallen.empty() && compared == 0)
    return fail(ErrorKind::failed, phrase("No row has a counterpart in {}, so nothing was compared.", against));
  if (fallen.empty()) {
    say(plural(compared, "{0} row reached at least {1} of its earlier speed.",
               "{0} rows reached at least {1} of their earlier speed.", *fail_under));
    return ok();
  }
  std::string words = phrase("{} of {} rows fell below {} of their earlier speed: {}.", fallen.size(), held.rows.size(),
                             *fail_under, fmt::join(fallen, ", "));
  if (in_noise > 0) words += phrase(" {} of the rows may be noise; use a longer --time-limit to find out.", in_noise);
  return fail(ErrorKind::failed, words);
}

}  // namespace attn::cli
