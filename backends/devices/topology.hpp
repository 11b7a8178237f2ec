// SPDX-License-Identifier: Apache-2.0
//
// The machine as hwloc sees it: on which NUMA node a thread, a buffer and a device are, and how far apart nodes are.
// libhwloc is loaded when somebody asks for a near device: the same binary starts where no libhwloc is installed.
// Nodes that a container may not use stay known (INCLUDE_DISALLOWED): a card may hang on one.
// Hot path: no. Threads: values.
#pragma once

#include "choice.hpp"

#include "../../core/error.hpp"

#include <dlfcn.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::devices {

inline constexpr bool has_topology = true;

// X(function of libhwloc)
#define WEFT_HWLOC(X)                   \
  X(hwloc_topology_init)                \
  X(hwloc_topology_destroy)             \
  X(hwloc_topology_load)                \
  X(hwloc_topology_set_flags)           \
  X(hwloc_topology_set_io_types_filter) \
  X(hwloc_topology_set_synthetic)       \
  X(hwloc_topology_set_xmlbuffer)       \
  X(hwloc_get_obj_by_depth)             \
  X(hwloc_get_area_memlocation)         \
  X(hwloc_distances_get_by_name)        \
  X(hwloc_distances_release)            \
  X(hwloc_bitmap_alloc)                 \
  X(hwloc_bitmap_free)                  \
  X(hwloc_bitmap_isset)

/// The functions of libhwloc 2; every one, or a reason why not.
class loaded_hwloc {
 public:
  // NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_POINTER(function) decltype(::function)* function = nullptr;
  WEFT_HWLOC(WEFT_POINTER)
#undef WEFT_POINTER
  std::string why;

  static const loaded_hwloc& of_process() {
    static const loaded_hwloc one;
    return one;
  }

 private:
  static constexpr const char* file = "libhwloc.so.15";  // of every 2.x
  loaded_hwloc() {
    void* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
      why = std::string(file) +
            " is not on this machine (Debian: apt-get install libhwloc15): " + (reason == nullptr ? "" : reason);
      return;
    }
#define WEFT_FIND(function)                                                             \
  this->function = reinterpret_cast<decltype(::function)*>(::dlsym(handle, #function)); \
  if (this->function == nullptr) why = std::string(file) + " has no " #function ": install hwloc 2.1 or later";
    WEFT_HWLOC(WEFT_FIND)
#undef WEFT_FIND
  }
};
#undef WEFT_HWLOC

/// A machine, or a description of one.
class topology {
 public:
  /// Errors: unsupported (no libhwloc), native.
  static result<topology> of_machine() {
    return load([](hwloc_topology_t) { return 0; });
  }
  /// A machine that is described in hwloc's XML (lstopo --of xml). Errors: also invalid.
  static result<topology> from_xml(const std::string& text) {
    return load([&](hwloc_topology_t into) {
      return hwloc().hwloc_topology_set_xmlbuffer(into, text.c_str(), static_cast<int>(text.size()) + 1);
    });
  }
  /// A machine without devices, as lstopo -i takes it ("pack:2 core:4 pu:1"). Errors: also invalid.
  static result<topology> from_synthetic(const std::string& text) {
    return load([&](hwloc_topology_t into) { return hwloc().hwloc_topology_set_synthetic(into, text.c_str()); });
  }

  /// Nodes of the processor on which the calling thread runs now.
  result<numa_nodes> of_this_thread() const {
    const int processor = ::sched_getcpu();
    if (processor < 0) return failure{error(errc::native, "sched_getcpu"), "the system does not say where a thread is"};
    return of_processor(static_cast<unsigned>(processor));
  }
  /// Nodes of a processor, by the system's number. Errors: invalid.
  result<numa_nodes> of_processor(unsigned number) const {
    numa_nodes found;
    each_at(HWLOC_TYPE_DEPTH_NUMANODE, [&](hwloc_obj_t node) {
      if (node->cpuset != nullptr && hwloc().hwloc_bitmap_isset(node->cpuset, number) != 0)
        found.push_back(node->os_index);
    });
    if (found.empty())
      return failure{error(errc::invalid, "open"), "processor " + std::to_string(number) + " belongs to no NUMA node"};
    return found;
  }
  /// Nodes of the pages of a buffer. Errors: invalid, where no page has been written yet; native.
  result<numa_nodes> of_memory(const_bytes where) const {
    const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> set(hwloc().hwloc_bitmap_alloc(),
                                                                        hwloc().hwloc_bitmap_free);
    if (!set || hwloc().hwloc_get_area_memlocation(object_.get(), where.data(), where.size(), set.get(),
                                                   HWLOC_MEMBIND_BYNODESET) != 0)
      return failure{error(errc::native, "hwloc_get_area_memlocation"),
                     "the system does not say on which NUMA node the pages of near_memory are (move_pages(2))"};
    numa_nodes found;
    each_at(HWLOC_TYPE_DEPTH_NUMANODE, [&](hwloc_obj_t node) {
      if (hwloc().hwloc_bitmap_isset(set.get(), node->os_index) != 0) found.push_back(node->os_index);
    });
    if (found.empty())
      return failure{error(errc::invalid, "open"),
                     "near_memory has no page on any NUMA node yet: write to it before open"};
    return found;
  }

