"""The keys of a lock: four, in one slot of a Cluster."""

from dataclasses import dataclass
from typing import cast

from locking import names
from locking.claims import Kind

PARTS = ("holders", "details", "queue", "fence")


@dataclass(frozen=True, slots=True)
class Keys:
    """Names the keys under one prefix: `<prefix>:<kind>:{<name>}:<part>`."""

    prefix: str

    def of(self, kind: Kind, name: str) -> list[str]:
        """Return the keys of one lock, in the order of the scripts: holders, details, queue, fence."""
        stem = f"{self.prefix}:{kind}:{{{names.to_tag(name)}}}:"
        return [f"{stem}holders", f"{stem}details", f"{stem}queue", f"{stem}fence"]

    @property
    def pattern(self) -> str:
        """Return the pattern of all keys that say who holds and who waits."""
        return f"{self.prefix}:*:details"

    def parse(self, key: str) -> tuple[Kind, str]:
        """Return kind and name of the lock that has this key."""
        kind, _, rest = key.removeprefix(f"{self.prefix}:").partition(":")
        tag = rest.removeprefix("{").rpartition("}")[0]
        return cast("Kind", kind), names.from_tag(tag)
