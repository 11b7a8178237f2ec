# SPDX-License-Identifier: Apache-2.0
"""Whether a text is a day on which something can have been observed or measured."""
from __future__ import annotations

from datetime import date, timedelta


def wrong_day(day: str, today: date | None = None) -> str:
    """Why this is no day of an observation; empty where it is one. A day is left for clocks of other time zones."""
    try:
        seen = date.fromisoformat(day)
    except ValueError:
        return f"{day}, which is no day"
    now = today or date.today()
    return f"{day}, which is after today ({now})" if seen > now + timedelta(days=1) else ""