  /// How far a device is from the nodes: the least distance between one of them and one of the device's.
  placed_device place(const offered_device& device, const numa_nodes& from) const {
    placed_device made{device};
    hwloc_obj_t at = find(made.device);
    if (at == nullptr) {
      made.why_unplaced = device.bus.empty() ? "it is no PCI device, or nobody says at which address it is"
                                             : "hwloc does not know a device at " + device.bus;
      return made;
    }
    while (at != nullptr && at->nodeset == nullptr) at = at->parent;  // devices have no sets of their own
    numa_nodes own;
    std::size_t all = 0;
    each_at(HWLOC_TYPE_DEPTH_NUMANODE, [&](hwloc_obj_t node) {
      ++all;
      if (at != nullptr && hwloc().hwloc_bitmap_isset(at->nodeset, node->os_index) != 0) own.push_back(node->os_index);
    });
    if (own.empty() || (own.size() == all && all > 1)) {
      made.why_unplaced = "the system does not say at which NUMA node it is";
      return made;
    }
    for (const unsigned a : from)
      for (const unsigned b : own) made.distance = std::min(made.distance.value_or(~std::uint64_t{0}), distance(a, b));
    return made;
  }

  /// Between two nodes: the system's figure, else 10 for one node and 20 for two, as ACPI 6.5 (5.2.17) has it.
  std::uint64_t distance(unsigned a, unsigned b) const {
    std::uint64_t found = a == b ? 10 : 20;
    hwloc_distances_s* all = nullptr;
    unsigned count = 1;
    if (hwloc().hwloc_distances_get_by_name(object_.get(), "NUMALatency", &count, &all, 0) != 0 || count == 0)
      return found;
    for (unsigned i = 0; i < all->nbobjs; ++i)
      for (unsigned j = 0; j < all->nbobjs; ++j)
        if (all->objs[i]->os_index == a && all->objs[j]->os_index == b) found = all->values[i * all->nbobjs + j];
    hwloc().hwloc_distances_release(object_.get(), all);
    return found;
  }

 private:
  struct destroyer {
    void operator()(hwloc_topology_t gone) const noexcept { hwloc().hwloc_topology_destroy(gone); }
  };
  explicit topology(hwloc_topology_t object) noexcept : object_(object) {}
  static const loaded_hwloc& hwloc() noexcept { return loaded_hwloc::of_process(); }

  template <class Fill>
  static result<topology> load(Fill&& fill) {
    if (!hwloc().why.empty())
      return failure{error(errc::unsupported, "dlopen"), "device_near is asked for, and " + hwloc().why};
    hwloc_topology_t made = nullptr;
    if (hwloc().hwloc_topology_init(&made) != 0)
      return failure{error(errc::no_memory, "hwloc_topology_init"), "no memory for the topology of the machine"};
    topology owner(made);
    if (fill(made) != 0)
      return failure{error(errc::invalid, "open"), "hwloc cannot read this description of a machine"};
    (void)hwloc().hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
    (void)hwloc().hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc().hwloc_topology_load(made) != 0)
      return failure{error(errc::native, "hwloc_topology_load"), "hwloc cannot read the topology of the machine"};
    return owner;
  }

  template <class On>
  void each_at(int depth, On&& on) const {
    for (unsigned i = 0;; ++i) {
      hwloc_obj* const one = hwloc().hwloc_get_obj_by_depth(object_.get(), depth, i);
      if (one == nullptr) return;
      on(one);
    }
  }
  static std::string address_of(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& at) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%01x", at.domain, at.bus, at.dev, at.func);
    return text.data();
  }
  /// By PCI address, else by the name that the system's driver gave. Fills in the address where only the name is known.
  hwloc_obj_t find(offered_device& device) const {
    hwloc_obj_t found = nullptr;
    if (!device.bus.empty()) {
      each_at(HWLOC_TYPE_DEPTH_PCI_DEVICE, [&](hwloc_obj_t each) {
        if (address_of(each->attr->pcidev) == device.bus) found = each;
      });
      return found;
    }
    each_at(HWLOC_TYPE_DEPTH_OS_DEVICE, [&](hwloc_obj_t each) {
      const std::string name = each->name == nullptr ? "" : each->name;
      if (found == nullptr && !name.empty() && (name == device.system_name || name == device.name)) found = each;
    });
    for (hwloc_obj_t up = found; up != nullptr; up = up->parent)
      if (up->type == HWLOC_OBJ_PCI_DEVICE) {
        device.bus = address_of(up->attr->pcidev);
        break;
      }
    return found;
  }

  std::unique_ptr<hwloc_topology, destroyer> object_;
};

}  // namespace weft::backends::devices
