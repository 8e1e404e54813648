import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { Section } from './section.js';
import { RowActions } from './row-actions.js';

/** The maximum number of deliveries in one replay request. */
export const replayedMax = 100;

type ReplayResult = components['schemas']['ReplayDeliveriesData']['deliveries'][number];
type DeadDeliveryFilter = NonNullable<operations['countDeadDeliveries']['parameters']['query']>;

/** Resends the selected deliveries and shows the result of each. */
export function ReplayChosen({ ids }: { ids: string[] }): React.ReactElement {
  const [replayed, setReplayed] = useState<ReplayResult[]>([]);
  return (
    <>
      {ids.length > 0 && (
        <ActionForm
          title={t('replayChosen')}
          consequence={t('replayChosenHelp', { count: ids.length, max: replayedMax })}
          run={async (reason) => {
            const answer = await unwrapData(api.POST('/deliveries/replay', { body: { ids, reason } }));
            setReplayed(answer.deliveries);
          }}
        />
      )}
      {replayed.length > 0 && (
        <Section title={t('replayedDeliveries')}>
          <Alert color={replayed.every(({ refusal }) => refusal === null) ? 'green' : 'orange'} role="status">
            {replayed.map(({ id, refusal }) => (
              <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {id}: {refusal ?? t('isReplayed')}
              </Text>
            ))}
          </Alert>
        </Section>
      )}
    </>
  );
}

/**
 * Counts the dead deliveries that match a filter and offers to resend them. Shows nothing if there
 * are none.
 */
export function ReplayDead({ which }: { which: DeadDeliveryFilter }): React.ReactElement | null {
  const counted = useQuery({
    queryKey: ['dead-deliveries', which],
    queryFn: () => unwrapData(api.GET('/deliveries/dead-count', { params: { query: which } })),
  });
  const [result, setResult] = useState<string | null>(null);
  const { count = 0, counted_max: countedMax = 0, at_once_max: atOnceMax = 0 } = counted.data ?? {};
  return (
    <>
      {count > 0 && (
        <RowActions label={t('replayDead')}>
          <ActionForm
            title={t('replayDead')}
            consequence={t('replayDeadHelp', {
              count: count < countedMax ? count : t('orMoreOf', { count }),
              now: Math.min(count, atOnceMax),
            })}
            run={async (reason) => {
              const sums = await unwrapData(
                api.POST('/deliveries/replay-dead', { body: { ...which, reason } }),
              );
              setResult(t('replayedDead', sums));
            }}
          />
        </RowActions>
      )}
      {result !== null && (
        <Alert color="green" role="status" my="sm">
          {result}
        </Alert>
      )}
    </>
  );
}
