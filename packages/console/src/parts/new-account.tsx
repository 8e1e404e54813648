import { Alert, Anchor, Code, NativeSelect, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';

type Created = components['schemas']['CreateAccountData'];
type Kind = 'none' | 'simulator' | 'h2h' | 'digiflazz' | 'iak';
const kinds: Kind[] = ['none', 'simulator', 'h2h', 'digiflazz', 'iak'];

const emptyAccount = { username: '', role: 'buyer' as 'buyer' | 'seller', kind: 'none' as Kind };
const noProvider = { base_url: '', username: '', secret: '' };

/** Creates an account with a wallet and an API key. The key is shown only once. */
export function NewAccount(): React.ReactElement {
  const [wanted, setWanted] = useState(emptyAccount);
  const [provider, setProvider] = useState(noProvider);
  const [created, setCreated] = useState<Created | null>(null);
  const { username, role, kind } = wanted;
  const run = async (reason: string) => {
    setCreated(null);
    const { base_url: url, ...known } = provider;
    const ofSeller =
      role === 'seller' && kind !== 'none' ? { ...known, kind, base_url: url === '' ? null : url } : null;
    const body = { username, role, provider: ofSeller, reason };
    setCreated(await unwrapData(api.POST('/accounts', { body })));
    setWanted(emptyAccount);
    setProvider(noProvider);
  };
  return (
    <Stack gap="sm" maw={640} mt="xl">
      <ActionForm title={t('createAccount')} consequence={t('createAccountHelp')} run={run}>
        <TextInput
          label={t('username')}
          description={t('usernameRule')}
          required
          maxLength={40}
          pattern="[a-z0-9._\-]{3,40}"
          autoCapitalize="none"
          value={username}
          onChange={(event) => setWanted({ ...wanted, username: event.currentTarget.value })}
        />
        <NativeSelect
          label={t('role')}
          value={role}
          onChange={(event) =>
            setWanted({ ...wanted, role: event.currentTarget.value === 'seller' ? 'seller' : 'buyer' })
          }
          data={[
            { value: 'buyer', label: t('roleBuyer') },
            { value: 'seller', label: t('roleSeller') },
          ]}
        />
        {role === 'seller' && (
          <NativeSelect
            label={t('providerKind')}
            value={kind}
            onChange={(event) => {
              const chosen = kinds.find((each) => each === event.currentTarget.value);
              setWanted({ ...wanted, kind: chosen ?? 'none' });
            }}
            data={kinds.map((each) => ({ value: each, label: each === 'none' ? t('providerNone') : each }))}
          />
        )}
        {role === 'seller' && kind !== 'none' && (
          <Provider of={provider} needsUrl={kind === 'h2h'} change={setProvider} />
        )}
      </ActionForm>
      {created && (
        <Alert color="orange" title={t('accountCreated')} role="status">
          <Text size="sm">
            <Anchor component={Link} to={`/accounts/${created.username}`} c="inherit" underline="always">
              {created.username}
            </Anchor>
          </Text>
          <Text size="sm">{t('apiKey')}</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{created.api_key}</Code>
          <Text size="sm">{t('webhookSecret')}</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{created.webhook_secret}</Code>
        </Alert>
      )}
    </Stack>
  );
}

function Provider({
  of,
  needsUrl,
  change,
}: {
  of: typeof noProvider;
  needsUrl: boolean;
  change: (to: typeof noProvider) => void;
}): React.ReactElement {
  return (
    <>
      <TextInput
        type="url"
        label={t('providerUrl')}
        {...(!needsUrl && { description: t('providerUrlEmpty') })}
        required={needsUrl}
        maxLength={500}
        value={of.base_url}
        onChange={(event) => change({ ...of, base_url: event.currentTarget.value })}
      />
      <TextInput
        label={t('providerUsername')}
        required
        maxLength={100}
        autoCapitalize="none"
        value={of.username}
        onChange={(event) => change({ ...of, username: event.currentTarget.value })}
      />
      <PasswordInput
        label={t('providerSecret')}
        required
        maxLength={500}
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': t('showSecret') }}
        value={of.secret}
        onChange={(event) => change({ ...of, secret: event.currentTarget.value })}
      />
    </>
  );
}
