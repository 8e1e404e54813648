import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatTime } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { Processes } from '../parts/processes.js';
import { retryJob } from '../parts/retry-job.js';
import { Rows } from '../parts/rows.js';
import { Section } from '../parts/section.js';
import { ServiceSettings } from '../parts/service-settings.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';

type System = components['schemas']['GetSystemData'];
type Checks = NonNullable<System['checked']>['checks'];

const troubledMs = 5_000;

/** Failed checks with advice, active alarms, failing jobs, processes and settings. */
export function SystemPage(): React.ReactElement {
  const zone = useZone();
  const maySettings = useMay('settings.look');
  const found = useQuery({
    queryKey: ['system'],
    queryFn: () => unwrapData(api.GET('/system')),
    refetchInterval: ({ state }) => untilNextMs(state.error ? undefined : state.data),
    placeholderData: (before) => before,
    meta: { showsNothingOld: true },
  });
  return (
    <>
      <Title order={1} size="h3" mb="xs">
        {t('system')}
      </Title>
      {found.data && !found.error ? (
        <>
          {found.data.checked ? (
            <>
              <Text size="sm" c="dimmed">
                {t('asOf', { time: formatTime(zone, found.data.checked.at) })}
                {found.data.is_looking && ` ${t('checksRunAgain')}`}
              </Text>
              <Troubles of={found.data.checked.checks} />
            </>
          ) : (
            <EmptyState>{t('checksRunFirst')}</EmptyState>
          )}
          <Alarms of={found.data.alarms} />
          <FailingJobs of={found.data.failing_jobs} />
          <Processes />
          {found.data.checked && <AllChecks of={found.data.checked.checks} />}
        </>
      ) : (
        // Older results are not shown, because they do not describe the current state. The query is
        // repeated automatically.
        <LoadingState error={found.error} retry={found.refetch} outageAdvice={t('askDoctor')} />
      )}
      {/* Shown after the checks have loaded, so that the checks do not move the settings. */}
      {maySettings && (found.data ?? found.error) && <ServiceSettings />}
    </>
  );
}

/**
 * Returns the time until the next refetch. It is shorter while checks run or fail, so that the page
 * soon shows when a problem is fixed.
 */
function untilNextMs(system?: System): number {
  if (system?.is_looking) {
    return 1_000;
  }
  return system?.checked?.checks.some(({ status }) => status !== 'ok') ? troubledMs : 15_000;
}

function Troubles({ of }: { of: Checks }): React.ReactElement {
  const troubles = of.filter(({ status }) => status !== 'ok');
  if (troubles.length === 0) {
    return <EmptyState>{t('allWell', { count: of.length })}</EmptyState>;
  }
  return (
    <Section title={t('whatToDo')}>
      <Stack gap="sm" maw={800}>
        {troubles.map(({ name, status, detail, advice }, place) => (
          <Card key={`${name} ${place}`} withBorder component="article" aria-label={name}>
            <Group justify="space-between" gap="xs">
              <Text fw={600}>{name}</Text>
              <Status state={status}>{t(`check_${status}`)}</Status>
            </Group>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {detail}
            </Text>
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {advice}
            </Text>
          </Card>
        ))}
        <Text size="sm">{t('checksWell', { count: of.length - troubles.length })}</Text>
      </Stack>
    </Section>
  );
}

function AllChecks({ of }: { of: Checks }): React.ReactElement {
  return (
    <Section title={t('systemChecks')}>
      <Rows
        label={t('systemChecks')}
        heads={[t('check'), t('status'), t('found')]}
        rows={of.map(({ name, status, detail }, place) => ({
          key: `${name} ${place}`,
          cells: [name, <Status state={status}>{t(`check_${status}`)}</Status>, detail],
        }))}
      />
    </Section>
  );
}

function Alarms({ of }: { of: System['alarms'] }): React.ReactElement {
  return (
    <Section title={t('alarms')}>
      {of.length === 0 ? (
        <EmptyState>{t('noAlarm')}</EmptyState>
      ) : (
        <Rows
          label={t('alarms')}
          heads={[t('name'), t('time'), t('status')]}
          rows={of.map(({ id, since, is_told: isSent, refusal }) => ({
            key: id,
            cells: [
              id,
              <Time at={since} />,
              refusal === null
                ? t(isSent ? 'alarmSent' : 'alarmNotSent')
                : t('alarmRefused', { why: refusal }),
            ],
          }))}
        />
      )}
    </Section>
  );
}

function FailingJobs({ of }: { of: System['failing_jobs'] }): React.ReactElement {
  const mayRetry = useMay('queue.work');
  return (
    <Section title={t('failingJobs')}>
      {of.length === 0 && <EmptyState>{t('noFailingJob')}</EmptyState>}
      <Anchor component={Link} to="/jobs" size="sm" display="block" mb="sm">
        {t('jobs')}
      </Anchor>
      <Stack gap="sm" maw={800}>
        {of.map(({ id, queue, rounds, reason, first_at: first, last_at: last }) => (
          <Card key={id} withBorder component="article" aria-label={id}>
            <Anchor
              component={Link}
              to={`/jobs/${encodeURIComponent(id)}`}
              fw={600}
              style={{ overflowWrap: 'anywhere' }}
            >
              {id}
            </Anchor>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {reason}
            </Text>
            <Facts
              of={[
                [t('queue'), queue],
                [t('rounds'), rounds],
                [t('failingSince'), <Time at={first} />],
                [t('lastRound'), <Time at={last} />],
              ]}
            />
            {mayRetry && (
              <ActionForm
                title={t('retryJob', { job: id })}
                consequence={t('retryJobHelp')}
                run={(why) => retryJob(id, why)}
              />
            )}
          </Card>
        ))}
      </Stack>
    </Section>
  );
}
