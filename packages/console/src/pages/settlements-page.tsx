import { Alert, Anchor, Card, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { formatAgo, formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { ListFilter, Older } from '../parts/list-filter.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { RowActions } from '../parts/row-actions.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listSettlements']['parameters']['query']>;
type Settlement = components['schemas']['Settlement'];

/** Settlements of sellers. By default the page lists open settlements, oldest first. */
export function SettlementsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const page = useQuery({
    queryKey: ['settlements', query],
    queryFn: () => unwrapData(api.GET('/settlements', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('settlements')}
      </Title>
      <ListFilter
        states={[
          { value: '', label: t('notFinished') },
          ...['pending', 'processing', 'completed', 'failed'].map((value) => ({ value, label: value })),
          { value: 'all', label: t('any') },
        ]}
        fields={['account', 'from', 'to']}
      />
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.settlements.length === 0 && <EmptyState>{t('noSettlement')}</EmptyState>}
      <Stack gap="sm" maw={800}>
        {page.data?.settlements.map((each) => (
          <OneSettlement key={each.id} of={each} />
        ))}
      </Stack>
      {page.data?.has_more === true && <EmptyState>{t('oldestOfMore')}</EmptyState>}
      {page.data && <Older next={page.data.next} lookedBackTo={page.data.looked_back_to} />}
    </>
  );
}

function OneSettlement({ of }: { of: Settlement }): React.ReactElement {
  const mayDecide = useMay('settlement.decide');
  return (
    <Card withBorder component="article" aria-label={`${t('settlement')} ${of.id}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{formatRupiah(of.amount)}</Text>
        <Group gap="xs">
          {of.final_at === null && <Text size="sm">{formatAgo(of.created_at)}</Text>}
          <Status>{of.needs_approval ? t('toApprove') : of.status}</Status>
        </Group>
      </Group>
      <Facts
        of={[
          [
            t('seller'),
            <Anchor component={Link} to={`/accounts/${of.seller}`} size="sm">
              {of.seller}
            </Anchor>,
          ],
          [t('holder'), of.holder],
          [t('bankAccount'), `${of.bank_code} ${of.account_number}`],
          [t('toPay'), formatRupiah(of.net_amount)],
          [t('fee'), formatRupiah(of.fee)],
          [t('reference'), of.ref_id],
          [t('requestedAt'), <Time at={of.created_at} />],
          [t('due'), of.final_at === null && <Time at={of.estimated_completion} />],
          [t('ended'), of.final_at && <Time at={of.final_at} />],
          [
            t('claimedBy'),
            of.claimed_by && (
              <>
                {of.claimed_by} {of.claimed_at && <Time at={of.claimed_at} />}
              </>
            ),
          ],
          [t('bankReference'), of.bank_reference],
          [t('reviewReason'), of.review_reason && t(`review_${reviewKey(of.review_reason)}`)],
          [t('payoutFailure'), of.reason],
          ['id', of.id],
        ]}
      />
      {of.wallet_below_zero && (
        <Alert color="red" p="xs" mt="xs">
          {t('walletBelowZero', { seller: of.seller })}
        </Alert>
      )}
      {mayDecide && of.steps.length > 0 && (
        <RowActions>
          <Steps of={of} />
        </RowActions>
      )}
    </Card>
  );
}

function reviewKey(reason: string): 'change' | 'new' {
  return reason === 'recent-change' ? 'change' : 'new';
}

function Steps({ of }: { of: Settlement }): React.ReactElement {
  const { id, seller, holder, steps } = of;
  const [bankReference, setBankReference] = useState('');
  const [isShared, setIsShared] = useState(false);
  const to = { params: { path: { id } } };
  const bank = `${of.bank_code} ${of.account_number}`;
  const words = { seller, holder, bank, amount: formatRupiah(of.amount), net: formatRupiah(of.net_amount) };
  const claim = (reason: string, takeOver: boolean) =>
    unwrapData(api.POST('/settlements/{id}/claim', { ...to, body: { reason, take_over: takeOver } }));
  return (
    <>
      {steps.includes('approve') && (
        <ActionForm
          key="approve"
          title={t('approve')}
          consequence={t('approveHelp', words)}
          run={(reason) => unwrapData(api.POST('/settlements/{id}/approve', { ...to, body: { reason } }))}
        />
      )}
      {steps.includes('claim') && (
        <ActionForm
          key="claim"
          title={t('claim')}
          consequence={t('claimHelp', words)}
          run={(reason) => claim(reason, false)}
        />
      )}
      {steps.includes('take-over') && (
        <ActionForm
          key="take-over"
          title={t('takeOver')}
          consequence={t('takeOverHelp', { ...words, who: of.claimed_by ?? '' })}
          danger
          run={(reason) => claim(reason, true)}
        />
      )}
      {steps.includes('complete') && (
        <ActionForm
          key="complete"
          title={t('paid')}
          consequence={t('paidHelp', words)}
          run={(reason) => {
            const body = { bank_reference: bankReference, shared_reference: isShared, reason };
            return unwrapData(api.POST('/settlements/{id}/complete', { ...to, body }));
          }}
        >
          <TextInput
            label={t('bankReference')}
            description={t('bankReferenceHelp')}
            required
            maxLength={100}
            value={bankReference}
            onChange={(event) => {
              setBankReference(event.currentTarget.value);
              setIsShared(false);
            }}
          />
          <Checkbox
            label={t('sharedReference')}
            checked={isShared}
            onChange={(event) => setIsShared(event.currentTarget.checked)}
          />
        </ActionForm>
      )}
      {steps.includes('fail') && (
        <ActionForm
          key="fail"
          title={t('notPaid')}
          consequence={t('notPaidHelp', words)}
          danger
          run={(reason) => unwrapData(api.POST('/settlements/{id}/fail', { ...to, body: { reason } }))}
        />
      )}
    </>
  );
}
