import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';

const typedMin = 2;

/**
 * A search that opens with Ctrl-K. It finds purchases and accounts by an id, a reference, a number
 * or a name.
 */
export function Finder(): React.ReactElement {
  const [typed, setTyped] = useState('');
  const [wanted] = useDebouncedValue(typed.trim(), 200);
  const go = useNavigate();
  const found = useSearch(wanted);
  const { purchases = [], accounts = [] } = found.data ?? {};
  const actions: SpotlightActionData[] =
    wanted.length < typedMin
      ? []
      : [
          ...accounts.map(({ username, role }) => ({
            id: `account ${username}`,
            label: username,
            description: `${t('account')}, ${role}`,
            onClick: () => void go(`/accounts/${username}`),
          })),
          ...purchases.map(({ id, product_code, customer_number, account, ref_id, status }) => ({
            id,
            label: `${product_code} ${customer_number} · ${status}`,
            description: `${account} · ${ref_id}`,
            onClick: () => void go(`/purchases/${id}`),
          })),
        ];
  return (
    <Spotlight
      actions={actions}
      query={typed}
      onQueryChange={setTyped}
      // The server has already filtered the results. A result that was found by an id need not
      // contain the query.
      filter={(_query, all) => all}
      nothingFound={
        typed.trim().length < typedMin || found.isFetching
          ? t('findHint')
          : (found.error?.message ?? t('nothingFound'))
      }
      searchProps={{ placeholder: t('findHint'), 'aria-label': t('find'), maxLength: 100 }}
      shortcut={['mod + K']}
      scrollable
      maxHeight={400}
    />
  );
}

export function useSearch(wanted: string) {
  return useQuery({
    queryKey: ['search', wanted],
    queryFn: () => unwrapData(api.GET('/search', { params: { query: { q: wanted } } })),
    enabled: wanted.length >= typedMin,
    placeholderData: keepPreviousData,
  });
}
