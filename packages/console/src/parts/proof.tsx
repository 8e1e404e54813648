import { PasswordInput, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useSession } from '../session.js';
import { t } from '../text/text.js';

interface Proof {
  password: string;
  code: string;
}

/**
 * The fields for re-authentication before a sensitive change: the password, and a code if a second
 * factor is set up.
 */
export function useProof(): {
  fields: ReactNode;
  /**
   * Runs a change with the values of the fields. The code is cleared first, because it is valid
   * only once. The password is cleared after a successful change.
   */
  prove: <T>(change: (proof: Proof) => Promise<T>) => Promise<T>;
} {
  const { has_second_factor: asksCode } = useSession();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  return {
    fields: (
      <>
        <PasswordInput
          label={t('currentPassword')}
          required
          maxLength={200}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t('showPassword') }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {asksCode && <CodeInput label={t('codeOrRecovery')} value={code} change={setCode} />}
      </>
    ),
    async prove(change) {
      setCode('');
      const answer = await change({ password, code });
      setPassword('');
      return answer;
    },
  };
}

/** A field for a code of an authenticator app. */
export function CodeInput({
  label,
  value,
  change,
}: {
  label: string;
  value: string;
  change: (to: string) => void;
}): React.ReactElement {
  return (
    <TextInput
      label={label}
      required
      maxLength={40}
      autoComplete="one-time-code"
      autoCapitalize="characters"
      spellCheck={false}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
