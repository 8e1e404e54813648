import { Alert } from '@mantine/core';
import { notifyManager, useQueryClient, type QueryCache } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { isOutage } from '../api/unwrap-data.js';
import { formatTime } from '../format.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { getErrorMessage } from './states.js';

/**
 * Warns that the page shows old data because a refetch has failed. Components continue to show the
 * data of the last successful request.
 * @param advice Tells the user what to do during an outage.
 */
export function StaleDataNotice({ advice }: { advice: string | undefined }): React.ReactElement | null {
  const zone = useZone();
  const cache = useQueryClient().getQueryCache();
  const oldest = useSyncExternalStore(
    useCallback((onChange) => cache.subscribe(notifyManager.batchCalls(onChange)), [cache]),
    () => findOldest(cache),
  );
  if (oldest === undefined) {
    return null;
  }
  const { dataUpdatedAt, error } = oldest;
  return (
    <Alert color="orange" role="status" mb="md" title={t('notUpdated')}>
      {t('notUpdatedSince', {
        time: formatTime(zone, new Date(dataUpdatedAt).toISOString()),
        why: getErrorMessage(error),
      })}
      {advice !== undefined && isOutage(error) && ` ${advice}`}
    </Alert>
  );
}

/**
 * Finds the oldest data among the queries of the page whose last refetch has failed. React requires
 * the same object until the result changes.
 */
function findOldest(cache: QueryCache) {
  const shown = cache
    .getAll()
    .filter((query) => query.isActive() && query.meta?.['showsNothingOld'] !== true);
  const old = shown
    .map(({ state }) => state)
    .filter(({ data, error }) => data !== undefined && error !== null);
  return old.sort((a, b) => a.dataUpdatedAt - b.dataUpdatedAt).at(0);
}
