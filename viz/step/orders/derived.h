// How an order looks that has no row in viz/step/orders/table.cpp: as the row of the table that works alike, as far as
// it has the same phases and slots; the rest from its row in kernels/orders. Each slot of its own is a column under its
// letter, to the right of its nearest relative; each phase of its own lights the column of what it makes.
#pragma once

#include <string>
#include <vector>

#include "viz/step/orders/look.h"

namespace attn {

class DerivedLook {
 public:
  explicit DerivedLook(const OrderRow& row);
  DerivedLook(const DerivedLook&) = delete;
  DerivedLook& operator=(const DerivedLook&) = delete;

  OrderLook look;  // points into the rest

 private:
  void add_slots(const OrderRow& row);
  void add_columns(const OrderRow& row);
  void add_phases(const OrderRow& row);
  void add_lists(const OrderRow& row);
  bool has(Slot slot) const;

  const OrderLook* base_;
  std::vector<PhaseLook> phases_;
  std::vector<SlotLook> slots_;
  std::vector<ColumnLook> columns_;
  std::vector<std::string> ids_;
  std::vector<Slot> computed_;
  std::vector<ComparedLook> compared_;
  std::vector<LetterWords> letters_;
  std::vector<SheetLook> sheet_;
};

}  // namespace attn
