import { Badge, Code, Stack, Text } from '@mantine/core';
import { t } from '../text/text.js';
import { SentHeaders } from './sent-headers.js';
import { Time } from './states.js';

export interface Attempt {
  n: number;
  at: string;
  error: string | null;
  http_status: number | null;
  duration_ms: number;
  answer: string | null;
  headers?: { name: string; value: string }[] | null;
}

/** The attempts of a delivery, each with the response of the receiver. */
export function Attempts({ of }: { of: Attempt[] }): React.ReactElement {
  return (
    <Stack gap={4} my="xs">
      {of.length === 0 && <Text size="sm">{t('noAttempt')}</Text>}
      {of.map((attempt) => (
        <div key={attempt.n}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Badge variant="default" tt="none" me="xs">
              {t('attempt', { n: attempt.n })}
            </Badge>
            <Time at={attempt.at} /> · {attempt.error ?? `HTTP ${attempt.http_status ?? ''}`} ·{' '}
            {attempt.duration_ms} ms
            {attempt.answer !== null && attempt.answer !== '' && (
              <>
                {' '}
                · {t('answer')}: <Code>{attempt.answer}</Code>
              </>
            )}
          </Text>
          <SentHeaders of={attempt.headers ?? null} />
        </div>
      ))}
    </Stack>
  );
}

/** A request or response body, unchanged. */
export function Body({ children }: { children: string }): React.ReactElement {
  return (
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {children}
    </Code>
  );
}
