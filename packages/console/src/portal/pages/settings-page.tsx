import { Alert, NativeSelect, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { unwrapData } from '../../api/unwrap-data.js';
import { ActionForm } from '../../parts/action-form.js';
import { NumberField } from '../../parts/number-field.js';
import { parseNumber } from '../../parts/parse-number.js';
import { Section } from '../../parts/section.js';
import { t } from '../../text/text.js';
import { useSignedIn } from '../account.js';
import { portalApi, signIn } from '../client.js';
import { Secret } from '../secret.js';

/** The API key, IP allowlist, callback URL and rate limit of the account. */
export function SettingsPage(): React.ReactElement {
  const { config } = useSignedIn();
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('settings')}
      </Title>
      <Section title={t('apiKey')} first>
        <Secret of={config.api_key} name={t('apiKey')} />
        <Stack gap="sm" maw={640} mt="sm">
          <RotateKey />
        </Stack>
      </Section>
      <Section title={t('access')}>
        <Stack gap="sm" maw={640}>
          <Allowlist />
          <OtherSettings />
        </Stack>
      </Section>
    </>
  );
}

function RotateKey(): React.ReactElement {
  const [minutes, setMinutes] = useState('60');
  const [isNew, setNew] = useState(false);
  const { config } = useSignedIn();
  const queries = useQueryClient();
  return (
    <>
      <ActionForm
        title={t('rotateKey')}
        consequence={t('rotateKeyHelp')}
        danger
        asksReason={false}
        run={async () => {
          const made = await unwrapData(
            portalApi.POST('/api/buyer/api/keys/rotate', { body: { overlap_minutes: Number(minutes) } }),
          );
          // Cache the configuration under the new key. The old key may already be invalid, so
          // reading it again could fail.
          queries.setQueryData(['config', made.api_key], { ...config, api_key: made.api_key });
          signIn(made.api_key);
          setNew(true);
        }}
      >
        <NativeSelect
          label={t('overlapOfKey')}
          value={minutes}
          onChange={(event) => setMinutes(event.currentTarget.value)}
          data={[
            { value: '0', label: t('overlapNone') },
            { value: '60', label: t('overlapHour') },
            { value: '1440', label: t('overlapDay') },
          ]}
        />
      </ActionForm>
      {isNew && (
        <Alert color="green" role="status">
          {t('keyIsNew')}
        </Alert>
      )}
    </>
  );
}

function Allowlist(): React.ReactElement {
  const { config } = useSignedIn();
  const [text, setText] = useState(config.ip_whitelist.join('\n'));
  return (
    <ActionForm
      title={t('setAllowlist')}
      consequence={t('setAllowlistHelp')}
      asksReason={false}
      run={() =>
        unwrapData(
          portalApi.POST('/api/buyer/api/config', {
            body: { ip_whitelist: text.split(/[\s,]+/).filter((each) => each !== '') },
          }),
        )
      }
    >
      <Textarea
        label={t('allowlist')}
        description={t('allowlistHelp')}
        autosize
        minRows={2}
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </ActionForm>
  );
}

/** The other settings. The form sends only fields that were changed. */
function OtherSettings(): React.ReactElement {
  const { role, config } = useSignedIn();
  const [callbackUrl, setCallbackUrl] = useState(config.callback_url ?? '');
  const [rateLimit, setRateLimit] = useState(String(config.rate_limit));
  const [words, setWords] = useState(config.language);
  const changed = () => ({
    ...(callbackUrl !== (config.callback_url ?? '') && {
      callback_url: callbackUrl === '' ? null : callbackUrl,
    }),
    ...(parseNumber(rateLimit) !== config.rate_limit && { rate_limit: parseNumber(rateLimit) }),
    ...(words !== config.language && { language: words }),
  });
  return (
    <ActionForm
      title={t('setOthers')}
      consequence={t('setOthersHelp')}
      asksReason={false}
      run={() => unwrapData(portalApi.POST('/api/buyer/api/config', { body: changed() }))}
    >
      {role === 'buyer' && (
        <TextInput
          label={t('callbackUrl')}
          description={t('callbackUrlHelp')}
          value={callbackUrl}
          maxLength={2_048}
          onChange={(event) => setCallbackUrl(event.currentTarget.value)}
        />
      )}
      <NumberField label={t('rateLimit')} required least={1} value={rateLimit} onChange={setRateLimit} />
      {role === 'buyer' && (
        <NativeSelect
          label={t('resellerLanguage')}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value === 'id' ? 'id' : 'en')}
          data={[
            { value: 'en', label: 'English' },
            { value: 'id', label: 'Bahasa Indonesia' },
          ]}
        />
      )}
      <Text size="xs" c="dimmed">
        {t('setOthersKept')}
      </Text>
    </ActionForm>
  );
}
