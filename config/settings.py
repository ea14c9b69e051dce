"""Every setting of Fairdrop, from environment variables; `.env.example` lists them."""

from pathlib import Path
from typing import Any

from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import database, embedded, environment

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
# A redirect would lose the body of a POST: a missing slash is a problem document that says so.
APPEND_SLASH = False
STATIC_URL = "static/"
# Static files are served by the web workers from the packages that bring them: nothing to collect, no other host.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

# Behind a proxy that ends TLS: it must set X-Forwarded-Proto, and take it away from what clients send.
HTTPS = environment.flag("HTTPS", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_SSL_REDIRECT = False
SILENCED_SYSTEM_CHECKS = [
    "security.W002",  # Frames are forbidden by AdminFrameMiddleware, and by the policy of every page.
    "security.W003",  # AdminCsrfMiddleware protects the admin; the API takes no cookie.
    "security.W005",  # What the operator's other subdomains do is not known here.
    "security.W008",  # A redirect would lose the body of a POST, after its token has travelled in clear.
    "security.W021",  # As W005.
]

INSTALLED_APPS = [
    "config",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.humanize",
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

# The order is that of a request's way in. What the admin needs stands last, and steps aside for the rest.
MIDDLEWARE = [
    "config.middleware.RequestIdMiddleware",
    "config.middleware.ProblemMiddleware",
    "config.middleware.PagePolicyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.middleware.BodyLimitMiddleware",
    "config.admin_only.AdminSessionMiddleware",
    "config.admin_only.AdminCsrfMiddleware",
    "config.admin_only.AdminAuthenticationMiddleware",
    "config.admin_only.AdminMessageMiddleware",
    "config.admin_only.AdminFrameMiddleware",
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

DATABASES = {"default": database.from_url(environment.text("DATABASE_URL") or embedded.database_url())}
# How long a web request waits for any one answer of PostgreSQL; placing is stricter.
DATABASE_ANSWER_SECONDS = environment.seconds("DATABASE_ANSWER_SECONDS", default=15.0)

# --- Valkey: three aliases, so that clearing the cache reaches neither throttles nor locks ------

REDIS_URL = environment.text("REDIS_URL") or embedded.redis_url()
# Valkey only makes Fairdrop fast: who cannot have its answer at once goes on without.
REDIS_TIMEOUT_SECONDS = environment.seconds("REDIS_TIMEOUT_SECONDS", default=0.25)

if not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise ImproperlyConfigured("REDIS_URL must be a redis://, rediss:// or unix:// URL.")


def _valkey(prefix: str) -> dict[str, Any]:
    return {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": prefix,
        "OPTIONS": {
            "SOCKET_CONNECT_TIMEOUT": REDIS_TIMEOUT_SECONDS,
            "SOCKET_TIMEOUT": REDIS_TIMEOUT_SECONDS,
            # One more try at once, for a connection that a restart has broken; redis-py's own would wait for seconds.
            "CONNECTION_POOL_KWARGS": {"retry": Retry(NoBackoff(), 1)},
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
    "DEFAULT_SCHEMA_CLASS": "config.schema.Schema",
    "EXCEPTION_HANDLER": "config.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
BODY_BYTES_MAX = 64 * 1024
ADMIN_BODY_BYTES_MAX = 2 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = ADMIN_BODY_BYTES_MAX

JWT_SECRET, JWT_KEYS = environment.token_keys()
JWT_AUDIENCE = environment.text("JWT_AUDIENCE")
JWT_ISSUER = environment.text("JWT_ISSUER")

THROTTLE_BUYER = environment.rate("THROTTLE_BUYER", default="100/10s")
THROTTLE_ADDRESS = environment.rate("THROTTLE_ADDRESS")
TRUSTED_PROXIES = environment.networks("TRUSTED_PROXIES")
METRICS_ALLOW = environment.networks("METRICS_ALLOW", default="127.0.0.0/8,::1")

CORS_ALLOWED_ORIGINS = environment.words("CORS_ALLOWED_ORIGINS")
CORS_URLS_REGEX = r"^/api/"
CORS_EXPOSE_HEADERS = ["ETag", "Idempotent-Replayed", "Location", "Preference-Applied", "Retry-After", "X-Request-ID"]
CORS_ALLOW_HEADERS = [*default_headers, "idempotency-key", "if-match", "if-none-match", "prefer", "x-request-id"]

SPECTACULAR_SETTINGS = {
    "TITLE": "Fairdrop",
    "DESCRIPTION": "Orders for things that run out: every unit sold once, every request answered once.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    # Without this the page asks validator.swagger.io what it thinks of the document.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["config.schema.add_components"],
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}

# --- Placing (orders) ---------------------------------------------------------------------------

PLACING_DEADLINE_SECONDS = environment.seconds("PLACING_DEADLINE_SECONDS", default=5.0)
PLACING_WAIT_SECONDS = environment.seconds("PLACING_WAIT_SECONDS", default=4.0)
PLACING_BATCH_MAX = environment.whole_number("PLACING_BATCH_MAX", default=200, least=1)
PLACING_LANE_MAX = environment.whole_number("PLACING_LANE_MAX", default=1000, least=1)

# --- The log ------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "config.log.RequestIdFilter"},
        "stack_only": {"()": "config.log.StackOnly"},
    },
    "formatters": {
        "line": {
            "()": "config.log.OneLine",
            "format": "%(asctime)s %(levelname)s %(name)s %(request_id)s %(message)s",
        },
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "filters": ["request_id"], "formatter": "line"},
    },
    "root": {"handlers": ["console"], "level": environment.log_level("LOG_LEVEL", default="WARNING")},
    "loggers": {
        # Django's own handlers would write to standard error a second time, and to the administrators' mail.
        "django": {"handlers": [], "propagate": True},
        "django.request": {"level": "ERROR", "filters": ["stack_only"]},
        # Any caller can send a wrong Host; the answer tells him, and nobody else needs to know.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # The pool tells its caller by an exception; each of its own tries need not be told as well.
        "psycopg.pool": {"level": "ERROR"},
    },
}
