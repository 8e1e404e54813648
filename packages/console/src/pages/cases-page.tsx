import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatAgo, formatRupiah } from '../format.js';
import { CloseCase, Decisions } from '../parts/decisions.js';
import { Facts } from '../parts/facts.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { RowActions } from '../parts/row-actions.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

type Item = components['schemas']['AttentionItem'];

/**
 * Purchases under review and open cases, oldest first. Each has advice and the possible decisions.
 */
export function CasesPage(): React.ReactElement {
  const found = useQuery({ queryKey: ['attention'], queryFn: () => unwrapData(api.GET('/attention')) });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('cases')}
      </Title>
      {!found.data && <LoadingState error={found.error} retry={found.refetch} />}
      {found.data?.items.length === 0 && <EmptyState>{t('noCase')}</EmptyState>}
      <Stack gap="sm" maw={800}>
        {found.data?.items.map((each) => (
          <Case key={`${each.kind} ${each.id}`} of={each} />
        ))}
      </Stack>
      {found.data?.has_more === true && <EmptyState>{t('oldestOfMore')}</EmptyState>}
    </>
  );
}

function Case({ of }: { of: Item }): React.ReactElement {
  const { id, kind, since, purchase, transaction_id: purchaseId } = of;
  const mayDecide = useMay('review.resolve');
  const mayClose = useMay('case.resolve');
  const canAct = purchase ? mayDecide && of.decisions.length > 0 : mayClose;
  return (
    <Card withBorder component="article" aria-label={`${t(`kind_${kind}`)} ${id}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{t(`kind_${kind}`)}</Text>
        <Text size="sm">{formatAgo(since)}</Text>
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {of.detail}
      </Text>
      <Facts
        of={[
          [t('time'), <Time at={since} />],
          [
            t('purchase'),
            purchaseId && (
              <Anchor component={Link} to={`/purchases/${purchaseId}`} size="sm">
                {purchase ? `${purchase.product_code} ${purchase.customer_number}` : purchaseId}
              </Anchor>
            ),
          ],
          [t('account'), purchase?.account],
          [t('price'), purchase && formatRupiah(purchase.price)],
          [t('lastReference'), of.reference],
          [t('payment'), of.payment_id],
        ]}
      />
      <Text size="sm">{t(`find_${kind}`)}</Text>
      {canAct && (
        <RowActions>
          {purchase ? <Decisions of={of.decisions} purchase={purchase} /> : <CloseCase id={id} />}
        </RowActions>
      )}
    </Card>
  );
}
