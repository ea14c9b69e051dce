"""The log: one line per event, with the id of the request."""

import logging

from config.request_id import request_id

# Whatever begins a new line or steers a terminal. A path may have a line end in it.
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160), 0x2028, 0x2029)} | {10: "\\n", 13: "\\r"}


class RequestIdFilter(logging.Filter):
    """Put the id of the request on each line of the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id."""
        record.request_id = request_id.get() or "-"
        return True


class OneLine(logging.Formatter):
    """Write each event on one line, a traceback too: what a caller sends never looks like an event of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the event, and escape control characters."""
        return super().format(record).translate(_CONTROL)


class StackOnly(logging.Filter):
    """Drop Django's word about an answer of 5xx: whoever made the answer has logged it. What has a stack stays."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep what has a stack."""
        return record.exc_info is not None
