import { Anchor, Button, Group, Table, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { formatRupiah } from '../format.js';
import { NewAccount } from '../parts/new-account.js';
import { EmptyState, Status, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';

/** Accounts by username with their balances. */
export function AccountsPage(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const mayCreate = useMay('account.create');
  const query = Object.fromEntries(params) as { prefix?: string; group?: string; after?: string };
  const page = useQuery({
    queryKey: ['accounts', query],
    queryFn: () => unwrapData(api.GET('/accounts', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('accounts')}
      </Title>
      <form
        key={params.toString()}
        onSubmit={(event) => {
          event.preventDefault();
          setParams(
            [...new FormData(event.currentTarget)].flatMap(([name, value]) =>
              typeof value === 'string' && value.trim() !== ''
                ? [[name, value.trim()] as [string, string]]
                : [],
            ),
          );
        }}
      >
        <Group align="end" gap="xs" mb="sm">
          <TextInput
            name="prefix"
            label={t('beginsWith')}
            defaultValue={query.prefix ?? ''}
            maxLength={40}
            autoCapitalize="none"
          />
          <TextInput
            name="group"
            label={t('priceGroup')}
            defaultValue={query.group ?? ''}
            maxLength={32}
            autoCapitalize="none"
          />
          <Button type="submit" color="teal.9">
            {t('find')}
          </Button>
        </Group>
      </form>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.accounts.length === 0 && <EmptyState>{t('noAccount')}</EmptyState>}
      {page.data && page.data.accounts.length > 0 && (
        <Table fz="sm" verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('account')}</Table.Th>
              <Table.Th visibleFrom="xs">{t('role')}</Table.Th>
              <Table.Th ta="end">{t('balance')}</Table.Th>
              <Table.Th>{t('status')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {page.data.accounts.map(({ username, role, balance, status }) => (
              <Table.Tr key={username}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Anchor component={Link} to={`/accounts/${username}`} size="sm">
                    {username}
                  </Anchor>
                </Table.Td>
                <Table.Td visibleFrom="xs">{role}</Table.Td>
                <Table.Td ta="end" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
                  {formatRupiah(balance)}
                </Table.Td>
                <Table.Td>
                  <Status>{status}</Status>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {page.data?.next && (
        <Button
          my="md"
          variant="default"
          onClick={() => setParams({ ...query, after: page.data.next ?? '' })}
        >
          {t('nextAccounts')}
        </Button>
      )}
      {mayCreate && <NewAccount />}
    </>
  );
}
