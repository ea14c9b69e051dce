"""Measurements, and the views that they compare with; nothing here is part of the product."""
