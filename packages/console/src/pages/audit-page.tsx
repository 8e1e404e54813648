import { Anchor, Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { Facts } from '../parts/facts.js';
import { FilterField, FilterForm, Older } from '../parts/list-filter.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { t } from '../text/text.js';

type Query = NonNullable<operations['listAudit']['parameters']['query']>;
type Entry = components['schemas']['AuditEntry'];

/** The audit log with its filter. */
export function AuditPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const page = useQuery({
    queryKey: ['audit', query],
    queryFn: () => unwrapData(api.GET('/audit', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('audit')}
      </Title>
      <Text size="sm" mb="sm">
        {t('auditHelp')}
      </Text>
      <FilterForm>
        <FilterField name="actor" label={t('actor')} />
        <FilterField name="action" label={t('action')} />
        <FilterField name="kind" label={t('subjectKind')} />
        <FilterField name="subject" label={t('subjectId')} />
        <FilterField name="from" label={t('from')} />
        <FilterField name="to" label={t('to')} />
      </FilterForm>
      <Anchor href={`/admin/audit.csv?${csvQuery(params)}`} download="audit.csv" size="sm">
        {t('asCsv')}
      </Anchor>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.entries.length === 0 && <EmptyState>{t('noAudit')}</EmptyState>}
      <Stack gap="xs" mt="sm">
        {page.data?.entries.map((each) => (
          <OneEntry key={each.id} of={each} />
        ))}
      </Stack>
      {page.data && <Older next={page.data.next} lookedBackTo={page.data.looked_back_to} name="before" />}
    </>
  );
}

function csvQuery(params: URLSearchParams): string {
  return new URLSearchParams([...params].filter(([name]) => name !== 'before')).toString();
}

function OneEntry({ of }: { of: Entry }): React.ReactElement {
  const { kind, subject } = of;
  return (
    <Card withBorder padding="sm" component="article" aria-label={`${of.action} ${subject}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600} size="sm">
          {of.action}
        </Text>
        <Text size="xs" c="dimmed">
          <Time at={of.at} />
        </Text>
      </Group>
      <Facts
        of={[
          [t('who'), of.from === null ? of.actor : `${of.actor} (${of.from})`],
          [
            kind,
            kind === 'transaction' ? (
              <Anchor component={Link} to={`/purchases/${subject}`} size="sm">
                {subject}
              </Anchor>
            ) : (
              subject
            ),
          ],
          [t('reason'), of.reason],
        ]}
      />
      {(of.before !== null || of.after !== null) && (
        <details>
          <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
            {t('changed')}
          </Text>
          <Stack gap={4} mt={4}>
            {(['before', 'after'] as const).map((name) => (
              <div key={name}>
                <Text size="xs" c="dimmed">
                  {t(name)}
                </Text>
                <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                  {of[name] ?? '–'}
                </Code>
              </div>
            ))}
          </Stack>
        </details>
      )}
    </Card>
  );
}
