"""The id of the request that is being answered, for every line of the log."""

import contextvars
import logging

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")


class RequestIdFilter(logging.Filter):
    """Put the id of the request on each line of the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id."""
        record.request_id = request_id.get()
        return True
