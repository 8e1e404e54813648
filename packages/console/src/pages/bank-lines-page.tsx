import { Card, Checkbox, Group, Radio, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components, operations } from '../api/schema.js';
import { formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { FilePreview, type Previewed } from '../parts/file-preview.js';
import { ListFilter, Older } from '../parts/list-filter.js';
import { Section } from '../parts/section.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { RowActions } from '../parts/row-actions.js';
import { useMay } from '../session.js';
import { StatementPreview } from './statement-preview.js';
import { t } from '../text/text.js';

type Plan = components['schemas']['PreviewBankStatementData'];
type ConfirmationResult = components['schemas']['ConfirmBankStatementData'];
type Query = NonNullable<operations['listBankLines']['parameters']['query']>;
type BankLine = components['schemas']['BankLine'];

/** Previews and confirms bank statements. Lists statement lines whose account is unknown. */
export function BankLinesPage(): React.ReactElement {
  const [params] = useSearchParams();
  const query = Object.fromEntries(params) as Query;
  const page = useQuery({
    queryKey: ['bank-lines', query],
    queryFn: () => unwrapData(api.GET('/bank-lines', { params: { query } })),
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('bankStatements')}
      </Title>
      <Match />
      <Section title={t('keptBankLines')}>
        <ListFilter
          states={[
            { value: '', label: t('line_open') },
            { value: 'used', label: t('line_used') },
            { value: 'set-aside', label: t('line_set-aside') },
            { value: 'taken-back', label: t('line_taken-back') },
            { value: 'correction', label: t('line_correction') },
          ]}
          fields={[]}
        />
        {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
        {page.data?.lines.length === 0 && <EmptyState>{t('noBankLine')}</EmptyState>}
        <Stack gap="sm" maw={800}>
          {page.data?.lines.map((each) => (
            <OneLine key={each.id} of={each} />
          ))}
        </Stack>
        {page.data && <Older next={page.data.next} lookedBackTo={null} />}
      </Section>
    </>
  );
}

function Match(): React.ReactElement {
  const mayDecide = useMay('deposit.decide');
  return (
    <FilePreview
      title={t('matchStatement')}
      what={t('matchStatementHelp')}
      label={t('bankStatement')}
      accept=".csv,.txt,.xls,.htm,.html,.sta,.mt940,.940,.xml,text/csv,text/plain"
      preview={(file) => unwrapData(api.POST('/bank-statements/preview', { body: { file } }))}
      first
    >
      {(previewed) => (
        <>
          <StatementPreview of={previewed.plan} />
          {mayDecide && previewed.plan.incoming > 0 && (
            <Confirm key={previewed.plan.fingerprint} {...previewed} />
          )}
        </>
      )}
    </FilePreview>
  );
}

function Confirm({ name, content, plan }: Previewed<Plan>): React.ReactElement {
  const [byReference, setByReference] = useState(false);
  const [byAmount, setByAmount] = useState(false);
  const [done, setDone] = useState<ConfirmationResult | null>(null);
  const { named, referenced, amount: alone } = plan.matches;
  return (
    <Stack maw={640} mt="sm">
      <ActionForm
        title={t('confirmStatement')}
        consequence={t('confirmStatementHelp', {
          found: named + (byReference ? referenced : 0) + (byAmount ? alone : 0),
          amount: formatRupiah(
            plan.amount_named +
              (byReference ? plan.amount_referenced : 0) +
              (byAmount ? plan.amount_by_amount : 0),
          ),
        })}
        run={async (reason) => {
          const { fingerprint } = plan;
          const trusted = { by_reference: byReference, by_amount: byAmount };
          const body = { file: content, name, fingerprint, ...trusted, reason };
          setDone(await unwrapData(api.POST('/bank-statements', { body })));
        }}
      >
        {referenced > 0 && (
          <Checkbox
            label={t('byReference', { found: referenced, amount: formatRupiah(plan.amount_referenced) })}
            checked={byReference}
            onChange={(event) => setByReference(event.currentTarget.checked)}
          />
        )}
        {alone > 0 && (
          <Checkbox
            label={t('byAmount', { found: alone, amount: formatRupiah(plan.amount_by_amount) })}
            checked={byAmount}
            onChange={(event) => setByAmount(event.currentTarget.checked)}
          />
        )}
      </ActionForm>
      {done && (
        <Text size="sm" role="status">
          {t('confirmedLines', { confirmed: done.confirmed, kept: done.kept })}{' '}
          {done.corrected > 0 && t('correctedLines', { corrected: done.corrected })}{' '}
          {done.stood > 0 && t('stoodLines', { stood: done.stood })}{' '}
          {done.left.length > 0 && t('leftLines', { lines: done.left.map(({ line }) => line).join(', ') })}
        </Text>
      )}
    </Stack>
  );
}

function OneLine({ of }: { of: BankLine }): React.ReactElement {
  const mayDecide = useMay('deposit.decide');
  const [depositId, setDepositId] = useState('');
  const [meant, setMeant] = useState(false);
  const amount = formatRupiah(of.amount);
  const to = { params: { path: { id: of.id } } };
  return (
    <Card withBorder component="article" aria-label={`${of.day} ${amount} ${of.description}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600}>{amount}</Text>
        <Status>{t(`line_${of.status}`)}</Status>
      </Group>
      <Facts
        of={[
          [t('day'), of.day],
          [t('bankText'), of.description],
          [t('file'), of.file],
          [t('depositId'), of.deposit_id],
          ...of.same_before.map(({ day, status, deposit_id }): [string, string] => [
            t('sameBefore'),
            `${day} ${t(`line_${status}`)} ${deposit_id ?? ''}`.trim(),
          ]),
          [t('decidedBy'), of.decided?.actor],
          [t('reason'), of.decided?.reason],
          [t('decidedAt'), of.decided && <Time at={of.decided.at} />],
        ]}
      />
      {mayDecide && of.status === 'open' && (
        <RowActions>
          <ActionForm
            title={t('useLine')}
            consequence={t('useLineHelp', { amount })}
            run={(reason) =>
              unwrapData(
                api.POST('/bank-lines/{id}/use', {
                  ...to,
                  body: { deposit_id: depositId.trim(), meant, reason },
                }),
              )
            }
          >
            <DepositChoice of={of} value={depositId} onChange={setDepositId} />
            {of.same_before.length > 0 && (
              <Checkbox
                label={t('anotherPayment')}
                checked={meant}
                onChange={(event) => setMeant(event.currentTarget.checked)}
              />
            )}
          </ActionForm>
          <ActionForm
            title={t('setLineAside')}
            consequence={t('setLineAsideHelp')}
            danger
            run={(reason) => unwrapData(api.POST('/bank-lines/{id}/set-aside', { ...to, body: { reason } }))}
          />
        </RowActions>
      )}
      {mayDecide && (of.status === 'set-aside' || of.status === 'taken-back') && (
        <RowActions>
          <ActionForm
            title={t('reopenLine')}
            consequence={t('reopenLineHelp')}
            run={(reason) => unwrapData(api.POST('/bank-lines/{id}/reopen', { ...to, body: { reason } }))}
          />
        </RowActions>
      )}
    </Card>
  );
}

/** Offers the pending deposits of the line's amount. Further deposits are named by their reference. */
function DepositChoice({
  of: { choices, more_choices },
  value,
  onChange,
}: {
  of: BankLine;
  value: string;
  onChange: (id: string) => void;
}): React.ReactElement {
  const isOffered = choices.some(({ id }) => id === value);
  return (
    <>
      {choices.length > 0 && (
        <Radio.Group label={t('chooseDeposit')} value={isOffered ? value : null} onChange={onChange}>
          <Stack gap="xs" mt={4}>
            {choices.map(({ id, account, ref_id, created_at }) => (
              <Radio
                key={id}
                value={id}
                label={`${account} ${ref_id}`}
                description={<Time at={created_at} />}
              />
            ))}
          </Stack>
        </Radio.Group>
      )}
      {(choices.length === 0 || more_choices) && (
        <TextInput
          label={t('depositReference')}
          description={choices.length === 0 ? t('noChoice') : undefined}
          required={!isOffered}
          maxLength={64}
          value={isOffered ? '' : value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </>
  );
}
