# SPDX-License-Identifier: Apache-2.0
"""Every error has an id and a page: cause, how to see it, what mends it.

pages/*.yaml is the catalogue. catalogue.py reads it, and finds the id of a sentence. showing.py prints a page.
An id is never given to another error: a retired one goes to RETIRED in catalogue.py.
"""
