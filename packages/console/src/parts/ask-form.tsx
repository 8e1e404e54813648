import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failed } from './states.js';

/** Fields and a button that asks, and why there is no answer. For what changes something: ActionForm. */
export function AskForm({
  button,
  asked,
  children,
}: {
  button: string;
  asked: { isPending: boolean; error: Error | null; mutate: () => void };
  /** The fields. */
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
      <Failed error={asked.error} />
    </>
  );
}
