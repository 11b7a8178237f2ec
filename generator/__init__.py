# SPDX-License-Identifier: Apache-2.0
"""The generator: from providers.yaml (facts with evidence) to generated headers, the CMake list and the matrix page.

Order of the modules: loader (text -> tree with line numbers), schema (shape), refusing (what does not fit, in
sentences), sources (citations), model (meaning), rules (answers with reasons), decided (rows with answers), header and
page (what the files show), emit (templates), check (nothing drifted), generated, rows and binaries (commands), cli
(exit codes). layout writes providers.yaml.
"""
