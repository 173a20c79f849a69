// Learn in the test's window.
#pragma once

#include "tests/gui/gui_fixture.h"
#include "viz/learn/desk.h"

namespace attn {

// The card of the beat that is open.
inline const CardScene& card(TestWindow& w) {
  return *w.controller().model().learn->card;
}

}  // namespace attn
