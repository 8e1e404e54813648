import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { DecisionCard, DecisionListPage } from '../parts/decision-list-page.js';
import { Time } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listDeposits']['parameters']['query']>;
type Deposit = components['schemas']['Deposit'];

/** Deposits. By default the page lists pending deposits, oldest first. */
export function DepositsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const page = useQuery({
    queryKey: ['deposits', query],
    queryFn: () => unwrapData(api.GET('/deposits', { params: { query } })),
  });
  return (
    <DecisionListPage
      title={t('deposits')}
      page={page}
      rows={page.data?.deposits.map((each) => (
        <OneDeposit key={each.id} of={each} />
      ))}
      none={t('noDeposit')}
    />
  );
}

function OneDeposit({ of }: { of: Deposit }): React.ReactElement {
  const mayDecide = useMay('deposit.decide');
  const { id, account } = of;
  const amount = formatRupiah(of.amount);
  const to = { params: { path: { id } } };
  return (
    <DecisionCard
      label={`${t('deposit')} ${of.ref_id}`}
      of={of}
      facts={[
        [t('reference'), of.ref_id],
        [t('requestedAt'), <Time at={of.created_at} />],
        [t('completed'), of.completed_at && <Time at={of.completed_at} />],
      ]}
      decisions={
        mayDecide ? (
          <>
            <ActionForm
              title={t('confirmDeposit')}
              consequence={t('confirmDepositHelp', { amount, account })}
              run={(reason) => unwrapData(api.POST('/deposits/{id}/confirm', { ...to, body: { reason } }))}
            />
            <ActionForm
              title={t('rejectDeposit')}
              consequence={t('rejectDepositHelp', { amount, account })}
              danger
              run={(reason) => unwrapData(api.POST('/deposits/{id}/reject', { ...to, body: { reason } }))}
            />
          </>
        ) : null
      }
    />
  );
}
