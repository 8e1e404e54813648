import { Alert, Code, SimpleGrid, Stack, Switch, Title } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { useMay } from '../session.js';
import { t, type TextKey } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { NumberField } from './number-field.js';
import { parseNumber } from './parse-number.js';
import { SetPriceGroup } from './price-groups.js';
import { RevokeKey } from './revoke-key.js';

export type Account = components['schemas']['Account'];

/** The actions on an account for which the operator has the right. */
export function AccountActions({ of }: { of: Account }): React.ReactElement | null {
  const [maySuspend, mayClear, mayRevoke] = [
    useMay('account.suspend'),
    useMay('account.clear-allowlist'),
    useMay('account.revoke-links'),
  ];
  const [maySet, mayMakeKey] = [useMay('account.set'), useMay('account.key')];
  const mayPrice = useMay('markup.set') && of.role === 'buyer';
  const { username, status } = of;
  const to = { params: { path: { username } } };
  if (![maySuspend, mayClear, mayRevoke, maySet, mayMakeKey, mayPrice].includes(true)) {
    return null;
  }
  return (
    <>
      <Title order={2} size="h4" mt="xl" mb="sm">
        {t('actions')}
      </Title>
      <Stack gap="sm" maw={640}>
        {maySuspend && status === 'active' && (
          <ActionForm
            key="suspend"
            title={t('suspend')}
            consequence={t('suspendHelp', { account: username })}
            danger
            run={(reason) =>
              unwrapData(api.POST('/accounts/{username}/suspend', { ...to, body: { reason } }))
            }
          />
        )}
        {maySuspend && status === 'suspended' && (
          <ActionForm
            key="resume"
            title={t('resume')}
            consequence={t('resumeHelp', { account: username })}
            run={(reason) => unwrapData(api.POST('/accounts/{username}/resume', { ...to, body: { reason } }))}
          />
        )}
        {maySet && <Rules of={of} />}
        {mayPrice && <SetPriceGroup username={username} group={of.group} />}
        {mayClear && of.ip_whitelist.length > 0 && (
          <ActionForm
            title={t('clearAllowlist')}
            consequence={t('clearAllowlistHelp', { account: username })}
            danger
            run={(reason) =>
              unwrapData(api.POST('/accounts/{username}/clear-allowlist', { ...to, body: { reason } }))
            }
          />
        )}
        {mayRevoke && (
          <ActionForm
            title={t('revokeLinks')}
            consequence={t('revokeLinksHelp', { account: username })}
            run={(reason) =>
              unwrapData(api.POST('/accounts/{username}/revoke-links', { ...to, body: { reason } }))
            }
          />
        )}
        {mayMakeKey && <NewKey username={username} />}
        {mayMakeKey && <RevokeKey of={of} />}
      </Stack>
    </>
  );
}

type Numbers = Record<'rate_limit' | 'rate_limit_max' | 'commission_rate' | 'product_limit', string>;

const decimalsOf = (name: keyof Numbers) => (name === 'commission_rate' ? 6 : 0);

/**
 * The rules of an account. The form sends only fields that were changed. An empty number selects
 * the default.
 */
function Rules({ of }: { of: Account }): React.ReactElement {
  const [strongSign, setStrongSign] = useState(of.require_strong_sign);
  const [ack, setAck] = useState(of.require_ack);
  const [numbers, setNumbers] = useState<Numbers>({
    rate_limit: String(of.rate_limit),
    rate_limit_max: String(of.rate_limit_max ?? ''),
    commission_rate: String(of.commission_rate ?? ''),
    product_limit: String(of.product_limit ?? ''),
  });
  const isSeller = of.role === 'seller';
  const shown: [keyof Numbers, TextKey][] = [
    ['rate_limit', 'rateLimit'],
    ['rate_limit_max', 'rateLimitMax'],
    ...(isSeller
      ? ([
          ['commission_rate', 'commissionRate'],
          ['product_limit', 'productLimit'],
        ] satisfies [keyof Numbers, TextKey][])
      : []),
  ];
  const changed = () => ({
    ...(strongSign !== of.require_strong_sign && { require_strong_sign: strongSign }),
    ...(ack !== of.require_ack && { require_ack: ack }),
    ...Object.fromEntries(
      shown
        .map(([name]) => {
          const text = numbers[name].trim();
          return [name, text === '' ? null : parseNumber(text, decimalsOf(name))] as const;
        })
        .filter(([name, value]) => value !== of[name]),
    ),
  });
  return (
    <ActionForm
      title={t('setRules')}
      consequence={t('setRulesHelp', { account: of.username })}
      run={(reason) =>
        unwrapData(
          api.POST('/accounts/{username}/settings', {
            params: { path: { username: of.username } },
            body: { ...changed(), reason },
          }),
        )
      }
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {shown.map(([name, label]) => (
          <NumberField
            key={name}
            label={t(label)}
            {...(name !== 'rate_limit' && { description: t('standardHint') })}
            required={name === 'rate_limit'}
            {...(name === 'commission_rate' ? { least: 0, most: 1 } : { least: 1 })}
            decimals={decimalsOf(name)}
            value={numbers[name]}
            onChange={(value) => setNumbers({ ...numbers, [name]: value })}
          />
        ))}
      </SimpleGrid>
      {!isSeller && (
        <Switch
          label={t('strongSign')}
          checked={strongSign}
          onChange={(event) => setStrongSign(event.currentTarget.checked)}
        />
      )}
      <Switch
        label={t('requireAck')}
        checked={ack}
        onChange={(event) => setAck(event.currentTarget.checked)}
      />
    </ActionForm>
  );
}

function NewKey({ username }: { username: string }): React.ReactElement {
  const [overlap, setOverlap] = useState('60');
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <ActionForm
        title={t('newKey')}
        consequence={t('newKeyHelp')}
        run={async (reason) => {
          const made = await unwrapData(
            api.POST('/accounts/{username}/key', {
              params: { path: { username } },
              body: { overlap_minutes: parseNumber(overlap), reason },
            }),
          );
          setKey(made.api_key);
        }}
      >
        <NumberField
          label={t('overlap')}
          required
          least={0}
          most={1_440}
          value={overlap}
          onChange={setOverlap}
        />
      </ActionForm>
      {key !== null && (
        <Alert color="orange" title={t('keyOnce')} role="status">
          <Code style={{ overflowWrap: 'anywhere' }}>{key}</Code>
        </Alert>
      )}
    </>
  );
}
