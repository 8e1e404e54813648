import { NativeSelect, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { unwrapData } from '../../api/unwrap-data.js';
import { FilterField, FilterForm, Older } from '../../parts/list-filter.js';
import { EmptyState, LoadingState } from '../../parts/states.js';
import { t } from '../../text/text.js';
import { portalApi } from '../client.js';
import { RequestList } from '../request-list.js';

/** The requests of the account in the last 24 hours, with the responses. */
export function RequestsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params);
  const page = useQuery({
    queryKey: ['requests', query],
    queryFn: () => unwrapData(portalApi.GET('/api/buyer/requests', { params: { query } })),
    refetchInterval: 5_000,
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('requests')}
      </Title>
      {page.data && (
        <Text size="sm" mb="sm">
          {page.data.kept_hours === 0 ? t('requestsOff') : t('requestsHelp', { hours: page.data.kept_hours })}
        </Text>
      )}
      <FilterForm>
        <NativeSelect
          name="failed"
          label={t('outcome')}
          defaultValue={params.get('failed') ?? ''}
          data={[
            { value: '', label: t('any') },
            { value: 'true', label: t('refusedOnly') },
          ]}
        />
        <FilterField name="ref_id" label={t('reference')} />
      </FilterForm>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.requests.length === 0 && <EmptyState>{t('noRequest')}</EmptyState>}
      {page.data && <RequestList of={page.data.requests} />}
      {page.data && <Older name="cursor" next={page.data.next_cursor} lookedBackTo={null} />}
    </>
  );
}
