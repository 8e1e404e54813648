import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { t } from '../text/text.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { LoadingState } from './states.js';

type Setting = components['schemas']['ServiceSetting'];

/**
 * The settings of the web process that handles the request. Other processes may have different
 * ones.
 */
export function ServiceSettings(): React.ReactElement {
  const found = useQuery({
    queryKey: ['settings'],
    queryFn: () => unwrapData(api.GET('/system/settings')),
  });
  return (
    <Section title={t('settings')}>
      {found.data ? (
        <>
          <Text size="sm" mb="sm">
            {t('settingsHelp', { release: found.data.release })}
          </Text>
          <Rows
            label={t('settings')}
            heads={[t('setting'), t('value'), t('origin')]}
            rows={found.data.settings.map((each) => ({
              key: each.name,
              cells: [
                each.name,
                getShownValue(each),
                each.is_read ? t(each.is_given ? 'origin_given' : 'origin_default') : '',
              ],
            }))}
          />
        </>
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </Section>
  );
}

function getShownValue({ is_read: isRead, is_set: isSet, value }: Setting): string {
  if (!isRead) {
    return t('notThisProcess');
  }
  if (!isSet) {
    return t('notSet');
  }
  return value ?? t('secretSet');
}
