import { Alert, Button, Progress, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatCount, formatRupiah, formatSeconds } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { Rows } from '../parts/rows.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { Section } from '../parts/section.js';

type Ledger = components['schemas']['GetLedgerData'];

const refreshIntervalMs = 30_000;
const runningRefreshIntervalMs = 1_500;

/** The verification of the ledger, the balances of its accounts and the closed days. */
export function LedgerPage(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const before = params.get('before');
  const found = useQuery({
    queryKey: ['ledger', before],
    queryFn: () => unwrapData(api.GET('/ledger', { params: { query: before === null ? {} : { before } } })),
    refetchInterval: ({ state }) => (state.data?.running ? runningRefreshIntervalMs : refreshIntervalMs),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('ledger')}
      </Title>
      {found.data ? (
        <>
          <Verification of={found.data} />
          <Accounts of={found.data.accounts} />
          <Closes of={found.data.closes} />
          {found.data.next !== null && (
            <Button variant="default" my="md" onClick={() => setParams({ before: found.data.next ?? '' })}>
              {t('earlierCloses')}
            </Button>
          )}
        </>
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </>
  );
}

function Verification({ of }: { of: Ledger }): React.ReactElement {
  const mayRun = useMay('ledger.run');
  const { running, verifications } = of;
  const last = verifications[0];
  return (
    <Section title={t('verification')} first>
      {!last && <EmptyState>{t('noVerification')}</EmptyState>}
      {last && (
        <Alert color={last.ok ? 'green' : 'red'} role="status">
          {describeStatus(last)}
        </Alert>
      )}
      {last && last.not_checked.length > 0 && (
        <Text size="sm" my="xs">
          {t('notChecked', { rules: last.not_checked.map(({ title }) => title).join('; ') })}
        </Text>
      )}
      <Facts
        of={[
          [t('lastVerification'), last && <Time at={last.at} />],
          [t('took'), last && formatSeconds(last.duration_ms / 1_000)],
          [t('nextVerification'), <Time at={of.next_verification_at} />],
        ]}
      />
      {last && last.findings.length > 0 && (
        <Rows
          label={t('findings')}
          heads={[t('rule'), t('subject'), t('found')]}
          rows={last.findings.map(({ check, subject, message }) => ({
            key: `${check} ${subject} ${message}`,
            cells: [last.checks.find((each) => each.check === check)?.title ?? check, subject, message],
          }))}
        />
      )}
      {running && <RunningVerification of={running} />}
      {mayRun && !running && (
        <Stack maw={640} my="md">
          <ActionForm
            title={t('verifyNow')}
            consequence={t('verifyNowHelp')}
            run={(reason) => unwrapData(api.POST('/ledger/verify', { body: { reason } }))}
          />
        </Stack>
      )}
      {verifications.length > 1 && (
        <Rows
          label={t('verifications')}
          heads={[t('day'), t('time'), t('status'), t('took')]}
          ends={[3]}
          rows={verifications.map((each) => ({
            key: each.day,
            cells: [
              each.day,
              <Time at={each.at} />,
              describeStatus(each),
              formatSeconds(each.duration_ms / 1_000),
            ],
          }))}
        />
      )}
    </Section>
  );
}

/**
 * Describes the result of a verification. A result with unchecked rules is never reported as fully
 * verified.
 */
function describeStatus({ ok, failures, not_checked }: Ledger['verifications'][number]): string {
  if (!ok) {
    return t('notVerified', { count: formatCount(failures) });
  }
  return not_checked.length > 0 ? t('verifiedInPart') : t('verified');
}

function RunningVerification({ of }: { of: NonNullable<Ledger['running']> }): React.ReactElement {
  const text = t(`verifying_${of.what}`, { done: formatCount(of.done), total: formatCount(of.total) });
  return (
    <Stack gap={4} my="md" maw={640} role="status">
      <Text size="sm">{text}</Text>
      <Progress
        value={of.total === 0 ? 0 : Math.min(100, (of.done / of.total) * 100)}
        aria-label={t('verification')}
        animated
      />
    </Stack>
  );
}

function Accounts({ of }: { of: Ledger['accounts'] }): React.ReactElement {
  return (
    <Section title={t('ledgerAccounts')}>
      <Text size="sm">{t('ledgerAccountsHelp')}</Text>
      {of.length === 0 ? (
        <EmptyState>{t('noClose')}</EmptyState>
      ) : (
        <Rows
          label={t('ledgerAccounts')}
          heads={[t('ledgerAccount'), t('atClose'), t('now')]}
          ends={[1, 2]}
          minWidth={340}
          rows={of.map(({ account, closed, now }) => ({
            key: account,
            cells: [account, formatRupiah(closed), now === null ? '–' : formatRupiah(now)],
          }))}
        />
      )}
    </Section>
  );
}

function Closes({ of }: { of: Ledger['closes'] }): React.ReactElement {
  return (
    <Section title={t('closes')}>
      <Text size="sm">{t('closesHelp')}</Text>
      {of.length > 0 && (
        <Rows
          label={t('closes')}
          heads={[t('day'), t('root'), t('signed'), t('walletsMoved'), t('journals'), t('auditEntries')]}
          ends={[3, 4, 5]}
          minWidth={640}
          rows={of.map((each) => ({
            key: each.day,
            cells: [
              each.day,
              <Text component="code" size="xs">
                {each.root}
              </Text>,
              each.is_signed ? t('yes') : t('no'),
              formatCount(each.wallets),
              formatCount(each.journals),
              each.audit_entries === null ? '–' : formatCount(each.audit_entries),
            ],
          }))}
        />
      )}
    </Section>
  );
}
