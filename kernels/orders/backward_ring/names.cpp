#include "kernels/orders/backward_ring/names.h"

#include "kernels/orders/backward/names.h"
#include "kernels/orders/ring/send.h"

namespace attn::orders {

BackwardRingNames backward_ring_names(OrderNames& names) {
  const BackwardNames n = backward_names(names);
  using enum SlotColumns;
  constexpr SlotRows kKeys = SlotRows::keys;
  BackwardRingNames r{};
  r.dk_came = names.slot({.name = "dk_came",
                          .letter = "dK",
                          .like = Slot::k,
                          .rows = kKeys,
                          .columns = head,
                          .made_as = n.dk,
                          .gradient = true});
  r.dv_came = names.slot({.name = "dv_came",
                          .letter = "dV",
                          .like = Slot::v,
                          .rows = kKeys,
                          .columns = value_head,
                          .made_as = n.dv,
                          .gradient = true});
  r.send = send_name(names);
  const auto phase = [&](std::string_view name, std::string_view letter, Phase elsewhere) {
    return names.phase({.name = name, .letter = letter, .makes = n.dk, .elsewhere = {elsewhere, Phase::output}});
  };
  r.send_sums = phase("send_sums", "sums", n.key_gradient);
  r.keep_sums = phase("keep_sums", "out", n.store_dkv);
  r.add_sums = phase("add_sums", "+", n.key_gradient);
  r.sums_home = phase("sums_home", "home", n.store_dkv);
  return r;
}

const BackwardRingNames& backward_ring_names() {
  static const BackwardRingNames kNames = [] {
    const auto slot = [](const char* name) { return *slot_named(name); };
    const auto phase = [](const char* name) { return *phase_named(name); };
    return BackwardRingNames{.dk_came = slot("dk_came"),
                             .dv_came = slot("dv_came"),
                             .send = phase("send"),
                             .send_sums = phase("send_sums"),
                             .keep_sums = phase("keep_sums"),
                             .add_sums = phase("add_sums"),
                             .sums_home = phase("sums_home")};
  }();
  return kNames;
}

}  // namespace attn::orders
