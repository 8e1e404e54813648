import {
  Anchor,
  Button,
  Checkbox,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { NumberField } from '../parts/number-field.js';
import { parseNumber } from '../parts/parse-number.js';
import { Facts } from '../parts/facts.js';
import { Rows } from '../parts/rows.js';
import { Section } from '../parts/section.js';
import { SetCutOff } from '../parts/set-cut-off.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { Margin } from './products-page.js';

type Product = components['schemas']['Product'];
type Offer = Product['offers'][number];

const states = ['active', 'maintenance', 'inactive'] as const;

/** One product: its offers with prices and margins, the history of the offers, and the actions. */
export function ProductPage(): React.ReactElement {
  const { code = '' } = useParams();
  const maySet = useMay('product.set');
  const mayAudit = useMay('audit.look');
  const found = useQuery({
    queryKey: ['product', code],
    queryFn: () => unwrapData(api.GET('/products/{code}', { params: { path: { code } } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="xs" style={{ overflowWrap: 'anywhere' }}>
        {code}
      </Title>
      {found.data ? (
        <>
          <ProductFacts of={found.data} />
          <Offers of={found.data.offers} />
          {found.data.offers.length > 0 && <History code={code} offers={found.data.offers} />}
          {mayAudit && (
            <Anchor component={Link} to={`/audit?kind=product&subject=${encodeURIComponent(code)}`} size="sm">
              {t('changesOfProduct')}
            </Anchor>
          )}
          {maySet && (
            <Section title={t('actions')}>
              <Stack gap="sm" maw={640}>
                {found.data.offers.map((each) => (
                  <SetOffer
                    key={`${each.seller} ${each.sku} ${each.price} ${each.status}`}
                    code={found.data.code}
                    of={each}
                  />
                ))}
                <SetCutOff
                  key={`${found.data.cut_off?.start ?? ''} ${found.data.cut_off?.end ?? ''}`}
                  code={found.data.code}
                  of={found.data.cut_off}
                />
              </Stack>
            </Section>
          )}
        </>
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </>
  );
}

function ProductFacts({ of }: { of: Product }): React.ReactElement {
  return (
    <Facts
      of={[
        [t('name'), of.name],
        [t('status'), <Status state={of.status}>{t(`sold_${of.status}`)}</Status>],
        [t('category'), `${of.category} / ${of.subcategory}`],
        [t('operatorOf'), of.operator],
        [t('cutOff'), of.cut_off && `${of.cut_off.start} – ${of.cut_off.end}`],
      ]}
    />
  );
}

function Offers({ of }: { of: Offer[] }): React.ReactElement {
  const amount = (value: number | null) => (value === null ? '–' : formatRupiah(value));
  const says = (isAvailable: boolean | null) =>
    isAvailable === null ? '–' : t(isAvailable ? 'available' : 'unavailable');
  return (
    <Section title={t('offers')}>
      <Text size="sm" mb="sm">
        {t('sellerMarginHelp')}
      </Text>
      {of.length === 0 ? (
        <EmptyState>{t('noOffer')}</EmptyState>
      ) : (
        <Rows
          label={t('offers')}
          heads={[
            t('seller'),
            t('sku'),
            t('status'),
            t('price'),
            t('commission'),
            t('cost'),
            t('sellerMargin'),
            t('providerSays'),
          ]}
          ends={[3, 4, 5, 6]}
          minWidth={680}
          rows={of.map((each) => ({
            key: each.seller,
            cells: [
              <>
                <Anchor component={Link} to={`/accounts/${each.seller}`} size="sm">
                  {each.seller}
                </Anchor>
                {each.is_owner && (
                  <Text size="xs" c="dimmed">
                    {t('isOwner')}
                  </Text>
                )}
              </>,
              each.sku,
              <>
                <Status state={each.status}>{t(`sold_${each.status}`)}</Status>
                {each.is_below_cost && (
                  <Text size="xs" fw={700}>
                    {t('notSoldBelowCost')}
                  </Text>
                )}
              </>,
              formatRupiah(each.price),
              formatRupiah(each.commission),
              amount(each.cost),
              <Margin of={each.margin} />,
              says(each.is_available),
            ],
          }))}
        />
      )}
    </Section>
  );
}

function History({ code, offers }: { code: string; offers: Offer[] }): React.ReactElement {
  const [seller, setSeller] = useState(offers[0]?.seller ?? '');
  const [before, setBefore] = useState<string | null>(null);
  const page = useQuery({
    queryKey: ['offer-history', code, seller, before],
    queryFn: () =>
      unwrapData(
        api.GET('/products/{code}/history', {
          params: { path: { code }, query: { seller, ...(before !== null && { before }) } },
        }),
      ),
  });
  const amount = (value: number | null) => (value === null ? '' : formatRupiah(value));
  return (
    <Section title={t('history')}>
      <NativeSelect
        label={t('seller')}
        value={seller}
        data={offers.map((each) => each.seller)}
        maw={240}
        mb="sm"
        onChange={(event) => {
          setSeller(event.currentTarget.value);
          setBefore(null);
        }}
      />
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.moments.length === 0 && <EmptyState>{t('noHistory')}</EmptyState>}
      {page.data && page.data.moments.length > 0 && (
        <Rows
          label={t('history')}
          heads={[t('changedAt'), t('price'), t('cost'), t('status'), t('actor'), t('reason')]}
          ends={[1, 2]}
          minWidth={680}
          rows={page.data.moments.map((each) => ({
            key: `${each.at} ${String(each.price)} ${String(each.status)}`,
            cells: [
              <Time at={each.at} />,
              amount(each.price),
              amount(each.cost),
              each.status && t(`sold_${each.status}`),
              each.actor,
              each.reason ?? '–',
            ],
          }))}
        />
      )}
      {page.data?.next && (
        <Button variant="default" my="sm" onClick={() => setBefore(page.data.next)}>
          {t('next')}
        </Button>
      )}
    </Section>
  );
}

function SetOffer({ code, of }: { code: string; of: Offer }): React.ReactElement {
  const [price, setPrice] = useState(String(of.price));
  const [status, setStatus] = useState(of.status);
  const [sku, setSku] = useState(of.sku);
  const [belowCost, setBelowCost] = useState(false);
  return (
    <ActionForm
      title={t('setOffer', { seller: of.seller })}
      consequence={t(of.is_owner ? 'setOwnOfferHelp' : 'setOfferHelp', { seller: of.seller })}
      run={(reason) =>
        unwrapData(
          api.POST('/products/{code}/offer', {
            params: { path: { code } },
            body: {
              seller: of.seller,
              ...(parseNumber(price) !== of.price && { price: parseNumber(price) }),
              status,
              ...(sku.trim() !== of.sku && { sku: sku.trim() === '' ? null : sku.trim() }),
              below_cost: belowCost,
              reason,
            },
          }),
        )
      }
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <NumberField label={t('price')} required least={0} isRupiah value={price} onChange={setPrice} />
        <NativeSelect
          label={t('status')}
          value={status}
          data={states.map((value) => ({ value, label: t(`sold_${value}`) }))}
          onChange={(event) => setStatus(states.find((each) => each === event.currentTarget.value) ?? status)}
        />
      </SimpleGrid>
      <TextInput
        label={t('sku')}
        description={t('skuHelp')}
        value={sku}
        maxLength={64}
        onChange={(event) => setSku(event.currentTarget.value)}
      />
      <Checkbox
        label={t('belowCost')}
        checked={belowCost}
        onChange={(event) => setBelowCost(event.currentTarget.checked)}
      />
    </ActionForm>
  );
}
