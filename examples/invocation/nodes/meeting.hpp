// SPDX-License-Identifier: Apache-2.0
//
// How managers, daemons and clients find each other: by an address, by a file in a folder that all see, or as ranks of
// one weft::job, whose rank 0 is the manager. Hot path: no. Threads: one.
#pragma once

#include "options.hpp"

#include <weft/core/error.hpp>

#include <string>
#include <string_view>

namespace weft::invocation::nodes {

/// Tells others where nodes register and where clients connect, in the ways that the options name. As rank 0 of a job
/// it waits until the other ranks have heard it. Errors: invalid.
result<void> tell_addresses(const fleet_options& o, const std::string& of_nodes, const std::string& of_clients);

/// Whom a manager's address is for.
enum class side : std::uint8_t { node, client };

/// The address that --manager means: "host:service"; "file:PATH", a file that a manager writes; "job", the value of
/// rank 0. (A place in etcd stands for several: membership/directory.hpp.)
/// Errors: invalid, deadline; closed: a signal asked to end while the file was missing.
result<std::string> manager_address(const std::string& given, side whose, duration limit);

/// The address of this machine by which the other ranks of the job reach it. Errors: as of join_job().
result<std::string> own_address_in_job();
/// The address of this machine on the way to `host:service`; 127.0.0.1 where the host is no address.
std::string own_address_towards(const std::string& where);
/// The same on the way to the first host of etcd://host:port[,host:port][/prefix].
std::string own_address_towards_store(const std::string& store);

/// A secret of a file of 16 to 65,536 bytes: the first 16 bytes of its SHA-256. Errors: invalid.
result<token> secret_of(const std::string& path);

}  // namespace weft::invocation::nodes
