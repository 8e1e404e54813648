import { Anchor, Button, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { FilterField, FilterForm } from '../parts/list-filter.js';
import { Rows } from '../parts/rows.js';
import { EmptyState, Status, LoadingState } from '../parts/states.js';
import { t } from '../text/text.js';

type Product = components['schemas']['Product'];

/** Products by code, each with its cheapest offer and margin. */
export function ProductsPage(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const query = Object.fromEntries(params) as { prefix?: string; seller?: string; after?: string };
  const page = useQuery({
    queryKey: ['products', query],
    queryFn: () => unwrapData(api.GET('/products', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('products')}
      </Title>
      <FilterForm>
        <FilterField name="prefix" label={t('codeBeginsWith')} />
        <FilterField name="seller" label={t('seller')} />
      </FilterForm>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.products.length === 0 && <EmptyState>{t('noProduct')}</EmptyState>}
      {page.data && page.data.products.length > 0 && (
        <Rows
          label={t('products')}
          heads={[
            t('product'),
            t('name'),
            t('status'),
            t('offers'),
            t('price'),
            t('commission'),
            t('sellerMargin'),
          ]}
          ends={[3, 4, 5, 6]}
          minWidth={680}
          rows={page.data.products.map((each) => ({ key: each.code, cells: cellsOf(each) }))}
        />
      )}
      {page.data?.next && (
        <Button
          my="md"
          variant="default"
          onClick={() => setParams({ ...query, after: page.data.next ?? '' })}
        >
          {t('nextProducts')}
        </Button>
      )}
    </>
  );
}

function cellsOf({ code, name, status, offers }: Product): React.ReactNode[] {
  const cheapest = offers.find((each) => each.status === 'active') ?? offers[0];
  return [
    <Anchor component={Link} to={`/products/${code}`} size="sm">
      {code}
    </Anchor>,
    name,
    <Status state={status}>{t(`sold_${status}`)}</Status>,
    offers.length,
    cheapest ? formatRupiah(cheapest.price) : '–',
    cheapest ? formatRupiah(cheapest.commission) : '–',
    cheapest ? <Margin of={cheapest.margin} /> : '–',
  ];
}

/** The margin of the seller for one sale. A negative margin is bold. */
export function Margin({ of }: { of: number | null }): React.ReactElement {
  return (
    <span style={of !== null && of < 0 ? { fontWeight: 700 } : {}}>
      {of === null ? '–' : formatRupiah(of)}
    </span>
  );
}
