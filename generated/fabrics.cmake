# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/fabrics.cmake.j2: do not edit. After a change there: ./weft generate
# Each fabric: its backend, the first release of the backend's library that the row describes, and the first that it no longer does.
set(WEFT_FABRICS
    tcp
    tcp_rdm
    tcp_rxm
    sockets
    shm
    udp_rxd
    verbs
    verbs_rxm
    efa
    efa_direct
    cxi
    psm2
    psm3
    opx
    gni
    ibverbs_roce
    ibverbs_iwarp
    mapped
    kernel_tcp
    loopback
)
set(WEFT_FABRIC_tcp_BACKEND libfabric)
set(WEFT_FABRIC_tcp_SINCE "1.15")
set(WEFT_FABRIC_tcp_UNTIL "")
set(WEFT_FABRIC_tcp_rdm_BACKEND libfabric)
set(WEFT_FABRIC_tcp_rdm_SINCE "1.18")
set(WEFT_FABRIC_tcp_rdm_UNTIL "")
set(WEFT_FABRIC_tcp_rxm_BACKEND libfabric)
set(WEFT_FABRIC_tcp_rxm_SINCE "1.15")
set(WEFT_FABRIC_tcp_rxm_UNTIL "")
set(WEFT_FABRIC_sockets_BACKEND libfabric)
set(WEFT_FABRIC_sockets_SINCE "1.15")
set(WEFT_FABRIC_sockets_UNTIL "")
set(WEFT_FABRIC_shm_BACKEND libfabric)
set(WEFT_FABRIC_shm_SINCE "1.15")
set(WEFT_FABRIC_shm_UNTIL "")
set(WEFT_FABRIC_udp_rxd_BACKEND libfabric)
set(WEFT_FABRIC_udp_rxd_SINCE "1.15")
set(WEFT_FABRIC_udp_rxd_UNTIL "")
set(WEFT_FABRIC_verbs_BACKEND libfabric)
set(WEFT_FABRIC_verbs_SINCE "1.15")
set(WEFT_FABRIC_verbs_UNTIL "")
set(WEFT_FABRIC_verbs_rxm_BACKEND libfabric)
set(WEFT_FABRIC_verbs_rxm_SINCE "1.15")
set(WEFT_FABRIC_verbs_rxm_UNTIL "")
set(WEFT_FABRIC_efa_BACKEND libfabric)
set(WEFT_FABRIC_efa_SINCE "1.15")
set(WEFT_FABRIC_efa_UNTIL "")
set(WEFT_FABRIC_efa_direct_BACKEND libfabric)
set(WEFT_FABRIC_efa_direct_SINCE "2.1")
set(WEFT_FABRIC_efa_direct_UNTIL "")
set(WEFT_FABRIC_cxi_BACKEND libfabric)
set(WEFT_FABRIC_cxi_SINCE "1.21")
set(WEFT_FABRIC_cxi_UNTIL "")
set(WEFT_FABRIC_psm2_BACKEND libfabric)
set(WEFT_FABRIC_psm2_SINCE "1.15")
set(WEFT_FABRIC_psm2_UNTIL "")
set(WEFT_FABRIC_psm3_BACKEND libfabric)
set(WEFT_FABRIC_psm3_SINCE "1.15")
set(WEFT_FABRIC_psm3_UNTIL "")
set(WEFT_FABRIC_opx_BACKEND libfabric)
set(WEFT_FABRIC_opx_SINCE "1.15")
set(WEFT_FABRIC_opx_UNTIL "")
set(WEFT_FABRIC_gni_BACKEND libfabric)
set(WEFT_FABRIC_gni_SINCE "1.15")
set(WEFT_FABRIC_gni_UNTIL "1.21")
set(WEFT_FABRIC_ibverbs_roce_BACKEND verbs)
set(WEFT_FABRIC_ibverbs_roce_SINCE "44.0")
set(WEFT_FABRIC_ibverbs_roce_UNTIL "")
set(WEFT_FABRIC_ibverbs_iwarp_BACKEND verbs)
set(WEFT_FABRIC_ibverbs_iwarp_SINCE "44.0")
set(WEFT_FABRIC_ibverbs_iwarp_UNTIL "")
set(WEFT_FABRIC_mapped_BACKEND mapped)
set(WEFT_FABRIC_mapped_SINCE "5.3")
set(WEFT_FABRIC_mapped_UNTIL "")
set(WEFT_FABRIC_kernel_tcp_BACKEND streams)
set(WEFT_FABRIC_kernel_tcp_SINCE "5.3")
set(WEFT_FABRIC_kernel_tcp_UNTIL "")
set(WEFT_FABRIC_loopback_BACKEND loopback)
set(WEFT_FABRIC_loopback_SINCE "1.0")
set(WEFT_FABRIC_loopback_UNTIL "")
