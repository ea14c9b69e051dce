"""The product's URLs, with the views of the benchmark in front."""

from django.urls import path

from bench import views
from config.urls import urlpatterns as product

urlpatterns = [
    path("api/v1/orders/", views.ReadDecideWrite.as_view()),
    path("bench/orders/", views.Product.as_view()),
    path("bench/floor/", views.Floor.as_view()),
    path("bench/single/", views.OneTransactionPerOrder.as_view()),
    path("bench/orm/", views.PlainOrm.as_view()),
    *product,
]
