import { Anchor, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { useIsFetching, useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { JobList } from '../parts/job-list.js';
import { FilterField, FilterForm, Older } from '../parts/list-filter.js';
import { Rows } from '../parts/rows.js';
import { Section } from '../parts/section.js';
import { EmptyState, LoadingState } from '../parts/states.js';
import { t } from '../text/text.js';

type Query = operations['listJobs']['parameters']['query'];
type FoundJobs = components['schemas']['FindJobsData'];
type Queue = components['schemas']['Queue'];

const states = ['waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'] as const;

/** Jobs, searched by subject or listed by queue and state. */
export function JobsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const about = params.get('about');
  const queue = params.get('queue');
  const queues = useQuery({
    queryKey: ['queues'],
    queryFn: () => unwrapData(api.GET('/system/queues')),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
  // The queues are shown only after the jobs have loaded. Otherwise the jobs would move the queues
  // down.
  const isFirstLook =
    useIsFetching({ queryKey: ['jobs'], predicate: ({ state }) => state.data === undefined }) > 0;
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('jobs')}
      </Title>
      <Text size="sm" mb="sm" maw={800}>
        {t('jobsHelp')}
      </Text>
      <FilterForm>
        <FilterField name="about" label={t('subjectOfJob')} maxLength={140} />
      </FilterForm>
      {about !== null && <JobsAbout key={about} about={about} />}
      {queue !== null && (
        <JobsOfQueue query={{ ...Object.fromEntries(params), queue }} queues={queues.data?.queues ?? []} />
      )}
      {!isFirstLook && (
        <Section title={t('queues')}>
          {queues.data ? (
            <Queues of={queues.data.queues} />
          ) : (
            <LoadingState error={queues.error} retry={queues.refetch} />
          )}
        </Section>
      )}
    </>
  );
}

function Queues({ of }: { of: Queue[] }): React.ReactElement {
  return (
    <Rows
      label={t('queues')}
      heads={[t('queue'), ...states.map((state) => t(`state_${state}`)), t('workersTaking')]}
      ends={[1, 2, 3, 4, 5, 6, 7]}
      minWidth={800}
      rows={of.map((each) => ({
        key: each.name,
        cells: [
          each.is_paused ? `${each.title} (${t('queuePaused')})` : each.title,
          ...states.map((state) =>
            each[state] === 0 ? (
              0
            ) : (
              <Anchor
                component={Link}
                to={`/jobs?queue=${each.name}&state=${state}`}
                size="sm"
                aria-label={`${each.title}: ${each[state]} ${t(`state_${state}`)}`}
              >
                {each[state]}
              </Anchor>
            ),
          ),
          each.workers,
        ],
      }))}
    />
  );
}

function JobsAbout({ about }: { about: string }): React.ReactElement {
  const found = useQuery({
    queryKey: ['jobs', 'about', about],
    queryFn: () => unwrapData(api.GET('/jobs/about', { params: { query: { about } } })),
  });
  if (!found.data) {
    return <LoadingState error={found.error} retry={found.refetch} />;
  }
  return (
    <Section title={t('found')}>
      {found.data.jobs.length === 0 && <EmptyState>{t('noJobOf')}</EmptyState>}
      <Histories of={found.data.things} />
      <JobList of={found.data.jobs} />
    </Section>
  );
}

/**
 * Links to the purchase and account histories. A completed job has left its queue, but the history
 * is permanent.
 */
function Histories({ of }: { of: FoundJobs['things'] }): React.ReactElement | null {
  if (of.length === 0) {
    return null;
  }
  return (
    <Stack gap={4} my="sm">
      <Text size="sm">{t('historyIs')}</Text>
      {of.map((thing) => (
        <Anchor key={`${thing.kind} ${thing.id}`} component={Link} to={getPath(thing)} size="sm">
          {getName(thing)}
        </Anchor>
      ))}
    </Stack>
  );
}

function getPath({ kind, id, account }: FoundJobs['things'][number]): string {
  const places = {
    purchase: `/purchases/${id}`,
    account: `/accounts/${account ?? ''}`,
    settlement: `/settlements?status=all&account=${account ?? ''}`,
    report: `/accounts/${account ?? ''}`,
    delivery: `/webhooks?account=${account ?? ''}`,
  };
  return places[kind];
}

function getName({ kind, id, account }: FoundJobs['things'][number]): string {
  const username = account ?? '';
  const names = {
    purchase: t('timelineOf', { id }),
    account: t('accountOf', { username }),
    settlement: t('settlementsOf', { username }),
    report: t('accountOf', { username }),
    delivery: t('deliveriesOf', { username }),
  };
  return names[kind];
}

function JobsOfQueue({ query, queues }: { query: Query; queues: Queue[] }): React.ReactElement {
  const page = useQuery({
    queryKey: ['jobs', 'queue', query],
    queryFn: () => unwrapData(api.GET('/jobs', { params: { query } })),
  });
  const kinds = queues.find(({ name }) => name === query.queue)?.kinds ?? [];
  return (
    <Section title={t('queue')}>
      <FilterForm>
        <NativeSelect
          name="queue"
          label={t('queue')}
          defaultValue={query.queue}
          data={queues.map(({ name, title }) => ({ value: name, label: title }))}
          key={`queues ${queues.length}`}
        />
        <NativeSelect
          name="state"
          label={t('status')}
          defaultValue={query.state ?? 'failed'}
          data={states.map((value) => ({ value, label: t(`state_${value}`) }))}
        />
        <NativeSelect
          name="name"
          label={t('kindOfJob')}
          defaultValue={query.name ?? ''}
          data={[{ value: '', label: t('any') }, ...kinds]}
          key={`kinds ${kinds.length}`}
        />
      </FilterForm>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.jobs.length === 0 && <EmptyState>{t('noJobFits')}</EmptyState>}
      {page.data && <JobList of={page.data.jobs} />}
      {page.data && <Older next={page.data.next} lookedBackTo={null} />}
    </Section>
  );
}
