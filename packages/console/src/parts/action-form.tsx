import { Alert, Button, Card, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { t } from '../text/text.js';

/**
 * A form for a change: title, consequence, reason and button. The result is shown in the form.
 * After the request, all queries of the page are invalidated.
 */
export function ActionForm({
  title,
  consequence,
  button = title,
  danger = false,
  asksReason = true,
  run,
  children,
}: {
  title: string;
  consequence: string;
  button?: string;
  danger?: boolean;
  /** False for changes that operators make to their own account, which need no reason. */
  asksReason?: boolean;
  run: (reason: string) => Promise<unknown>;
  /** Additional fields. */
  children?: ReactNode;
}): React.ReactElement {
  const [reason, setReason] = useState('');
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () => run(reason.trim()),
    onSuccess: () => setReason(''),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <Card withBorder component="section" aria-label={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <Stack gap="xs">
          <Title order={3} size="h5">
            {title}
          </Title>
          <Text size="sm">{consequence}</Text>
          {children}
          {asksReason && (
            <TextInput
              label={t('reason')}
              description={t('reasonKept')}
              required
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
          )}
          <Button
            type="submit"
            color={danger ? 'red.9' : 'teal.9'}
            loading={change.isPending}
            disabled={asksReason && reason.trim() === ''}
            style={{ alignSelf: 'flex-start' }}
          >
            {button}
          </Button>
          {change.isSuccess && (
            <Alert color="green" role="status" p="xs">
              {t('done')}
            </Alert>
          )}
          {change.isError && (
            <Alert color="red" role="alert" p="xs">
              {change.error.message === '' ? t('noAnswer') : change.error.message}
            </Alert>
          )}
        </Stack>
      </form>
    </Card>
  );
}
