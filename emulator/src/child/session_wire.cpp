#include "child/session_wire.hpp"

#include "child/packing.hpp"

namespace isomer::emulator {
namespace {

void put(Writer& w, const WireStorage& s) { w.put(s.bytes).put(s.offset).put(s.name).put(s.extents); }
void get(Reader& in, WireStorage& s) { in.get(s.bytes), in.get(s.offset), in.get(s.name), in.get(s.extents); }

template <class T>
void put_all(Writer& w, const std::vector<T>& all);
template <class T>
void get_all(Reader& in, std::vector<T>& all);

void put(Writer& w, const WireValue& v) {
  w.put(v.kind).put(v.integer).put(v.real).put(v.text).put(v.element).put(v.shape).put(v.strides);
  w.put(v.storage).put(v.storage_offset);
  put_all(w, v.items);
}
void get(Reader& in, WireValue& v) {
  in.get(v.kind), in.get(v.integer), in.get(v.real), in.get(v.text), in.get(v.element), in.get(v.shape),
      in.get(v.strides);
  in.get(v.storage), in.get(v.storage_offset);
  get_all(in, v.items);
}

void put(Writer& w, const EntryParameter& p) {
  w.put(p.kind)
      .put(p.name)
      .put(p.type)
      .put(p.element)
      .put(p.is_const)
      .put(p.bits)
      .put(p.has_default)
      .put(p.has_keyword);
}
void get(Reader& in, EntryParameter& p) {
  in.get(p.kind), in.get(p.name), in.get(p.type), in.get(p.element), in.get(p.is_const), in.get(p.bits),
      in.get(p.has_default);
  in.get(p.has_keyword);
}

void put(Writer& w, const EntryInfo& e) {
  w.put(e.form)
      .put(e.name)
      .put(e.function)
      .put(e.template_types)
      .put(e.takes_tensors)
      .put(e.returned_tensors);
  w.put(e.callable).put(e.file).put(e.line);
  put_all(w, e.parameters);
}
void get(Reader& in, EntryInfo& e) {
  in.get(e.form), in.get(e.name), in.get(e.function), in.get(e.template_types), in.get(e.takes_tensors),
      in.get(e.returned_tensors);
  in.get(e.callable), in.get(e.file), in.get(e.line);
  get_all(in, e.parameters);
}

template <class T>
void put_all(Writer& w, const std::vector<T>& all) {
  w.put<std::uint64_t>(all.size());
  for (const T& one : all) put(w, one);
}
template <class T>
void get_all(Reader& in, std::vector<T>& all) {
  all.resize(in.length());
  for (T& one : all) get(in, one);
}

}  // namespace

std::string pack(const SessionSetup& s) {
  Writer w;
  w.put(s.library)
      .put(s.lanes)
      .put(s.watch)
      .put(s.hip)
      .put(s.real_device)
      .put(s.room)
      .put(s.seal)
      .put(s.forks_with);
  return w.out;
}
SessionSetup unpack_setup(const std::string& bytes) {
  SessionSetup s;
  Reader in(bytes);
  in.get(s.library), in.get(s.lanes), in.get(s.watch), in.get(s.hip), in.get(s.real_device), in.get(s.room),
      in.get(s.seal), in.get(s.forks_with);
  return s;
}

std::string pack(const SessionRequest& r) {
  Writer w;
  w.put(r.seal).put(r.forks_with).put(r.entry).put(r.options);
  put_all(w, r.storages);
  put_all(w, r.values);
  return w.out;
}
SessionRequest unpack_session_request(const std::string& bytes) {
  SessionRequest r;
  Reader in(bytes);
  in.get(r.seal), in.get(r.forks_with), in.get(r.entry), in.get(r.options);
  get_all(in, r.storages);
  get_all(in, r.values);
  return r;
}

std::string pack(const SessionAnswer& a) {
  Writer w;
  w.put(a.result.end).put(a.result.message).put(a.result.unknown_element).put(a.result.place);
  w.put(a.result.reports).put(a.result.launches).put(a.result.refusals);
  put_all(w, a.storages);
  put_all(w, a.returned);
  w.put(a.after)
      .put(a.result.worked_seconds)
      .put(a.result.reached_edits)
      .put(a.result.device)
      .put(a.result.seconds)
      .put(a.result.differing);
  return w.out;
}
SessionAnswer unpack_session_answer(const std::string& bytes) {
  SessionAnswer a;
  Reader in(bytes);
  in.get(a.result.end), in.get(a.result.message), in.get(a.result.unknown_element), in.get(a.result.place);
  in.get(a.result.reports), in.get(a.result.launches), in.get(a.result.refusals);
  get_all(in, a.storages);
  get_all(in, a.returned);
  in.get(a.after), in.get(a.result.worked_seconds), in.get(a.result.reached_edits), in.get(a.result.device),
      in.get(a.result.seconds), in.get(a.result.differing);
  return a;
}

std::string pack(const std::vector<EntryInfo>& entries) {
  Writer w;
  put_all(w, entries);
  return w.out;
}
std::vector<EntryInfo> unpack_entries(const std::string& bytes) {
  std::vector<EntryInfo> entries;
  Reader in(bytes);
  get_all(in, entries);
  return entries;
}

void copy_extents(std::byte* to, const std::byte* from, const std::vector<Extent>& extents) {
  for (const Extent& e : extents) std::memcpy(to + e.offset, from + e.offset, e.bytes);
}

}  // namespace isomer::emulator
