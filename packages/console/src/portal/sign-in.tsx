import { Alert, Anchor, Button, Container, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { t } from '../text/text.js';
import { readConfig } from './account.js';
import { roleOf, signIn, getRefusalReason } from './client.js';

/** Signs in with an API key. */
export function SignIn(): React.ReactElement {
  const [written, setKey] = useState('');
  const queries = useQueryClient();
  const key = written.trim();
  const entering = useMutation({
    mutationFn: async () => {
      if (roleOf(key) === null) {
        throw new Error(t('noKey'));
      }
      queries.setQueryData(['config', key], await readConfig(key));
      signIn(key);
    },
  });
  const refused = entering.isIdle ? getRefusalReason() : (entering.error?.message ?? null);
  return (
    <Container size={480} py="xl" component="main">
      <Title order={1} size="h3" mb="sm">
        {t('portal')}
      </Title>
      <Text size="sm" mb="md">
        {t('portalHelp')}
      </Text>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          entering.mutate();
        }}
      >
        <Stack gap="sm">
          <PasswordInput
            label={t('apiKey')}
            description={t('apiKeyHelp')}
            autoComplete="off"
            required
            maxLength={200}
            value={written}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
          <Button type="submit" color="teal.9" loading={entering.isPending}>
            {t('signIn')}
          </Button>
          {refused !== null && (
            <Alert color="red" role="alert">
              {refused === '' ? t('noAnswer') : refused}
            </Alert>
          )}
          <Anchor href="/docs" size="sm">
            {t('documentation')}
          </Anchor>
        </Stack>
      </form>
    </Container>
  );
}
