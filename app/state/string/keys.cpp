#include "app/state/string/keys.h"

#include "app/state/string/key_makers.h"

namespace attn {

std::vector<StateKey> state_keys() {
  std::vector<StateKey> keys;
  keys.push_back(choice_key(
      "workspace",
      named<Workspace>(std::vector{Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}),
      [](auto& s) -> auto& { return s.view.workspace; }));
  add_step_document_keys(keys);
  add_bench_document_keys(keys);
  add_run_keys(keys);
  add_step_view_keys(keys);
  keys.push_back(flag_key(
      "log", [](auto& s) -> auto& { return s.view.log_panel; }));
  add_bench_view_keys(keys);
  add_profile_view_keys(keys);
  add_learn_view_keys(keys);
  return keys;
}

}  // namespace attn
