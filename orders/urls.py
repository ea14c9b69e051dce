"""URLs of orders."""

from django.urls import path

from orders import views

urlpatterns = [
    path("orders/", views.Orders.as_view(), name="orders"),
    path("orders/<uuid:id>/", views.OrderDetail.as_view(), name="order"),
    path("requests/<str:request_id>/", views.RequestDetail.as_view(), name="request"),
]
