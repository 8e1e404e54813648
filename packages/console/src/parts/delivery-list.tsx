import { Anchor, Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { t } from '../text/text.js';
import { useMay } from '../session.js';
import { ActionForm } from './action-form.js';
import { Attempts, Body } from './attempts.js';
import { ReplayChosen, replayedMax } from './replay-many.js';
import { Status, Time } from './states.js';
import { RowActions } from './row-actions.js';

type Delivery = components['schemas']['WebhookDelivery'];

/**
 * A list of webhook and callback deliveries with their attempts.
 * @param isFolded True if bodies and forms are hidden behind buttons. Several deliveries can then
 * be selected.
 */
export function DeliveryList({
  of,
  isFolded = false,
}: {
  of: Delivery[];
  isFolded?: boolean;
}): React.ReactElement {
  const mayReplay = useMay('webhook.replay');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const able = isFolded && mayReplay ? of.filter(canReplay).map(({ id }) => id) : [];
  const ids = chosen.filter((id) => able.includes(id)).slice(0, replayedMax);
  return (
    <Stack gap="sm">
      {able.length > 0 && (
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={() => setChosen(able)}>
            {t('chooseAllDeliveries')}
          </Button>
          <Button variant="default" size="xs" onClick={() => setChosen([])}>
            {t('chooseNone')}
          </Button>
        </Group>
      )}
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
          <Attempts of={each.attempts} />
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
          {able.includes(each.id) && (
            <Checkbox
              mt="xs"
              label={t('choose')}
              aria-label={t('chooseDelivery', { delivery: `${each.event} ${each.id}` })}
              checked={ids.includes(each.id)}
              onChange={(event) => {
                const isChosen = event.currentTarget.checked;
                setChosen((before) => [
                  ...before.filter((id) => id !== each.id),
                  ...(isChosen ? [each.id] : []),
                ]);
              }}
            />
          )}
          {mayReplay &&
            canReplay(each) &&
            (isFolded ? (
              <RowActions>
                <Replay of={each} />
              </RowActions>
            ) : (
              <Replay of={each} />
            ))}
        </Card>
      ))}
      {isFolded && mayReplay && <ReplayChosen ids={ids} />}
    </Stack>
  );
}

/**
 * False for a due delivery, which the service sends anyway, and for a dropped one, which must not
 * be sent.
 */
function canReplay({ state }: Delivery): boolean {
  return state !== 'dropped' && state !== 'due';
}

function Replay({ of: { id, account } }: { of: Delivery }): React.ReactElement {
  return (
    <ActionForm
      title={t('replay')}
      consequence={t('replayHelp', { account })}
      run={(reason) =>
        unwrapData(api.POST('/deliveries/{id}/replay', { params: { path: { id } }, body: { reason } }))
      }
    />
  );
}
