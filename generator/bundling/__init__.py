# SPDX-License-Identifier: Apache-2.0
"""One file of a probe, for those who have the hardware to send to those who keep the matrix.

`./weft probe FABRIC --bundle FILE` writes it (sending.py), `./weft add --from-bundle FILE` reads it (receiving.py).
bundle.py is the file: a digest over its content, and a signature where the sender has a key (signing.py).
machine.py says which facts of the machine go with it.
"""
