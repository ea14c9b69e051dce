"""Authentication of the API: a bearer token (RFC 6750), and nothing else."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from access import tokens
from access.caller import Caller

SCHEME = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """Take the caller from `Authorization: Bearer <JWT>`."""

    def authenticate(self, request: Request) -> tuple[Caller, str] | None:
        """Give the caller and the token, None without the header; raise AuthenticationFailed for a bad one."""
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != SCHEME.lower():
            raise AuthenticationFailed("The Authorization header is not a bearer token.")
        try:
            return tokens.verify(token.strip()), token
        except tokens.InvalidToken as error:
            raise AuthenticationFailed(str(error)) from error

    def authenticate_header(self, request: Request) -> str:
        """Give the challenge of a 401; it names an error only where there was a token to be wrong."""
        challenge = f'{SCHEME} realm="fairdrop"'
        return f'{challenge}, error="invalid_token"' if "HTTP_AUTHORIZATION" in request.META else challenge
