import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { ActionForm } from '../parts/action-form.js';
import { AllReceivers } from '../parts/all-receivers.js';
import { DeliveryList } from '../parts/delivery-list.js';
import { Facts } from '../parts/facts.js';
import { ListFilter, Older } from '../parts/list-filter.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { ReplayDead } from '../parts/replay-many.js';
import { RowActions } from '../parts/row-actions.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { Section } from '../parts/section.js';

type Query = NonNullable<operations['listDeliveries']['parameters']['query']>;
type Receiver = components['schemas']['WebhookReceiver'];

/**
 * Failing receivers, and deliveries. By default the page lists the dead deliveries of all accounts.
 */
export function WebhooksPage(): React.ReactElement {
  const [params] = useSearchParams();
  const { receivers_after: _ofReceivers, ...query } = Object.fromEntries(params) as Query & {
    receivers_after?: string;
  };
  const mayReplay = useMay('webhook.replay');
  const { account, ref_id, from, to } = query;
  const page = useQuery({
    queryKey: ['deliveries', query],
    queryFn: () => unwrapData(api.GET('/deliveries', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('webhooks')}
      </Title>
      <Receivers />
      <AllReceivers />
      <Title order={2} size="h4" mt="xl" mb="sm">
        {t('deliveries')}
      </Title>
      <Text size="sm" mb="sm">
        {t('deliveriesHelp')}
      </Text>
      <ListFilter
        name="state"
        states={[
          { value: '', label: query.account === undefined ? t('givenUp') : t('any') },
          ...['due', 'delivered', 'dead', 'held', 'dropped'].map((value) => ({ value, label: value })),
        ]}
        fields={['account', 'ref_id', 'from', 'to']}
      />
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.deliveries.length === 0 && <EmptyState>{t('noDeliveryFits')}</EmptyState>}
      {mayReplay && (query.state ?? 'dead') === 'dead' && (
        <ReplayDead
          which={{
            ...(account !== undefined && { account }),
            ...(ref_id !== undefined && { ref_id }),
            ...(from !== undefined && { from }),
            ...(to !== undefined && { to }),
          }}
        />
      )}
      {page.data && <DeliveryList of={page.data.deliveries} isFolded />}
      {page.data && <Older next={page.data.next} lookedBackTo={page.data.looked_back_to} />}
    </>
  );
}

function Receivers(): React.ReactElement {
  const found = useQuery({ queryKey: ['receivers'], queryFn: () => unwrapData(api.GET('/receivers')) });
  return (
    <Section title={t('receivers')} first>
      {!found.data && <LoadingState error={found.error} retry={found.refetch} />}
      {found.data?.receivers.length === 0 && <EmptyState>{t('noReceiver')}</EmptyState>}
      <Stack gap="sm">
        {found.data?.receivers.map((each) => (
          <OneReceiver key={each.id} of={each} />
        ))}
      </Stack>
    </Section>
  );
}

function OneReceiver({ of }: { of: Receiver }): React.ReactElement {
  const mayEnable = useMay('webhook.enable');
  const { account } = of;
  return (
    <Card withBorder component="article" aria-label={`${t('receiver')} ${account} ${of.address}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {of.address}
        </Text>
        <Status>{of.state === 'disabled' ? 'disabled' : t('leftAlone')}</Status>
      </Group>
      <Facts
        of={[
          [
            t('account'),
            <Anchor component={Link} to={`/accounts/${account}`} size="sm">
              {account}
            </Anchor>,
          ],
          [t('failures'), of.failures],
          [t('failingSince'), of.failing_since && <Time at={of.failing_since} />],
          [t('disabledAt'), of.disabled_at && <Time at={of.disabled_at} />],
          [t('disabledBecause'), of.disabled_because && t(`because_${getReasonKey(of.disabled_because)}`)],
          [t('leftAloneUntil'), of.state === 'left-alone' && of.open_until && <Time at={of.open_until} />],
        ]}
      />
      {mayEnable && of.state === 'disabled' && (
        <RowActions>
          <ActionForm
            title={t('enableWebhooks')}
            consequence={t('enableWebhooksHelp', { account })}
            run={(reason) =>
              unwrapData(
                api.POST('/accounts/{username}/enable-webhooks', {
                  params: { path: { username: account } },
                  body: { reason },
                }),
              )
            }
          />
        </RowActions>
      )}
    </Card>
  );
}

function getReasonKey(reason: string): 'gone' | 'failing' {
  return reason === 'gone' ? 'gone' : 'failing';
}
