import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api, dataOf } from '../api/client.js';
import type { operations } from '../api/schema.js';
import { ago, rupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { ListFilter, Older } from '../parts/list-filter.js';
import { Nothing, Status, Time, Waiting } from '../parts/states.js';
import { ToDecide } from '../parts/to-decide.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listDeposits']['parameters']['query']>;
type Deposit =
  operations['listDeposits']['responses'][200]['content']['application/json']['data']['deposits'][number];

/** Deposits: by default those that wait for their money, the longest waiting first. */
export function DepositsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const page = useQuery({
    queryKey: ['deposits', query],
    queryFn: () => dataOf(api.GET('/deposits', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('deposits')}
      </Title>
      <ListFilter
        states={[
          { value: '', label: t('waiting') },
          { value: 'completed', label: 'completed' },
          { value: 'rejected', label: 'rejected' },
          { value: 'all', label: t('any') },
        ]}
        fields={['account', 'from', 'to']}
      />
      {!page.data && <Waiting error={page.error} again={page.refetch} />}
      {page.data?.deposits.length === 0 && <Nothing>{t('noDeposit')}</Nothing>}
      <Stack gap="sm" maw={800}>
        {page.data?.deposits.map((each) => (
          <OneDeposit key={each.id} of={each} />
        ))}
      </Stack>
      {page.data?.has_more === true && <Nothing>{t('oldestOfMore')}</Nothing>}
      {page.data && <Older next={page.data.next} lookedBackTo={page.data.looked_back_to} />}
    </>
  );
}

function OneDeposit({ of }: { of: Deposit }): React.ReactElement {
  const mayDecide = useMay('deposit.decide');
  const { id, account } = of;
  const amount = rupiah(of.amount);
  const to = { params: { path: { id } } };
  return (
    <Card withBorder component="article" aria-label={`${t('deposit')} ${of.ref_id}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{amount}</Text>
        <Group gap="xs">
          {of.status === 'pending' && <Text size="sm">{ago(of.created_at)}</Text>}
          <Status>{of.status}</Status>
        </Group>
      </Group>
      <Facts
        of={[
          [
            t('account'),
            <Anchor component={Link} to={`/accounts/${account}`} size="sm">
              {account}
            </Anchor>,
          ],
          [t('reference'), of.ref_id],
          [t('asked'), <Time at={of.created_at} />],
          [t('completed'), of.completed_at && <Time at={of.completed_at} />],
          [t('balanceAfter'), of.balance_after === null ? null : rupiah(of.balance_after)],
          ['id', id],
        ]}
      />
      {mayDecide && of.status === 'pending' && (
        <ToDecide>
          <ActionForm
            title={t('confirmDeposit')}
            consequence={t('confirmDepositWhat', { amount, account })}
            run={(reason) => dataOf(api.POST('/deposits/{id}/confirm', { ...to, body: { reason } }))}
          />
          <ActionForm
            title={t('rejectDeposit')}
            consequence={t('rejectDepositWhat', { amount, account })}
            danger
            run={(reason) => dataOf(api.POST('/deposits/{id}/reject', { ...to, body: { reason } }))}
          />
        </ToDecide>
      )}
    </Card>
  );
}
