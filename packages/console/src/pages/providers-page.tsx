import { Alert, Anchor, Badge, Card, Group, SimpleGrid, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatClockTime, formatCount, formatPercent, formatRupiah, formatSeconds } from '../format.js';
import { Facts } from '../parts/facts.js';
import { ProviderPlots } from '../parts/provider-plots.js';
import { Rows } from '../parts/rows.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { QueryForm } from '../parts/query-form.js';
import { Section } from '../parts/section.js';

type Provider = components['schemas']['Provider'];

const refreshIntervalMs = 15_000;

/** Providers with their states, and the routing of a product. */
export function ProvidersPage(): React.ReactElement {
  const found = useQuery({
    queryKey: ['providers'],
    queryFn: () => unwrapData(api.GET('/providers')),
    refetchInterval: refreshIntervalMs,
  });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('providers')}
      </Title>
      {!found.data && <LoadingState error={found.error} retry={found.refetch} />}
      {found.data?.providers.length === 0 && <EmptyState>{t('noProvider')}</EmptyState>}
      {found.data?.is_cut && <EmptyState>{t('moreProviders')}</EmptyState>}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        {found.data?.providers.map((each) => (
          <OneProvider key={each.seller} of={each} />
        ))}
      </SimpleGrid>
      {/* Shown after the list has loaded, so that nothing moves. The slowest part is last. */}
      {(found.data ?? found.error) && (
        <>
          <Routing />
          <Last24Hours />
        </>
      )}
    </>
  );
}

/** Badges for a suspended account, for a pause and for the state of the circuit breaker. */
export function ProviderStates({ of }: { of: Provider }): React.ReactElement {
  return (
    <Group gap={4}>
      {of.account_status === 'suspended' && <Status>suspended</Status>}
      {of.paused && (
        <Badge color="orange" variant="outline" tt="none" c="var(--mantine-color-text)">
          {t('paused')}
        </Badge>
      )}
      <Status>{t(`circuit_${of.circuit}`)}</Status>
    </Group>
  );
}

export function providerFacts(of: Provider): [string, React.ReactNode][] {
  const { day, limits } = of;
  const inSeconds = (ms: number | null) => (ms === null ? '–' : formatSeconds(ms / 1_000));
  return [
    [t('float'), of.float === null ? t('balanceUnknown') : formatRupiah(of.float)],
    [t('floatAt'), of.float_at && <Time at={of.float_at} />],
    [t('floatEnds'), of.float_ends_at && <Time at={of.float_ends_at} />],
    [t('successOfDay'), day.success_rate === null ? '–' : formatPercent(day.success_rate)],
    [
      t('ordersOfDay'),
      `${formatCount(day.orders)} · ${t('unansweredOf', { count: formatCount(day.unanswered) })}`,
    ],
    [t('latencyOfDay'), `${inSeconds(day.p50_ms)} · p95 ${inSeconds(day.p95_ms)}`],
    [
      t('waitingOrders'),
      t('waitingFor', { count: of.waiting, time: formatSeconds(of.expected_wait_ms / 1_000) }),
    ],
    [t('askedPause'), of.asked_pause_ms > 0 ? formatSeconds(of.asked_pause_ms / 1_000) : null],
    [
      t('limits'),
      t('limitsAre', {
        calls: limits.calls_per_second ?? t('none'),
        concurrency: limits.concurrency ?? t('none'),
        wait: limits.max_wait_s === null ? t('standard') : formatSeconds(limits.max_wait_s),
      }),
    ],
    [t('paused'), of.paused && `${of.paused.by}: ${of.paused.reason}`],
  ];
}

function OneProvider({ of }: { of: Provider }): React.ReactElement {
  return (
    <Card withBorder component="article" aria-label={`${t('provider')} ${of.seller}`}>
      <Group justify="space-between" gap="xs">
        <Anchor component={Link} to={`/providers/${of.seller}`} fw={600}>
          {of.seller}
        </Anchor>
        <ProviderStates of={of} />
      </Group>
      <Text size="xs" c="dimmed">
        {of.kind}
      </Text>
      <Facts of={providerFacts(of)} />
    </Card>
  );
}

function Last24Hours(): React.ReactElement | null {
  const zone = useZone();
  const today = useQuery({ queryKey: ['today'], queryFn: () => unwrapData(api.GET('/today')) });
  const plotted = today.data?.plotted ?? [];
  return plotted.length === 0 ? null : (
    <Section title={t('last24Hours')}>
      <ProviderPlots
        of={plotted}
        labels={(plotted[0]?.steps ?? []).map(({ from }) => formatClockTime(zone, from))}
      />
    </Section>
  );
}

function Routing(): React.ReactElement {
  const [product, setProduct] = useState('');
  const asked = useMutation({
    mutationFn: () => unwrapData(api.GET('/routing', { params: { query: { product: product.trim() } } })),
  });
  return (
    <Section title={t('routing')}>
      <Text size="sm">{t('routingHelp')}</Text>
      <QueryForm button={t('showRouting')} asked={asked}>
        <TextInput
          label={t('product')}
          value={product}
          maxLength={50}
          required
          onChange={(event) => setProduct(event.currentTarget.value)}
        />
      </QueryForm>
      {asked.data && asked.data.closed !== null && (
        <Alert color="orange" my="sm">
          {t('closedNow')}
        </Alert>
      )}
      {asked.data?.offers.length === 0 && <EmptyState>{t('noOffer')}</EmptyState>}
      {asked.data && asked.data.offers.length > 0 && (
        <Rows
          label={t('routing')}
          heads={[t('seller'), t('price'), t('cost'), t('circuit'), t('latency'), t('placed')]}
          ends={[1, 2, 4]}
          rows={asked.data.offers.map((each) => ({
            key: each.seller,
            cells: [
              each.seller,
              formatRupiah(each.price),
              each.cost === null ? '–' : formatRupiah(each.cost),
              t(`circuit_${each.circuit}`),
              formatSeconds(each.mean_ms / 1_000),
              each.obstacle === null
                ? t(`placed_${each.placed ?? 'alike'}`)
                : `${t('notAsked')}: ${t(`obstacle_${each.obstacle}`)}`,
            ],
          }))}
        />
      )}
    </Section>
  );
}
