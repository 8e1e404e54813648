import { Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { Facts } from '../parts/facts.js';
import { NewOperator } from '../parts/new-operator.js';
import { OperatorActions, type Operator } from '../parts/operator-actions.js';
import { RightsTable } from '../parts/rights-table.js';
import { Sessions } from '../parts/sessions.js';
import { Status, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

/** Operators with their roles and sessions. */
export function OperatorsPage(): React.ReactElement {
  const mayManage = useMay('operator.manage');
  const found = useQuery({
    queryKey: ['operators'],
    queryFn: () => unwrapData(api.GET('/operators')),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('operators')}
      </Title>
      {found.data ? (
        <Stack gap="sm" maw={800}>
          {found.data.operators.map((each) => (
            <OperatorCard key={each.username} of={each} />
          ))}
        </Stack>
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
      {/* Shown after the list has loaded, so that the list does not move these parts. */}
      {(found.data ?? found.error) && (
        <>
          {mayManage && <NewOperator />}
          <RightsTable />
        </>
      )}
    </>
  );
}

function OperatorCard({ of }: { of: Operator }): React.ReactElement {
  return (
    <Card withBorder component="article" aria-label={t('operatorNamed', { operator: of.username })}>
      <Group justify="space-between" gap="xs">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {of.username}
        </Text>
        <Status>{of.role}</Status>
      </Group>
      <Facts
        of={[
          [t('secondFactor'), of.has_second_factor ? t('setUp') : t('notSetUp')],
          [t('commandLineKey'), of.has_key ? t('yes') : t('no')],
          [t('made'), <Time at={of.created_at} />],
          [t('passwordSince'), <Time at={of.password_changed_at} />],
        ]}
      />
      <Sessions of={of.sessions} label={t('sessionsOf', { operator: of.username })} />
      <OperatorActions of={of} />
    </Card>
  );
}
