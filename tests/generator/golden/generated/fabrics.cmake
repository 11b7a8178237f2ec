# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/fabrics.cmake.j2: do not edit. After a change there: ./weft generate
# Each fabric: its backend, the first release of the backend's library that the row describes, and the first that it no longer does.
set(WEFT_FABRICS
    ranged
)
set(WEFT_FABRIC_ranged_BACKEND libfabric)
set(WEFT_FABRIC_ranged_SINCE "1.15")
set(WEFT_FABRIC_ranged_UNTIL "3.0")
