// The slots and phases that the orders of a backward have of their own; the same ids in each.
#pragma once

#include <string>

#include "kernels/model/order_row.h"

namespace attn::orders {

struct BackwardNames {
  Slot o, d_o, delta, dp, ds, dv, dk, dq;
  Phase load_o, row_dots, load_rows, weights_again, value_gradient, weight_gradient, score_gradient, key_gradient,
      query_gradient, store_dkv, store_dq;
};

// Asked for by the rows.
BackwardNames backward_names(OrderNames& names);
// The same, once the table is made.
const BackwardNames& backward_names();

// How their phases are held against the formulas: backward_replay.cpp, backward_exact.cpp.
namespace backward {

void replay_load_rows(Replayer& r);
void replay_row_dots(Replayer& r);
void replay_weights(Replayer& r);
void replay_value_gradient(Replayer& r);
void replay_weight_gradient(Replayer& r);
void replay_score_gradient(Replayer& r);
void replay_key_gradient(Replayer& r);
void replay_query_gradient(Replayer& r);
void replay_store_dkv(Replayer& r);
void replay_store_dq(Replayer& r);

void exact_load_rows(ExactWalk& w);
void exact_row_dots(ExactWalk& w);
void exact_weights(ExactWalk& w);
void exact_weight_gradient(ExactWalk& w);
void exact_score_gradient(ExactWalk& w);
void exact_query_gradient(ExactWalk& w);
void exact_store_dq(ExactWalk& w);
void exact_value_gradient(ExactKeys& w);
void exact_key_gradient(ExactKeys& w);
void exact_store_dkv(ExactKeys& w);

std::string cause_of_load_rows(const causes::WrongPlace& w);
std::string cause_of_score_gradient(const causes::WrongPlace& w);
std::string cause_of_query_gradient(const causes::WrongPlace& w);
std::string cause_of_store_dkv(const causes::WrongPlace& w);

}  // namespace backward
}  // namespace attn::orders
