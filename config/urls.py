"""All URLs."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from config import health, pages

admin.site.site_header = admin.site.site_title = "Fairdrop"
admin.site.index_title = "The shop"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="docs")),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("orders.urls")),
    path("api/v1/", include("inventory.urls")),
    path("api/v1/schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("problems/", pages.problem_list, name="problems"),
    path("problems/<slug:code>", pages.problem, name="problem"),
    path("problems/<slug:code>/", RedirectView.as_view(pattern_name="problem")),
    path("livez", health.livez),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
]
