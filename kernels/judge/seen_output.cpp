#include "kernels/judge/seen_output.h"

#include <limits>

#include "kernels/base/text.h"

namespace attn {

void SeenOutput::note_worst(double error, const std::string& what, double got, double ref) {
  judgement.error = error;
  worst = phrase("{} is {:.9g}, reference {:.9g}", what, got, ref);
}

void SeenOutput::note_beyond(double got, double ref) {
  if (std::isnan(got) || std::isnan(ref)) {
    beyond = std::numeric_limits<double>::quiet_NaN();
  } else if (beyond == 0) {
    beyond = HUGE_VAL;
  }
}

// The sign of a NaN says nothing.
std::string SeenOutput::words_of_wrong_kind(const std::string& what, double got, double ref) {
  return phrase("{} is {}, reference {}", what, std::isnan(got) ? std::fabs(got) : got, ref);
}

OutputVerdict SeenOutput::judged() const {
  OutputVerdict j = judgement;
  if (!wrong_kind.empty()) {
    j.error = beyond;
    j.reason = wrong_kind;
  } else if (!j.within()) {
    j.reason = phrase("{}: off by {:.3g}, allowed {:.3g}", worst, j.error, j.allowed);
  }
  return j;
}

std::string place_words(const RowId& id) {
  return phrase("(b {}, h {}, row {})", id.b, id.h, id.r);
}

}  // namespace attn
