import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# The ledger is append-only for everybody who may write rows, whatever code or console he comes from. TRUNCATE stays
# possible: it is the way of a development site to begin anew, and needs the right to it.
APPEND_ONLY = """
CREATE FUNCTION movement_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a movement of the ledger is never changed or deleted'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'movement_is_append_only';
END $$;
CREATE TRIGGER movement_is_append_only BEFORE UPDATE OR DELETE ON inventory_stockmovement
    FOR EACH ROW EXECUTE FUNCTION movement_is_append_only();
"""
REVERSE_APPEND_ONLY = """
DROP TRIGGER movement_is_append_only ON inventory_stockmovement;
DROP FUNCTION movement_is_append_only();
"""

# Whoever changes a stock row says so in its version: a reader who has seen a version has seen the row.
VERSION_GROWS = """
CREATE FUNCTION stock_version_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the version of a stock row grows with every change'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'stock_version_grows';
END $$;
CREATE TRIGGER stock_version_grows BEFORE UPDATE ON inventory_stock
    FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION stock_version_grows();
"""
REVERSE_VERSION_GROWS = """
DROP TRIGGER stock_version_grows ON inventory_stock;
DROP FUNCTION stock_version_grows();
"""



class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Product',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sku', models.CharField(max_length=64, unique=True, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'must be 1 to 64 of A-Z a-z 0-9 . _ -')])),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, default='', max_length=10000)),
                ('price', models.DecimalField(decimal_places=2, max_digits=12, validators=[django.core.validators.MinValueValidator(0)])),
                ('currency', models.CharField(default='EUR', max_length=3, validators=[django.core.validators.RegexValidator('^[A-Z]{3}\\Z', 'must be three capital letters, such as EUR')])),
                ('limit_per_buyer', models.PositiveIntegerField(blank=True, default=1, help_text='Units per buyer over all live orders. Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('hold_seconds', models.PositiveIntegerField(blank=True, default=900, help_text='How long a reserved order keeps its units. Empty: a hold that never ends.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('opens_at', models.DateTimeField(blank=True, null=True)),
                ('closes_at', models.DateTimeField(blank=True, null=True)),
                ('admission', models.CharField(choices=[('direct', 'direct: PostgreSQL alone, by group commit'), ('lock', 'lock: one distributed lock per product around placing')], default='direct', max_length=8)),
                ('active', models.BooleanField(default=True, help_text='A withdrawn product takes no new orders.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='StockMovement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveBigIntegerField()),
                ('kind', models.CharField(choices=[('seeded', 'Seeded'), ('adjusted', 'Adjusted'), ('placed', 'Placed'), ('returned', 'Returned')], max_length=8)),
                ('delta', models.IntegerField()),
                ('balance_after', models.PositiveIntegerField()),
                ('note', models.CharField(default='', max_length=500)),
                ('actor', models.CharField(max_length=128)),
                ('request_id', models.CharField(help_text='Of staff; orders have none.', max_length=128, null=True)),
                ('order_id', models.UUIDField(null=True)),
                ('created_at', models.DateTimeField()),
                ('previous_hash', models.BinaryField(max_length=32)),
                ('hash', models.BinaryField(max_length=32)),
            ],
        ),
        migrations.CreateModel(
            name='Stock',
            fields=[
                ('product', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='inventory.product')),
                ('available', models.PositiveIntegerField(default=0)),
                ('held', models.PositiveIntegerField(default=0, help_text='Units of reserved orders.')),
                ('orders_total', models.PositiveBigIntegerField(default=0, help_text='Orders ever placed.')),
                ('version', models.PositiveBigIntegerField(default=0)),
                ('fence', models.PositiveBigIntegerField(default=0)),
                ('ledger_seq', models.PositiveBigIntegerField(default=0)),
                ('ledger_hash', models.BinaryField(default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00', max_length=32)),
            ],
            options={
                'verbose_name_plural': 'stock',
            },
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('sku__regex', '^[A-Za-z0-9._-]{1,64}$')), name='product_sku_is_plain'),
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='product_price_is_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='product_currency_is_three_letters'),
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('limit_per_buyer__gte', 1)), name='product_limit_is_at_least_one'),
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('hold_seconds__gte', 1)), name='product_hold_is_at_least_a_second'),
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('closes_at__gt', models.F('opens_at'))), name='product_closes_after_it_opens'),
        ),
        migrations.AddConstraint(
            model_name='product',
            constraint=models.CheckConstraint(condition=models.Q(('admission__in', ['direct', 'lock'])), name='product_admission_is_known'),
        ),
        migrations.AddField(
            model_name='stockmovement',
            name='product',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='movements', to='inventory.product'),
        ),
        migrations.AddConstraint(
            model_name='stock',
            constraint=models.CheckConstraint(condition=models.Q(('available__gte', 0)), name='stock_available_is_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='stock',
            constraint=models.CheckConstraint(condition=models.Q(('held__gte', 0)), name='stock_held_is_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.UniqueConstraint(fields=('product', 'seq'), name='movement_one_per_product_and_seq'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.UniqueConstraint(fields=('product', 'request_id'), name='movement_one_per_product_and_request_id'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.UniqueConstraint(fields=('order_id', 'product', 'kind'), name='movement_one_per_order_product_and_direction'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.CheckConstraint(condition=models.Q(('delta', 0), _negated=True), name='movement_delta_is_not_zero'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.CheckConstraint(condition=models.Q(('balance_after__gte', 0)), name='movement_balance_is_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.CheckConstraint(condition=models.Q(('seq__gte', 1)), name='movement_seq_starts_at_one'),
        ),
        migrations.AddConstraint(
            model_name='stockmovement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ['seeded', 'adjusted']), ('order_id__isnull', True), ('request_id__isnull', False)), models.Q(('delta__lt', 0), ('kind', 'placed'), ('order_id__isnull', False), ('request_id__isnull', True)), models.Q(('delta__gt', 0), ('kind', 'returned'), ('order_id__isnull', False), ('request_id__isnull', True)), _connector='OR'), name='movement_kind_and_order_agree'),
        ),
        migrations.RunSQL(APPEND_ONLY, REVERSE_APPEND_ONLY),
        migrations.RunSQL(VERSION_GROWS, REVERSE_VERSION_GROWS),
    ]
