"""What can go wrong with an embedded server."""


class ServiceError(Exception):
    """An embedded server cannot be used; the message is one line for a person."""
