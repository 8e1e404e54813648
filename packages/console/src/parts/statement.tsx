import { Anchor, Button, Group, Table, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { formatRupiah } from '../format.js';
import { language, t } from '../text/text.js';
import { translate } from '../text/translate.js';
import { Facts } from './facts.js';
import { EmptyState, Time } from './states.js';
import { QueryForm } from './query-form.js';
import { Section } from './section.js';

/**
 * The movements of a wallet. A button loads them, because each read is recorded in the audit log.
 */
export function Statement({ username }: { username: string }): React.ReactElement {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const days = { ...(from !== '' && { from }), ...(to !== '' && { to }) };
  const statement = useMutation({
    mutationFn: (after: string | undefined) => {
      const query = { ...days, ...(after !== undefined && { after }) };
      return unwrapData(api.GET('/accounts/{username}/statement', { params: { path: { username }, query } }));
    },
  });
  const { data: shown, isPending, error, mutate } = statement;
  return (
    <Section title={t('statement')}>
      <Text size="sm">{t('statementHelp')}</Text>
      <QueryForm button={t('showStatement')} asked={{ isPending, error, mutate: () => mutate(undefined) }}>
        <TextInput
          type="date"
          label={t('from')}
          value={from}
          onChange={(e) => setFrom(e.currentTarget.value)}
        />
        <TextInput type="date" label={t('to')} value={to} onChange={(e) => setTo(e.currentTarget.value)} />
      </QueryForm>
      <Files username={username} days={days} />
      {shown && (
        <>
          <Facts
            of={[
              [t('opening'), formatRupiah(shown.opening_balance)],
              [t('closing'), formatRupiah(shown.closing_balance)],
            ]}
          />
          {shown.entries.length === 0 ? (
            <EmptyState>{t('noEntry')}</EmptyState>
          ) : (
            <Entries of={shown.entries} />
          )}
          {shown.next !== null && (
            <Button my="sm" variant="default" onClick={() => mutate(shown.next ?? undefined)}>
              {t('laterEntries', { count: shown.left })}
            </Button>
          )}
        </>
      )}
    </Section>
  );
}

function Files({ username, days }: { username: string; days: Record<string, string> }): React.ReactElement {
  const to = (file: string, more: Record<string, string>) =>
    `/admin/accounts/${username}/${file}?${new URLSearchParams({ ...days, ...more }).toString()}`;
  return (
    <Group gap="md">
      <Anchor href={to('statement.csv', {})} size="sm">
        {t('statementCsv')}
      </Anchor>
      <Anchor href={to('statement.csv', { format: 'csv-excel' })} size="sm">
        {t('statementExcel')}
      </Anchor>
      <Anchor href={to('statement.pdf', { lang: language })} size="sm">
        {t('statementPdf')}
      </Anchor>
    </Group>
  );
}

interface Entry {
  at: string;
  kind: string;
  ref_id: string | null;
  subject_id: string;
  amount: number;
  balance: number;
}

/** A table of movements of a wallet. */
export function Entries({ of }: { of: Entry[] }): React.ReactElement {
  const numbers = { whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' } as const;
  return (
    <Table.ScrollContainer minWidth={560} tabIndex={0} type="native">
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('time')}</Table.Th>
            <Table.Th>{t('kind')}</Table.Th>
            <Table.Th>{t('reference')}</Table.Th>
            <Table.Th ta="end">{t('amount')}</Table.Th>
            <Table.Th ta="end">{t('balance')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {of.map(({ at, kind, ref_id: refId, subject_id: subjectId, amount, balance }) => (
            <Table.Tr key={`${subjectId} ${kind} ${balance} ${at}`}>
              <Table.Td>
                <Time at={at} />
              </Table.Td>
              <Table.Td>{translate(kind)}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{refId ?? subjectId}</Table.Td>
              <Table.Td ta="end" style={numbers}>
                {formatRupiah(amount)}
              </Table.Td>
              <Table.Td ta="end" style={numbers}>
                {formatRupiah(balance)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
