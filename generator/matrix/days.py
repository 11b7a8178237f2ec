# SPDX-License-Identifier: Apache-2.0
"""Whether a text is a day on which something can have been observed or measured."""
from __future__ import annotations

import re
from datetime import date, timedelta

_DAY = re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])")


def wrong_day(day: str, today: date | None = None) -> str:
    """Why this is no day of an observation; empty where it is one. A day is left for clocks of other time zones."""
    try:
        seen = date.fromisoformat(day)
    except ValueError:
        return f"{day}, which is no day"
    now = today or date.today()
    return f"{day}, which is after today ({now})" if seen > now + timedelta(days=1) else ""


def wrong_day_in(text: str, today: date | None = None) -> str:
    """What is wrong with the first day in a sentence that cannot be; empty where there is none."""
    return next((wrong for day in _DAY.findall(text) if (wrong := wrong_day(day, today))), "")
