import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatTime } from '../format.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { ActionForm } from './action-form.js';

type Account = components['schemas']['Account'];

/** Revokes a valid API key of an account. The account gets no new key. */
export function RevokeKey({ of }: { of: Pick<Account, 'username' | 'keys'> }): React.ReactElement | null {
  const zone = useZone();
  const [chosen, setChosen] = useState('');
  const live = of.keys.filter(({ valid_until: until }) => until === null || Date.parse(until) > Date.now());
  const key = live.find(({ id }) => id === chosen) ?? live[0];
  if (!key) {
    return null;
  }
  const words = { account: of.username };
  return (
    <ActionForm
      title={t('revokeKey')}
      consequence={t(key.valid_until === null ? 'revokeCurrentKeyHelp' : 'revokeOldKeyHelp', words)}
      danger
      run={(reason) =>
        unwrapData(
          api.POST('/accounts/{username}/revoke-key', {
            params: { path: { username: of.username } },
            body: { key_id: key.id, reason },
          }),
        )
      }
    >
      <NativeSelect
        label={t('whichKey')}
        value={key.id}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={live.map(({ id, created_at: made, valid_until: until }) => ({
          value: id,
          label: `${id}, ${formatTime(zone, made)}, ${until === null ? t('current') : t('validUntil', { time: formatTime(zone, until) })}`,
        }))}
      />
    </ActionForm>
  );
}
