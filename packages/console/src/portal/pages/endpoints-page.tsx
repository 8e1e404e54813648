import {
  Alert,
  Button,
  Card,
  Checkbox,
  Group,
  NativeSelect,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import type { operations } from '../../../../client-node/src/schema.js';
import { unwrapData } from '../../api/unwrap-data.js';
import { ActionForm } from '../../parts/action-form.js';
import { Attempts, Body } from '../../parts/attempts.js';
import { Facts } from '../../parts/facts.js';
import { FilterField, FilterForm } from '../../parts/list-filter.js';
import { Section } from '../../parts/section.js';
import { ErrorMessage, EmptyState, Status, Time, LoadingState } from '../../parts/states.js';
import { RowActions } from '../../parts/row-actions.js';
import { t } from '../../text/text.js';
import { translate } from '../../text/translate.js';
import { isSandbox, useSignedIn } from '../account.js';
import { portalApi, type Role } from '../client.js';
import { Secret } from '../secret.js';

type DeliveryQuery = NonNullable<operations['listBuyerDeliveries']['parameters']['query']>;

type TestEvent = NonNullable<
  NonNullable<operations['testBuyerEndpoint']['requestBody']>['content']['application/json']['event']
>;

/**
 * The test events for each role. The API document types only the events of buyers, so the compiler
 * does not check the events of sellers.
 */
const testEvents: Record<Role, readonly string[]> = {
  buyer: [
    'ping',
    'transaction.pending',
    'transaction.success',
    'transaction.failed',
    'deposit.completed',
    'config.updated',
    'webhook.disabled',
  ] satisfies TestEvent[],
  seller: ['ping', 'settlement.completed', 'settlement.failed', 'config.updated', 'webhook.disabled'],
};

/**
 * The event filters that the form offers. If none is selected, the endpoint receives all events.
 */
const families = ['transaction.*', 'settlement.*', 'deposit.*', 'webhook.disabled'] as const;

const readEndpoints = () => unwrapData(portalApi.GET('/api/buyer/webhooks'));
const readDeliveries = (query: DeliveryQuery) =>
  unwrapData(portalApi.GET('/api/buyer/webhooks/deliveries', { params: { query } }));

type Endpoint = Awaited<ReturnType<typeof readEndpoints>>[number];
type Delivery = Awaited<ReturnType<typeof readDeliveries>>['deliveries'][number];

/** The webhook endpoints of the account, and their deliveries. */
export function EndpointsPage(): React.ReactElement {
  const found = useQuery({ queryKey: ['endpoints'], queryFn: readEndpoints });
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('webhooks')}
      </Title>
      <Section title={t('endpoints')} first>
        {!found.data && <LoadingState error={found.error} retry={found.refetch} />}
        {found.data?.length === 0 && <EmptyState>{t('noEndpoint')}</EmptyState>}
        <Stack gap="sm">
          {found.data?.map((each) => (
            <OneEndpoint key={each.id} of={each} />
          ))}
        </Stack>
        <RowActions label={t('newEndpoint')}>
          <EndpointForm
            title={t('newEndpoint')}
            consequence={t('newEndpointHelp')}
            save={(body) => unwrapData(portalApi.POST('/api/buyer/webhooks', { body }))}
          />
        </RowActions>
      </Section>
      <DeliveriesSection />
    </>
  );
}

function OneEndpoint({ of }: { of: Endpoint }): React.ReactElement {
  const path = { params: { path: { id: of.id } } };
  const { role } = useSignedIn();
  const [event, setEvent] = useState<TestEvent>('ping');
  const test = useMutation({
    mutationFn: () =>
      unwrapData(portalApi.POST('/api/buyer/webhooks/{id}/test', { ...path, body: { event } })),
  });
  return (
    <Card withBorder component="article" aria-label={`${t('endpoint')} ${of.id}`}>
      <Group justify="space-between" gap="xs">
        <Text fw={600} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {of.url}
        </Text>
        <Status state={of.status}>{translate(of.status)}</Status>
      </Group>
      <Facts
        of={[
          [t('events'), of.events.join(', ')],
          [t('description'), of.description],
          [t('since_status'), of.since && <Time at={of.since} />],
          [t('advice'), of.action],
        ]}
      />
      <Secret of={of.secret} name={`${t('secret')} ${of.id}`} />
      <Group mt="sm" gap="xs" align="end">
        {isSandbox() && (
          <NativeSelect
            size="xs"
            label={t('testEvent')}
            value={event}
            onChange={(change) => setEvent(change.currentTarget.value as TestEvent)}
            data={[...testEvents[role]]}
          />
        )}
        <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          {event === 'ping' ? t('sendPing') : t('sendTest')}
        </Button>
      </Group>
      {test.data && (
        <Alert color={test.data.delivered ? 'green' : 'red'} role="status" mt="xs" p="xs">
          {test.data.delivered
            ? t('pingArrived', { ms: test.data.attempt.duration_ms })
            : `${t('pingFailed')} ${test.data.attempt.error ?? ''}`}
        </Alert>
      )}
      <ErrorMessage error={test.error} />
      <RowActions>
        {of.status === 'disabled' && (
          <ActionForm
            title={t('enableEndpoint')}
            consequence={t('enableEndpointHelp')}
            asksReason={false}
            run={() => unwrapData(portalApi.POST('/api/buyer/webhooks/{id}/enable', path))}
          />
        )}
        <EndpointForm
          title={t('changeEndpoint')}
          consequence={t('changeEndpointHelp')}
          of={of}
          save={(body) => unwrapData(portalApi.PATCH('/api/buyer/webhooks/{id}', { ...path, body }))}
        />
        <ActionForm
          title={t('rotateSecret')}
          consequence={t('rotateSecretHelp')}
          asksReason={false}
          run={() => unwrapData(portalApi.POST('/api/buyer/webhooks/{id}/secret/rotate', path))}
        />
        <ActionForm
          title={t('removeEndpoint')}
          consequence={t('removeEndpointHelp')}
          danger
          asksReason={false}
          run={() => unwrapData(portalApi.DELETE('/api/buyer/webhooks/{id}', path))}
        />
      </RowActions>
    </Card>
  );
}

