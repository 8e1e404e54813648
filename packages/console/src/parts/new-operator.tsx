import { Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { RoleSelect, type Operator } from './operator-actions.js';
import { useProof } from './proof.js';
import { OneTimeSecrets } from './one-time-secrets.js';

/** Creates an operator with a password. The password is shown only once. */
export function NewOperator(): React.ReactElement {
  const [username, setUsername] = useState('');
  const [role, setRole] = useState<Operator['role']>('viewer');
  const [made, setMade] = useState<{ username: string; password: string } | null>(null);
  const { fields, prove } = useProof();
  return (
    <Stack gap="sm" maw={640} mt="xl">
      <ActionForm
        title={t('createOperator')}
        consequence={t('createOperatorHelp')}
        run={async (reason) => {
          setMade(null);
          setMade(
            await prove((proof) =>
              unwrapData(api.POST('/operators', { body: { username, role, reason, ...proof } })),
            ),
          );
          setUsername('');
        }}
      >
        <TextInput
          label={t('username')}
          description={t('usernameRule')}
          required
          maxLength={40}
          pattern="[a-z0-9._\-]{3,40}"
          autoCapitalize="none"
          autoComplete="off"
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
        <RoleSelect value={role} change={setRole} />
        {fields}
      </ActionForm>
      {made && (
        <OneTimeSecrets title={t('passwordOnce', { operator: made.username })} secrets={[made.password]} />
      )}
    </Stack>
  );
}
