import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { formatRupiah } from '../format.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';

type Decision = 'success' | 'failed' | 'ask';

/** The possible decisions about a purchase under review, each with its consequence. */
export function Decisions({
  of,
  purchase: { id, account, price: amount },
}: {
  of: Decision[];
  purchase: { id: string; account: string; price: number };
}): React.ReactElement {
  const [serialNumber, setSerialNumber] = useState('');
  const price = formatRupiah(amount);
  const decide = (body: { as: Decision; serial_number?: string; reason: string }) =>
    unwrapData(api.POST('/purchases/{id}/decide', { params: { path: { id } }, body }));
  return (
    <>
      {of.includes('ask') && (
        <ActionForm
          title={t('ask')}
          consequence={t('askHelp')}
          run={(reason) => decide({ as: 'ask', reason })}
        />
      )}
      {of.includes('success') && (
        <ActionForm
          title={t('decideSuccess')}
          consequence={t('decideSuccessHelp', { price })}
          run={(reason) =>
            decide({
              as: 'success',
              reason,
              ...(serialNumber.trim() !== '' && { serial_number: serialNumber.trim() }),
            })
          }
        >
          <TextInput
            label={t('serialNumber')}
            maxLength={200}
            value={serialNumber}
            onChange={(event) => setSerialNumber(event.currentTarget.value)}
          />
        </ActionForm>
      )}
      {of.includes('failed') && (
        <ActionForm
          title={t('decideFailed')}
          consequence={t('decideFailedHelp', { price, account })}
          danger
          run={(reason) => decide({ as: 'failed', reason })}
        />
      )}
    </>
  );
}

/**
 * A form that closes a case.
 * @param what Describes the case. Necessary if a page contains several such forms.
 */
export function CloseCase({ id, what }: { id: string; what?: string }): React.ReactElement {
  return (
    <ActionForm
      title={t('closeCase')}
      consequence={what === undefined ? t('closeCaseHelp') : `${what} ${t('closeCaseHelp')}`}
      run={(reason) =>
        unwrapData(api.POST('/cases/{id}/resolve', { params: { path: { id } }, body: { reason } }))
      }
    />
  );
}
