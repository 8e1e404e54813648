import { Title } from '@mantine/core';
import type { components } from '../api/schema.js';
import { formatCount, formatRupiah } from '../format.js';
import { Facts } from '../parts/facts.js';
import { Rows } from '../parts/rows.js';
import { EmptyState } from '../parts/states.js';
import { t } from '../text/text.js';

type Plan = components['schemas']['PreviewBankStatementData'];

/** The preview of a bank statement: what each line matches, and the lines that credit nothing. */
export function StatementPreview({ of }: { of: Plan }): React.ReactElement {
  const matches = Object.entries(of.matches) as [keyof Plan['matches'], number][];
  return (
    <>
      <Facts
        of={[
          [t('incomingLines'), formatCount(of.incoming)],
          [t('daysOfStatement'), formatDays(of)],
          ...matches.map(([match, found]): [string, string | null] => [
            t(`match_${match}`),
            found === 0 ? null : formatCount(found),
          ]),
          [t('outgoingLines'), formatCount(of.outgoing)],
          [t('otherLines'), formatCount(of.others)],
          [t('notRead'), of.refused_found === 0 ? null : formatCount(of.refused_found)],
        ]}
      />
      {of.lines.length > 0 && (
        <Rows
          label={t('incomingLines')}
          heads={[t('line'), t('day'), t('amount'), t('fitsTo'), t('meant'), t('bankText')]}
          ends={[0, 2]}
          minWidth={860}
          rows={of.lines.map(({ line, day, amount, match, same_before, deposits, description }) => ({
            key: String(line),
            cells: [
              line,
              day,
              formatRupiah(amount),
              `${t(`match_${match}`)}${same_before ? `; ${t('sameBefore')}` : ''}`,
              deposits.map((each) => `${each.account} ${each.ref_id}`).join(', ') || '–',
              description,
            ],
          }))}
        />
      )}
      {of.incoming > of.lines.length && (
        <EmptyState>{t('firstLinesOnly', { shown: of.lines.length })}</EmptyState>
      )}
      <Listed
        title={t('corrections')}
        heads={[t('line'), t('day'), t('amount'), t('takesBack'), t('bankText')]}
        ends={[0, 2]}
        rows={of.corrections.map((each) => [
          each.line ?? '–',
          each.day ?? '–',
          formatRupiah(each.amount),
          describeTakenBack(each.payment),
          each.description,
        ])}
        count={of.corrections_found}
      />
      <Listed
        title={t('notRead')}
        heads={[t('line'), t('columnOfFile'), t('whyRefused')]}
        rows={of.refused.map(({ line, why, column }) => [line, column ?? '–', t(`refused_${why}`)])}
        count={of.refused_found}
      />
      <Listed
        title={t('outgoingLines')}
        heads={[t('line'), t('day'), t('amount'), t('bankText')]}
        ends={[0, 2]}
        rows={of.outgoing_lines.map(({ line, day, amount, description }) => [
          line,
          day ?? '–',
          formatRupiah(amount),
          description,
        ])}
        count={of.outgoing}
      />
      <Listed
        title={t('otherLines')}
        heads={[t('line'), t('bankText')]}
        rows={of.other_lines.map(({ line, text }) => [line, text])}
        count={of.others}
      />
    </>
  );
}

/** A list of lines that credit nothing. A list that is cut says so. */
function Listed({
  title,
  heads,
  rows,
  count,
  ends = [0],
}: {
  title: string;
  heads: string[];
  rows: (string | number)[][];
  count: number;
  /** Columns that are aligned to the end. */
  ends?: number[];
}): React.ReactElement | null {
  return rows.length === 0 ? null : (
    <>
      <Title order={3} size="h5" mt="sm">
        {`${title} (${formatCount(count)})`}
      </Title>
      <Rows
        label={title}
        heads={heads}
        ends={ends}
        minWidth={520}
        rows={rows.map((cells, n) => ({ key: String(n), cells }))}
      />
      {count > rows.length && <EmptyState>{t('firstOfCount', { shown: rows.length, count })}</EmptyState>}
    </>
  );
}

function describeTakenBack(payment: Plan['corrections'][number]['payment']): string {
  if (!payment) {
    return t('takesBackUnknown');
  }
  const { line, day, deposit_id } = payment;
  const what = line === null ? t('takesBackOf', { day }) : t('takesBackLine', { line });
  return deposit_id === null ? what : `${what}, ${t('creditedTo', { deposit: deposit_id })}`;
}

function formatDays({ first_day, last_day, is_order_told }: Plan): string | null {
  const range = first_day === last_day ? first_day : `${first_day} – ${last_day}`;
  return range !== null && !is_order_told ? `${range}. ${t('dateOrderUnclear')}` : range;
}
