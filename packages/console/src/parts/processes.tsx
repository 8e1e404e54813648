import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { EmptyState, Status, Time, LoadingState } from './states.js';

/** The running processes of the service, each with its release. */
export function Processes(): React.ReactElement {
  const found = useQuery({
    queryKey: ['processes'],
    queryFn: () => unwrapData(api.GET('/system/processes')),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
  if (!found.data) {
    return (
      <Section title={t('processes')}>
        <LoadingState error={found.error} retry={found.refetch} />
      </Section>
    );
  }
  const { processes, releases } = found.data;
  const names = releases.map((each) => each ?? t('releaseUnknown'));
  return (
    <Section title={t('processes')}>
      {processes.length === 0 && <EmptyState>{t('noProcess')}</EmptyState>}
      {releases.length > 1 && (
        <Alert color="orange" role="status" mb="sm">
          {t('severalReleases', { releases: names.join(', ') })}
        </Alert>
      )}
      <Rows
        label={t('processes')}
        heads={[t('processType'), t('status'), t('release'), t('memory'), t('startedAt'), t('lastHeardAt')]}
        ends={[3]}
        minWidth={720}
        rows={processes.map((each) => ({
          key: each.id,
          cells: [
            each.type,
            <Status state={each.is_silent ? 'fail' : 'ok'}>
              {t(each.is_silent ? 'process_silent' : 'process_alive')}
            </Status>,
            each.version ?? t('releaseUnknown'),
            each.memory_bytes === null ? '' : `${Math.round(each.memory_bytes / 1e6)} MB`,
            each.started_at && <Time at={each.started_at} />,
            <Time at={each.last_heard_at} />,
          ],
        }))}
      />
    </Section>
  );
}
