import { Anchor, Badge, Card, Group, Stack, Table, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from 'react-router';
import type { components } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { t } from '../text/text.js';
import { Status, Time } from './states.js';

type ListedPurchase = components['schemas']['Purchase'];

/** A list of purchases: a table on a wide screen, cards on a narrow one. */
export function PurchaseList({ of }: { of: ListedPurchase[] }): React.ReactElement {
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  if (!isWide) {
    return (
      <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {of.map((each) => (
          <Card key={each.id} component="li" withBorder padding="sm">
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Anchor component={Link} to={`/purchases/${each.id}`} fw={600} size="sm">
                {each.product_code} {each.customer_number}
              </Anchor>
              <PurchaseStatus of={each} />
            </Group>
            <Text size="sm">
              {formatRupiah(each.price)} · {each.account}
            </Text>
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              <Time at={each.created_at} /> · {each.ref_id}
            </Text>
          </Card>
        ))}
      </Stack>
    );
  }
  return (
    <Table fz="sm" verticalSpacing="xs" highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          {[t('time'), t('account'), t('reference'), t('product'), t('customer')].map((head) => (
            <Table.Th key={head}>{head}</Table.Th>
          ))}
          <Table.Th ta="end">{t('price')}</Table.Th>
          <Table.Th>{t('seller')}</Table.Th>
          <Table.Th>{t('status')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {of.map((each) => (
          <Table.Tr key={each.id}>
            <Table.Td>
              <Anchor component={Link} to={`/purchases/${each.id}`} size="sm">
                <Time at={each.created_at} />
              </Anchor>
            </Table.Td>
            <Table.Td>{each.account}</Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{each.ref_id}</Table.Td>
            <Table.Td>{each.product_code}</Table.Td>
            <Table.Td>{each.customer_number}</Table.Td>
            <Table.Td ta="end" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
              {formatRupiah(each.price)}
            </Table.Td>
            <Table.Td>{each.seller}</Table.Td>
            <Table.Td>
              <PurchaseStatus of={each} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function PurchaseStatus({ of }: { of: ListedPurchase }): React.ReactElement {
  return (
    <Group gap={4}>
      <Status>{of.status}</Status>
      {of.in_review && (
        <Badge color="orange" variant="outline" tt="none" c="var(--mantine-color-text)">
          {t('inReview')}
        </Badge>
      )}
    </Group>
  );
}
