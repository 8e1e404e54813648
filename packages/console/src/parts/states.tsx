import { Alert, Badge, Button, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { isOutage, isRefusal } from '../api/unwrap-data.js';
import { formatTime } from '../format.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';

const retryEveryMs = 5_000;

/**
 * A placeholder for a query without data: shows a loader or the error. During an outage the query
 * is retried until it succeeds.
 * @param options.outageAdvice Tells the user what to do during an outage.
 */
export function LoadingState({
  error,
  retry,
  outageAdvice,
}: {
  error: Error | null;
  retry: (options?: { cancelRefetch: boolean }) => unknown;
  outageAdvice?: string;
}): React.ReactElement {
  const isUnavailable = isOutage(error);
  // A request that takes longer than the interval must not be cancelled.
  const refetch = useEffectEvent(() => retry({ cancelRefetch: false }));
  useEffect(() => {
    if (isUnavailable) {
      const timer = setInterval(refetch, retryEveryMs);
      return () => {
        clearInterval(timer);
      };
    }
    return undefined;
  }, [isUnavailable]);
  if (!error) {
    return <Loader role="progressbar" aria-label={t('loading')} my="xl" />;
  }
  return (
    <Alert color="red" title={t('failed')} my="md" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{getErrorMessage(error)}</Text>
        {isUnavailable && outageAdvice !== undefined && <Text size="sm">{outageAdvice}</Text>}
        <Button size="xs" variant="default" onClick={() => retry()}>
          {t('tryAgain')}
        </Button>
      </Stack>
    </Alert>
  );
}

/**
 * Returns the message to show for an error. Messages from the browser are replaced, because their
 * wording and language differ between browsers.
 */
export function getErrorMessage(error: Error | null): string {
  return isRefusal(error) && error.message !== '' ? error.message : t('didNotAnswer');
}

/** Shows the error of a request that a button has sent. */
export function ErrorMessage({ error }: { error: Error | null }): React.ReactElement | null {
  return error ? (
    <Alert color="red" role="alert" my="sm">
      {error.message === '' ? t('noAnswer') : error.message}
    </Alert>
  ) : null;
}

export function EmptyState({ children }: { children: string }): React.ReactElement {
  return (
    <Text c="dimmed" my="lg">
      {children}
    </Text>
  );
}

/** An instant in the time zone of the business, with the name of that zone. */
export function Time({ at }: { at: string }): React.ReactElement {
  return <time dateTime={at}>{formatTime(useZone(), at)}</time>;
}

const colours: Record<string, string> = {
  SUCCESS: 'green',
  FAILED: 'red',
  REFUNDED: 'orange',
  delivered: 'green',
  dead: 'red',
  OK: 'green',
  REJECTED: 'red',
  active: 'green',
  enabled: 'green',
  healthy: 'green',
  suspended: 'red',
  disabled: 'red',
  failing: 'orange',
  ok: 'green',
  warn: 'orange',
  fail: 'red',
  failed: 'red',
  lost: 'red',
  completed: 'green',
  maintenance: 'orange',
};

/**
 * A status as a coloured badge with a text.
 * @param state The untranslated status, which selects the colour. Necessary if the text is
 * translated.
 */
export function Status({ state, children }: { state?: string; children: string }): React.ReactElement {
  return (
    <Badge variant="dot" color={colours[state ?? children] ?? 'gray'} tt="none" miw="max-content">
      {children}
    </Badge>
  );
}
