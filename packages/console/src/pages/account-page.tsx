import { Anchor, Code, Group, List, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { formatRupiah, formatTime } from '../format.js';
import { AccountActions, type Account } from '../parts/account-actions.js';
import { Facts } from '../parts/facts.js';
import { Statement } from '../parts/statement.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';

/** One account: its balances, rules and actions. */
export function AccountPage(): React.ReactElement {
  const { username = '' } = useParams();
  const found = useQuery({
    queryKey: ['account', username],
    queryFn: () => unwrapData(api.GET('/accounts/{username}', { params: { path: { username } } })),
  });
  return (
    <>
      <Anchor component={Link} to="/accounts" size="sm">
        {t('accounts')}
      </Anchor>
      {found.data ? (
        <AccountDetails of={found.data} />
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </>
  );
}

function AccountDetails({ of }: { of: Account }): React.ReactElement {
  const mayRead = useMay('statement.export');
  const isSeller = of.role === 'seller';
  const orStandard = (value: number | null) => (value === null ? t('standard') : String(value));
  return (
    <>
      <Group justify="space-between" mt="xs">
        <Title order={1} size="h3">
          {of.username}
        </Title>
        <Status>{of.status}</Status>
      </Group>
      <Facts
        of={[
          [t('balance'), formatRupiah(of.balance)],
          [t('held'), of.held === 0 ? null : formatRupiah(of.held)],
          [t('role'), of.role],
          ['id', of.id],
          [t('made'), <Time at={of.created_at} />],
          [
            t('adjustments'),
            <Anchor component={Link} to={`/adjustments?status=all&account=${of.username}`} size="sm">
              {t('open')}
            </Anchor>,
          ],
          [
            t('purchases'),
            <Anchor
              component={Link}
              to={`/purchases?${isSeller ? 'seller' : 'account'}=${of.username}`}
              size="sm"
            >
              {t('open')}
            </Anchor>,
          ],
        ]}
      />
      <Heading>{t('rules')}</Heading>
      <Facts
        of={[
          [t('rateLimit'), of.rate_limit],
          [t('rateLimitMax'), orStandard(of.rate_limit_max)],
          [t('strongSign'), isSeller ? null : of.require_strong_sign ? t('yes') : t('no')],
          [t('md5Signs'), isSeller ? null : of.md5_signs_30_days],
          [t('requireAck'), of.require_ack ? t('yes') : t('no')],
          [t('commissionRate'), isSeller ? orStandard(of.commission_rate) : null],
          [t('productLimit'), isSeller ? orStandard(of.product_limit) : null],
          [
            t('priceGroup'),
            of.group === null ? null : (
              <Anchor component={Link} to={`/markups?group=${of.group}`} size="sm">
                {of.group}
              </Anchor>
            ),
          ],
          [t('allowlist'), of.ip_whitelist.join(', ') || t('anyAddress')],
        ]}
      />
      <Heading>{t('webhooks')}</Heading>
      <Webhooks of={of} />
      {mayRead && <Statement username={of.username} />}
      <AccountActions of={of} />
      <Heading>{t('keys')}</Heading>
      <Keys of={of} />
      <Heading>{t('changes')}</Heading>
      {of.changes.length === 0 && <EmptyState>{t('noChange')}</EmptyState>}
      <List size="sm" spacing={4} style={{ overflowWrap: 'anywhere' }}>
        {of.changes.map(({ at, actor, action, reason }) => (
          <List.Item key={`${at} ${action}`}>
            <Time at={at} />: {action}, {actor}
            {reason !== null && ` (${reason})`}
          </List.Item>
        ))}
      </List>
    </>
  );
}

function Heading({ children }: { children: string }): React.ReactElement {
  return (
    <Title order={2} size="h4" mt="xl" mb="sm">
      {children}
    </Title>
  );
}

function Webhooks({ of }: { of: Account }): React.ReactElement {
  const zone = useZone();
  return (
    <Stack gap="xs">
      {of.webhooks.length === 0 && <EmptyState>{t('noWebhook')}</EmptyState>}
      {of.webhooks.map(({ url, events, status, since, reason }) => (
        <div key={url}>
          <Group gap="xs">
            <Status>{status}</Status>
            {since !== null && <Text size="sm">{t('since', { time: formatTime(zone, since) })}</Text>}
            {reason !== null && <Text size="sm">({reason})</Text>}
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {url} ({events.join(', ')})
          </Text>
        </div>
      ))}
      {of.callback_url !== null && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t('callbackUrl')}: {of.callback_url}
        </Text>
      )}
    </Stack>
  );
}

function Keys({ of }: { of: Account }): React.ReactElement {
  const zone = useZone();
  return (
    <List size="sm" spacing={4} style={{ overflowWrap: 'anywhere' }}>
      {of.keys.map(({ id, created_at: createdAt, valid_until: validUntil }) => (
        <List.Item key={id}>
          <Code>{id}</Code> <Time at={createdAt} />,{' '}
          {validUntil === null ? t('current') : t('validUntil', { time: formatTime(zone, validUntil) })}
        </List.Item>
      ))}
    </List>
  );
}
