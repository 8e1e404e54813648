import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorMessage } from './states.js';

/** A form that only reads data. It shows the error of its request. Use ActionForm for changes. */
export function QueryForm({
  button,
  asked,
  children,
}: {
  button: string;
  asked: { isPending: boolean; error: Error | null; mutate: () => void };
  /** Fields of the form. */
  children: ReactNode;
}): React.ReactElement {
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          asked.mutate();
        }}
      >
        <Group align="end" gap="xs" my="sm">
          {children}
          <Button type="submit" variant="default" loading={asked.isPending}>
            {button}
          </Button>
        </Group>
      </form>
      <ErrorMessage error={asked.error} />
    </>
  );
}
