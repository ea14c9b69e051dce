"""URLs of products."""

from django.urls import path

from inventory.views import products, stock

urlpatterns = [
    path("products/", products.Products.as_view(), name="products"),
    path("products/<str:sku>/", products.ProductDetail.as_view(), name="product"),
    path("products/<str:sku>/stock/", stock.StockDetail.as_view(), name="stock"),
    path("products/<str:sku>/movements/", stock.Movements.as_view(), name="movements"),
]
