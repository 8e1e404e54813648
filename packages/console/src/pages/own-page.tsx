import { PasswordInput, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { OwnSecondFactor } from '../parts/own-second-factor.js';
import { useProof } from '../parts/proof.js';
import { OwnRights } from '../parts/rights-table.js';
import { Section } from '../parts/section.js';
import { EndSessions, Sessions } from '../parts/sessions.js';
import { OneTimeSecrets } from '../parts/one-time-secrets.js';
import { Time, LoadingState } from '../parts/states.js';
import { useSession } from '../session.js';
import { t } from '../text/text.js';

/** The account of the logged-in operator: password, second factor, sessions and key. */
export function OwnPage(): React.ReactElement {
  const { username, role } = useSession();
  const found = useQuery({ queryKey: ['own'], queryFn: () => unwrapData(api.GET('/me')) });
  if (!found.data) {
    return (
      <>
        <Heading />
        <LoadingState error={found.error} retry={found.refetch} />
      </>
    );
  }
  const {
    sessions,
    second_factor_since: secondFactorSince,
    key_created_at: keyMadeAt,
    password_changed_at: passwordChangedAt,
  } = found.data;
  const isSetUp = secondFactorSince !== null;
  return (
    <>
      <Heading />
      <Facts
        of={[
          [t('username'), username],
          [t('role'), role],
          [t('passwordSince'), <Time at={passwordChangedAt} />],
          [t('secondFactor'), isSetUp ? <Time at={secondFactorSince} /> : t('passwordAlone')],
          [t('recoveryCodesLeft'), isSetUp ? found.data.recovery_codes_left : null],
          [t('commandLineKey'), keyMadeAt === null ? t('no') : <Time at={keyMadeAt} />],
        ]}
      />
      <Section title={t('sessions')}>
        <Sessions of={sessions} label={t('sessions')} />
      </Section>
      <Section title={t('ownChanges')}>
        <Stack gap="sm" maw={640}>
          <EndSessions
            of={sessions}
            title={t('endSessions')}
            consequence={t('endOwnSessionsHelp')}
            asksReason={false}
            run={(session) => unwrapData(api.POST('/me/end-sessions', { body: { session } }))}
          />
          <ChangePassword />
          <OwnSecondFactor isSetUp={isSetUp} />
          {isSetUp && <RecoveryCodes />}
          <OwnKey />
        </Stack>
      </Section>
      <OwnRights />
    </>
  );
}

function Heading(): React.ReactElement {
  return (
    <Title order={1} size="h3" mb="md">
      {t('ownAccount')}
    </Title>
  );
}

function ChangePassword(): React.ReactElement {
  const [password, setPassword] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const { fields, prove } = useProof();
  return (
    <ActionForm
      title={t('changePassword')}
      consequence={t('changePasswordHelp')}
      asksReason={false}
      run={async () => {
        await prove((proof) =>
          unwrapData(
            api.POST('/me/password', {
              body: { ...proof, new_password: password, new_password_again: confirmation },
            }),
          ),
        );
        setPassword('');
        setConfirmation('');
      }}
    >
      {(
        [
          ['newPassword', password, setPassword],
          ['confirmNewPassword', confirmation, setConfirmation],
        ] as const
      ).map(([label, value, change]) => (
        <PasswordInput
          key={label}
          label={t(label)}
          required
          minLength={12}
          maxLength={200}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('showPassword') }}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
        />
      ))}
      {fields}
    </ActionForm>
  );
}

function RecoveryCodes(): React.ReactElement {
  const [codes, setCodes] = useState<string[]>([]);
  const { fields, prove } = useProof();
  return (
    <>
      <ActionForm
        title={t('makeRecoveryCodes')}
        consequence={t('makeRecoveryCodesHelp')}
        asksReason={false}
        run={async () => {
          setCodes([]);
          const made = await prove((proof) => unwrapData(api.POST('/me/recovery-codes', { body: proof })));
          setCodes(made.recovery_codes);
        }}
      >
        {fields}
      </ActionForm>
      <OneTimeSecrets title={t('recoveryCodesOnce')} note={t('recoveryCodesHelp')} secrets={codes} />
    </>
  );
}

function OwnKey(): React.ReactElement {
  const [keys, setKeys] = useState<string[]>([]);
  const { fields, prove } = useProof();
  return (
    <>
      <ActionForm
        title={t('makeOwnKey')}
        consequence={t('makeOwnKeyHelp')}
        asksReason={false}
        run={async () => {
          setKeys([]);
          const { operator_key: key } = await prove((proof) =>
            unwrapData(api.POST('/me/key', { body: proof })),
          );
          setKeys([key]);
        }}
      >
        {fields}
      </ActionForm>
      <OneTimeSecrets title={t('ownKeyOnce')} note={t('ownKeyHelp')} secrets={keys} />
    </>
  );
}
