#include "kernels/orders/hopper/names.h"

#include <optional>
#include <utility>

namespace attn::orders {

HopperNames hopper_names(OrderNames& names) {
  const auto phase = [&](std::string_view name, std::string_view letter, std::optional<Slot> of, Phase elsewhere) {
    return names.phase({.name = name, .letter = letter, .makes = of, .elsewhere = {elsewhere}});
  };
  return {.ask_q = phase("ask_q", "ask Q", Slot::q, Phase::load_q),
          .wait_slot_k = phase("wait_slot_k", "slot K", Slot::k, Phase::load_kv),
          .ask_k = phase("ask_k", "ask K", Slot::k, Phase::load_kv),
          .wait_slot_v = phase("wait_slot_v", "slot V", Slot::v, Phase::load_kv),
          .ask_v = phase("ask_v", "ask V", Slot::v, Phase::load_kv),
          .take_rows = phase("take_rows", "rows", Slot::q, Phase::load_q),
          .wait_q = phase("wait_q", "wait Q", Slot::q, Phase::load_q),
          .wait_k = phase("wait_k", "wait K", Slot::k, Phase::load_kv),
          .wait_turn = phase("wait_turn", "turn", Slot::k, Phase::load_kv),
          .issue_s = phase("issue_s", "issue S", Slot::s, Phase::scores),
          .wait_s = phase("wait_s", "wait S", Slot::s, Phase::scores),
          .wait_v = phase("wait_v", "wait V", Slot::v, Phase::load_kv),
          .issue_o = phase("issue_o", "issue O", Slot::o_new, Phase::output),
          .wait_o = phase("wait_o", "wait O", Slot::o_new, Phase::output)};
}

const HopperNames& hopper_names() {
  static const HopperNames kNames = [] {
    const auto phase = [](const char* name) { return *phase_named(name); };
    return HopperNames{.ask_q = phase("ask_q"),
                       .wait_slot_k = phase("wait_slot_k"),
                       .ask_k = phase("ask_k"),
                       .wait_slot_v = phase("wait_slot_v"),
                       .ask_v = phase("ask_v"),
                       .take_rows = phase("take_rows"),
                       .wait_q = phase("wait_q"),
                       .wait_k = phase("wait_k"),
                       .wait_turn = phase("wait_turn"),
                       .issue_s = phase("issue_s"),
                       .wait_s = phase("wait_s"),
                       .wait_v = phase("wait_v"),
                       .issue_o = phase("issue_o"),
                       .wait_o = phase("wait_o")};
  }();
  return kNames;
}

}  // namespace attn::orders
