import { Badge, Card, Group, Stack, Text } from '@mantine/core';
import { formatSeconds } from '../format.js';
import { Time } from '../parts/states.js';
import { t } from '../text/text.js';
import type { operations } from '../../../client-node/src/schema.js';
import { Body } from '../parts/attempts.js';

type LoggedRequest =
  operations['listBuyerRequests']['responses'][200]['content']['application/json']['data']['requests'][number];

/** Logged requests of the account, with the responses. */
export function RequestList({ of }: { of: LoggedRequest[] }): React.ReactElement {
  return (
    <Stack gap="sm">
      {of.map((each) => (
        <Card key={each.id} withBorder component="article" aria-label={`${each.method} ${each.path}`}>
          <Group justify="space-between" gap="xs">
            <Text fw={600} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {each.method} {each.path}
            </Text>
            <Outcome of={each} />
          </Group>
          <Group gap="xs">
            <Text size="sm">
              <Time at={each.at} />
            </Text>
            <Text size="sm">{formatSeconds(each.duration_ms / 1_000)}</Text>
            <Text size="sm">{each.address}</Text>
            {each.ref_id !== null && (
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {each.ref_id}
              </Text>
            )}
          </Group>
          <details>
            <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
              {t('sentAndAnswered')}
            </Text>
            <TitledBody title={t('sentBody')} body={each.request} />
            <TitledBody title={t('answer')} body={each.response} />
            <Text size="xs" c="dimmed" mt="xs" style={{ overflowWrap: 'anywhere' }}>
              request_id {each.request_id}
            </Text>
          </details>
        </Card>
      ))}
    </Stack>
  );
}

function Outcome({ of }: { of: LoggedRequest }): React.ReactElement {
  const isBad = of.http_status >= 400 || of.reason !== null;
  return (
    <Badge variant="dot" color={isBad ? 'red' : 'green'} tt="none" miw="max-content">
      {of.http_status} {of.reason ?? of.code}
    </Badge>
  );
}

function TitledBody({ title, body }: { title: string; body: object | null }): React.ReactElement | null {
  return body === null ? null : (
    <>
      <Text size="xs" c="dimmed" mt="xs">
        {title}
      </Text>
      <Body>{JSON.stringify(body, null, 2)}</Body>
    </>
  );
}
