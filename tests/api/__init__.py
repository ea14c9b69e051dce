"""The API as callers meet it: by HTTP, on the real servers."""
