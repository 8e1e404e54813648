import { Alert, Anchor, Card, Code, Group, Stack, Text, Timeline, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatRupiah, formatTime } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { CloseCase, Decisions } from '../parts/decisions.js';
import { DeliveryList } from '../parts/delivery-list.js';
import { Facts } from '../parts/facts.js';
import { EmptyState, Status, Time, LoadingState } from '../parts/states.js';
import { CustomerView } from '../parts/customer-view.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';

type Description = components['schemas']['GetPurchaseData'];

/** One purchase: its facts, timeline, orders, deliveries and actions. */
export function PurchasePage(): React.ReactElement {
  const { id = '' } = useParams();
  const found = useQuery({
    queryKey: ['purchase', id],
    queryFn: () => unwrapData(api.GET('/purchases/{id}', { params: { path: { id } } })),
  });
  return (
    <>
      <Anchor component={Link} to="/purchases" size="sm">
        {t('purchases')}
      </Anchor>
      {found.data ? (
        <PurchaseDetails of={found.data} />
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </>
  );
}

function PurchaseDetails({ of }: { of: Description }): React.ReactElement {
  const { purchase } = of;
  return (
    <>
      <Group justify="space-between" mt="xs">
        <Title order={1} size="h3">
          {purchase.product_code} {purchase.customer_number}
        </Title>
        <Status>{purchase.status}</Status>
      </Group>
      {of.review_since !== null && (
        <Alert color="orange" my="sm" title={<Since at={of.review_since} />}>
          {of.review_reason}
        </Alert>
      )}
      <Facts
        of={[
          [t('purchase'), purchase.id],
          [t('account'), purchase.account],
          [t('reference'), purchase.ref_id],
          [t('name'), purchase.product_name],
          [t('price'), formatRupiah(purchase.price)],
          [t('serialNumber'), purchase.serial_number],
          [t('message'), purchase.message],
          [t('seller'), purchase.seller],
          [t('markup'), of.markup === 0 ? null : formatRupiah(of.markup)],
          [t('commission'), of.commission === null ? null : formatRupiah(of.commission)],
          [t('surface'), of.surface],
          [t('created'), <Time at={purchase.created_at} />],
          [t('final'), purchase.final_at && <Time at={purchase.final_at} />],
          [t('request'), of.request_id],
          [t('trace'), of.trace_id],
          [t('nextCheck'), of.next_action_at && <Time at={of.next_action_at} />],
        ]}
      />
      <Actions of={of} />
      <Heading>{t('timeline')}</Heading>
      <Timeline bulletSize={12} lineWidth={2} active={of.timeline.length}>
        {of.timeline.map(({ at, what, detail }, index) => (
          <Timeline.Item key={index} title={t(`timeline_${what}`)} style={{ overflowWrap: 'anywhere' }}>
            <Text size="sm">{detail}</Text>
            <Text size="xs" c="dimmed">
              <Time at={at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
      <CustomerView id={purchase.id} />
      <Orders of={of.orders} />
      <Deliveries of={of.deliveries} />
    </>
  );
}

function Since({ at }: { at: string }): React.ReactElement {
  return (
    <>
      {t('reviewSince')} <Time at={at} />
    </>
  );
}

function Heading({ children }: { children: string }): React.ReactElement {
  return (
    <Title order={2} size="h4" mt="xl" mb="sm">
      {children}
    </Title>
  );
}

function Actions({ of }: { of: Description }): React.ReactElement | null {
  const mayReverse = useMay('review.reverse');
  const mayClose = useMay('case.resolve');
  const { purchase, decisions } = of;
  const { id, account, status } = purchase;
  const open = mayClose ? of.cases.filter((each) => each.resolved_at === null) : [];
  const possible = useMay('review.resolve') ? decisions : [];
  const canReverse = mayReverse && status === 'SUCCESS';
  if (possible.length === 0 && !canReverse && open.length === 0) {
    return null;
  }
  return (
    <>
      <Heading>{t('actions')}</Heading>
      <Stack gap="sm" maw={640}>
        <Decisions of={possible} purchase={purchase} />
        {canReverse && (
          <ActionForm
            title={t('reverse')}
            consequence={t('reverseHelp', { price: formatRupiah(purchase.price), account })}
            danger
            run={(reason) =>
              unwrapData(api.POST('/purchases/{id}/reverse', { params: { path: { id } }, body: { reason } }))
            }
          />
        )}
        {open.map((each) => (
          <CloseCase key={each.id} id={each.id} what={`${each.kind}: ${each.detail}`} />
        ))}
      </Stack>
    </>
  );
}

function Orders({ of }: { of: Description['orders'] }): React.ReactElement {
  const zone = useZone();
  return (
    <>
      <Heading>{t('orders')}</Heading>
      {of.length === 0 && <EmptyState>{t('noOrder')}</EmptyState>}
      <Stack gap="sm">
        {of.map((order) => (
          <Card key={order.reference} withBorder>
            <Group justify="space-between">
              <Text fw={600} size="sm">
                {order.seller} ({order.provider})
              </Text>
              <Status>{order.status}</Status>
            </Group>
            <Facts
              of={[
                [
                  t('sent'),
                  <>
                    <Code>{order.reference}</Code> {order.sent_product} {order.sent_customer_number},{' '}
                    {t('atMost', { price: formatRupiah(order.price) })}
                    {order.address !== null && <> → {order.address}</>}
                    {order.sent_at !== null && (
                      <>, {t('sentAt', { time: formatTime(zone, order.sent_at) })}</>
                    )}
                  </>,
                ],
                [
                  t('answered'),
                  [order.code, order.message].filter((each) => each !== null).join(' · ') || t('noAnswerYet'),
                ],
                [t('serialNumber'), order.serial_number],
                [
                  t('lastCheck'),
                  order.last_check_at !== null && (
                    <>
                      <Time at={order.last_check_at} />, {t('checks', { count: order.checks })}
                    </>
                  ),
                ].map((each) => (each === false ? null : each)) as [string, React.ReactNode],
              ]}
            />
          </Card>
        ))}
      </Stack>
    </>
  );
}

function Deliveries({ of }: { of: Description['deliveries'] }): React.ReactElement {
  return (
    <>
      <Heading>{t('deliveries')}</Heading>
      {of.length === 0 && <EmptyState>{t('noDelivery')}</EmptyState>}
      <DeliveryList of={of} />
    </>
  );
}
