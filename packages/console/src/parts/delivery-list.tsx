import { Anchor, Badge, Card, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { api, dataOf } from '../api/client.js';
import type { operations } from '../api/schema.js';
import { t } from '../text/text.js';
import { useMay } from '../session.js';
import { ActionForm } from './action-form.js';
import { Status, Time } from './states.js';
import { ToDecide } from './to-decide.js';

type Delivery =
  operations['listDeliveries']['responses'][200]['content']['application/json']['data']['deliveries'][number];

/** Webhooks and callbacks with each attempt. @param isFolded Body and form are shown when they are asked for. */
export function DeliveryList({
  of,
  isFolded = false,
}: {
  of: Delivery[];
  isFolded?: boolean;
}): React.ReactElement {
  const mayReplay = useMay('webhook.replay');
  return (
    <Stack gap="sm">
      {of.map((each) => (
        <Card key={each.id} withBorder component="article" aria-label={`${each.event} ${each.id}`}>
          <Group justify="space-between">
            <Text fw={600} size="sm">
              {each.event}
            </Text>
            <Status>{each.state}</Status>
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {each.account} → {each.url}
          </Text>
          {isFolded && (
            <Group gap="xs">
              <Text size="sm">
                <Time at={each.created_at} />
              </Text>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {each.ref_id}
              </Text>
              {each.transaction_id !== null && (
                <Anchor component={Link} to={`/purchases/${each.transaction_id}`} size="sm">
                  {t('openPurchase')}
                </Anchor>
              )}
            </Group>
          )}
          <Attempts of={each} />
          {isFolded ? (
            <details>
              <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
                {t('body')}
              </Text>
              <Body>{each.body}</Body>
            </details>
          ) : (
            <>
              <Text size="xs" c="dimmed" mt="xs">
                {t('body')}
              </Text>
              <Body>{each.body}</Body>
            </>
          )}
          {mayReplay &&
            each.state !== 'dropped' &&
            each.state !== 'due' &&
            (isFolded ? (
              <ToDecide>
                <Replay of={each} />
              </ToDecide>
            ) : (
              <Replay of={each} />
            ))}
        </Card>
      ))}
    </Stack>
  );
}

function Body({ children }: { children: string }): React.ReactElement {
  return (
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {children}
    </Code>
  );
}

function Attempts({ of: { attempts } }: { of: Delivery }): React.ReactElement {
  return (
    <Stack gap={4} my="xs">
      {attempts.length === 0 && <Text size="sm">{t('noAttempt')}</Text>}
      {attempts.map((attempt) => (
        <Text key={attempt.n} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Badge variant="default" tt="none" me="xs">
            {t('attempt', { n: attempt.n })}
          </Badge>
          <Time at={attempt.at} /> · {attempt.error ?? `HTTP ${attempt.http_status ?? ''}`} ·{' '}
          {attempt.duration_ms} ms
          {attempt.answer !== null && attempt.answer !== '' && (
            <>
              {' '}
              · {t('answer')}: <Code>{attempt.answer}</Code>
            </>
          )}
        </Text>
      ))}
    </Stack>
  );
}

function Replay({ of: { id, account } }: { of: Delivery }): React.ReactElement {
  return (
    <ActionForm
      title={t('replay')}
      consequence={t('replayWhat', { account })}
      run={(reason) =>
        dataOf(api.POST('/deliveries/{id}/replay', { params: { path: { id } }, body: { reason } }))
      }
    />
  );
}
