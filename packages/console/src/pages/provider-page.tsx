import { Anchor, NativeSelect, SimpleGrid, Stack, Text, Textarea, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatClockTime, formatDate, formatRupiah, formatSeconds } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { NumberField } from '../parts/number-field.js';
import { parseNumber } from '../parts/parse-number.js';
import { Facts } from '../parts/facts.js';
import { OrdersPlot, ProviderPlots } from '../parts/provider-plots.js';
import { ImportCatalogue } from '../parts/import-catalogue.js';
import { PriceDifferences, ReconcileDay } from '../parts/provider-checks.js';
import { Rows } from '../parts/rows.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { providerFacts, ProviderStates } from './providers-page.js';
import { Section } from '../parts/section.js';

type Provider = components['schemas']['GetProviderData'];

const plotDays = ['1', '7', '30'] as const;

/** One provider: its state, its history and the actions. */
export function ProviderPage(): React.ReactElement {
  const { seller = '' } = useParams();
  const [params, setParams] = useSearchParams();
  const days = plotDays.find((each) => each === params.get('days')) ?? '1';
  const mayCompare = useMay('provider.reconcile');
  const mayImport = useMay('price-import.look');
  const found = useQuery({
    queryKey: ['provider', seller, days],
    queryFn: () =>
      unwrapData(
        api.GET('/providers/{username}', {
          params: { path: { username: seller }, query: { days: Number(days) } },
        }),
      ),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
  return (
    <>
      <Title order={1} size="h3" mb="xs">
        {seller}
      </Title>
      {found.data ? (
        <>
          <ProviderSummary of={found.data} />
          <NativeSelect
            label={t('period')}
            value={days}
            data={plotDays.map((value) => ({ value, label: t(`days_${value}`) }))}
            onChange={(event) => setParams({ days: event.currentTarget.value })}
            maw={200}
            mt="lg"
          />
          <History of={found.data} isOneDay={days === '1'} />
          <Changes of={found.data.changes} />
          <ProviderControls of={found.data} />
          {mayImport && <ImportCatalogue seller={seller} />}
          {mayCompare && <PriceDifferences seller={seller} />}
          {mayCompare && <ReconcileDay seller={seller} />}
        </>
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </>
  );
}

function ProviderSummary({ of }: { of: Provider }): React.ReactElement {
  return (
    <>
      <ProviderStates of={of} />
      <Facts
        of={[
          ...providerFacts(of),
          [t('inFlight'), t('inFlightAre', of.in_flight)],
          [t('kind'), of.kind],
          [t('address'), of.address],
          [t('nameThere'), of.username],
          [
            t('account'),
            <Anchor component={Link} to={`/accounts/${of.seller}`} size="sm">
              {of.seller}
            </Anchor>,
          ],
        ]}
      />
    </>
  );
}

function History({ of, isOneDay }: { of: Provider; isOneDay: boolean }): React.ReactElement {
  const zone = useZone();
  const labels = of.steps.map(({ from }) =>
    isOneDay ? formatClockTime(zone, from) : `${formatDate(zone, from)} ${formatClockTime(zone, from)}`,
  );
  return (
    <>
      <OrdersPlot steps={of.steps} labels={labels} />
      <ProviderPlots of={[{ seller: of.seller, steps: of.steps }]} labels={labels} />
    </>
  );
}

const reasons = ['failing', 'hanging', 'served', 'operator', 'configuration', 'float'] as const;

function Changes({ of }: { of: Provider['changes'] }): React.ReactElement {
  const describeReason = (word: string | null) => {
    const known = reasons.find((each) => each === word);
    return known ? t(`circuitBecause_${known}`) : (word ?? '–');
  };
  return (
    <Section title={t('circuitHistory')}>
      {of.length === 0 ? (
        <EmptyState>{t('noCircuitChange')}</EmptyState>
      ) : (
        <Rows
          label={t('circuitHistory')}
          heads={[t('time'), t('circuit'), t('disabledBecause')]}
          rows={of.map(({ at, to, because: why }, place) => ({
            key: `${at} ${place}`,
            cells: [
              <Time at={at} />,
              t(to === 'open' ? 'circuit_open' : 'circuit_closed'),
              describeReason(why),
            ],
          }))}
        />
      )}
    </Section>
  );
}

function ProviderControls({ of }: { of: Provider }): React.ReactElement | null {
  const [maySteer, maySet, mayTest] = [
    useMay('provider.steer'),
    useMay('provider.set'),
    useMay('provider.float'),
  ];
  const { seller } = of;
  const to = { params: { path: { username: seller } } };
  if (![maySteer, maySet, mayTest].includes(true)) {
    return null;
  }
  return (
    <>
      <Title order={2} size="h4" mt="xl" mb="sm">
        {t('actions')}
      </Title>
      <Stack gap="sm" maw={640}>
        {maySteer && !of.paused && (
          <ActionForm
            key="pause"
            title={t('pauseProvider')}
            consequence={t('pauseProviderHelp', { seller })}
            danger
            run={(reason) => unwrapData(api.POST('/providers/{username}/pause', { ...to, body: { reason } }))}
          />
        )}
        {maySteer && (of.paused !== null || of.circuit !== 'closed') && (
          <ActionForm
            key="resume"
            title={t('resumeProvider')}
            consequence={t('resumeProviderHelp', { seller })}
            run={(reason) =>
              unwrapData(api.POST('/providers/{username}/resume', { ...to, body: { reason } }))
            }
          />
        )}
        {mayTest && <TestCall seller={seller} />}
        {maySet && <Limits of={of} />}
      </Stack>
    </>
  );
}

function TestCall({ seller }: { seller: string }): React.ReactElement {
  const [result, setResult] = useState('');
  return (
    <ActionForm
      title={t('testProvider')}
      consequence={t('testProviderHelp')}
      run={async (reason) => {
        setResult('');
        const {
          float,
          duration_ms: ms,
          problem,
        } = await unwrapData(
          api.POST('/providers/{username}/test', {
            params: { path: { username: seller } },
            body: { reason },
          }),
        );
        const time = formatSeconds(ms / 1_000);
        setResult(
          float === null
            ? t('testProblem', { time, problem: problem ?? '' })
            : t('testAnswer', { time, float: formatRupiah(float) }),
        );
      }}
    >
      {result !== '' && (
        <Text size="sm" fw={600} role="status" style={{ overflowWrap: 'anywhere' }}>
          {result}
        </Text>
      )}
    </ActionForm>
  );
}

type Limit = keyof Provider['limits'];

/**
 * Limits of a provider. An empty field means no limit. For the maximum wait, it means the default.
 */
function Limits({
  of: { seller, limits, serial_placeholders: texts },
}: {
  of: Provider;
}): React.ReactElement {
  const [given, setGiven] = useState<Record<Limit, string>>({
    calls_per_second: String(limits.calls_per_second ?? ''),
    concurrency: String(limits.concurrency ?? ''),
    max_wait_s: String(limits.max_wait_s ?? ''),
  });
  const [placeholders, setPlaceholders] = useState(texts.join('\n'));
  const names = Object.keys(given) as Limit[];
  return (
    <ActionForm
      title={t('setLimits')}
      consequence={t('setLimitsHelp', { seller })}
      run={(reason) => {
        const changed = names
          .map((name) => [name, given[name].trim() === '' ? null : parseNumber(given[name])] as const)
          .filter(([name, value]) => value !== limits[name]);
        return unwrapData(
          api.POST('/providers/{username}/limits', {
            params: { path: { username: seller } },
            body: {
              ...Object.fromEntries(changed),
              ...(placeholders !== texts.join('\n') && { serial_placeholders: splitLines(placeholders) }),
              reason,
            },
          }),
        );
      }}
    >
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        {names.map((name) => (
          <NumberField
            key={name}
            label={t(`limit_${name}`)}
            description={name === 'max_wait_s' ? t('standardHint') : t('noLimitHint')}
            least={1}
            value={given[name]}
            onChange={(value) => setGiven((before) => ({ ...before, [name]: value }))}
          />
        ))}
      </SimpleGrid>
      <Textarea
        label={t('serialPlaceholders')}
        description={t('serialPlaceholdersHint')}
        autosize
        minRows={2}
        value={placeholders}
        onChange={(event) => setPlaceholders(event.currentTarget.value)}
      />
    </ActionForm>
  );
}

function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
