import { Alert, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { DecisionCard, DecisionListPage } from '../parts/decision-list-page.js';
import { NumberField } from '../parts/number-field.js';
import { parseNumber } from '../parts/parse-number.js';
import { Time } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listAdjustments']['parameters']['query']>;
type Adjustment = components['schemas']['Adjustment'];

/** Adjustments. By default the page lists those that wait for a second operator, oldest first. */
export function AdjustmentsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const mayMake = useMay('adjustment.make');
  const page = useQuery({
    queryKey: ['adjustments', query],
    queryFn: () => unwrapData(api.GET('/adjustments', { params: { query } })),
  });
  return (
    <DecisionListPage
      title={t('adjustments')}
      what={
        page.data && (
          <Text size="sm" mb="md">
            {t('adjustmentsHelp', { from: formatRupiah(page.data.approval_from) })}
          </Text>
        )
      }
      page={page}
      rows={page.data?.adjustments.map((each) => (
        <OneAdjustment key={each.id} of={each} />
      ))}
      none={t('noAdjustment')}
    >
      {mayMake && <CorrectionForm account={query.account ?? ''} />}
    </DecisionListPage>
  );
}

function OneAdjustment({ of }: { of: Adjustment }): React.ReactElement {
  const mayMake = useMay('adjustment.make');
  return (
    <DecisionCard
      label={`${t('adjustment')} ${of.id}`}
      of={of}
      facts={[
        [t('reason'), of.reason],
        [t('requestedBy'), of.requested_by],
        [t('requestedAt'), <Time at={of.created_at} />],
        [t('decidedBy'), of.decided_by],
        [t('decidedAt'), of.decided_at && <Time at={of.decided_at} />],
      ]}
      decisions={mayMake ? <Decisions of={of} /> : null}
    />
  );
}

function Decisions({ of }: { of: Adjustment }): React.ReactElement {
  const to = { params: { path: { id: of.id } } };
  const words = {
    account: of.account,
    amount: formatRupiah(Math.abs(of.amount)),
    who: of.requested_by,
    why: of.reason,
  };
  return (
    <>
      {of.is_own ? (
        <Text size="sm">{t('ownAdjustment')}</Text>
      ) : (
        <ActionForm
          title={t('approveAdjustment')}
          consequence={t(of.amount > 0 ? 'approveCreditHelp' : 'approveDebitHelp', words)}
          danger
          run={(reason) => unwrapData(api.POST('/adjustments/{id}/approve', { ...to, body: { reason } }))}
        />
      )}
      <ActionForm
        title={t('rejectAdjustment')}
        consequence={t('rejectAdjustmentHelp')}
        run={(reason) => unwrapData(api.POST('/adjustments/{id}/reject', { ...to, body: { reason } }))}
      />
    </>
  );
}

type RequestedAdjustment = components['schemas']['RequestAdjustmentData'];

function CorrectionForm({ account: filtered }: { account: string }): React.ReactElement {
  const [account, setAccount] = useState(filtered);
  const [kind, setKind] = useState('credit');
  const [amount, setAmount] = useState('');
  const [made, setMade] = useState<RequestedAdjustment | null>(null);
  const run = async (reason: string) => {
    setMade(null);
    const signed = (kind === 'debit' ? -1 : 1) * parseNumber(amount);
    setMade(await unwrapData(api.POST('/adjustments', { body: { account, amount: signed, reason } })));
    // Clear the amount, so that a second click does not submit the same adjustment again.
    setAmount('');
  };
  return (
    <Stack gap="sm" maw={640} mt="xl">
      <ActionForm title={t('correctWallet')} consequence={t('correctWalletHelp')} danger run={run}>
        <TextInput
          label={t('account')}
          required
          maxLength={64}
          autoCapitalize="none"
          value={account}
          onChange={(event) => setAccount(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('creditOrDebit')}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value)}
          data={[
            { value: 'credit', label: t('credit') },
            { value: 'debit', label: t('debit') },
          ]}
        />
        <NumberField
          label={t('amountRupiah')}
          required
          least={1}
          isRupiah
          value={amount}
          onChange={setAmount}
        />
      </ActionForm>
      {made && (
        <Alert color={made.status === 'pending' ? 'orange' : 'green'} role="status">
          {made.balance_after === null
            ? t('adjustmentWaits')
            : t('adjustmentMade', { balance: formatRupiah(made.balance_after) })}
        </Alert>
      )}
    </Stack>
  );
}
