import { Button, FileInput, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { formatCount, formatRupiah } from '../format.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { Facts } from './facts.js';
import { Rows } from './rows.js';
import { ErrorMessage, EmptyState } from './states.js';
import { QueryForm } from './query-form.js';
import { Section } from './section.js';

/** Compares the current price list of a provider with our offers. */
export function PriceDifferences({ seller }: { seller: string }): React.ReactElement {
  const asked = useMutation({
    mutationFn: () =>
      unwrapData(
        api.POST('/providers/{username}/prices', { params: { path: { username: seller } }, body: {} }),
      ),
  });
  const cost = (amount: number | null) => (amount === null ? '–' : formatRupiah(amount));
  return (
    <Section title={t('prices')}>
      <Text size="sm" mb="sm">
        {t('pricesHelp')}
      </Text>
      <Button variant="default" loading={asked.isPending} onClick={() => asked.mutate()}>
        {t('askPrices')}
      </Button>
      <ErrorMessage error={asked.error} />
      {asked.data && (
        <>
          <Facts
            of={[
              [t('ourOffers'), formatCount(asked.data.offers)],
              [t('listedThere'), formatCount(asked.data.listed)],
              [t('differences'), formatCount(asked.data.found)],
            ]}
          />
          {asked.data.differences.length === 0 ? (
            <EmptyState>{t('noDifference')}</EmptyState>
          ) : (
            <Rows
              label={t('prices')}
              heads={[t('product'), t('difference'), t('price'), t('ourCost'), t('theirCost')]}
              ends={[2, 3, 4]}
              rows={asked.data.differences.map((each) => ({
                key: `${each.product_code} ${each.what}`,
                cells: [
                  each.product_code,
                  t(`prices_${each.what}`),
                  formatRupiah(each.price),
                  cost(each.cost),
                  cost(each.their_cost),
                ],
              }))}
            />
          )}
        </>
      )}
    </Section>
  );
}

const dateOrders = ['day-first', 'month-first', 'year-first'] as const;

/** Compares the orders of one day in the provider's records with our orders. */
export function ReconcileDay({ seller }: { seller: string }): React.ReactElement {
  const [date, setDate] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [dateOrder, setDateOrder] = useState('');
  const mayAccept = useMay('provider.accept');
  const asked = useMutation({
    mutationFn: async () => {
      const csv = await file?.text();
      const order = dateOrders.find((each) => each === dateOrder);
      return unwrapData(
        api.POST('/providers/{username}/reconcile', {
          params: { path: { username: seller } },
          body: { date, ...(csv !== undefined && { csv }), ...(order && { date_order: order }) },
        }),
      );
    },
  });
  return (
    <Section title={t('reconcile')}>
      <Text size="sm">{t('reconcileHelp')}</Text>
      <QueryForm button={t('compare')} asked={asked}>
        <TextInput
          type="date"
          label={t('day')}
          required
          value={date}
          onChange={(event) => setDate(event.currentTarget.value)}
        />
        <FileInput
          label={t('recordFile')}
          placeholder={t('chooseFile')}
          description={t('askForRecord')}
          accept=".csv,text/csv"
          clearable
          clearButtonProps={{ 'aria-label': t('reset') }}
          value={file}
          onChange={setFile}
          w={240}
        />
        <NativeSelect
          label={t('dateOrder')}
          data={[
            { value: '', label: t('datesUsual') },
            ...dateOrders.map((value) => ({ value, label: t(`dates_${value}`) })),
          ]}
          value={dateOrder}
          onChange={(event) => setDateOrder(event.currentTarget.value)}
        />
      </QueryForm>
      {asked.data && (
        <>
          <Facts
            of={[
              [t('ours'), formatCount(asked.data.ours)],
              [t('theirs'), formatCount(asked.data.theirs)],
              [t('otherDays'), formatCount(asked.data.other_days)],
              [t('matched'), formatCount(asked.data.matched)],
              [t('differences'), formatCount(asked.data.found)],
            ]}
          />
          {asked.data.differences.length === 0 ? (
            <EmptyState>{t('noDifference')}</EmptyState>
          ) : (
            <Rows
              label={t('differences')}
              heads={[t('reference'), t('difference'), t('ours'), t('theirs')]}
              rows={asked.data.differences.map((each) => ({
                key: `${each.reference} ${each.kind}`,
                cells: [each.reference, t(`differs_${each.kind}`), each.ours ?? '–', each.theirs ?? '–'],
              }))}
            />
          )}
          {mayAccept && asked.data.differences.length > 0 && (
            <ActionForm
              title={t('acceptDifferences')}
              consequence={t('acceptDifferencesHelp', { date: asked.data.date })}
              run={(reason) =>
                unwrapData(
                  api.POST('/providers/{username}/accept', {
                    params: { path: { username: seller } },
                    body: { date: asked.data.date, reason },
                  }),
                )
              }
            />
          )}
        </>
      )}
    </Section>
  );
}
