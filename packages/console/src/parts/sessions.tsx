import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { components } from '../api/schema.js';
import { formatTime } from '../format.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { ActionForm } from './action-form.js';
import { Rows } from './rows.js';
import { EmptyState, Time } from './states.js';

type Session = components['schemas']['OperatorSession'];

const orUnknown = (text: string) => (text === '' ? t('unknown') : text);

/** The sessions of an operator. */
export function Sessions({ of, label }: { of: Session[]; label: string }): React.ReactElement {
  if (of.length === 0) {
    return <EmptyState>{t('noSession')}</EmptyState>;
  }
  return (
    <Rows
      label={label}
      heads={[t('loggedInAt'), t('address'), t('browser')]}
      rows={of.map(({ id, started_at: at, address, browser, is_this: isThis }) => ({
        key: id,
        cells: [
          <Time at={at} />,
          <span style={{ whiteSpace: 'nowrap' }}>{orUnknown(address)}</span>,
          isThis ? `${orUnknown(browser)} (${t('thisOne')})` : orUnknown(browser),
        ],
      }))}
    />
  );
}

/** Ends one session or all of them. */
export function EndSessions({
  of,
  title,
  consequence,
  asksReason = true,
  run,
}: {
  of: Session[];
  title: string;
  consequence: string;
  asksReason?: boolean;
  run: (session: string | null, reason: string) => Promise<unknown>;
}): React.ReactElement {
  const zone = useZone();
  const [chosen, setChosen] = useState('');
  // The selected session may have ended meanwhile. It is then no longer in the list.
  const session = of.find(({ id }) => id === chosen)?.id ?? null;
  return (
    <ActionForm
      title={title}
      consequence={consequence}
      asksReason={asksReason}
      run={(reason) => run(session, reason)}
    >
      <NativeSelect
        label={t('whichSession')}
        value={session ?? ''}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={[
          { value: '', label: t('everySession') },
          ...of.map(({ id, started_at: at, address, is_this: isThis }) => ({
            value: id,
            label: `${formatTime(zone, at)}, ${orUnknown(address)}${isThis ? ` (${t('thisOne')})` : ''}`,
          })),
        ]}
      />
    </ActionForm>
  );
}
