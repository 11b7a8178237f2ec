// SPDX-License-Identifier: Apache-2.0
//
// The short names of libfabric's errors. Numbers below 256 are the system's own, and the system has their names.
// Hot path: no. Threads: none.
#include "refused.hpp"

#include <cstring>
#include <map>

namespace weft::probe {
namespace {

/// glibc names error codes since 2.32. With an older one, those have names that providers return most.
const char* system_name(int positive) {
#if __GLIBC_PREREQ(2, 32)
  return strerrorname_np(positive);
#else
  static const std::map<int, const char*> names{{EAGAIN, "EAGAIN"},
                                                {ENOMEM, "ENOMEM"},
                                                {EINVAL, "EINVAL"},
                                                {ENOSYS, "ENOSYS"},
                                                {ENODATA, "ENODATA"},
                                                {EIO, "EIO"},
                                                {ECONNREFUSED, "ECONNREFUSED"},
                                                {EMSGSIZE, "EMSGSIZE"},
                                                {EOPNOTSUPP, "EOPNOTSUPP"},
                                                {EPERM, "EPERM"},
                                                {EACCES, "EACCES"},
                                                {EFAULT, "EFAULT"}};
  const auto known = names.find(positive);
  return known == names.end() ? nullptr : known->second;
#endif
}

}  // namespace

std::string error_name(long code) {
  const int positive = static_cast<int>(code < 0 ? -code : code);
  static const std::map<int, std::string> above{
      {FI_EOTHER, "FI_EOTHER"},    {FI_ETOOSMALL, "FI_ETOOSMALL"}, {FI_EOPBADSTATE, "FI_EOPBADSTATE"},
      {FI_EAVAIL, "FI_EAVAIL"},    {FI_EBADFLAGS, "FI_EBADFLAGS"}, {FI_ENOEQ, "FI_ENOEQ"},
      {FI_EDOMAIN, "FI_EDOMAIN"},  {FI_ENOCQ, "FI_ENOCQ"},         {FI_ECRC, "FI_ECRC"},
      {FI_ETRUNC, "FI_ETRUNC"},    {FI_ENOKEY, "FI_ENOKEY"},       {FI_ENOAV, "FI_ENOAV"},
      {FI_EOVERRUN, "FI_EOVERRUN"}};
  if (const auto known = above.find(positive); known != above.end()) return known->second;
  const char* name = system_name(positive);
  return name == nullptr ? "error " + std::to_string(positive) : std::string("FI_") + name;
}

}  // namespace weft::probe
