# SPDX-License-Identifier: Apache-2.0
"""`weft bench`: the legal combinations of a fabric's answers, built, run in turns, compared with the row's own answers.
"""
