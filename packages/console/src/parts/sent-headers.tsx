import { Code, Text } from '@mantine/core';
import { t } from '../text/text.js';

/**
 * The request headers of an attempt, collapsed. Shows nothing if no headers were sent or stored.
 */
export function SentHeaders({
  of,
}: {
  of: { name: string; value: string }[] | null;
}): React.ReactElement | null {
  return of === null ? null : (
    <details>
      <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
        {t('sentHeaders')}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {of.map(({ name, value }) => `${name}: ${value}`).join('\n')}
      </Code>
      <Text size="xs" c="dimmed">
        {t('headersShortened')}
      </Text>
    </details>
  );
}
