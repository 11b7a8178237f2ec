# SPDX-License-Identifier: Apache-2.0
"""Records of what programs asked of a fabric: made and replayed by emulator/recording/, read and converted here."""
