#include "viz/draw/inks.h"

namespace attn {

TensorColour tensor_of(Slot s) {
  switch (s) {
    case Slot::q:
      return TensorColour::q;
    case Slot::k:
      return TensorColour::k;
    case Slot::v:
      return TensorColour::v;
    case Slot::s:
      return TensorColour::s;
    case Slot::p:
      return TensorColour::p;
    case Slot::m_old:
    case Slot::m_new:
      return TensorColour::m;
    case Slot::alpha:
      return TensorColour::alpha;
    case Slot::l_old:
    case Slot::l_new:
    case Slot::lse:
      return TensorColour::l;
    case Slot::o_old:
    case Slot::o_new:
      return TensorColour::o;
  }
  return TensorColour::s;
}

}  // namespace attn
