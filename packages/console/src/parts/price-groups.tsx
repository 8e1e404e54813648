import { Anchor, Button, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { EmptyState, LoadingState } from './states.js';

/** The price groups, each with its number of accounts. */
export function PriceGroups(): React.ReactElement {
  const [after, setAfter] = useState<string>();
  const page = useQuery({
    queryKey: ['markups', 'groups', after],
    queryFn: () =>
      unwrapData(api.GET('/price-groups', { params: { query: after === undefined ? {} : { after } } })),
  });
  const { groups, counted_max: countedMax, next } = page.data ?? { groups: [], counted_max: 0, next: null };
  return (
    <Section title={t('priceGroups')}>
      <Text size="sm" mb="sm" maw={640}>
        {t('priceGroupsHelp')}
      </Text>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data && groups.length === 0 && <EmptyState>{t('noPriceGroup')}</EmptyState>}
      {groups.length > 0 && (
        <Rows
          label={t('priceGroups')}
          heads={[t('priceGroup'), t('accounts')]}
          ends={[1]}
          minWidth={240}
          rows={groups.map(({ name, accounts }) => ({
            key: name,
            cells: [
              <Anchor component={Link} to={`/markups?group=${name}`} size="sm">
                {name}
              </Anchor>,
              <Anchor component={Link} to={`/accounts?group=${name}`} size="sm">
                {accounts < countedMax ? accounts : t('orMore', { count: accounts })}
              </Anchor>,
            ],
          }))}
        />
      )}
      {next !== null && (
        <Button my="md" variant="default" onClick={() => setAfter(next)}>
          {t('nextPriceGroups')}
        </Button>
      )}
    </Section>
  );
}

/** Adds a buyer to a price group, or removes the buyer from its current group. */
export function SetPriceGroup({
  username,
  group,
}: {
  username: string;
  group: string | null;
}): React.ReactElement {
  const [name, setName] = useState(group ?? '');
  return (
    <ActionForm
      title={t('setPriceGroup')}
      consequence={t('setPriceGroupHelp', { account: username })}
      run={(reason) =>
        unwrapData(
          api.POST('/accounts/{username}/group', {
            params: { path: { username } },
            body: { group: name.trim() === '' ? null : name.trim(), reason },
          }),
        )
      }
    >
      <TextInput
        label={t('priceGroup')}
        description={t('priceGroupHint')}
        value={name}
        maxLength={32}
        autoCapitalize="none"
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </ActionForm>
  );
}
