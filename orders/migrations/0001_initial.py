import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

# The ledger belongs to inventory, which stands below orders and cannot name them; the database can.
MOVEMENT_ORDER = """
ALTER TABLE inventory_stockmovement ADD CONSTRAINT movement_order_exists
    FOREIGN KEY (order_id) REFERENCES orders_order (id) DEFERRABLE INITIALLY DEFERRED
"""
REVERSE_MOVEMENT_ORDER = "ALTER TABLE inventory_stockmovement DROP CONSTRAINT movement_order_exists"


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('inventory', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('buyer', models.CharField(max_length=128)),
                ('request_id', models.CharField(max_length=128)),
                ('fingerprint', models.CharField(max_length=64)),
                ('status', models.CharField(choices=[('reserved', 'Reserved'), ('confirmed', 'Confirmed'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], max_length=9)),
                ('total', models.DecimalField(decimal_places=2, max_digits=18)),
                ('currency', models.CharField(max_length=3)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(null=True)),
                ('confirmed_at', models.DateTimeField(null=True)),
                ('cancelled_at', models.DateTimeField(null=True)),
                ('expired_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['buyer', 'id'], name='order_by_buyer')],
                'constraints': [models.UniqueConstraint(fields=('buyer', 'request_id'), name='order_one_per_buyer_and_request_id'), models.CheckConstraint(condition=models.Q(('total__gte', 0)), name='order_total_is_not_negative'), models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='order_currency_is_three_letters'), models.CheckConstraint(condition=models.Q(models.Q(('cancelled_at', None), ('confirmed_at', None), ('expired_at', None), ('status', 'reserved')), models.Q(('cancelled_at', None), ('confirmed_at__isnull', False), ('expired_at', None), ('status', 'confirmed')), models.Q(('cancelled_at__isnull', False), ('expired_at', None), ('status', 'cancelled')), models.Q(('cancelled_at', None), ('confirmed_at', None), ('expired_at__isnull', False), ('status', 'expired')), _connector='OR'), name='order_status_and_times_agree')],
            },
        ),
        migrations.CreateModel(
            name='BuyerTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('buyer', models.CharField(max_length=128)),
                ('units', models.PositiveIntegerField()),
                ('limit', models.PositiveIntegerField(null=True)),
                ('product', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tallies', to='inventory.product')),
            ],
            options={
                'verbose_name_plural': 'buyer tallies',
                'constraints': [models.UniqueConstraint(fields=('product', 'buyer'), name='tally_one_per_product_and_buyer'), models.CheckConstraint(condition=models.Q(('units__gte', 0)), name='tally_units_are_not_negative'), models.CheckConstraint(condition=models.Q(('limit', None), ('units__lte', models.F('limit')), _connector='OR'), name='tally_units_are_in_the_limit')],
            },
        ),
        migrations.CreateModel(
            name='OrderLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('quantity', models.PositiveIntegerField()),
                ('unit_price', models.DecimalField(decimal_places=2, max_digits=12)),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='orders.order')),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='order_lines', to='inventory.product')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('order', 'product'), name='line_one_per_order_and_product'), models.CheckConstraint(condition=models.Q(('quantity__gte', 1)), name='line_quantity_is_at_least_one'), models.CheckConstraint(condition=models.Q(('unit_price__gte', 0)), name='line_price_is_not_negative')],
            },
        ),
        migrations.RunSQL(MOVEMENT_ORDER, REVERSE_MOVEMENT_ORDER),
    ]
