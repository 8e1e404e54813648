import { Code, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { t } from '../text/text.js';
import { QueryForm } from './query-form.js';
import { Section } from './section.js';

/** The response to an API call of the buyer for this purchase. */
export function CustomerView({ id }: { id: string }): React.ReactElement {
  const asked = useMutation({
    mutationFn: () => unwrapData(api.GET('/purchases/{id}/as-customer-sees', { params: { path: { id } } })),
  });
  return (
    <Section title={t('asCustomerSees')}>
      <Text size="sm">{t('asCustomerSeesHelp')}</Text>
      <QueryForm button={t('openAsCustomer')} asked={asked}>
        {null}
      </QueryForm>
      {asked.data && (
        <>
          <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {asked.data.call}
          </Text>
          <Code block mt="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {asked.data.answer}
          </Code>
        </>
      )}
    </Section>
  );
}
