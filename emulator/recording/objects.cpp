// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

namespace weft::recording {
namespace {

/// Never destroyed: own threads of the program may outlive the end of main.
struct open_objects {
  std::unordered_map<const fid*, object*> by_handle;
  std::map<std::string, object*, std::less<>> by_name;
  std::map<std::string, unsigned, std::less<>> made;
  std::vector<object*> watched;
  std::size_t watched_bytes = 0;
};
open_objects& all() {
  static auto& the = *new open_objects;
  return the;
}

}  // namespace

object* find(const fid* handle) {
  const auto found = all().by_handle.find(handle);
  return found == all().by_handle.end() ? nullptr : found->second;
}
object* of_real(const fid* real) {
  for (const auto& [handle, each] : all().by_handle)
    if (each->real == real) return each;
  return nullptr;
}
fid* real_of(fid* handle) {
  const object* ours = find(handle);
  return ours == nullptr ? handle : ours->real;
}

object* make_object(std::string_view kind, std::size_t fid_class, void* context, fi_ops* base) {
  auto* made = new object;
  made->name = std::string(kind) + std::to_string(++all().made[std::string(kind)]);
  made->face.any = {fid_class, context, base};
  all().by_handle[&made->face.any] = made;
  all().by_name[made->name] = made;
  return made;
}
void forget_object(object* closed) {
  if (std::erase(all().watched, closed) != 0) all().watched_bytes -= closed->size;
  all().by_handle.erase(&closed->face.any);
  all().by_name.erase(closed->name);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
}

std::string name_of(const fid* handle) {
  if (handle == nullptr) return "-";
  const object* ours = find(handle);
  return ours == nullptr ? "other" : ours->name;
}
object* named(std::string_view name) {
  const auto found = all().by_name.find(name);
  return found == all().by_name.end() ? nullptr : found->second;
}

std::string owner_of_context(const void* context) {
  for (const auto& [name, each] : all().by_name)
    if (each->face.any.context == context) return name;
  return {};
}

std::string descriptor_name(const void* descriptor) {
  if (descriptor == nullptr) return "-";
  for (const auto& [handle, each] : all().by_handle)
    if (handle->fclass == FI_CLASS_MR && each->face.mr.mem_desc == descriptor) return each->name;
  return "other";
}

std::string remote_address(std::uint64_t address, std::uint64_t key) {
  constexpr std::int64_t near = std::int64_t{1} << 30;  // a wrong address, or a wrong key, is still the program's own
  for (const auto& [handle, each] : all().by_handle) {
    if (handle->fclass != FI_CLASS_MR || each->base == nullptr) continue;
    const auto distance = static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(each->base));
    const bool within = distance >= 0 && static_cast<std::uint64_t>(distance) < each->size;
    if (within || (each->face.mr.key == key && distance > -near && distance < near))
      return each->name + (distance < 0 ? "" : "+") + std::to_string(distance);
  }
  return std::to_string(address);
}

const std::vector<object*>& watched_regions() { return all().watched; }
void watch(object& region) {
  if (all().watched_bytes + region.size > session::get().memory_limit) {
    static bool said = false;
    if (!said && session::get().how() == mode::recording)
      std::fprintf(stderr,
                   "weft record: %s has %zu bytes, more than --memory leaves: what peers write to it is not in "
                   "the record, and a replay does not have it\n",
                   region.name.c_str(), region.size);
    said = true;
    return;
  }
  all().watched_bytes += region.size;
  region.shadow.assign(region.base, region.base + region.size);
  all().watched.push_back(&region);
}

int not_recorded(const char* what) {
  static auto& said = *new std::set<std::string>;
  if (said.insert(what).second)
    std::fprintf(stderr, "weft record: %s is neither recorded nor replayed: it is answered \"not implemented\"\n",
                 what);
  return -FI_ENOSYS;
}

}  // namespace weft::recording
