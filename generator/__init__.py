# SPDX-License-Identifier: Apache-2.0
"""The generator: from providers.yaml (facts with evidence) to generated headers, the CMake list and the matrix page.

matrix/ reads and writes providers.yaml. rules chooses answers with reasons, and decided has rows with answers.
header and page are what the files show, emit writes them, and check says whether they still agree.
generated, rows and binaries are commands. cli has the exit codes.
"""
