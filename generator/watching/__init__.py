# SPDX-License-Identifier: Apache-2.0
"""`weft top`: the counters of running transports."""
