import { NativeSelect, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { api, dataOf } from '../api/client.js';
import type { operations } from '../api/schema.js';
import { useSearch } from '../parts/finder.js';
import { FilterField, FilterForm, Older } from '../parts/list-filter.js';
import { PurchaseList } from '../parts/purchase-list.js';
import { Nothing, Waiting } from '../parts/states.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listPurchases']['parameters']['query']>;

const names = ['account', 'seller', 'product', 'from', 'to'] as const;
const statuses = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'];

/** Purchases: found by what is known of one, or a filter that is in the URL. */
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
          <FilterField key={name} name={name} label={t(name)} />
        ))}
      </FilterForm>
      {wanted === '' ? <Filtered /> : <Found wanted={wanted} />}
    </>
  );
}

function Found({ wanted }: { wanted: string }): React.ReactElement {
  const found = useSearch(wanted);
  if (!found.data) {
    return <Waiting error={found.error} again={found.refetch} />;
  }
  return found.data.purchases.length === 0 ? (
    <Nothing>{t('nothingFound')}</Nothing>
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
    queryFn: () => dataOf(api.GET('/purchases', { params: { query } })),
  });
  if (!page.data) {
    return <Waiting error={page.error} again={page.refetch} />;
  }
  const { purchases, next, looked_back_to: lookedBackTo } = page.data;
  return (
    <>
      {purchases.length === 0 && lookedBackTo === null ? (
        <Nothing>{t('noPurchase')}</Nothing>
      ) : (
        <PurchaseList of={purchases} />
      )}
      <Older next={next} lookedBackTo={lookedBackTo} />
    </>
  );
}
