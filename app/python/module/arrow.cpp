#include "app/python/module/arrow.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/python/module/request.h"

namespace nb = nanobind;

namespace attn::python {
namespace {

// The structs and their callbacks: https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
struct ArrowSchema {
  const char *format, *name, *metadata;
  std::int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

struct Buffer {
  bool there = false;  // a column without missing values has no validity
  std::vector<std::byte> bytes;
};
struct Column {
  std::string name, format;
  std::int64_t nulls = 0;
  std::vector<Buffer> buffers;
};
struct Table {
  std::int64_t rows = 0;
  std::vector<Column> columns;
};
using SharedTable = std::shared_ptr<const Table>;

// What a struct of Arrow's owns: the table, and its children, which their reader may have moved away.
template <class Struct>
struct Owner {
  SharedTable table;
  std::vector<Struct> children;
  std::vector<Struct*> pointers;
  std::vector<const void*> buffers;
};

template <class Struct>
void release(Struct* of) {
  const std::unique_ptr<Owner<Struct>> owner(static_cast<Owner<Struct>*>(of->private_data));
  for (Struct& child : owner->children)
    if (child.release != nullptr) child.release(&child);
  of->release = nullptr;
}

// Gives the struct what it owns; returned to be filled.
template <class Struct>
Owner<Struct>& own(Struct& of, const SharedTable& table, std::size_t children) {
  auto owner = std::make_unique<Owner<Struct>>();
  owner->table = table;
  owner->children.resize(children);
  for (Struct& child : owner->children) owner->pointers.push_back(&child);
  of = {};
  of.n_children = static_cast<std::int64_t>(children);
  of.children = owner->pointers.data();
  of.release = &release<Struct>;
  of.private_data = owner.get();
  return *owner.release();
}

void put_schema(ArrowSchema& into, const SharedTable& table) {
  constexpr std::int64_t kNullable = 2;
  Owner<ArrowSchema>& whole = own(into, table, table->columns.size());
  into.format = "+s";
  into.name = "";
  for (std::size_t n = 0; n < table->columns.size(); ++n) {
    ArrowSchema& child = whole.children[n];
    own(child, table, 0);
    child.format = table->columns[n].format.c_str();
    child.name = table->columns[n].name.c_str();
    child.flags = kNullable;
  }
}

void put_buffers(ArrowArray& into, Owner<ArrowArray>& owner, std::int64_t rows, std::int64_t nulls) {
  into.length = rows;
  into.null_count = nulls;
  into.n_buffers = static_cast<std::int64_t>(owner.buffers.size());
  into.buffers = owner.buffers.data();
}

void put_array(ArrowArray& into, const SharedTable& table) {
  Owner<ArrowArray>& whole = own(into, table, table->columns.size());
  whole.buffers = {nullptr};
  put_buffers(into, whole, table->rows, 0);
  for (std::size_t n = 0; n < table->columns.size(); ++n) {
    const Column& column = table->columns[n];
    Owner<ArrowArray>& one = own(whole.children[n], table, 0);
    for (const Buffer& buffer : column.buffers) one.buffers.push_back(buffer.there ? buffer.bytes.data() : nullptr);
    put_buffers(whole.children[n], one, table->rows, column.nulls);
  }
}

// A stream of one batch.
struct Stream {
  SharedTable table;
  bool read = false;
};

Stream& stream_of(ArrowArrayStream* stream) {
  return *static_cast<Stream*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* into) {
  put_schema(*into, stream_of(stream).table);
  return 0;
}

int get_next(ArrowArrayStream* stream, ArrowArray* into) {
  *into = {};  // one without release: there is no more
  if (!std::exchange(stream_of(stream).read, true)) put_array(*into, stream_of(stream).table);
  return 0;
}

const char* no_error(ArrowArrayStream* /*stream*/) {
  return nullptr;
}

void release_stream(ArrowArrayStream* stream) {
  const std::unique_ptr<Stream> owner(static_cast<Stream*>(stream->private_data));
  stream->release = nullptr;
}

// bytes, or None where there is no such buffer
Buffer buffer_of(nb::handle object) {
  if (object.is_none()) return {};
  const nb::bytes bytes = nb::cast<nb::bytes>(object);
  const auto* const from = static_cast<const std::byte*>(bytes.data());
  Buffer buffer{true, {from, from + bytes.size()}};
  if (buffer.bytes.empty()) buffer.bytes.resize(1);  // an address, although nothing is read there
  return buffer;
}

// Columns as (name, Arrow's format, number of missing values, buffers in Arrow's order).
nb::object arrow_stream(std::int64_t rows, const nb::list& columns) {
  auto table = std::make_shared<Table>();
  table->rows = rows;
  for (const nb::handle item : columns) {
    Column& column = table->columns.emplace_back();
    column.name = text(item[0], "name");
    column.format = text(item[1], "format");
    column.nulls = whole_number(item[2], "nulls");
    for (const nb::handle buffer : nb::cast<nb::list>(item[3])) column.buffers.push_back(buffer_of(buffer));
  }
  auto stream = std::make_unique<ArrowArrayStream>();
  stream->get_schema = &get_schema;
  stream->get_next = &get_next;
  stream->get_last_error = &no_error;
  stream->release = &release_stream;
  stream->private_data = std::make_unique<Stream>(Stream{std::move(table), false}).release();
  return nb::capsule(stream.release(), "arrow_array_stream", [](void* p) noexcept {
    const std::unique_ptr<ArrowArrayStream> owner(static_cast<ArrowArrayStream*>(p));
    if (owner->release != nullptr) owner->release(owner.get());
  });
}

}  // namespace

void bind_arrow(nb::module_& module) {
  module.def("arrow_stream", &arrow_stream);
}

}  // namespace attn::python
