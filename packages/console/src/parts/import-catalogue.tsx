import { Checkbox, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatCount, formatRupiah } from '../format.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { Facts } from './facts.js';
import { NumberField } from './number-field.js';
import { parseNumber } from './parse-number.js';
import { QueryForm } from './query-form.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { EmptyState } from './states.js';

type Plan = components['schemas']['CataloguePlan'];

const roundings = [1, 50, 100, 500, 1_000] as const;

interface Filter {
  category?: string;
  brand?: string;
  search?: string;
  margin_percent: number;
  margin_amount: number;
  round_to: (typeof roundings)[number];
}

/** Turns a provider's price list into products and offers: filter and margin, preview, apply. */
export function ImportCatalogue({ seller }: { seller: string }): React.ReactElement {
  const maySet = useMay('product.set');
  const [texts, setTexts] = useState({ category: '', brand: '', search: '' });
  const [percent, setPercent] = useState('2');
  const [amount, setAmount] = useState('0');
  const [roundTo, setRoundTo] = useState<Filter['round_to']>(50);
  const filter: Filter = {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim() !== '')),
    margin_percent: parseNumber(percent, 2),
    margin_amount: parseNumber(amount),
    round_to: roundTo,
  };
  const asked = useMutation({
    mutationFn: async () => ({
      filter,
      plan: await unwrapData(
        api.POST('/providers/{username}/catalogue/preview', {
          params: { path: { username: seller } },
          body: filter,
        }),
      ),
    }),
  });
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value);
      asked.reset();
    };
  };
  const textField = (field: keyof typeof texts, label: string) => (
    <TextInput
      label={label}
      value={texts[field]}
      maxLength={100}
      onChange={(event) => change(setTexts)({ ...texts, [field]: event.currentTarget.value })}
    />
  );
  return (
    <Section title={t('importCatalogue')}>
      <Text size="sm" maw={640}>
        {t('importCatalogueHelp')}
      </Text>
      <QueryForm button={t('preview')} asked={asked}>
        {textField('category', t('theirCategory'))}
        {textField('brand', t('theirBrand'))}
        {textField('search', t('theirSearch'))}
        <NumberField
          label={t('marginPercent')}
          required
          least={0}
          most={999}
          decimals={2}
          value={percent}
          onChange={change(setPercent)}
        />
        <NumberField
          label={t('marginAmount')}
          required
          least={0}
          isRupiah
          value={amount}
          onChange={change(setAmount)}
        />
        <NativeSelect
          label={t('roundUpTo')}
          value={String(roundTo)}
          data={roundings.map(String)}
          onChange={(event) =>
            change(setRoundTo)(
              roundings.find((each) => String(each) === event.currentTarget.value) ?? roundTo,
            )
          }
        />
      </QueryForm>
      {asked.data && (
        <>
          <PlanShown of={asked.data.plan} />
          {maySet && asked.data.plan.created + asked.data.plan.changed > 0 && (
            <Apply key={asked.data.plan.fingerprint} seller={seller} {...asked.data} />
          )}
        </>
      )}
    </Section>
  );
}

function PlanShown({ of }: { of: Plan }): React.ReactElement {
  return (
    <>
      <Facts
        of={[
          [t('rowsFound'), formatCount(of.rows)],
          [t('newProducts'), formatCount(of.created)],
          [t('offersChanged'), formatCount(of.changed)],
          [t('losing'), of.losing === 0 ? null : formatCount(of.losing)],
          [t('unchanged'), formatCount(of.unchanged)],
        ]}
      />
      {of.creates.length > 0 && (
        <Rows
          label={t('newProducts')}
          heads={[t('sku'), t('product'), t('name'), t('category'), t('cost'), t('price')]}
          ends={[4, 5]}
          minWidth={680}
          rows={of.creates.map((each) => ({
            key: each.sku,
            cells: [
              each.sku,
              each.code,
              each.name,
              [each.subcategory, each.operator].filter(Boolean).join(' / '),
              formatRupiah(each.cost),
              `${formatRupiah(each.price)}${each.loses ? ` ${t('loses')}` : ''}`,
            ],
          }))}
        />
      )}
      {of.changes.length > 0 && (
        <Rows
          label={t('offersChanged')}
          heads={[t('product'), t('price'), t('newPrice'), '']}
          ends={[1, 2]}
          rows={of.changes.map((each) => ({
            key: each.code,
            cells: [
              each.code,
              formatRupiah(each.was),
              formatRupiah(each.price),
              each.risky ? t('checkThis') : '',
            ],
          }))}
        />
      )}
      {(of.created > of.creates.length || of.changed > of.changes.length) && (
        <EmptyState>{t('firstOnly', { shown: Math.max(of.creates.length, of.changes.length) })}</EmptyState>
      )}
      {of.skipped.length > 0 && (
        <Rows
          label={t('skippedRows')}
          heads={[t('skippedRows'), t('whyRefused'), t('sku')]}
          ends={[0]}
          rows={of.skipped.map(({ why, count, skus }) => ({
            key: why,
            cells: [
              formatCount(count),
              t(`skipped_${why}`),
              `${skus.join(', ')}${count > skus.length ? ', …' : ''}`,
            ],
          }))}
        />
      )}
    </>
  );
}

function Apply({ seller, filter, plan }: { seller: string; filter: Filter; plan: Plan }): React.ReactElement {
  const [meant, setMeant] = useState(false);
  const risks = plan.losing + plan.risky;
  return (
    <Stack maw={640} mt="sm">
      <ActionForm
        title={t('applyCatalogue')}
        consequence={t('applyCatalogueHelp', { created: plan.created, changed: plan.changed })}
        run={(reason) =>
          unwrapData(
            api.POST('/providers/{username}/catalogue', {
              params: { path: { username: seller } },
              body: { ...filter, fingerprint: plan.fingerprint, meant, reason },
            }),
          )
        }
      >
        {risks > 0 && (
          <Checkbox
            label={t('riskyCatalogue')}
            checked={meant}
            onChange={(event) => setMeant(event.currentTarget.checked)}
          />
        )}
      </ActionForm>
    </Stack>
  );
}
