import { Anchor, Code, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { ActionForm } from '../parts/action-form.js';
import { JobFacts, type Job } from '../parts/job-list.js';
import { Rows } from '../parts/rows.js';
import { Section } from '../parts/section.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { retryJob } from '../parts/retry-job.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

/** One job: its state, its failures and a button to retry it. */
export function JobPage(): React.ReactElement {
  const { id = '' } = useParams();
  const found = useQuery({
    queryKey: ['job', id],
    queryFn: () => unwrapData(api.GET('/jobs/{id}', { params: { path: { id } } })),
  });
  if (!found.data) {
    return (
      <>
        <BackToJobs />
        <Title order={1} size="h3" my="xs" style={{ overflowWrap: 'anywhere' }}>
          {id}
        </Title>
        <LoadingState error={found.error} retry={found.refetch} />
      </>
    );
  }
  const { job, payload, failures } = found.data;
  return (
    <>
      <BackToJobs />
      <Group justify="space-between" mt="xs">
        <Title order={1} size="h3">
          {job.name}
        </Title>
        <Status state={job.state}>{t(`state_${job.state}`)}</Status>
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {t('subjectOfJob')}: {job.subject ?? job.id}
      </Text>
      <JobFacts of={job} />
      <Section title={t('payload')}>
        {payload === null ? (
          <EmptyState>{t('payloadUnknown')}</EmptyState>
        ) : (
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {payload}
          </Code>
        )}
      </Section>
      <Section title={t('failuresOfJob')}>
        {failures.length === 0 ? (
          <EmptyState>{t('failuresGone')}</EmptyState>
        ) : (
          <Rows
            label={t('failuresOfJob')}
            heads={[t('time'), t('lastError')]}
            rows={failures.map(({ at, reason }, place) => ({
              key: `${at} ${place}`,
              cells: [<Time at={at} />, reason],
            }))}
          />
        )}
      </Section>
      <RetryJob of={job} />
    </>
  );
}

function BackToJobs(): React.ReactElement {
  return (
    <Anchor component={Link} to="/jobs" size="sm">
      {t('jobs')}
    </Anchor>
  );
}

function RetryJob({ of }: { of: Job }): React.ReactElement | null {
  const mayRetry = useMay('queue.work');
  const go = useNavigate();
  if (of.refusal !== null) {
    return <EmptyState>{t('cannotRetry', { why: t(`notRetried_${of.refusal}`) })}</EmptyState>;
  }
  if (!mayRetry) {
    return null;
  }
  return (
    <Section title={t('actions')}>
      <ActionForm
        title={t('retryOne')}
        consequence={t('retryOneHelp')}
        run={async (reason) => {
          await retryJob(of.id, reason);
          // Open the list, because the retry is a new job with a different id.
          await go(`/jobs?about=${encodeURIComponent(of.purchase ?? of.subject ?? of.id)}`);
        }}
      />
    </Section>
  );
}
