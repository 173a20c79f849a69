// The steps that orders share, by the facts of their rows. Each way of holding a recording against the formulas has all
// of them: the bitwise replay (replayer.h), a GPU's against fp64 (gpu_replayer.h), the running bound (exact_walk.h).
#pragma once

// Declares them in a class; an order's row names them as functions of that class, so no base class would do.
#define ATTN_SHARED_STEPS \
  void scores();          \
  void mask();            \
  void max();             \
  void rescale();         \
  void weights();         \
  void sum();             \
  void output();          \
  void normalise();       \
  void store_o()
