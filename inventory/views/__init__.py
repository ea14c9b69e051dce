"""The API of products, their stock and their ledger."""
