import { Alert, Anchor, Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { Facts } from './facts.js';
import { Section } from './section.js';
import { Status, Time } from './states.js';

export type Job = components['schemas']['QueueJob'];
type RetryResult = components['schemas']['RetryJobsData']['jobs'][number];

/** The maximum number of jobs in one retry request. */
const chosenMax = 100;

/** A list of jobs. Failed jobs can be selected and retried together. */
export function JobList({ of }: { of: Job[] }): React.ReactElement {
  const mayRetry = useMay('queue.work');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const able = of.filter(({ refusal }) => refusal === null).map(({ id }) => id);
  const ids = chosen.filter((id) => able.includes(id)).slice(0, chosenMax);
  const choose = (id: string, isChosen: boolean) => {
    setChosen((before) => [...before.filter((each) => each !== id), ...(isChosen ? [id] : [])]);
  };
  return (
    <>
      {mayRetry && able.length > 0 && (
        <Group gap="xs" my="sm">
          <Button variant="default" size="xs" onClick={() => setChosen(able)}>
            {t('chooseAll')}
          </Button>
          <Button variant="default" size="xs" onClick={() => setChosen([])}>
            {t('chooseNone')}
          </Button>
        </Group>
      )}
      <Stack gap="xs" my="sm">
        {of.map((job) => (
          <OneJob
            key={job.id}
            of={job}
            chosen={mayRetry && job.refusal === null ? ids.includes(job.id) : null}
            choose={(isChosen) => {
              choose(job.id, isChosen);
            }}
          />
        ))}
      </Stack>
      {mayRetry && <RetrySelected ids={ids} />}
    </>
  );
}

function OneJob({
  of,
  chosen,
  choose,
}: {
  of: Job;
  /** Null if the job cannot be selected. */
  chosen: boolean | null;
  choose: (isChosen: boolean) => void;
}): React.ReactElement {
  const label = `${of.name} ${of.subject ?? of.id}`;
  return (
    <Card withBorder padding="sm" component="article" aria-label={label}>
      <Group justify="space-between" gap="xs">
        <Anchor
          component={Link}
          to={`/jobs/${encodeURIComponent(of.id)}`}
          size="sm"
          fw={600}
          style={{ overflowWrap: 'anywhere' }}
        >
          {label}
        </Anchor>
        <Status state={of.state}>{t(`state_${of.state}`)}</Status>
      </Group>
      <JobFacts of={of} />
      {chosen !== null && (
        <Checkbox
          label={t('choose')}
          aria-label={t('chooseJob', { job: label })}
          checked={chosen}
          onChange={(event) => {
            choose(event.currentTarget.checked);
          }}
        />
      )}
    </Card>
  );
}

/** The facts of a job: its purchase, account, attempts and times. */
export function JobFacts({ of }: { of: Job }): React.ReactElement {
  const time = (at: string | null) => at && <Time at={at} />;
  return (
    <Facts
      of={[
        [
          t('purchase'),
          of.purchase && (
            <Anchor component={Link} to={`/purchases/${of.purchase}`} size="sm">
              {of.purchase}
            </Anchor>
          ),
        ],
        [
          t('account'),
          of.account && (
            <Anchor component={Link} to={`/accounts/${of.account}`} size="sm">
              {of.account}
            </Anchor>
          ),
        ],
        [
          t('settlements'),
          of.queue === 'settlements' && of.account && (
            <Anchor component={Link} to={`/settlements?status=all&account=${of.account}`} size="sm">
              {of.account}
            </Anchor>
          ),
        ],
        [
          t('queue'),
          <Anchor component={Link} to="/system" size="sm">
            {of.queue}
          </Anchor>,
        ],
        [t('roundsBegun'), of.begun],
        [t('roundsFailed'), of.failed_rounds === 0 ? null : of.failed_rounds],
        [t('lastError'), of.last_error],
        [t('needsAttentionSince'), time(of.needs_person_since)],
        [t('addedAt'), time(of.added_at)],
        [t('lastRunAt'), time(of.last_run_at)],
        [t('endedAt'), time(of.ended_at)],
        [t('nextRunAt'), time(of.next_run_at)],
      ]}
    />
  );
}

function RetrySelected({ ids }: { ids: string[] }): React.ReactElement {
  const [retried, setRetried] = useState<RetryResult[]>([]);
  return (
    <>
      {ids.length > 0 && (
        <ActionForm
          title={t('retryMany')}
          consequence={t('retryManyHelp', { count: ids.length, max: chosenMax })}
          run={async (reason) => {
            setRetried((await unwrapData(api.POST('/jobs/retry', { body: { ids, reason } }))).jobs);
          }}
        />
      )}
      {retried.length > 0 && (
        <Section title={t('retriedJobs')}>
          <Alert color={retried.every(({ refusal }) => refusal === null) ? 'green' : 'orange'} role="status">
            {retried.map(({ id, refusal }) => (
              <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {id}: {refusal === null ? t('isRetried') : t(`notRetried_${refusal}`)}
              </Text>
            ))}
          </Alert>
        </Section>
      )}
    </>
  );
}
