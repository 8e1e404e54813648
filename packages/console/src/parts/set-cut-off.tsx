import { Checkbox, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { ActionForm } from './action-form.js';

/** Sets the daily cut-off of a product. */
export function SetCutOff({
  code,
  of,
}: {
  code: string;
  of: { start: string; end: string } | null;
}): React.ReactElement {
  const [isOn, setIsOn] = useState(of !== null);
  const [start, setStart] = useState(of?.start ?? '23:00');
  const [end, setEnd] = useState(of?.end ?? '01:00');
  return (
    <ActionForm
      title={t('setCutOff')}
      consequence={t('setCutOffHelp', { zone: useZone() })}
      run={(reason) =>
        unwrapData(
          api.POST('/products/{code}/cut-off', {
            params: { path: { code } },
            body: { cut_off: isOn ? { start, end } : null, reason },
          }),
        )
      }
    >
      <Checkbox
        label={t('hasCutOff')}
        checked={isOn}
        onChange={(event) => setIsOn(event.currentTarget.checked)}
      />
      {isOn && (
        <SimpleGrid cols={2} spacing="xs">
          <TextInput
            type="time"
            label={t('cutOffFrom')}
            required
            value={start}
            onChange={(event) => setStart(event.currentTarget.value)}
          />
          <TextInput
            type="time"
            label={t('cutOffTo')}
            required
            value={end}
            onChange={(event) => setEnd(event.currentTarget.value)}
          />
        </SimpleGrid>
      )}
    </ActionForm>
  );
}
