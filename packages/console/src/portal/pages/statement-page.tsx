import { Button, Group, TextInput, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { unwrapData, Refusal } from '../../api/unwrap-data.js';
import { formatRupiah } from '../../format.js';
import { Facts } from '../../parts/facts.js';
import { Entries } from '../../parts/statement.js';
import { ErrorMessage, EmptyState, LoadingState } from '../../parts/states.js';
import { t } from '../../text/text.js';
import { useZone } from '../../zone.js';
import { portalApi } from '../client.js';

interface Period {
  start_date?: string;
  end_date?: string;
}

/** Reads a page of the statement as JSON. */
async function readPage(query: Period & { cursor?: string }) {
  const { data, error, response } = await portalApi.GET('/api/buyer/statement', { params: { query } });
  const found = { ...(typeof data === 'object' && { data }), ...(error && { error }) };
  return unwrapData(Promise.resolve({ ...found, response }));
}

/** The movements of the wallet, as a list or as a file. */
export function StatementPage(): React.ReactElement {
  const [period, setPeriod] = useState<Period>({});
  const found = useInfiniteQuery({
    queryKey: ['statement', period],
    queryFn: ({ pageParam }) => readPage({ ...period, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const [first] = found.data?.pages ?? [];
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('statement')}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const fields = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '');
          setPeriod(Object.fromEntries(fields));
        }}
      >
        <Group align="end" gap="xs" my="sm">
          <TextInput type="date" name="start_date" label={t('from')} />
          <TextInput type="date" name="end_date" label={t('to')} />
          <Button type="submit" variant="default">
            {t('showStatement')}
          </Button>
        </Group>
      </form>
      <Download period={period} />
      {!first && <LoadingState error={found.error} retry={found.refetch} />}
      {first && (
        <Facts
          of={[
            [t('opening'), formatRupiah(first.opening_balance)],
            [t('closing'), formatRupiah(first.closing_balance)],
          ]}
        />
      )}
      {first && (entries.length === 0 ? <EmptyState>{t('noEntry')}</EmptyState> : <Entries of={entries} />)}
      {found.hasNextPage && (
        <Button
          my="md"
          variant="default"
          loading={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {t('moreEntries')}
        </Button>
      )}
    </>
  );
}

/** Downloads the whole period as a CSV file that Excel can open. */
function Download({ period }: { period: Period }): React.ReactElement {
  const zone = useZone();
  const file = useMutation({
    mutationFn: async () => {
      const { response, data } = await portalApi.GET('/api/buyer/statement', {
        params: { query: { ...period, format: 'csv-excel', tz: zone } },
        parseAs: 'blob',
      });
      if (!response.ok || !(data instanceof Blob)) {
        throw new Refusal('', false);
      }
      const link = document.createElement('a');
      link.href = URL.createObjectURL(data);
      link.download = 'statement.csv';
      link.click();
      URL.revokeObjectURL(link.href);
    },
  });
  return (
    <>
      <Button variant="default" size="xs" loading={file.isPending} onClick={() => file.mutate()}>
        {t('downloadCsv')}
      </Button>
      <ErrorMessage error={file.error} />
    </>
  );
}
