#include "profiling/figures/row_state.h"

namespace attn {

RowState row_state_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
    case ErrorKind::cannot_run:
      return RowState::refused;
    case ErrorKind::cancelled:
      return RowState::cancelled;
    case ErrorKind::io:
    case ErrorKind::failed:
      return RowState::failed;
  }
  return RowState::failed;
}

void give_up(Measurement& m, const Error& why) {
  m.state = row_state_of(why.kind);
  m.reason = why.message;
}

}  // namespace attn
