import { Anchor, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { EmptyState, Status, Time, LoadingState } from './states.js';

const start = 'receivers_after';

/**
 * All webhook URLs with their health, listed by account. With a filter, only the URLs of one
 * account.
 */
export function AllReceivers(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const account = params.get('account');
  const after = params.get(start);
  const query = { ...(account !== null && { account }), ...(after !== null && { [start]: after }) };
  const page = useQuery({
    queryKey: ['all-receivers', query],
    queryFn: () => unwrapData(api.GET('/receivers/all', { params: { query } })),
  });
  const showFrom = (place: string | null) => {
    setParams((before) => [
      ...[...before].filter(([name]) => name !== start),
      ...(place === null ? [] : [[start, place] satisfies [string, string]]),
    ]);
  };
  return (
    <Section title={t('allReceivers')}>
      <Text size="sm" mb="sm">
        {t('allReceiversHelp')}
      </Text>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.receivers.length === 0 && <EmptyState>{t('noUrl')}</EmptyState>}
      {page.data && page.data.receivers.length > 0 && (
        <Rows
          label={t('allReceivers')}
          heads={[t('receiver'), t('account'), t('status'), t('failures'), t('failingSince')]}
          ends={[3]}
          rows={page.data.receivers.map((each) => ({
            key: each.id,
            cells: [
              each.address,
              <Anchor component={Link} to={`/accounts/${each.account}`} size="sm">
                {each.account}
              </Anchor>,
              <Status state={each.state}>{t(`receiver_${each.state}`)}</Status>,
              each.failures,
              each.failing_since && <Time at={each.failing_since} />,
            ],
          }))}
        />
      )}
      <Group my="sm" gap="xs">
        {after !== null && (
          <Button variant="default" size="xs" onClick={() => showFrom(null)}>
            {t('firstReceivers')}
          </Button>
        )}
        {page.data && page.data.next !== null && (
          <Button variant="default" size="xs" onClick={() => showFrom(page.data.next)}>
            {t('nextReceivers')}
          </Button>
        )}
      </Group>
    </Section>
  );
}
