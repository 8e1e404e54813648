import { NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { unwrapData } from '../../api/unwrap-data.js';
import { ActionForm } from '../../parts/action-form.js';
import { Rows } from '../../parts/rows.js';
import { Section } from '../../parts/section.js';
import { LoadingState } from '../../parts/states.js';
import { t } from '../../text/text.js';
import { describeScenario, translate } from '../../text/translate.js';
import { mayUseSandbox, useSignedIn } from '../account.js';
import { portalApi } from '../client.js';

type End = 'success' | 'failed' | 'reversed';

const ends: readonly End[] = ['success', 'failed', 'reversed'];

/**
 * Test numbers, and a form that sets the result of a purchase. The menu has no link to this page
 * for sellers, but they may open its URL.
 */
export function SandboxPage(): React.ReactElement {
  const { role } = useSignedIn();
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('sandbox')}
      </Title>
      {mayUseSandbox(role) ? <ScenarioList /> : <Text>{t('sandboxNotYours')}</Text>}
    </>
  );
}

function ScenarioList(): React.ReactElement {
  const found = useQuery({
    queryKey: ['scenarios'],
    queryFn: () => unwrapData(portalApi.GET('/api/sandbox/scenarios')),
  });
  return (
    <>
      <Section title={t('scenarios')} first>
        <Text size="sm" mb="sm">
          {t('scenariosHelp')}
        </Text>
        {!found.data && <LoadingState error={found.error} retry={found.refetch} />}
        {found.data && (
          <Rows
            label={t('scenarios')}
            heads={[t('ending'), t('about'), t('result'), t('scenario')]}
            rows={found.data.map((each) => ({
              key: each.ending,
              cells: [
                `…${each.ending}`,
                translate(each.about),
                translate(each.result),
                describeScenario(each),
              ],
            }))}
          />
        )}
      </Section>
      <Stack mt="xl" maw={640}>
        <EndForm />
        <ActionForm
          title={t('advance')}
          consequence={t('advanceHelp')}
          asksReason={false}
          run={() => unwrapData(portalApi.POST('/api/sandbox/advance'))}
        />
      </Stack>
    </>
  );
}

function EndForm(): React.ReactElement {
  const [ref, setRef] = useState('');
  const [result, setResult] = useState<End>('success');
  return (
    <ActionForm
      title={t('endPurchase')}
      consequence={t('endPurchaseHelp')}
      asksReason={false}
      run={() =>
        unwrapData(
          portalApi.POST('/api/sandbox/transactions/{ref}/end', {
            params: { path: { ref } },
            body: { result },
          }),
        )
      }
    >
      <TextInput
        label="ref_id"
        required
        maxLength={64}
        value={ref}
        onChange={(event) => setRef(event.currentTarget.value)}
      />
      <NativeSelect
        label={t('result')}
        value={result}
        onChange={(event) => setResult(ends.find((each) => each === event.currentTarget.value) ?? 'success')}
        data={ends.map((value) => ({ value, label: translate(value) }))}
      />
    </ActionForm>
  );
}
