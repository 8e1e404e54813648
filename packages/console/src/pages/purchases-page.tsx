import { Anchor, Group, NativeSelect, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { formatCount, formatRupiah } from '../format.js';
import type { operations } from '../api/schema.js';
import { useSearch } from '../parts/finder.js';
import { FilterField, FilterForm, Older } from '../parts/list-filter.js';
import { PurchaseList } from '../parts/purchase-list.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listPurchases']['parameters']['query']>;

const names = ['account', 'seller', 'product', 'from', 'to', 'price_from', 'price_to'] as const;
const statuses = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'];

/** Purchases that match a search or a filter. The URL contains the search and the filter. */
export function PurchasesPage(): React.ReactElement {
  const [params] = useSearchParams();
  const wanted = params.get('q') ?? '';
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('purchases')}
      </Title>
      <FilterForm>
        <TextInput
          name="q"
          label={t('search')}
          description={t('searchPurchases')}
          maxLength={100}
          minLength={2}
          defaultValue={wanted}
          style={{ gridColumn: '1 / -1' }}
        />
        <NativeSelect
          name="status"
          label={t('status')}
          defaultValue={params.get('status') ?? ''}
          data={[{ value: '', label: t('any') }, ...statuses]}
        />
        {names.map((name) => (
          <FilterField key={name} name={name} label={t(getLabelKey(name))} />
        ))}
      </FilterForm>
      {wanted === '' ? <Filtered /> : <SearchResults wanted={wanted} />}
    </>
  );
}

function getLabelKey(name: (typeof names)[number]) {
  switch (name) {
    case 'price_from':
      return 'priceFrom';
    case 'price_to':
      return 'priceTo';
    default:
      return name;
  }
}

function SearchResults({ wanted }: { wanted: string }): React.ReactElement {
  const found = useSearch(wanted);
  if (!found.data) {
    return <LoadingState error={found.error} retry={found.refetch} />;
  }
  return found.data.purchases.length === 0 ? (
    <EmptyState>{t('nothingFound')}</EmptyState>
  ) : (
    <section aria-label={t('foundFor', { wanted })}>
      <PurchaseList of={found.data.purchases} />
    </section>
  );
}

function Filtered(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const page = useQuery({
    queryKey: ['purchases', query],
    queryFn: () => unwrapData(api.GET('/purchases', { params: { query } })),
  });
  if (!page.data) {
    return <LoadingState error={page.error} retry={page.refetch} />;
  }
  const { purchases, next, looked_back_to: lookedBackTo } = page.data;
  return (
    <>
      <Sums />
      {purchases.length === 0 && lookedBackTo === null ? (
        <EmptyState>{t('noPurchase')}</EmptyState>
      ) : (
        <PurchaseList of={purchases} />
      )}
      <Older next={next} lookedBackTo={lookedBackTo} />
    </>
  );
}

/**
 * The totals of all purchases that match the filter, and a link to download these purchases as CSV.
 */
function Sums(): React.ReactElement {
  const [params] = useSearchParams();
  const filter = [...params].filter(([name]) => name !== 'after');
  const query = Object.fromEntries(filter) as Query;
  const sums = useQuery({
    queryKey: ['purchase-sums', query],
    queryFn: () => unwrapData(api.GET('/purchases/sums', { params: { query } })),
    enabled: filter.length > 0,
  });
  return (
    <Group component="section" aria-label={t('sums')} gap="md" mb="sm" mih={24}>
      {sums.data?.by_status.map(({ status, count: sold, amount }) => (
        <Group key={status} gap={6}>
          <Status>{status}</Status>
          <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
            {formatCount(sold)} · {formatRupiah(amount)}
          </Text>
        </Group>
      ))}
      {sums.data !== undefined && sums.data.commission > 0 && (
        <Text size="sm">
          {t('commission')} {formatRupiah(sums.data.commission)}
        </Text>
      )}
      {sums.data?.looked_back_to && (
        <Text size="sm" c="dimmed">
          {t('sumsSince')} <Time at={sums.data.looked_back_to} />
        </Text>
      )}
      <Anchor
        href={`/admin/purchases.csv?${new URLSearchParams(filter).toString()}`}
        download="purchases.csv"
        size="sm"
      >
        {t('asCsv')}
      </Anchor>
    </Group>
  );
}
