import { Box, Card, Code, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { encode } from 'uqr';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { CodeInput, useProof } from './proof.js';
import { OneTimeSecrets } from './one-time-secrets.js';

type Enrolment = components['schemas']['BeginOwnSecondFactorData'];

/**
 * Sets up or replaces the second factor. It first asks for the password, then for a code of the
 * authenticator app.
 */
export function OwnSecondFactor({ isSetUp }: { isSetUp: boolean }): React.ReactElement {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [codes, setCodes] = useState<string[]>([]);
  const [code, setCode] = useState('');
  const { fields, prove } = useProof();
  return (
    <>
      <ActionForm
        title={isSetUp ? t('replaceSecondFactor') : t('setUpSecondFactor')}
        consequence={isSetUp ? t('replaceSecondFactorHelp') : t('setUpSecondFactorHelp')}
        asksReason={false}
        run={async () => {
          setCodes([]);
          setEnrolment(await prove((proof) => unwrapData(api.POST('/me/second-factor', { body: proof }))));
        }}
      >
        {fields}
      </ActionForm>
      {enrolment && (
        <>
          <Secret of={enrolment} />
          <ActionForm
            title={t('confirmSecondFactor')}
            consequence={t('confirmSecondFactorHelp')}
            asksReason={false}
            run={async () => {
              const made = await unwrapData(api.POST('/me/second-factor/confirm', { body: { code } }));
              setCodes(made.recovery_codes);
              setCode('');
              setEnrolment(null);
            }}
          >
            <CodeInput label={t('codeOfApp')} value={code} change={setCode} />
          </ActionForm>
        </>
      )}
      <OneTimeSecrets title={t('recoveryCodesOnce')} note={t('recoveryCodesHelp')} secrets={codes} />
    </>
  );
}

function Secret({ of }: { of: Enrolment }): React.ReactElement {
  return (
    <Card withBorder component="section" aria-label={t('scanThis')}>
      <Stack gap="xs">
        <Title order={3} size="h5">
          {t('scanThis')}
        </Title>
        <Box maw={240}>
          <Qr of={of.uri} />
        </Box>
        <Text size="sm">
          {t('orTypeIn')} <Code>{of.secret.match(/.{1,4}/g)?.join(' ') ?? ''}</Code>
        </Text>
      </Stack>
    </Card>
  );
}

/**
 * A QR code. It is dark on a light background in both colour schemes, because not all cameras read
 * inverted codes.
 */
function Qr({ of }: { of: string }): React.ReactElement {
  const { size, data } = encode(of, { border: 2 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t('qrCode')} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}
