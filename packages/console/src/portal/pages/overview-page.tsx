import { Anchor, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { unwrapData } from '../../api/unwrap-data.js';
import { formatRupiah } from '../../format.js';
import { Facts } from '../../parts/facts.js';
import { Section } from '../../parts/section.js';
import { EmptyState, Status, LoadingState } from '../../parts/states.js';
import { t } from '../../text/text.js';
import { translate } from '../../text/translate.js';
import { useSignedIn } from '../account.js';
import { portalApi } from '../client.js';
import { RequestList } from '../request-list.js';

/** The balance, the state of the webhooks and the latest refused requests of the account. */
export function OverviewPage(): React.ReactElement {
  const { role, config } = useSignedIn();
  const balance = useQuery({
    queryKey: ['balance'],
    queryFn: async () =>
      role === 'buyer'
        ? (await unwrapData(portalApi.POST('/api/buyer/balance'))).balance
        : (await unwrapData(portalApi.GET('/api/seller/balance'))).balance,
  });
  const refused = useQuery({
    queryKey: ['requests', { failed: 'true', limit: 5 }],
    queryFn: () =>
      unwrapData(portalApi.GET('/api/buyer/requests', { params: { query: { failed: 'true', limit: 5 } } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('overview')}
      </Title>
      {balance.data === undefined ? (
        <LoadingState error={balance.error} retry={balance.refetch} />
      ) : (
        <Facts
          of={[
            [t('role'), role],
            [t('balance'), formatRupiah(balance.data)],
            [
              t('webhooks'),
              <Status state={config.webhook_status}>{translate(config.webhook_status)}</Status>,
            ],
            [t('rateLimit'), config.rate_limit],
          ]}
        />
      )}
      <Section title={t('lastRefused')}>
        {!refused.data && <LoadingState error={refused.error} retry={refused.refetch} />}
        {refused.data?.requests.length === 0 && <EmptyState>{t('noneRefused')}</EmptyState>}
        {refused.data && <RequestList of={refused.data.requests} />}
        <Anchor component={Link} to="/requests" size="sm">
          {t('allRequests')}
        </Anchor>
      </Section>
    </>
  );
}
