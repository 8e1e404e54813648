import { Anchor, Button, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { NumberField } from '../parts/number-field.js';
import { parseNumber } from '../parts/parse-number.js';
import { FilterField, FilterForm } from '../parts/list-filter.js';
import { Rows } from '../parts/rows.js';
import { PriceGroups } from '../parts/price-groups.js';
import { Section } from '../parts/section.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

type Markup = components['schemas']['Markup'];

/** The markup rules and the price groups, with forms to change the rules. */
export function MarkupsPage(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const maySet = useMay('markup.set');
  const mayAudit = useMay('audit.look');
  const query = Object.fromEntries(params) as { account?: string; group?: string; after?: string };
  const page = useQuery({
    queryKey: ['markups', query],
    queryFn: () => unwrapData(api.GET('/markups', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('markups')}
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        {t('markupsHelp')}
      </Text>
      <FilterForm>
        <FilterField name="account" label={t('account')} />
        <FilterField name="group" label={t('priceGroup')} maxLength={32} />
      </FilterForm>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.markups.length === 0 && <EmptyState>{t('noMarkup')}</EmptyState>}
      {page.data && page.data.markups.length > 0 && (
        <Rows
          label={t('markups')}
          heads={[t('forWhom'), t('markupOf'), t('markup'), t('changedAt')]}
          ends={[2]}
          rows={page.data.markups.map((each) => ({ key: keyOf(each), cells: cellsOf(each) }))}
        />
      )}
      {page.data?.next && (
        <Button
          my="md"
          variant="default"
          onClick={() => setParams({ ...query, after: page.data.next ?? '' })}
        >
          {t('nextMarkups')}
        </Button>
      )}
      {mayAudit && (
        <Anchor component={Link} to="/audit?kind=markup" size="sm">
          {t('changesOfMarkups')}
        </Anchor>
      )}
      <PriceGroups />
      {maySet && (
        <Section title={t('actions')}>
          <Stack gap="sm" maw={640}>
            <SetMarkup />
            {page.data && page.data.markups.length > 0 && <RemoveMarkup of={page.data.markups} />}
          </Stack>
        </Section>
      )}
    </>
  );
}

function cellsOf(markup: Markup): React.ReactNode[] {
  const { account, changed_at: changedAt } = markup;
  return [
    account === null ? (
      formatBuyers(markup)
    ) : (
      <Anchor component={Link} to={`/accounts/${account}`} size="sm">
        {account}
      </Anchor>
    ),
    formatProducts(markup),
    formatMarkup(markup),
    <Time at={changedAt} />,
  ];
}

function formatBuyers({ account, group }: Markup): string {
  return account ?? (group === null ? t('allBuyers') : `${t('priceGroup')} ${group}`);
}

function formatProducts({ product, category }: Markup): string {
  return product === null
    ? category === null
      ? t('allProducts')
      : `${t('category')} ${category}`
    : `${t('product')} ${product}`;
}

function formatMarkup({ percent, rupiah: amount }: Markup): string {
  return percent === null ? formatRupiah(amount ?? 0) : `${percent} %`;
}

function keyOf({ account, group, product, category }: Markup): string {
  return JSON.stringify([account, group, product, category]);
}

const scopes = ['all', 'category', 'product'] as const;
const units = ['rupiah', 'percent'] as const;
const percentDecimals = 2;

function SetMarkup(): React.ReactElement {
  const [account, setAccount] = useState('');
  const [group, setGroup] = useState('');
  const [scope, setScope] = useState<(typeof scopes)[number]>('all');
  const [of, setOf] = useState('');
  const [unit, setUnit] = useState<(typeof units)[number]>('rupiah');
  const [amount, setAmount] = useState('');
  return (
    <ActionForm
      title={t('setMarkup')}
      consequence={t('setMarkupHelp')}
      run={(reason) =>
        unwrapData(
          api.POST('/markups', {
            body: {
              ...buildBuyers({ account: account.trim(), group: group.trim() }),
              ...(scope === 'all' ? { all: true } : { [scope]: of.trim() }),
              [unit]: parseNumber(amount, unit === 'percent' ? percentDecimals : 0),
              reason,
            },
          }),
        )
      }
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <TextInput
          label={t('markupFor')}
          description={t('markupForHelp')}
          value={account}
          maxLength={64}
          onChange={(event) => setAccount(event.currentTarget.value)}
        />
        <TextInput
          label={t('markupForGroup')}
          description={t('markupForGroupHelp')}
          value={group}
          maxLength={32}
          autoCapitalize="none"
          onChange={(event) => setGroup(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('markupOf')}
          description={t('markupOfHelp')}
          value={scope}
          data={scopes.map((value) => ({ value, label: t(`scope_${value}`) }))}
          onChange={(event) => setScope(scopes.find((each) => each === event.currentTarget.value) ?? scope)}
        />
        {scope !== 'all' && (
          <TextInput
            label={t(`scope_${scope}`)}
            value={of}
            maxLength={50}
            required
            onChange={(event) => setOf(event.currentTarget.value)}
          />
        )}
        <NativeSelect
          label={t('unit')}
          value={unit}
          data={units.map((value) => ({ value, label: t(`unit_${value}`) }))}
          onChange={(event) => setUnit(units.find((each) => each === event.currentTarget.value) ?? unit)}
        />
        <NumberField
          label={t('markup')}
          required
          least={0}
          {...(unit === 'percent' ? { most: 100, decimals: percentDecimals } : { isRupiah: true })}
          value={amount}
          onChange={setAmount}
        />
      </SimpleGrid>
    </ActionForm>
  );
}

/**
 * Builds the request fields for the buyers to which a rule applies. If both fields are filled in,
 * both are sent, and the service refuses the request with an explanation.
 */
function buildBuyers({ account, group }: { account: string; group: string }) {
  return {
    ...(account !== '' && { account }),
    ...(group !== '' && { group }),
    ...(account === '' && group === '' && { everybody: true as const }),
  };
}

function RemoveMarkup({ of }: { of: Markup[] }): React.ReactElement {
  const [chosen, setChosen] = useState('');
  const markup = of.find((each) => keyOf(each) === chosen) ?? of[0];
  return (
    <ActionForm
      title={t('removeMarkup')}
      consequence={t('removeMarkupHelp')}
      danger
      run={(reason) =>
        unwrapData(
          api.POST('/markups/remove', {
            body: {
              ...buildBuyers({ account: markup?.account ?? '', group: markup?.group ?? '' }),
              ...(typeof markup?.product === 'string' && { product: markup.product }),
              ...(typeof markup?.category === 'string' && { category: markup.category }),
              ...(markup && !markup.product && !markup.category && { all: true }),
              reason,
            },
          }),
        )
      }
    >
      <NativeSelect
        label={t('markup')}
        value={markup ? keyOf(markup) : ''}
        data={of.map((each) => ({
          value: keyOf(each),
          label: `${formatBuyers(each)}, ${formatProducts(each)}: ${formatMarkup(each)}`,
        }))}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
    </ActionForm>
  );
}
