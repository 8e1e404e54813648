import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { formatAgo, formatRupiah } from '../format.js';
import { t } from '../text/text.js';
import { Facts } from './facts.js';
import { ListFilter, Older } from './list-filter.js';
import { EmptyState, Status, LoadingState } from './states.js';
import { RowActions } from './row-actions.js';

interface DecisionRows {
  next: string | null;
  looked_back_to: string | null;
  has_more: boolean;
}

/**
 * A list of requests that operators approve or reject. By default it contains the pending ones,
 * oldest first.
 */
export function DecisionListPage({
  title,
  what,
  page: { data, error, refetch },
  rows,
  none,
  children,
}: {
  title: string;
  /** Content above the list. */
  what?: ReactNode;
  page: { data: DecisionRows | undefined; error: Error | null; refetch: () => unknown };
  rows: ReactNode[] | undefined;
  /** The text that replaces an empty list. */
  none: string;
  children?: ReactNode;
}): React.ReactElement {
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {title}
      </Title>
      {what}
      <ListFilter
        states={[
          { value: '', label: t('waiting') },
          { value: 'completed', label: 'completed' },
          { value: 'rejected', label: 'rejected' },
          { value: 'all', label: t('any') },
        ]}
        fields={['account', 'from', 'to']}
      />
      {!data && <LoadingState error={error} retry={refetch} />}
      {rows?.length === 0 && <EmptyState>{none}</EmptyState>}
      <Stack gap="sm" maw={800}>
        {rows}
      </Stack>
      {data?.has_more === true && <EmptyState>{t('oldestOfMore')}</EmptyState>}
      {data && <Older next={data.next} lookedBackTo={data.looked_back_to} />}
      {children}
    </>
  );
}

/** One request: its amount, age and facts. A pending request also has the possible decisions. */
export function DecisionCard({
  label,
  of,
  facts,
  decisions,
}: {
  label: string;
  of: {
    id: string;
    account: string;
    amount: number;
    status: string;
    created_at: string;
    balance_after: number | null;
  };
  /** Shown between the account and the balance. */
  facts: [string, ReactNode][];
  /** Null if the operator must not decide this request. */
  decisions: ReactNode;
}): React.ReactElement {
  const isPending = of.status === 'pending';
  return (
    <Card withBorder component="article" aria-label={label}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{formatRupiah(of.amount)}</Text>
        <Group gap="xs">
          {isPending && <Text size="sm">{formatAgo(of.created_at)}</Text>}
          <Status>{of.status}</Status>
        </Group>
      </Group>
      <Facts
        of={[
          [
            t('account'),
            <Anchor component={Link} to={`/accounts/${of.account}`} size="sm">
              {of.account}
            </Anchor>,
          ],
          ...facts,
          [t('balanceAfter'), of.balance_after === null ? null : formatRupiah(of.balance_after)],
          ['id', of.id],
        ]}
      />
      {decisions !== null && isPending && <RowActions>{decisions}</RowActions>}
    </Card>
  );
}
