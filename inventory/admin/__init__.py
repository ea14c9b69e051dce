"""Products, stock and ledger in the admin: what staff see, and the only ways in which they change it."""

from inventory.admin import ledger, products

__all__ = ["ledger", "products"]
