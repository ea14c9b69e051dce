"""URLs of products."""

from django.urls import path

from inventory import views

urlpatterns = [
    path("products/", views.Products.as_view(), name="products"),
    path("products/<str:sku>/", views.ProductDetail.as_view(), name="product"),
    path("products/<str:sku>/stock/", views.StockDetail.as_view(), name="stock"),
    path("products/<str:sku>/movements/", views.Movements.as_view(), name="movements"),
]
