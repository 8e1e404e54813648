import { Anchor, Button, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { dataOf } from '../api/data-of.js';
import type { components } from '../api/schema.js';
import { rupiah } from '../format.js';
import { FilterField, FilterForm } from '../parts/list-filter.js';
import { Rows } from '../parts/rows.js';
import { Nothing, Status, Waiting } from '../parts/states.js';
import { t } from '../text/text.js';

type Product = components['schemas']['Product'];

/** Products by code, each with its cheapest offer and margin. */
export function ProductsPage(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const query = Object.fromEntries(params) as { prefix?: string; seller?: string; after?: string };
  const page = useQuery({
    queryKey: ['products', query],
    queryFn: () => dataOf(api.GET('/products', { params: { query } })),
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
      {!page.data && <Waiting error={page.error} retry={page.refetch} />}
      {page.data?.products.length === 0 && <Nothing>{t('noProduct')}</Nothing>}
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
    cheapest ? rupiah(cheapest.price) : '–',
    cheapest ? rupiah(cheapest.commission) : '–',
    cheapest ? <Left of={cheapest.margin} /> : '–',
  ];
}

/** The margin of the seller for one sale. A negative margin is bold. */
export function Left({ of }: { of: number | null }): React.ReactElement {
  return (
    <span style={of !== null && of < 0 ? { fontWeight: 700 } : {}}>{of === null ? '–' : rupiah(of)}</span>
  );
}
