import { PasswordInput, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useSession } from '../session.js';
import { t } from '../text/text.js';

interface Proof {
  password: string;
  code: string;
}

/** Re-authentication for sensitive changes: password, and a code if a second factor is set up. */
export function useProof(): {
  fields: ReactNode;
  /** Clears the code, because it is valid once. Clears the password after a success. */
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
