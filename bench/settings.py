"""The product's settings, with the URLs of the benchmark."""

from config.settings import *  # noqa: F403 - this is what a settings module of a variant is

ROOT_URLCONF = "bench.urls"
