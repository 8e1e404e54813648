import { Alert, Anchor, Card, Code, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import {
  formatClockTime,
  formatCount,
  formatBusinessDay,
  formatPercent,
  formatRupiah,
  formatSeconds,
} from '../format.js';
import { Lines, Plots, StackedBars } from '../parts/plots.js';
import { ProviderPlots } from '../parts/provider-plots.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { Rows } from '../parts/rows.js';
import { Section } from '../parts/section.js';

type Today = components['schemas']['GetTodayData'];
type Figures = Today['today'];
type Kind = Today['attention'][number]['kind'];

const refreshIntervalMs = 30_000;

/** Work that needs an operator, followed by the figures of the day. */
export function TodayPage(): React.ReactElement {
  const found = useQuery({
    queryKey: ['today'],
    queryFn: () => unwrapData(api.GET('/today')),
    refetchInterval: refreshIntervalMs,
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('today')}
      </Title>
      {found.data ? (
        <TodayOverview of={found.data} />
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </>
  );
}

function TodayOverview({ of }: { of: Today }): React.ReactElement {
  return (
    <>
      <AttentionList of={of} />
      <Title order={2} size="h4" mt="xl">
        {t('business')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('businessHelp')} <Time at={of.at} />
      </Text>
      {!of.is_whole && (
        <Alert color="orange" my="sm">
          {t('totalsNotWhole')}
        </Alert>
      )}
      <FigureCards of={of} />
      <AllPlots of={of} />
      <ByProvider of={of} />
      <Providers of={of.providers} />
      <FailingJobs of={of.failing_jobs} />
    </>
  );
}

/**
 * Where an operator handles each kind of work: another page, a section of this page, or a command.
 */
const places: Record<Kind, { to: string } | { href: string } | { command: string }> = {
  openCases: { to: '/cases' },
  reviews: { to: '/cases' },
  deadDeliveries: { to: '/webhooks' },
  disabledWebhooks: { to: '/webhooks' },
  pendingDeposits: { to: '/deposits' },
  settlements: { to: '/settlements' },
  adjustments: { to: '/adjustments' },
  failedReports: { to: '/system' },
  failingJobs: { href: '#failing' },
};

/** The server stops counting at this number. */
const countMax = 1_000;

function AttentionList({ of: { attention, late } }: { of: Today }): React.ReactElement {
  const waiting = attention.filter(({ count: waits }) => waits > 0);
  const shownCount = (waits: number) => (waits >= countMax ? t('orMore', { count: waits }) : String(waits));
  return (
    <Section title={t('needsAttention')} first>
      {waiting.length === 0 && late === 0 && <EmptyState>{t('noCase')}</EmptyState>}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
        {waiting.map(({ kind, count: waits }) => (
          <Card key={kind} withBorder padding="sm">
            <Text fw={700} size="xl">
              {shownCount(waits)}
            </Text>
            <AttentionLink of={kind} />
          </Card>
        ))}
        {late > 0 && (
          <Card withBorder padding="sm">
            <Text fw={700} size="xl">
              {shownCount(late)}
            </Text>
            <Anchor component={Link} to="/system" size="sm">
              {t('lateWork')}
            </Anchor>
          </Card>
        )}
      </SimpleGrid>
    </Section>
  );
}

function AttentionLink({ of }: { of: Kind }): React.ReactElement {
  const place = places[of];
  const label = t(`attention_${of}`);
  if ('to' in place) {
    return (
      <Anchor component={Link} to={place.to} size="sm">
        {label}
      </Anchor>
    );
  }
  if ('href' in place) {
    return (
      <Anchor href={place.href} size="sm">
        {label}
      </Anchor>
    );
  }
  return (
    <>
      <Text size="sm">{label}</Text>
      <Code>{place.command}</Code>
    </>
  );
}

function FigureCards({ of }: { of: Today }): React.ReactElement {
  const { today, yesterday, suspense, latency } = of;
  const both = (show: (figures: Figures) => string) =>
    [show(today), t('yesterday', { value: show(yesterday) })] as const;
  const rate = (figures: Figures) =>
    figures.success_rate === null ? '–' : formatPercent(figures.success_rate);
  const inSeconds = (value: number | null) => (value === null ? '–' : formatSeconds(value));
  const cards: [string, string, string][] = [
    [t('purchases'), ...both(({ purchases }) => formatCount(purchases))],
    [t('successRate'), ...both(rate)],
    [t('sales'), ...both(({ sales }) => formatRupiah(sales))],
    [t('margin'), ...both(({ commission }) => formatRupiah(commission))],
    [
      t('timeToFinal'),
      inSeconds(latency.median_s),
      [
        t('p95Of', { value: inSeconds(latency.p95_s), count: formatCount(latency.ended) }),
        t('dayBefore', {
          value: `${inSeconds(latency.before.median_s)}, p95 ${inSeconds(latency.before.p95_s)}`,
        }),
      ].join(' · '),
    ],
    [
      t('suspense'),
      `${formatRupiah(suspense.amount)}${suspense.is_cut ? '+' : ''}`,
      [
        t('openPurchases', { count: `${formatCount(suspense.purchases)}${suspense.is_cut ? '+' : ''}` }),
        ...(suspense.closed === null
          ? []
          : [
              t('atEndOf', {
                day: formatBusinessDay(suspense.closed.day),
                value: formatRupiah(suspense.closed.amount),
              }),
            ]),
      ].join(' · '),
    ],
  ];
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, xl: 6 }} spacing="sm" my="md">
      {cards.map(([name, value, note]) => (
        <Card key={name} withBorder padding="sm" component="section" aria-label={name}>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
          <Text fw={700} style={{ fontVariantNumeric: 'tabular-nums', overflowWrap: 'anywhere' }}>
            {value}
          </Text>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {note}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}

const colours = {
  success: 'light-dark(var(--mantine-color-teal-7), var(--mantine-color-teal-5))',
  failed: 'light-dark(var(--mantine-color-red-7), var(--mantine-color-red-5))',
  refunded: 'light-dark(var(--mantine-color-orange-6), var(--mantine-color-orange-4))',
  open: 'light-dark(var(--mantine-color-gray-6), var(--mantine-color-gray-5))',
};

function AllPlots({ of: { hours, days } }: { of: Today }): React.ReactElement {
  const zone = useZone();
  const clocks = hours.map(({ from }) => formatClockTime(zone, from));
  return (
    <Plots>
      <StackedBars
        title={t('volumePlot')}
        labels={clocks}
        format={formatCount}
        series={(['success', 'open', 'refunded', 'failed'] as const).map((name) => ({
          name: t(`series_${name}`),
          colour: colours[name],
          values: hours.map((each) => each[name]),
        }))}
      />
      <Lines
        title={t('successPlot')}
        labels={clocks}
        format={formatPercent}
        top={1}
        series={[
          {
            name: t('successRate'),
            colour: colours.success,
            values: hours.map(({ success, failed, refunded }) =>
              success + failed + refunded === 0 ? null : success / (success + failed + refunded),
            ),
          },
        ]}
      />
      <Lines
        title={t('latencyPlot')}
        labels={clocks}
        format={formatSeconds}
        note={
          <Text size="xs" c="dimmed">
            {t('latencyNote')}
          </Text>
        }
        series={[
          { name: t('median'), colour: colours.success, values: hours.map((each) => each.latency.median_s) },
          { name: 'p95', colour: colours.refunded, values: hours.map((each) => each.latency.p95_s) },
        ]}
      />
      <StackedBars
        title={t('volumeOfDaysPlot')}
        labels={days.map(({ day }) => formatBusinessDay(day))}
        format={formatCount}
        series={(['success', 'open', 'refunded', 'failed'] as const).map((name) => ({
          name: t(`series_${name}`),
          colour: colours[name],
          values: days.map((each) => each[name]),
        }))}
      />
      <Lines
        title={t('successOfDaysPlot')}
        labels={days.map(({ day }) => formatBusinessDay(day))}
        format={formatPercent}
        top={1}
        series={[
          {
            name: t('successRate'),
            colour: colours.success,
            values: days.map(({ success_rate: rate }) => rate),
          },
        ]}
      />
      <StackedBars
        title={t('salesPlot')}
        labels={days.map(({ day }) => formatBusinessDay(day))}
        format={formatRupiah}
        series={[
          {
            name: t('toSellers'),
            colour: colours.success,
            values: days.map(({ sales, commission }) => sales - commission),
          },
          { name: t('margin'), colour: colours.refunded, values: days.map(({ commission }) => commission) },
        ]}
      />
    </Plots>
  );
}

function ByProvider({ of: { plotted, deliveries } }: { of: Today }): React.ReactElement {
  const zone = useZone();
  return (
    <>
      <Plots>
        <StackedBars
          title={t('deliveriesPlot')}
          labels={deliveries.map(({ from }) => formatClockTime(zone, from))}
          format={formatCount}
          series={(['delivered', 'failed'] as const).map((name) => ({
            name: t(`tries_${name}`),
            colour: name === 'delivered' ? colours.success : colours.failed,
            values: deliveries.map((each) => each[name]),
          }))}
        />
      </Plots>
      {plotted.length > 0 && (
        <ProviderPlots
          of={plotted}
          labels={(plotted[0]?.steps ?? []).map(({ from }) => formatClockTime(zone, from))}
        />
      )}
    </>
  );
}

function Providers({ of }: { of: Today['providers'] }): React.ReactElement {
  const heads = [
    t('seller'),
    t('purchases'),
    t('successRate'),
    t('series_failed'),
    t('series_open'),
    t('sales'),
    t('margin'),
  ];
  return (
    <Section title={t('providersToday')}>
      {of.length === 0 ? (
        <EmptyState>{t('nothingSold')}</EmptyState>
      ) : (
        <Rows
          label={t('providersToday')}
          heads={heads}
          ends={[1, 2, 3, 4, 5, 6]}
          minWidth={620}
          rows={of.map((each) => ({
            key: each.seller,
            cells: [
              <Anchor component={Link} to={`/purchases?seller=${each.seller}`} size="sm">
                {each.seller}
              </Anchor>,
              formatCount(each.purchases),
              each.success_rate === null ? '–' : formatPercent(each.success_rate),
              formatCount(each.failed),
              formatCount(each.open),
              formatRupiah(each.sales),
              formatRupiah(each.commission),
            ],
          }))}
        />
      )}
    </Section>
  );
}

function FailingJobs({ of }: { of: Today['failing_jobs'] }): React.ReactElement | null {
  return of.length === 0 ? null : (
    <Section id="failing" title={t('failingJobs')}>
      <Stack gap="xs">
        {of.map(({ id, reason, since }) => (
          <Card key={id} withBorder padding="sm">
            <Anchor
              component={Link}
              to={`/jobs/${encodeURIComponent(id)}`}
              fw={600}
              size="sm"
              style={{ overflowWrap: 'anywhere' }}
            >
              {id}
            </Anchor>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {reason}
            </Text>
            {since !== null && (
              <Text size="xs" c="dimmed">
                <Time at={since} />
              </Text>
            )}
          </Card>
        ))}
      </Stack>
    </Section>
  );
}