interface EndpointInput {
  url: string;
  description?: string;
  events?: string[];
}

/** Creates or changes an endpoint. */
function EndpointForm({
  title,
  consequence,
  of,
  save,
}: {
  title: string;
  consequence: string;
  of?: Endpoint;
  save: (written: EndpointInput) => Promise<unknown>;
}): React.ReactElement {
  const [url, setUrl] = useState(of?.url ?? '');
  const [description, setDescription] = useState(of?.description ?? '');
  const [events, setEvents] = useState<string[]>(of?.events.filter((each) => each !== '*') ?? []);
  return (
    <ActionForm
      title={title}
      consequence={consequence}
      asksReason={false}
      run={() =>
        save({
          url,
          ...(description !== '' && { description }),
          // Filters of the endpoint that have no checkbox in this form are kept.
          ...((events.length > 0 || of) && { events: events.length > 0 ? events : ['*'] }),
        })
      }
    >
      <TextInput
        label="URL"
        type="url"
        required
        maxLength={2_048}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <TextInput
        label={t('description')}
        maxLength={200}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Checkbox.Group label={t('events')} description={t('eventsHelp')} value={events} onChange={setEvents}>
        <Group mt="xs">
          {[...new Set([...families, ...(of?.events ?? [])])]
            .filter((each) => each !== '*')
            .map((each) => (
              <Checkbox key={each} value={each} label={each} />
            ))}
        </Group>
      </Checkbox.Group>
    </ActionForm>
  );
}

function DeliveriesSection(): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const query = Object.fromEntries(params) as DeliveryQuery;
  const page = useQuery({
    queryKey: ['deliveries', query],
    queryFn: () => readDeliveries(query),
    refetchInterval: 5_000,
  });
  return (
    <Section title={t('deliveries')}>
      <FilterForm>
        <NativeSelect
          name="status"
          label={t('status')}
          defaultValue={params.get('status') ?? ''}
          data={[
            { value: '', label: t('any') },
            ...['due', 'delivered', 'dead', 'held', 'dropped'].map((value) => ({
              value,
              label: translate(value),
            })),
          ]}
        />
        <FilterField name="ref_id" label={t('reference')} />
      </FilterForm>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.deliveries.length === 0 && <EmptyState>{t('noDeliveryFits')}</EmptyState>}
      {page.data && <DeliveryCards of={page.data.deliveries} />}
      {page.data && page.data.pagination.page < page.data.pagination.total_pages && (
        <Button
          my="md"
          variant="default"
          onClick={() =>
            setParams([
              ...[...params].filter(([name]) => name !== 'page'),
              ['page', String(page.data.pagination.page + 1)],
            ])
          }
        >
          {t('next')}
        </Button>
      )}
    </Section>
  );
}

function DeliveryCards({ of }: { of: Delivery[] }): React.ReactElement {
  return (
    <Stack gap="sm">
      {of.map((each) => (
        <Card key={each.id} withBorder component="article" aria-label={`${each.event} ${each.id}`}>
          <Group justify="space-between">
            <Text fw={600} size="sm">
              {each.event}
            </Text>
            <Status state={each.status}>{translate(each.status)}</Status>
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {each.url}
          </Text>
          <Group gap="xs">
            <Text size="sm">
              <Time at={each.created_at} />
            </Text>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {each.ref_id}
            </Text>
          </Group>
          <Attempts of={each.attempts.map((one) => ({ ...one, n: one.number }))} />
          <details>
            <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
              {t('body')}
            </Text>
            <Body>{JSON.stringify(each.payload, null, 2)}</Body>
          </details>
          {each.status !== 'due' && each.status !== 'delivering' && each.status !== 'dropped' && (
            <Replay id={each.id} />
          )}
        </Card>
      ))}
    </Stack>
  );
}

function Replay({ id }: { id: string }): React.ReactElement {
  const queries = useQueryClient();
  const replay = useMutation({
    mutationFn: () =>
      unwrapData(portalApi.POST('/api/buyer/webhooks/deliveries/{id}/replay', { params: { path: { id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        mt="xs"
        style={{ alignSelf: 'flex-start' }}
        loading={replay.isPending}
        onClick={() => replay.mutate()}
      >
        {t('replay')}
      </Button>
      <ErrorMessage error={replay.error} />
    </>
  );
}
