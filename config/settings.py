"""Every setting of Fairdrop, from environment variables; `.env.example` lists them."""

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from config import embedded, environment

BASE_DIR = Path(__file__).resolve().parent.parent

# --- The site -----------------------------------------------------------------------------------

DEBUG = environment.flag("DEBUG", default=False)
SECRET_KEY = environment.secret("SECRET_KEY")
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS")
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = embedded.state_dir() / "static"

INSTALLED_APPS = [
    "config",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "locking",
    "access",
    "inventory",
    "orders",
]

MIDDLEWARE = [
    "config.middleware.RequestIdMiddleware",
    "config.middleware.ProblemMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "config.middleware.BodyLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- PostgreSQL ---------------------------------------------------------------------------------

# A thread holds a connection while it reads or places, never while it waits for a client: so a process needs far fewer
# connections than it has threads. The pool's wait is part of the placing deadline.
DATABASE_POOL_MAX = environment.whole_number("DATABASE_POOL_MAX", default=8, least=1)
DATABASE_POOL_WAIT_SECONDS = environment.seconds("DATABASE_POOL_WAIT_SECONDS", default=2.0)
DATABASE_CONNECT_SECONDS = 2


def _database(url: str) -> dict[str, Any]:
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(url, conn_health_checks=True))
    except (ValueError, KeyError) as error:
        raise ImproperlyConfigured(f"DATABASE_URL is not a database URL: {error}") from None
    if database["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must be a postgresql:// URL: the promises rest on PostgreSQL.")
    database["OPTIONS"] = {
        "connect_timeout": DATABASE_CONNECT_SECONDS,
        "pool": {"min_size": 1, "max_size": DATABASE_POOL_MAX, "timeout": DATABASE_POOL_WAIT_SECONDS},
    } | database.get("OPTIONS", {})
    return database


DATABASES = {"default": _database(environment.text("DATABASE_URL") or embedded.database_url())}

# --- Valkey: three aliases, so that clearing the cache reaches neither throttles nor locks ------

REDIS_URL = environment.text("REDIS_URL") or embedded.redis_url()
REDIS_TIMEOUT_SECONDS = 0.5


def _valkey(prefix: str) -> dict[str, Any]:
    return {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": prefix,
        "OPTIONS": {
            "SOCKET_CONNECT_TIMEOUT": REDIS_TIMEOUT_SECONDS,
            "SOCKET_TIMEOUT": REDIS_TIMEOUT_SECONDS,
        },
    }


CACHES = {"default": _valkey("cache"), "gate": _valkey("gate"), "locks": _valkey("locks")}

# --- The API ------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["access.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
BODY_BYTES_MAX = 64 * 1024
JWT_SECRET = environment.secret("JWT_SECRET")

# --- Placing (orders) ---------------------------------------------------------------------------

PLACING_DEADLINE_SECONDS = environment.seconds("PLACING_DEADLINE_SECONDS", default=5.0)
PLACING_WAIT_SECONDS = environment.seconds("PLACING_WAIT_SECONDS", default=4.0)
PLACING_BATCH_MAX = environment.whole_number("PLACING_BATCH_MAX", default=200, least=1)
PLACING_LANE_MAX = environment.whole_number("PLACING_LANE_MAX", default=1000, least=1)
