# SPDX-License-Identifier: Apache-2.0
"""What an installed command has beside itself: man pages and completion, both made from its own help.

exits.py has the table of exit codes, troff.py makes a page, completion.py completes words, command.py has `weft manual`
and `weft completion`.
"""
